package pgwire_test

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/dbtest"
	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

const (
	sslRequestCode = 80877103
	gssRequestCode = 80877104
	cancelCode     = 80877102
)

// startTLSServer serves with a certificate on a free loopback port.
func startTLSServer(t *testing.T, sql *sqlfuncs.Server, auth func(string, *wire.Conn) pgwire.Exchange) (address string, authority *dbtest.Authority) {
	t.Helper()
	authority = dbtest.NewAuthority(t)
	c := authority.Server()
	var certificate wire.TLS
	if err := certificate.Replace(wire.PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Auth: auth, TLS: &certificate, Logger: slog.New(slog.DiscardHandler)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Serve(t, server, l, wire.ErrServerClosed)
	return l.Addr().String(), authority
}

// request is a packet that consists of a code.
func request(code int) []byte { return join(i32(8), i32(code)) }

// secure does the TLS handshake. The client's decoder begins anew.
func (c *client) secure(config *tls.Config) *client {
	c.t.Helper()
	conn := tls.Client(c.conn, config)
	if err := conn.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	return newClient(c.t, conn)
}

// one reads the byte that answers a request for encryption, 0 when the
// server hangs up.
func (c *client) one() byte {
	c.t.Helper()
	var b [1]byte
	if _, err := io.ReadFull(c.conn, b[:]); err != nil {
		return 0
	}
	return b[0]
}

func TestTLSByRequest(t *testing.T) {
	address, authority := startTLSServer(t, wiretest.SQL(t), nil)
	for name, requests := range map[string][]int{"SSL": {sslRequestCode}, "GSS, then SSL": {gssRequestCode, sslRequestCode}} {
		for _, offered := range [][]string{nil, {"postgresql"}} {
			c := dial(t, address)
			for _, r := range requests {
				c.write(request(r))
				want := map[int]byte{sslRequestCode: 'S', gssRequestCode: 'N'}[r]
				if got := c.one(); got != want {
					t.Fatalf("%s: answer %q to %d, want %q", name, got, r, want)
				}
			}
			config := authority.ClientConfig()
			config.NextProtos = offered
			c = c.secure(config)
			c.write(join(startupPacket(3<<16, "user", "u"), queryMsg("SELECT next_id('numbers')")))
			c.until("ReadyForQuery")
			c.until("DataRow")
		}
	}
}

func TestRequestsForEncryptionInsideTLS(t *testing.T) {
	address, authority := startTLSServer(t, wiretest.SQL(t), nil)
	for _, code := range []int{sslRequestCode, gssRequestCode} {
		c := dial(t, address)
		c.write(request(sslRequestCode))
		c.one()
		c = c.secure(authority.ClientConfig())
		c.write(request(code))
		c.until("Error FATAL 08P01")
	}
}

// Bytes behind SSLRequest were sent before the client could know the answer:
// by somebody in the middle. They are neither read nor answered.
func TestPlaintextBehindSSLRequestClosesTheConnection(t *testing.T) {
	address, _ := startTLSServer(t, wiretest.SQL(t), nil)
	for name, behind := range map[string][]byte{
		"a login":       join(startupPacket(3<<16, "user", "mallory"), queryMsg("SELECT next_id('numbers')")),
		"one byte":      {0},
		"a ClientHello": {0x16, 0x03, 0x01, 0x02, 0x00},
	} {
		c := dial(t, address)
		c.write(join(request(sslRequestCode), behind))
		if got := c.one(); got != 0 {
			t.Errorf("%s: the server answers %q", name, got)
		}
	}
}

func TestDirectTLS(t *testing.T) {
	address, authority := startTLSServer(t, wiretest.SQL(t), nil)
	config := authority.ClientConfig()
	config.NextProtos = []string{"postgresql"}
	c := dial(t, address).secure(config)
	c.write(startupPacket(3<<16, "user", "u"))
	c.until("ReadyForQuery")

	c = dial(t, address).secure(authority.ClientConfig()) // without ALPN
	c.write(startupPacket(3<<16, "user", "u"))
	c.until("Error FATAL 08P01")

	config = authority.ClientConfig()
	config.NextProtos = []string{"http/1.1"}
	if err := tls.Client(dial(t, address).conn, config).Handshake(); err == nil {
		t.Error("a client of another protocol gets in")
	}

	c = dial(t, address)
	c.write(request(gssRequestCode))
	c.one()
	if err := tls.Client(c.conn, authority.ClientConfig()).Handshake(); err == nil {
		t.Error("TLS without SSLRequest after GSSENCRequest")
	}

	plain, _ := startServer(t, wire.Limits{})
	if err := tls.Client(dial(t, plain).conn, config).Handshake(); err == nil {
		t.Error("a server without a certificate speaks TLS")
	}
}

// A CancelRequest works inside TLS, and in plaintext for a connection inside
// TLS, as older clients send it.
func TestCancelWithTLS(t *testing.T) {
	address, authority := startTLSServer(t, wiretest.SQL(t), nil)
	for _, inside := range []bool{true, false} {
		c := dial(t, address)
		c.write(request(sslRequestCode))
		c.one()
		c = c.secure(authority.ClientConfig())
		c.write(startupPacket(3<<16, "user", "u"))
		var key *pgproto3.BackendKeyData
		for key == nil {
			key, _ = c.next().(*pgproto3.BackendKeyData)
		}
		c.until("ReadyForQuery")
		c.write(queryMsg("SELECT pg_sleep(60)"))

		other := dial(t, address)
		if inside {
			other.write(request(sslRequestCode))
			other.one()
			other = other.secure(authority.ClientConfig())
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the statement begins
		other.write(join(i32(16), i32(cancelCode), i32(int(key.ProcessID)), key.SecretKey))
		c.until("Error ERROR 57014")
	}
}
