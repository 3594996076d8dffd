package pgwire

import (
	"context"
	"errors"
	"io"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// errNoMemory is the error for a message that has not arrived whole.
var errNoMemory = sqlstate.New(sqlstate.OutOfMemory, "out of memory for a long message").
	WithHint("Send shorter statements, or raise limits.memory in the configuration.")

// state is where a connection stands.
type state uint8

const (
	starting    state = iota // before the start-up packet
	identifying              // the client proves who it is
	ready                    // messages are served
)

// conn is the protocol's side of one connection: a wire.Machine.
type conn struct {
	wire.Session
	protocol *protocol
	login    *login // while identifying

	state              state
	minor              uint8
	askedSSL, askedGSS bool
	direct             bool // TLS began without SSLRequest
	skipToSync         bool // after an error in an extended query
	untold             bool // the slow path has run since the last ReadyForQuery
	status             byte // that the last ReadyForQuery told
	secret             [secretSize]byte

	skip int64 // bytes of an over-long message that are still to come

	args    []sqlfuncs.Arg // of the Bind being read, storage reused
	formats []int16
}

var _ wire.Machine = (*conn)(nil)

// Feed implements wire.Machine.
func (c *conn) Feed(ctx context.Context, in []byte, out *wire.Out) (consumed int, err error) {
	served := int64(0)
	for consumed < len(in) {
		rest := in[consumed:]
		if c.skip > 0 {
			n := min(int64(len(rest)), c.skip)
			if c.skip -= n; c.skip == 0 {
				c.Conn.Skip(false)
			}
			consumed += int(n)
			continue
		}
		var n int
		login := c.SQL == nil
		switch c.state {
		case ready:
			var commands int
			n, commands, err = c.message(ctx, rest, out)
			served += int64(commands)
		case starting:
			n, err = c.startup(ctx, rest, out)
			if errors.Is(err, errStop) {
				return consumed + n, nil
			}
		case identifying:
			n, err = c.proof(ctx, rest, out)
		}
		if err != nil || (n == 0 && c.skip == 0) {
			break
		}
		if consumed += n; login && c.SQL != nil {
			break
		}
	}
	c.Conn.Served += served
	return consumed, err
}

// message serves the first message of in, or more where they ask for an id
// together. It returns how many bytes these are, and how many statements they
// executed.
func (c *conn) message(ctx context.Context, in []byte, out *wire.Out) (n, commands int, err error) {
	h, ok, err := readHeader(in, &c.protocol.limits)
	n = headerSize + h.size
	switch {
	case err != nil:
		return 0, 0, c.fatal(out, err)
	case !ok:
		return 0, 0, nil
	case h.tooLong:
		c.skipMessage(n)
		return 0, 0, c.tooLong(h.typ, out)
	case c.ignores(h.typ):
		c.skipMessage(n)
		return 0, 0, nil
	case len(in) < n:
		c.Conn.Expect(n)
		return 0, 0, nil
	}
	if h.typ == 'Q' || h.typ == 'B' {
		if size, executed := c.draw(in, n, out); executed > 0 {
			return size, executed, out.Room()
		}
	}
	if h.typ == 'Q' || h.typ == 'E' {
		c.untold, commands = true, 1
	}
	return n, commands, c.dispatch(ctx, h.typ, in[headerSize:n:n], out)
}

// Drop implements wire.Machine.
func (c *conn) Drop(held []byte, out *wire.Out) error {
	h, ok, err := readHeader(held, &c.protocol.limits)
	if !ok || err != nil {
		return c.fatal(out, errNoMemory)
	}
	c.skipMessage(headerSize + h.size - len(held))
	return c.refuseMessage(h.typ, errNoMemory, out)
}

// skipMessage throws the next n bytes away.
func (c *conn) skipMessage(n int) {
	c.skip = int64(n)
	c.Conn.Skip(true)
}

// ignores reports whether messages of a type are not even looked at: those
// before Sync after an error, and what is left over from a COPY FROM STDIN
// that was refused, which PostgreSQL ignores, too.
func (c *conn) ignores(typ byte) bool {
	switch typ {
	case 'd', 'c', 'f':
		return true
	case 'S', 'X':
		return false
	}
	return c.skipToSync
}

// dispatch is the table of messages (protocol chapter, "Message Flow").
func (c *conn) dispatch(ctx context.Context, typ byte, body []byte, out *wire.Out) error {
	switch typ {
	case 'Q':
		return c.query(ctx, body, out)
	case 'P':
		return c.extended(out, c.parse(ctx, body, out))
	case 'B':
		return c.extended(out, c.bind(body, out))
	case 'D':
		return c.extended(out, c.describe(body, out))
	case 'E':
		return c.extended(out, c.execute(ctx, body, out))
	case 'C':
		return c.extended(out, c.close(body, out))
	case 'H':
		if len(body) != 0 {
			return c.extended(out, errMalformed('H'))
		}
		return out.Flush()
	case 'S':
		if len(body) != 0 {
			c.failed(out, errMalformed('S'))
		}
		c.skipToSync = false
		c.SQL.EndBatch()
		c.ready(out)
		return nil
	case 'X':
		return io.EOF
	case 'F':
		c.failed(out, sqlstate.New(sqlstate.FeatureNotSupported, "the function call protocol is not supported by nextid").
			WithHint("Use SELECT."))
		c.ready(out)
		return out.Room()
	}
	return c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "unexpected message of type %q", string(typ)))
}

