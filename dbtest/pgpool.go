package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Pgpool runs a Pgpool-II before one server (HOST:PORT) until the test ends
// and returns its address. It pools connections and caches the results of
// queries.
func Pgpool(t testing.TB, before string) (address string) {
	t.Helper()
	pgpool := program(t, "pgpool2", "pgpool", "/usr/sbin/pgpool")
	dir, cred := directory(t, "postgres") // it refuses to be root
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "Pgpool-II", cred: cred, quit: syscall.SIGINT}
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
`, port(s.Addr), port(FreeAddr(t)), dir, host, behind)
	files := map[string]string{"pgpool.conf": conf, "pool_hba.conf": "", "pcp.conf": ""}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.argv = func() []string {
		return []string{
			pgpool, "-n", "-f", filepath.Join(dir, "pgpool.conf"),
			"-a", filepath.Join(dir, "pool_hba.conf"), "-F", filepath.Join(dir, "pcp.conf"),
		}
	}
	s.ready = func() error { return listens(s.Addr) }
	s.begin()
	t.Cleanup(s.Stop) // it keeps shared memory when it is killed
	return s.Addr
}
