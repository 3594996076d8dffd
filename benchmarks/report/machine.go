package report

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is where a benchmark ran.
type Machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_gb"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Load   float64 `json:"load"` // of the minute before the run: what else was going on
}

// ThisMachine describes the machine, as far as /proc tells.
func ThisMachine() Machine {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if v := field("/proc/cpuinfo", "model name"); v != "" {
		m.CPU = v
	}
	if kb, _, ok := strings.Cut(field("/proc/meminfo", "MemTotal"), " "); ok {
		n, err := strconv.ParseFloat(kb, 64)
		if err == nil {
			m.Memory = n / 1e6
		}
	}
	m.Kernel = strings.TrimSpace(read("/proc/sys/kernel/ostype") + " " + read("/proc/sys/kernel/osrelease"))
	if load, _, ok := strings.Cut(read("/proc/loadavg"), " "); ok {
		if v, err := strconv.ParseFloat(load, 64); err == nil {
			m.Load = v
		}
	}
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, %.0f GB, %s, %s, load before the run %.1f", m.Cores, m.CPU, m.Memory, m.Kernel, m.Go, m.Load)
}

// read is the content of a small file, "" if there is none.
func read(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// field finds the first "name : value" line.
func field(file, name string) string {
	for lines := bufio.NewScanner(strings.NewReader(read(file))); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
