// Package servertest runs a nextid server inside the tests of a Go program. Start
// returns a server that is ready; the end of the test ends it. Its store is in
// memory and its ports are free ones of loopback, so that tests can run in
// parallel.
package servertest

import (
	"net"
	"testing"

	"nextid/server"
	"nextid/server/standard"
)

// Server is a running server with the addresses for usual drivers.
type Server struct {
	*server.Server

	Postgres string // the URL for PostgreSQL's drivers
	MySQL    string // the DSN for go-sql-driver/mysql
}

// Start runs a server with all kinds and stores, and waits until it is ready.
// options add to it. It fails the test if the server does not start.
func Start(t testing.TB, options ...server.Option) *Server {
	t.Helper()
	c := server.NewBuild(standard.Options()...).Config()
	c.Store = server.StoreURL{Scheme: server.StoreMemory}
	c.Users = server.UsersOff
	c.PG, c.MySQL, c.HTTP = "127.0.0.1:0", "127.0.0.1:0", ""
	s, err := server.New(c, append([]server.Option{server.WithOutput(t.Output())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	select {
	case <-s.Ready():
	case err := <-ended:
		t.Fatalf("the server ended before it was ready: %v", err)
	}
	address := func(protocol string) string { return s.Addr(protocol).(*net.TCPAddr).String() }
	return &Server{
		Server: s, Postgres: "postgres://nextid@" + address("pg") + "/nextid?sslmode=disable",
		MySQL: "nextid@tcp(" + address("mysql") + ")/nextid",
	}
}
