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
