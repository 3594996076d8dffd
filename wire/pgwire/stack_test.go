package pgwire_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// quiet is a logger that writes nothing.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// waitLimit bounds every wait.
const waitLimit = 20 * time.Second

// startServer serves on a free loopback port until the test ends.
func startServer(t testing.TB, limits wire.Limits) (address string, server *wire.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Limits: limits, Logger: quiet()})
	wiretest.Serve(t, server, l, wire.ErrServerClosed)
	return l.Addr().String(), server
}

// client is a raw connection. Two decoders read the answers.
type client struct {
	t    testing.TB
	conn net.Conn
	*pgwire.Decoder
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	if err := conn.SetDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	return newClient(t, conn)
}

func newClient(t testing.TB, conn net.Conn) *client {
	return &client{t, conn, pgwire.NewDecoder(t, conn)}
}

// login dials and goes through the start-up.
func login(t testing.TB, address string) *client {
	t.Helper()
	c := dial(t, address)
	c.write(startupPacket(3<<16, "user", "postgres", "database", "postgres"))
	c.until("ReadyForQuery")
	return c
}

func (c *client) write(b []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// next reads one message; nil means that the server closed the connection.
func (c *client) next() pgproto3.BackendMessage {
	c.t.Helper()
	m, err := c.Receive()
	switch {
	case err == nil:
		return m
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		c.t.Fatal("the server did not answer in time")
	}
	return nil // reset by the server
}
