package dbtest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// PgBouncer configures a PgBouncer with one database, "pool". It has two connections
// to the server, and clients need no password.
type PgBouncer struct {
	Mode     string   // session, transaction or statement
	Server   string   // HOST:PORT of the server
	Database string   // database on the server
	User     string   // user on the server, for all clients
	Connect  string   // first statement of each new connection to the server
	Settings []string // further lines, such as "server_check_delay = 0"
}

// Start runs the PgBouncer until the test ends, and returns its address.
func (p PgBouncer) Start(t testing.TB) (address string) {
	t.Helper()
	s := newServer(t, "PgBouncer", "postgres", syscall.SIGQUIT) // PgBouncer refuses to run as root
	host, behind, _ := strings.Cut(p.Server, ":")
	connect := ""
	if p.Connect != "" {
		connect = " connect_query='" + strings.ReplaceAll(p.Connect, "'", "''") + "'"
	}
	argv := []string{pgbouncer(t), s.write("pgbouncer.ini", fmt.Sprintf(`[databases]
pool = host=%s port=%s dbname=%s user=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 2
server_login_retry = 0
%s
`, host, behind, p.Database, p.User, connect, s.port(), p.Mode, strings.Join(p.Settings, "\n")))}
	s.argv = func(*Server) []string { return argv }
	return s.Begin().Addr
}

func pgbouncer(t testing.TB) string {
	t.Helper()
	return program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
}

// PgBouncerVersion returns PgBouncer's minor version: 18 for 1.18.0.
func PgBouncerVersion(t testing.TB) (minor int) {
	t.Helper()
	_, err := fmt.Sscanf(named("PgBouncer", pgbouncer(t)), "PgBouncer 1.%d", &minor)
	must(t, err)
	return minor
}

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
