package server

import (
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

// Address is an address on which a protocol is served. The zero Address is off.
type Address struct {
	Network string // "tcp", "unix", or "" for off
	Address string // host:port, or the path of a socket
}

// Off reports whether the address is off.
func (a Address) Off() bool { return a.Network == "" }

// parseAddress reads HOST:PORT, the path of a Unix socket, or "off". A path begins
// with a dot or contains a slash. @NAME is an abstract socket of Linux (unix(7)).
func parseAddress(s string) (Address, error) {
	switch {
	case s == addressOff:
		return Address{}, nil
	case s != "" && strings.Contains("/.@", s[:1]):
		return Address{Network: "unix", Address: s}, nil
	case strings.Contains(s, "/"):
		return Address{Network: "unix", Address: "./" + s}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return Address{}, fmt.Errorf("%q is not an address: write HOST:PORT, the path of a Unix socket (with a slash), or %s", s, addressOff)
	}
	return Address{Network: "tcp", Address: net.JoinHostPort(host, port)}, nil
}

func (a Address) String() string {
	if a.Off() {
		return addressOff
	}
	return a.Address
}

// Local reports whether only this machine can reach the address. Of host names only
// localhost is local: another may resolve to another address later.
func (a Address) Local() bool {
	if a.Network != "tcp" {
		return true
	}
	host, _, _ := net.SplitHostPort(a.Address)
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// listen opens the address. In a directory the socket gets the name file. flag is
// the flag of the address, for the hint of an error.
func (a Address) listen(file, flag string) (net.Listener, error) {
	l, err := wire.Listen(a.Address, file)
	if err == nil {
		return l, nil
	}
	f := &Error{
		Message: fmt.Sprintf("listen on %s: %s", a, RootCause(err)), Cause: err,
		Hint: "Choose another address with " + flag + ".",
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		f.Hint = "Another server, perhaps another nextid, is listening there. Stop it, or choose another address with " + flag + "."
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		f.Hint = "Choose a port above 1023, or a directory that this user may write to."
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.Hint = "The host part of " + flag + " must be an address of this machine."
	}
	return nil, f
}

// RootCause returns the innermost error, such as "address already in use" without
// the system calls around it.
func RootCause(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
