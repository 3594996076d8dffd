package httpstatus

import (
	"net"
	"sync"

	"nextid/wire"
)

// limited is a listener with a limit on open connections. One more closes another,
// so that idle connections, and half a request, do not keep a probe out. See
// wire.Places.
type limited struct {
	net.Listener
	mu     sync.Mutex
	places *wire.Places[*counted]
}

func limit(l net.Listener, size int) *limited {
	return &limited{Listener: l, places: wire.NewPlaces[*counted](size)}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: nc, from: l}
	tcp, _ := nc.RemoteAddr().(*net.TCPAddr)
	l.mu.Lock()
	oldest, full := l.places.Take(c, wire.ClientAddress(tcp.AddrPort().Addr()))
	l.mu.Unlock()
	if full {
		_ = oldest.Conn.Close() // the goroutine that serves it gets an error and ends
	}
	return c, nil
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	from *limited
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.from.mu.Lock()
	c.from.places.Leave(c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}
