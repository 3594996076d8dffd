package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/pgwire"
)

// protocol describes one of the wire protocols.
type protocol struct {
	key     string // the setting with its address
	name    string
	port    int    // of the default address
	socket  string // name of the socket in a directory
	address func(c *Config) *Address
	server  func(s *Server) *wire.Server
	paste   func(at net.Addr, user string) string // returns a command that draws a first id
}

// protocols lists the protocols of this build, in the order of the ready line.
var protocols = []protocol{
	{
		key: "pg", name: "PostgreSQL", port: defaultPGPort, socket: fmt.Sprintf(".s.PGSQL.%d", defaultPGPort),
		address: func(c *Config) *Address { return &c.PG }, paste: pastePostgres,
		server: func(s *Server) *wire.Server {
			return pgwire.New(pgwire.Config{SQL: s.SQL, Auth: s.access.policy.Postgres, TLS: s.access.tls, Limits: s.config.Wire, Logger: s.log})
		},
	},
	{
		key: "mysql", name: "MySQL", port: defaultMySQLPort, socket: "mysql.sock",
		address: func(c *Config) *Address { return &c.MySQL }, paste: pasteMySQL,
		server: func(s *Server) *wire.Server {
			return mysqlwire.New(mysqlwire.Config{SQL: s.SQL, Auth: s.access.policy.MySQL, TLS: s.access.tls, Limits: s.config.Wire, Logger: s.log})
		},
	},
}

// endpoint is a protocol that is served on a listener.
type endpoint struct {
	protocol *protocol
	listener net.Listener
	server   *wire.Server
	took     *prometheus.HistogramVec // durations of statements
}

type endpoints []endpoint

// listen opens every address, and makes the servers.
func (s *Server) listen() error {
	for i := range protocols {
		p := &protocols[i]
		a := p.address(&s.config)
		if a.Off() {
			continue
		}
		l, err := a.listen(p.socket, "--"+p.key)
		if err != nil {
			return err
		}
		e := endpoint{protocol: p, listener: l, server: p.server(s)}
		e.server.Took = e.observer()
		s.served = append(s.served, e)
	}
	return nil
}

// answer begins to serve on the endpoints, unless that has begun. A server that fails
// sends its error to failed.
func (s *Server) answer() {
	s.answering.Do(func() {
		for _, p := range s.served {
			go func() {
				s.failed <- fmt.Errorf("serve %s: %w", p.listener.Addr(), p.server.Serve(p.listener))
			}()
		}
	})
}

// of returns the endpoint of a protocol, nil if it is off.
func (e endpoints) of(protocol string) *endpoint {
	if i := slices.IndexFunc(e, func(p endpoint) bool { return p.protocol.key == protocol }); i >= 0 {
		return &e[i]
	}
	return nil
}

// addr returns the address on which a protocol is served, nil if it is off.
func (e endpoints) addr(protocol string) net.Addr {
	if p := e.of(protocol); p != nil {
		return p.listener.Addr()
	}
	return nil
}

// close ends everything at once. It does no harm after shutdown.
func (e endpoints) close() {
	_ = e.shutdown(0) // clients that wait for the store lose nothing
	for _, p := range e {
		_ = p.listener.Close() // no server has closed it
	}
}

// shutdown drains all protocols in parallel, for at most timeout.
func (e endpoints) shutdown(timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	errs := make([]error, len(e))
	var work sync.WaitGroup
	for i := range e {
		work.Go(func() { errs[i] = e[i].server.Shutdown(ctx) })
	}
	work.Wait()
	return errors.Join(errs...)
}

const (
	openUser = "nextid"                   // in printed commands of a server without users, where any name works
	firstID  = "SELECT next_id('orders')" // the statement in the commands to paste
)

// pastePostgres returns the psql command that draws a first id.
func pastePostgres(at net.Addr, user string) string {
	host, port, ok := reachable(at)
	if !ok {
		host, port = filepath.Split(at.String())
		if port, ok = strings.CutPrefix(port, ".s.PGSQL."); !ok {
			return "# psql finds only sockets named .s.PGSQL.PORT: give --pg their directory"
		}
		host, _ = filepath.Abs(host) // libpq takes a relative path for the name of a host
		return fmt.Sprintf(`psql -h %s -p %s -U %s nextid -c "%s"`, host, port, user, firstID)
	}
	return fmt.Sprintf(`psql postgres://%s@%s/nextid -c "%s"`, user, net.JoinHostPort(host, port), firstID)
}

// pasteMySQL returns the mysql command that draws a first id.
func pasteMySQL(at net.Addr, user string) string {
	host, port, ok := reachable(at)
	where := fmt.Sprintf("-h %s -P %s", host, port)
	if !ok {
		where = "-S " + at.String()
	}
	if user != openUser {
		user += " -p"
	}
	return fmt.Sprintf(`mysql %s -u %s -e "%s"`, where, user, firstID)
}

// reachable returns host and port of a listener as a client on this machine uses
// them. ok is false for a Unix socket.
func reachable(at net.Addr) (host, port string, ok bool) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return "", "", false
	}
	host = tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return host, strconv.Itoa(tcp.Port), true
}

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
