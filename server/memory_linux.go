package server

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// availableMemory returns the bytes that the process may use. The machine, a cgroup
// (cgroups(7)) and limits of the process (getrlimit(2)) bound them. It returns 0 if the
// system reports none of these.
func availableMemory() int64 {
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it there are no groups
	bounds := groupBounds(string(groups), os.ReadFile)
	var machine unix.Sysinfo_t
	if unix.Sysinfo(&machine) == nil {
		bounds = append(bounds, uint64(machine.Totalram)*uint64(machine.Unit)) //nolint:unconvert // narrower on 32 bits
	}
	var data, space unix.Rlimit // RLIM_INFINITY is more than an int64 holds
	if unix.Getrlimit(unix.RLIMIT_DATA, &data) == nil && unix.Getrlimit(unix.RLIMIT_AS, &space) == nil {
		bounds = append(bounds, data.Cur, space.Cur)
	}
	return smallest(bounds)
}

// groupBounds returns the limits of the cgroups that /proc/self/cgroup names, and of
// those above them. In a container the names may be those of the host. The
// container's own group is at the root then.
func groupBounds(groups string, read func(string) ([]byte, error)) (bounds []uint64) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 || parts[0] != "0" && parts[1] != "memory" { // version 1 has a hierarchy for each controller
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[0] != "0" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if text, err := read(path.Join(root, dir, file)); err == nil {
				n, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // an error for "max"
				bounds = append(bounds, n)
			}
			if dir == "/" {
				break
			}
		}
	}
	return bounds
}
