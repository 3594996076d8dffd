//go:build linux && !goroutines

package pgwire_test

import (
	"crypto/tls"
	"io"
	"math"
	"net"
	"testing"

	"nextid/wire"
	"nextid/wire/wiretest"
)

// An idle connection that has been used holds a session, and no buffer; inside
// TLS also the ciphers and one record's buffer.
func TestIdleConnectionsAreSmall(t *testing.T) {
	plain, _ := startServer(t, wire.Limits{})
	secured, authority := startTLSServer(t, wiretest.SQL(t), nil)
	config := authority.ClientConfig()
	config.MaxVersion = tls.VersionTLS12 // the client's end is smaller
	for _, tc := range []struct {
		name    string
		count   int
		most    int64
		connect func() net.Conn
	}{
		// 1.7 kB of session, machine and socket, and no goroutine; the client's end
		// lives in this process, too. Stacks that grow for a moment add up to 0.4 kB
		// in one round of three.
		{"plain", 150, 2350, func() net.Conn { return dialRaw(t, plain) }},
		// The client's end is about as large as the server's. One read buffer
		// would be 32 kB more.
		{"TLS", 50, 20000, func() net.Conn {
			conn := dialRaw(t, secured)
			if _, err := conn.Write(request(sslRequestCode)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			return tls.Client(conn, config)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conns := make([]net.Conn, 0, tc.count+10)
			t.Cleanup(func() {
				for _, c := range conns {
					_ = c.Close()
				}
			})
			for range 10 {
				conns = append(conns, useOnce(t, tc.connect())) // allocates what all connections have in common
			}
			got := int64(math.MaxInt64)
			for range 3 {
				before := wiretest.MemoryInUse()
				for range tc.count {
					conns = append(conns, useOnce(t, tc.connect()))
				}
				got = min(got, (wiretest.MemoryInUse()-before)/int64(tc.count))
			}
			t.Logf("%d bytes a connection", got)
			if got > tc.most && !raceEnabled {
				t.Errorf("an idle connection takes %d bytes, want at most %d", got, tc.most)
			}
		})
	}
}

func dialRaw(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// useOnce logs in and draws an id.
func useOnce(t *testing.T, conn net.Conn) net.Conn {
	t.Helper()
	answer := make([]byte, 4096)
	for _, m := range [][]byte{startupPacket(3<<16, "user", "u"), queryMsg("SELECT next_id('numbers')")} {
		if _, err := conn.Write(m); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 6 || answer[n-6] != 'Z'; {
			more, err := conn.Read(answer[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += more
		}
	}
	return conn
}
