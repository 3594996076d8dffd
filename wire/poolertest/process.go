// Package poolertest starts connection poolers for tests. Only tests import
// it.
package poolertest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nextid/generator/store/dbtest"
)

// program is the path of a pooler. It skips the test when there is none.
func program(t testing.TB, name, debian string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs the Debian package " + debian)
	return ""
}

// start runs the command that command makes, with a directory and an address
// of its own, until the test ends. Poolers refuse to be root, so when we are,
// both belong to the user postgres.
func start(t testing.TB, name string, end syscall.Signal, command func(dir, address string) *exec.Cmd) (address string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pooler") // not t.TempDir, whose parent belongs to root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		as.Credential = postgres(t)
		if err := os.Chown(dir, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // another process may take the port first
		address = dbtest.FreeAddr(t)
		cmd := command(dir, address)
		cmd.SysProcAttr = as
		if run(t, cmd, end, name, address) {
			return address
		}
	}
	t.Fatalf("%s did not start", name)
	return ""
}

func postgres(t testing.TB) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		t.Fatalf("user postgres: %v, %v", err1, err2)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// run starts a command and reports whether it listens on address.
func run(t testing.TB, cmd *exec.Cmd, end syscall.Signal, name, address string) bool {
	t.Helper()
	var output bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(end) // it may have ended already
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", name, output.String())
		}
	})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-ended:
			t.Logf("%s ended: %s", name, output.String())
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}
