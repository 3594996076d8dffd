package server

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// availableMemory returns the bytes that the process may use, and what bounds them:
// the machine, a cgroup (cgroups(7)) or a limit of the process (getrlimit(2)). It
// returns 0 if the system reports none of them.
func availableMemory() (bytes int64, why string) {
	var l least
	var machine unix.Sysinfo_t
	if unix.Sysinfo(&machine) == nil {
		l.bound(uint64(machine.Totalram)*uint64(machine.Unit), "machine") //nolint:unconvert // narrower on 32 bits
	}
	for _, r := range []struct {
		resource int
		name     string
	}{{unix.RLIMIT_DATA, "RLIMIT_DATA"}, {unix.RLIMIT_AS, "RLIMIT_AS"}} {
		var limit unix.Rlimit
		if unix.Getrlimit(r.resource, &limit) == nil && limit.Cur != unix.RLIM_INFINITY {
			l.bound(limit.Cur, r.name)
		}
	}
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it there are no groups
	boundByGroups(&l, string(groups), os.ReadFile)
	return l.bytes, l.why
}

// boundByGroups applies the limits of the cgroups that /proc/self/cgroup names, and
// of those above them. In a container the names may be those of the host. The
// container's own group is at the root then.
func boundByGroups(l *least, groups string, read func(string) ([]byte, error)) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[0] != "0" { // version 1 has a hierarchy for each controller
			if parts[1] != "memory" {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if text, err := read(path.Join(root, dir, file)); err == nil {
				if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil { // else it is "max"
					l.bound(n, "cgroup "+dir)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
}
