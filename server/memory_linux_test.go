package server

import (
	"os"
	"testing"
)

func TestMemoryIsBoundByTheSmallestGroup(t *testing.T) {
	for name, tc := range map[string]struct {
		groups string
		files  map[string]string
		want   int64
	}{
		"version 2": {"0::/a/b\n", map[string]string{"/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "1000\n"}, 1000},
		"container": {"0::/\n", map[string]string{"/sys/fs/cgroup/memory.max": "2000\n"}, 2000},
		"the machine's names in a container": {
			"0::/kubepods/x\n", map[string]string{"/sys/fs/cgroup/memory.max": "3000\n"}, 3000,
		},
		"version 1": {
			"4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n",
			map[string]string{"/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "4000", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"},
			4000,
		},
		"none":    {"", nil, 1 << 40},
		"garbage": {"0::\n::\nx\n", map[string]string{"/sys/fs/cgroup/memory.max": "many"}, 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			bounds := groupBounds(tc.groups, func(file string) ([]byte, error) {
				if text, ok := tc.files[file]; ok {
					return []byte(text), nil
				}
				return nil, os.ErrNotExist
			})
			if bytes := smallest(append(bounds, 1<<40)); bytes != tc.want {
				t.Errorf("%d, want %d", bytes, tc.want)
			}
		})
	}
}
