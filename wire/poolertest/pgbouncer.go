// Package poolertest starts connection poolers for tests. Only tests import
// it.
package poolertest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// PgBouncer is what to start: one database, "pool", with two connections to
// the server and no login for clients.
type PgBouncer struct {
	Mode     string   // session, transaction or statement
	Server   string   // HOST:PORT of the server behind it
	Database string   // there
	User     string   // there, whoever the client says it is
	Connect  string   // statement that each new connection begins with
	Settings []string // further lines, "server_check_delay = 0"
}

// Start runs a PgBouncer until the test ends and returns its address. It
// skips the test when PgBouncer is not installed.
func (p PgBouncer) Start(t testing.TB) (address string) {
	t.Helper()
	program := Program(t)
	// Not t.TempDir: its parent belongs to root, and PgBouncer refuses to be root.
	dir, err := os.MkdirTemp("", "pgbouncer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 { // another process may take the port first
		address = freeAddress(t)
		ini := filepath.Join(dir, "pgbouncer.ini")
		if err := os.WriteFile(ini, []byte(p.ini(address)), 0o644); err != nil {
			t.Fatal(err)
		}
		if run(t, exec.Command(program, "-q", ini), address) {
			return address
		}
	}
	t.Fatal("PgBouncer did not start")
	return ""
}

// Program is the path of PgBouncer. It skips the test when there is none.
func Program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs the Debian package pgbouncer")
	return ""
}

// Version is PgBouncer's minor version: 18 for 1.18.0.
func Version(t testing.TB) int {
	t.Helper()
	out, err := exec.Command(Program(t), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var minor int
	if _, err := fmt.Sscanf(string(out), "PgBouncer 1.%d", &minor); err != nil {
		t.Fatalf("version %q: %v", out, err)
	}
	return minor
}

func (p PgBouncer) ini(address string) string {
	host, port, _ := strings.Cut(p.Server, ":")
	_, listen, _ := strings.Cut(address, ":")
	var b strings.Builder
	fmt.Fprintf(&b, "[databases]\npool = host=%s port=%s dbname=%s user=%s", host, port, p.Database, p.User)
	if p.Connect != "" {
		fmt.Fprintf(&b, " connect_query='%s'", strings.ReplaceAll(p.Connect, "'", "''"))
	}
	fmt.Fprintf(&b, "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\n", listen)
	fmt.Fprintf(&b, "pool_mode = %s\ndefault_pool_size = 2\nserver_login_retry = 0\n", p.Mode)
	for _, line := range p.Settings {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// run starts a command, as the user postgres when we are root, and reports
// whether it listens on address.
func run(t testing.TB, cmd *exec.Cmd, address string) bool {
	t.Helper()
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 != nil || err2 != nil {
			t.Fatalf("user postgres: %v, %v", err1, err2)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	var output bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-ended
		if t.Failed() {
			t.Logf("PgBouncer said:\n%s", output.String())
		}
	})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-ended:
			t.Logf("PgBouncer ended: %s", output.String())
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