// errMalformed is a message whose content does not fit its length. The next
// message is where it should be: the connection goes on, as with PostgreSQL.
func errMalformed(typ byte) error {
	return sqlstate.New(sqlstate.ProtocolViolation, "invalid message format of type %q", string(typ))
}

// extended ends a message of the extended protocol: after an error
// everything up to Sync is skipped.
func (c *conn) extended(out *wire.Out, err error) error {
	if err == nil {
		return out.Room()
	}
	c.skipToSync = true
	return c.answerError(out, err)
}

// answerError sends the error of a statement. That of a statement which the
// server's end cut off is the last word.
func (c *conn) answerError(out *wire.Out, err error) error {
	if broken := out.Err(); broken != nil {
		return broken // not the statement's fault, and nobody listens
	}
	if errors.Is(err, wire.ErrShutdown) || errors.Is(err, wire.ErrLost) {
		return c.fatal(out, err)
	}
	c.failed(out, err)
	return out.Room()
}

// failed sends an error and fails the transaction.
func (c *conn) failed(out *wire.Out, err error) {
	c.sendNotices(out)
	c.LogInternal(c.protocol.log, &c.protocol.limits, err)
	c.SQL.Fail()
	c.Conn.Answered(err)
	out.B = appendError(out.B, "ERROR", err)
}

// fatal sends an error that ends the connection, and returns it.
func (c *conn) fatal(out *wire.Out, err error) error {
	c.Conn.Answered(err)
	out.B = appendError(out.B, "FATAL", err)
	return err
}

// denied is fatal for an error that the log has already: of a login, or for lack of
// places.
func (c *conn) denied(out *wire.Out, err error) error {
	_ = c.fatal(out, err)
	return wire.ErrClosed
}

// tooLong answers a message over its limit; its bytes are being skipped.
func (c *conn) tooLong(typ byte, out *wire.Out) error {
	return c.refuseMessage(typ, sqlstate.New(sqlstate.LimitExceeded, "message of type %q is longer than %d bytes", string(typ), c.protocol.limits.Statement).
		WithHint("Send a shorter statement, or raise limits.statement_bytes in the configuration."), out)
}

// refuseMessage answers a message whose bytes are being skipped.
func (c *conn) refuseMessage(typ byte, why error, out *wire.Out) error {
	if c.ignores(typ) {
		return nil
	}
	c.failed(out, why)
	if typ == 'P' || typ == 'B' {
		c.skipToSync = true
	} else {
		c.SQL.EndBatch()
		c.ready(out)
	}
	return out.Room()
}

// sendNotices sends the notices of the last statement.
func (c *conn) sendNotices(out *wire.Out) {
	for _, n := range c.SQL.TakeNotices() {
		out.B = appendNotice(out.B, n)
	}
}

// ready sends the parameters that changed, and ReadyForQuery.
func (c *conn) ready(out *wire.Out) {
	for _, p := range c.SQL.TakeParameters() {
		out.B = appendParameterStatus(out.B, p)
	}
	c.status = c.SQL.Status()
	out.B = appendReady(out.B, c.status)
	c.untold, c.Text = false, "" // the text may be long
}

var errCanceled = sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request")

// End implements sqlfuncs.Connection.
func (c *conn) End(queryOnly bool) {
	if queryOnly {
		c.Statement.Interrupt(errCanceled)
		return
	}
	c.Statement.Interrupt(wire.ErrShutdown)
	c.Conn.HangUp()
}

// Refuse implements wire.Machine.
func (c *conn) Refuse(out *wire.Out, why wire.Reason) {
	var err error
	switch why {
	case wire.Shutdown, wire.HungUp:
		err = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command")
		if c.state != ready {
			err = sqlstate.New(sqlstate.CannotConnectNow, "the server is shutting down")
		}
	case wire.NoRoom:
		err = sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").WithHint("Use a connection pool, or raise the limits in the configuration.")
	case wire.Slow:
		err = sqlstate.New(sqlstate.QueryCanceled, "terminating connection due to timeout: a message did not arrive whole")
		if c.state != ready {
			err = sqlstate.New(sqlstate.QueryCanceled, "canceling authentication due to timeout")
		}
	case wire.Idle:
		err = sqlstate.New(sqlstate.IdleSession, "terminating connection due to idle-session timeout")
		if c.Busy() {
			err = sqlstate.New(sqlstate.IdleInTransaction, "terminating connection due to idle-in-transaction timeout")
		}
	default:
		err = sqlstate.New(sqlstate.Internal, "internal error").WithHint("The server's log has the details.")
	}
	_ = c.fatal(out, err) // the connection ends anyway
}

// Close implements wire.Machine.
func (c *conn) Close() {
	c.Statement.Close()
	if c.SQL != nil {
		c.protocol.keys.remove(c)
		c.SQL.Close()
	}
}
