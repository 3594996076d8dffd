package poolertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nextid/generator/store/dbtest"
)

// StartPgpool runs a Pgpool-II before one server (HOST:PORT) until the test
// ends and returns its address. It pools connections and caches the results
// of queries. It skips the test when Pgpool-II is not installed.
func StartPgpool(t testing.TB, server string) (address string) {
	t.Helper()
	program := program(t, "pgpool", "pgpool2")
	host, port, _ := strings.Cut(server, ":")
	return start(t, "Pgpool-II", syscall.SIGINT, func(dir, address string) *exec.Cmd {
		_, listen, _ := strings.Cut(address, ":")
		_, pcp, _ := strings.Cut(dbtest.FreeAddr(t), ":")
		conf := fmt.Sprintf(`
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = %s
pcp_listen_addresses = '127.0.0.1'
pcp_port = %s
socket_dir = '%[3]s'
pcp_socket_dir = '%[3]s'
backend_hostname0 = '%[4]s'
backend_port0 = %[5]s
backend_weight0 = 1
num_init_children = 4
max_pool = 2
pid_file_name = '%[3]s/pgpool.pid'
logdir = '%[3]s'
work_dir = '%[3]s'
pool_passwd = ''
sr_check_period = 0
health_check_period = 0
memory_cache_enabled = on
memqcache_method = 'shmem'
memqcache_total_size = 2097152
memqcache_maxcache = 65536
memqcache_max_num_cache = 1000
memqcache_cache_block_size = 65536
memqcache_oiddir = '%[3]s'
`, listen, pcp, dir, host, port)
		files := map[string]string{"pgpool.conf": conf, "pool_hba.conf": "", "pcp.conf": ""}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return exec.Command(program, "-n", "-f", filepath.Join(dir, "pgpool.conf"),
			"-a", filepath.Join(dir, "pool_hba.conf"), "-F", filepath.Join(dir, "pcp.conf"))
	})
}
