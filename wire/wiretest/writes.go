package wiretest

import (
	"net"
	"sync/atomic"
)

// CountWrites returns a listener with connections that count the server's calls of
// Write.
func CountWrites(l net.Listener) (net.Listener, *atomic.Int64) {
	writes := new(atomic.Int64)
	return countingListener{l, writes}, writes
}

type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{c, l.writes}, nil
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c *countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}
