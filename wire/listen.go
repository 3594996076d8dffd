package wire

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// staleWait bounds the attempt to connect to an existing socket file.
const staleWait = time.Second

// Listen opens an address: host:port, or the path of a Unix socket, which begins with
// / or a dot. If the path is a directory, the socket is file in it, the name that the
// protocol's clients look for. A socket file without a listener is replaced. Every
// user of the machine may connect, as with PostgreSQL's default.
func Listen(address, file string) (net.Listener, error) {
	if address == "" || !strings.Contains("/.", address[:1]) {
		return net.Listen("tcp", address)
	}
	path := address
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, file)
	}
	if err := removeStale(path); err != nil {
		return nil, &net.OpError{Op: "listen", Net: "unix", Addr: &net.UnixAddr{Name: path, Net: "unix"}, Err: err}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the socket file that a killed server left behind. It returns
// an error for another file, and EADDRINUSE for a socket with a listener.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // no file, or net.Listen returns the error
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errors.New("the file exists and is not a socket")
	}
	c, err := net.DialTimeout("unix", path, staleWait)
	switch {
	case err == nil:
		_ = c.Close() // a server listens
		return syscall.EADDRINUSE
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}
