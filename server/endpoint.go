package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/pgwire"

	"github.com/prometheus/client_golang/prometheus"
)

// protocol describes one of the wire protocols.
type protocol struct {
	key     string // the setting with its address
	name    string
	port    int    // of the default address
	socket  string // name of the socket in a directory
	address func(c *Config) *Address
	serve   func(s *Server, sql *sqlfuncs.Server) *wire.Server

	refuse func(conn net.Conn, why error)        // answers a client that connects before there is an engine
	paste  func(at net.Addr, user string) string // returns a command that draws a first id
}

// protocols lists the protocols of this build, in the order of the ready line.
var protocols = []protocol{
	{
		key: "pg", name: "PostgreSQL", port: defaultPGPort, socket: fmt.Sprintf(".s.PGSQL.%d", defaultPGPort),
		address: func(c *Config) *Address { return &c.PG }, refuse: pgwire.RefuseStarting, paste: pastePostgres,
		serve: func(s *Server, sql *sqlfuncs.Server) *wire.Server {
			return pgwire.New(pgwire.Config{SQL: sql, Auth: s.access.policy.Postgres, TLS: s.access.tls, Limits: s.config.Wire, Logger: s.log})
		},
	},
	{
		key: "mysql", name: "MySQL", port: defaultMySQLPort, socket: "mysql.sock",
		address: func(c *Config) *Address { return &c.MySQL }, refuse: mysqlwire.RefuseStarting, paste: pasteMySQL,
		serve: func(s *Server, sql *sqlfuncs.Server) *wire.Server {
			return mysqlwire.New(mysqlwire.Config{SQL: sql, Auth: s.access.policy.MySQL, TLS: s.access.tls, Limits: s.config.Wire, Logger: s.log})
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

// listen opens every address. With an error it also returns the endpoints that are
// open already.
func listen(c *Config) (open endpoints, _ error) {
	for i := range protocols {
		p := &protocols[i]
		a := p.address(c)
		if a.Off() {
			continue
		}
		l, err := a.listen(p.socket, "--"+p.key)
		if err != nil {
			return open, err
		}
		open = append(open, endpoint{protocol: p, listener: l})
	}
	return open, nil
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

// close closes the listeners. A second call does no harm.
func (e endpoints) close() {
	for _, p := range e {
		_ = p.listener.Close() // nothing is lost
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
	// refuseTimeout bounds the exchange with a client that is refused.
	refuseTimeout = time.Second
	// refuseAtOnce bounds the clients that are answered at a time; others wait.
	refuseAtOnce = 64
)

// errNoStoreYet is sent to clients that connect before there is a store.
var errNoStoreYet = sqlstate.New(sqlstate.CannotConnectNow, "%s", errStarting).
	WithHint("Connect to another nextid server, or try again.")

// refuse answers clients with errNoStoreYet until stop is called. The listeners are
// open already, so clients would wait without an answer.
func (e endpoints) refuse() (stop func()) {
	var accepting, talking sync.WaitGroup
	slots := make(chan struct{}, refuseAtOnce)
	for _, p := range e {
		accepting.Go(func() {
			for {
				conn, err := p.listener.Accept()
				if err != nil {
					return // stopped; after any other error clients wait until the server is ready
				}
				slots <- struct{}{}
				talking.Go(func() {
					defer func() { <-slots }()
					defer conn.Close()
					if conn.SetDeadline(time.Now().Add(refuseTimeout)) == nil {
						p.protocol.refuse(conn, errNoStoreYet)
					}
				})
			}
		})
	}
	setDeadline := func(t time.Time) {
		for _, p := range e { // TCP and Unix listeners; a closed one accepts no connection
			_ = p.listener.(interface{ SetDeadline(time.Time) error }).SetDeadline(t)
		}
	}
	return func() {
		setDeadline(time.Now()) // interrupts Accept
		accepting.Wait()
		setDeadline(time.Time{})
		talking.Wait()
	}
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
