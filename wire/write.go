package wire

import (
	"syscall"
	"time"
)

// flush sends b, inside TLS if that has begun.
func (c *conn) flush(b []byte) error {
	c.info.counters.sent.Add(int64(len(b)))
	if c.tls == nil {
		return c.send(b)
	}
	_, err := c.tls.Write(b)
	return err
}

// send puts b on the socket, waiting for a slow client up to the write limit.
func (c *conn) send(b []byte) error {
	if c.socket == nil {
		c.machine.Rest()
		c.writeUntil(time.Now().Add(c.server.Limits.Write))
		_, err := c.nc.Write(b)
		return err
	}
	if len(b) >= c.server.Limits.FlushAt {
		c.loop.handOver() // more will follow
	}
	rest, err := writeSome(c.socket.fd, b)
	if err != nil || len(rest) == 0 {
		return err
	}
	c.loop.handOver()
	c.machine.Rest()
	_, err = c.socket.Write(rest)
	return err
}

// writeSome writes until the socket is full and returns the rest.
func writeSome(fd int, b []byte) (rest []byte, err error) {
	for len(b) > 0 {
		n, errno := rawWrite(fd, b)
		switch errno {
		case 0:
			b = b[n:]
		case syscall.EAGAIN:
			return b, nil
		case syscall.EINTR:
		default:
			return b, errno
		}
	}
	return nil, nil
}

// writeUntil sets the write deadline. That of a connection that is cut off
// stays short.
func (c *conn) writeUntil(t time.Time) {
	_ = c.nc.SetWriteDeadline(t) // fails only on a closed connection: the write will tell
	if c.cut.Load() {
		_ = c.nc.SetWriteDeadline(time.Now().Add(cutGrace))
	}
}
