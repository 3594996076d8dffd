package report

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine on which a benchmark ran.
type Machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_gb"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Load   float64 `json:"load"` // load average of the minute before the run
}

// ThisMachine describes this machine, from /proc. Values that /proc lacks are zero.
func ThisMachine() Machine {
	kb, _, _ := strings.Cut(Field("/proc/meminfo", "MemTotal"), " ")
	memory, _ := strconv.ParseFloat(kb, 64)
	minute, _, _ := strings.Cut(Content("/proc/loadavg"), " ")
	load, _ := strconv.ParseFloat(minute, 64)
	return Machine{
		CPU: cmp.Or(Field("/proc/cpuinfo", "model name"), runtime.GOARCH), Cores: runtime.NumCPU(), Memory: memory / 1e6,
		Kernel: strings.TrimSpace(Content("/proc/sys/kernel/ostype") + " " + Content("/proc/sys/kernel/osrelease")),
		Go:     runtime.Version(), Load: load,
	}
}

func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, %.0f GB, %s, %s, load before the run %.1f", m.Cores, m.CPU, m.Memory, m.Kernel, m.Go, m.Load)
}

// Congestion returns the line of the settings about TCP's congestion control.
func Congestion() string {
	return "congestion control: " + Content("/proc/sys/net/ipv4/tcp_congestion_control") + "; the client, the floor and nextid use reno on loopback"
}

// Content returns the content of a small file, "" if it cannot be read.
func Content(file string) string {
	content, _ := os.ReadFile(file)
	return strings.TrimSpace(string(content))
}

// Field returns the value of the first "name : value" line of a file in /proc, ""
// without such a line.
func Field(file, name string) string {
	for line := range strings.Lines(Content(file)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
