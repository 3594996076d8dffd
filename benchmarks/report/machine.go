package report

import (
	"bufio"
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
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if v := Field("/proc/cpuinfo", "model name"); v != "" {
		m.CPU = v
	}
	kb, _, _ := strings.Cut(Field("/proc/meminfo", "MemTotal"), " ")
	m.Memory, _ = strconv.ParseFloat(kb, 64)
	m.Memory /= 1e6
	m.Kernel = strings.TrimSpace(Content("/proc/sys/kernel/ostype") + " " + Content("/proc/sys/kernel/osrelease"))
	load, _, _ := strings.Cut(Content("/proc/loadavg"), " ")
	m.Load, _ = strconv.ParseFloat(load, 64)
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, %.0f GB, %s, %s, load before the run %.1f", m.Cores, m.CPU, m.Memory, m.Kernel, m.Go, m.Load)
}

// Content returns the content of a small file, "" if it cannot be read.
func Content(file string) string {
	content, _ := os.ReadFile(file)
	return strings.TrimSpace(string(content))
}

// Field returns the value of the first "name : value" line of a file in /proc, ""
// without such a line.
func Field(file, name string) string {
	for lines := bufio.NewScanner(strings.NewReader(Content(file))); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
