package wire

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// socketDir returns a directory with a path that is short enough for a socket's
// address. The path of t.TempDir may be too long.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func socketPath(t *testing.T) string { return filepath.Join(socketDir(t), "s") }

func TestListenOnTCP(t *testing.T) {
	l, err := Listen("127.0.0.1:0", ".s.PGSQL.5433")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if l.Addr().Network() != "tcp" {
		t.Errorf("listens on %s", l.Addr().Network())
	}
	if _, err := Listen(l.Addr().String(), ".s.PGSQL.5433"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
}

func TestListenInADirectory(t *testing.T) {
	dir := socketDir(t)
	l, err := Listen(dir, ".s.PGSQL.5433")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".s.PGSQL.5433")
	if l.Addr().String() != path {
		t.Errorf("listens on %s, want %s", l.Addr(), path)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o777 {
		t.Errorf("mode %v, want 0777", info.Mode().Perm())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestListenReplacesAStaleSocketOnly(t *testing.T) {
	path := socketPath(t)
	first, err := Listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, ""); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("beside a living server: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as kill -9 would
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path, "")
	if err != nil {
		t.Fatalf("after a killed server: %v", err)
	}
	_ = second.Close()
}

func TestListenKeepsForeignFiles(t *testing.T) {
	path := socketPath(t)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, ""); err == nil {
		t.Error("listens in the place of a file")
	}
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file is now %q, %v", b, err)
	}
}

func TestListenWhereThereIsNoDirectory(t *testing.T) {
	if _, err := Listen(filepath.Join(socketDir(t), "missing", "s"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
