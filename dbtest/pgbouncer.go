package dbtest

import (
	"fmt"
	"os/exec"
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
	bouncer := pgbouncer(t)
	s := newServer(t, "PgBouncer", "postgres", syscall.SIGQUIT) // PgBouncer refuses to run as root
	ini := s.write("pgbouncer.ini", p.ini(s.Addr))
	s.argv = func(*Server) []string { return []string{bouncer, ini} }
	return s.Begin().Addr
}

func pgbouncer(t testing.TB) string {
	t.Helper()
	return program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
}

// PgBouncerVersion returns PgBouncer's minor version: 18 for 1.18.0.
func PgBouncerVersion(t testing.TB) int {
	t.Helper()
	out, err := exec.Command(pgbouncer(t), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var minor int
	if _, err := fmt.Sscanf(string(out), "PgBouncer 1.%d", &minor); err != nil {
		t.Fatalf("version %q: %v", out, err)
	}
	return minor
}

// ini returns the configuration file.
func (p PgBouncer) ini(address string) string {
	host, behind, _ := strings.Cut(p.Server, ":")
	var b strings.Builder
	fmt.Fprintf(&b, "[databases]\npool = host=%s port=%s dbname=%s user=%s", host, behind, p.Database, p.User)
	if p.Connect != "" {
		fmt.Fprintf(&b, " connect_query='%s'", strings.ReplaceAll(p.Connect, "'", "''"))
	}
	fmt.Fprintf(&b, "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\n", port(address))
	fmt.Fprintf(&b, "pool_mode = %s\ndefault_pool_size = 2\nserver_login_retry = 0\n", p.Mode)
	for _, line := range p.Settings {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}
