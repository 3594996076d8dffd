package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// PgBouncer starts a PgBouncer in transaction mode before a PostgreSQL. Its
// URL is that of the server it returns, for the user of the PostgreSQL.
func PgBouncer(t testing.TB, before *Server, user string) *Server {
	t.Helper()
	bouncer := program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
	dir, cred := directory(t, "postgres")
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "PgBouncer", cred: cred, quit: syscall.SIGTERM}
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=%s\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%s\n"+
		"unix_socket_dir=\nauth_type=any\npool_mode=transaction\ndefault_pool_size=2\nignore_startup_parameters=search_path\n",
		port(before.Addr), user, port(s.Addr))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.argv = func() []string { return []string{bouncer, config} }
	s.ready = func() error { return listens(s.Addr) }
	return s.begin()
}
