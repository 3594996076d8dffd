package mysqlwire_test

import (
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// quiet is a logger that writes nothing.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// waitLimit bounds every wait.
const waitLimit = 20 * time.Second

// startServer serves on a free loopback port until the test ends.
func startServer(t testing.TB, cfg mysqlwire.Config) (address string, server *wire.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l.Addr().String(), serve(t, l, cfg)
}

// serve serves on a listener until the test ends.
func serve(t testing.TB, l net.Listener, cfg mysqlwire.Config) *wire.Server {
	t.Helper()
	if cfg.SQL == nil {
		cfg.SQL = wiretest.Ready(wiretest.SQL(t))
	}
	if cfg.Logger == nil {
		cfg.Logger = quiet()
	}
	server := mysqlwire.New(cfg)
	wiretest.Serve(t, server, l, wire.ErrServerClosed)
	return server
}

// machine is a connection without a socket, logged in with the given
// capabilities.
func machine(t testing.TB, caps uint64) (wire.Machine, *wire.Out) {
	t.Helper()
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	m := server.NewMachine(&wire.Conn{ID: 1})
	t.Cleanup(m.Close)
	sent := new([]byte)
	out := wire.NewOut(1<<30, func(b []byte) error {
		*sent = append(*sent, b...)
		return nil
	})
	flushed.Store(out, sent)
	feed(t, m, out, nil)
	feed(t, m, out, packet(1, response(caps, "u", "", "", "mysql_native_password")))
	return m, out
}

// flushed holds, for each Out, the bytes that were sent before the end of a Feed
// because a statement waited.
var flushed sync.Map

// feed gives a machine input that it must consume whole.
func feed(t testing.TB, m wire.Machine, out *wire.Out, in []byte) {
	n, err := m.Feed(t.Context(), in, out)
	if err != nil || n != len(in) {
		t.Fatalf("Feed consumed %d of %d bytes, error %v", n, len(in), err)
	}
}

// answers feeds a machine and returns its answers as text, a line a packet. kinds
// are the kinds of the commands in in, see decoder.answer.
func answers(t testing.TB, m wire.Machine, out *wire.Out, caps uint64, in []byte, kinds ...string) []string {
	t.Helper()
	v, _ := flushed.Load(out)
	sent := v.(*[]byte)
	out.B, *sent = out.B[:0], nil
	feed(t, m, out, in)
	return decodeAll(t, caps, append(*sent, out.B...), kinds...)
}
