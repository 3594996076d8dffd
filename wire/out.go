package wire

import (
	"context"
	"io"
	"syscall"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
)

// Out collects the answers of a connection until they are sent.
type Out struct {
	B     []byte // append here
	flush func(b []byte) error
	limit int
	err   error
}

// NewOut returns an Out that sends with flush. FlushFull flushes from limit bytes
// on.
func NewOut(limit int, flush func(b []byte) error) *Out {
	return &Out{flush: flush, limit: limit}
}

// Flush sends the bytes. After the first error the connection is broken, and
// Flush discards them.
func (o *Out) Flush() error {
	if len(o.B) > 0 && o.err == nil {
		o.err = o.flush(o.B)
	}
	o.B = o.B[:0]
	return o.err
}

// Err returns the error of the first Flush that failed.
func (o *Out) Err() error { return o.err }

// FlushFull flushes from the limit on. Machines call it between rows and between
// messages, so that an answer of any size needs constant memory.
func (o *Out) FlushFull() error {
	if len(o.B) < o.limit {
		return o.err
	}
	return o.Flush()
}

// EndRow calls FlushFull. Sent bytes count as work of the statement: one that has
// worked for long waits for a CPU slot. Each protocol calls EndRow behind every row.
func (o *Out) EndRow(p *sqlfuncs.Portal) error {
	n := len(o.B)
	if err := o.FlushFull(); err != nil || len(o.B) > 0 {
		return err
	}
	return p.Sent(n)
}

// flush sends b, inside TLS if that has begun.
func (c *Conn) flush(b []byte) error {
	c.counters.sent.Add(int64(len(b)))
	if c.tls == nil {
		return c.send(b)
	}
	_, err := c.tls.Write(b)
	return err
}

// send writes b to the socket. It waits for a slow client up to Limits.Write.
func (c *Conn) send(b []byte) error {
	if c.socket == nil {
		c.machine.Rest()
		_ = c.nc.SetWriteDeadline(time.Now().Add(c.server.Limits.Write)) // fails only on a closed connection, as the write will
		if c.cut.Load() {
			_ = c.nc.SetWriteDeadline(time.Now().Add(cutGrace))
		}
		_, err := c.nc.Write(b)
		return err
	}
	if len(b) >= c.server.Limits.FlushAt {
		c.loop.handOver() // more answers follow
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

// readSome reads from a socket of the event loop without waiting: errNoInput if
// nothing has arrived.
func readSome(fd int, p []byte) (int, error) {
	for {
		n, errno := rawRead(fd, p)
		switch {
		case errno == syscall.EINTR:
		case errno == syscall.EAGAIN:
			return 0, errNoInput
		case errno != 0:
			return 0, errno
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// writeSome writes until the socket is full, and returns the rest.
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

// SendRows sends the rows of a portal, at most limit if it is not 0. row appends one
// row to B. The error is io.EOF after the last row, nil at the limit.
func (o *Out) SendRows(ctx context.Context, p *sqlfuncs.Portal, limit int64, row func([]datum.Value) error) (rows int64, err error) {
	for limit == 0 || rows < limit {
		values, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		if err := p.Encode(values); err != nil {
			return rows, err
		}
		if err := row(values); err != nil {
			return rows, err
		}
		rows++
		if err := o.EndRow(p); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// runLength is the number of ids that are drawn and encoded at a time: 64 KiB of
// answers hold about two runs.
const runLength = 1024

// SendIDs sends the rows of a portal of ids, without making a datum.Value for a row.
// run appends a row for each id of a run. For limit and the error see SendRows.
func (o *Out) SendIDs(ctx context.Context, p *sqlfuncs.Portal, limit int64, run func(dst []byte, r generator.Range) []byte) (rows int64, err error) {
	for limit == 0 || rows < limit {
		n := int64(runLength)
		if limit > 0 {
			n = min(n, limit-rows)
		}
		r, err := p.NextIDs(ctx, n)
		if err != nil {
			return rows, err
		}
		o.B = run(o.B, r)
		rows += r.Count
		if err := o.EndRow(p); err != nil {
			return rows, err
		}
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
	}
	return rows, nil
}
