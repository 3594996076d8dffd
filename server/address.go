package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"nextid/wire"
)

// addressOff is the text of the zero Address.
const addressOff = "off"

// Address is an address on which a protocol is served: HOST:PORT, or the path of a
// Unix socket, which begins with a slash or a dot. The zero Address is off.
type Address string

// Off reports whether the address is off.
func (a Address) Off() bool { return a == "" }

func (a Address) String() string { return cmp.Or(string(a), addressOff) }

// isPath reports whether the address is that of a Unix socket.
func (a Address) isPath() bool { return a != "" && strings.Contains("/.", string(a[:1])) }

// parseAddress reads an address, or "off". A path may begin otherwise, too, if it
// contains a slash.
func parseAddress(s string) (Address, error) {
	switch a := Address(s); {
	case s == addressOff:
		return "", nil
	case a.isPath():
		return a, nil
	case strings.Contains(s, "/"):
		return "./" + a, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("%q is not an address: write HOST:PORT, the path of a Unix socket (with a slash), or %s", s, addressOff)
	}
	return Address(net.JoinHostPort(host, port)), nil
}

// Local reports whether only this machine can reach the address. Of host names only
// localhost is local: another may resolve to another address later.
func (a Address) Local() bool {
	host, _, _ := net.SplitHostPort(string(a))
	ip, err := netip.ParseAddr(host)
	return a.Off() || a.isPath() || strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// listen opens the address. In a directory the socket gets the name file. flag is
// the flag of the address, for the hint of an error.
func (a Address) listen(file, flag string) (net.Listener, error) {
	l, err := wire.Listen(string(a), file)
	if err == nil {
		return l, nil
	}
	f := &Error{
		What: fmt.Sprintf("listen on %s: %s", a, rootCause(err)), Err: err,
		Hint: "Choose another address with " + flag + ".",
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		f.Hint = "Another server, perhaps another nextid, is listening there. Stop it, or choose another address with " + flag + "."
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		f.Hint = "Choose a port above 1023, or a directory that this user may write to."
	case errors.Is(err, syscall.EINVAL) && a.isPath():
		f.Hint = "The path of a Unix socket has at most 107 bytes: choose a shorter one with " + flag + "."
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.Hint = "The host part of " + flag + " must be an address of this machine."
	}
	return nil, f
}

// rootCause returns the innermost error, such as "address already in use" without
// the system calls around it.
func rootCause(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
