package httpstatus

import (
	"net"
	"sync"
)

// limited is a listener that lets only so many connections be open. Others
// wait in the system's queue.
type limited struct {
	net.Listener
	room chan struct{}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	l.room <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &counted{Conn: c, room: l.room}, nil
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	room chan struct{}
	once sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { <-c.room })
	return c.Conn.Close()
}
