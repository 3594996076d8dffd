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
	pgbouncer := Program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
	host, behind, _ := strings.Cut(p.Server, ":")
	connect := ""
	if p.Connect != "" {
		connect = " connect_query='" + strings.ReplaceAll(p.Connect, "'", "''") + "'"
	}
	return Run(t, "PgBouncer", "postgres", syscall.SIGQUIT, func(s *Server) []string { // PgBouncer refuses to run as root
		return []string{pgbouncer, s.Write("pgbouncer.ini", fmt.Sprintf(`[databases]
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
	}).Addr
}
