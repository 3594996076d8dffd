package dbtest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// Pgpool runs a Pgpool-II in front of one server (HOST:PORT) until the test ends,
// and returns its address. The Pgpool-II pools connections and caches results.
func Pgpool(t testing.TB, before string) (address string) {
	t.Helper()
	pgpool := program(t, "pgpool2", "pgpool", "/usr/sbin/pgpool")
	s := newServer(t, "Pgpool-II", "postgres", syscall.SIGINT) // pgpool refuses to run as root
	host, behind, _ := strings.Cut(before, ":")
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
`, s.port(), port(FreeAddr(t)), s.Dir, host, behind)
	argv := []string{pgpool, "-n", "-f", s.write("pgpool.conf", conf), "-a", s.write("pool_hba.conf", ""), "-F", s.write("pcp.conf", "")}
	s.argv = func(*Server) []string { return argv }
	s.Begin()
	t.Cleanup(s.Stop) // a killed pgpool leaves its shared memory
	return s.Addr
}
