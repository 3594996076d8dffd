package pgwire

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// Config configures New.
type Config = wire.Protocol[Exchange]

// New returns a server for the PostgreSQL protocol.
func New(cfg Config) *wire.Server {
	return cfg.Server(alpn, func(c *wire.Conn) wire.Machine { return &conn{protocol: &cfg, Session: wire.Session{Conn: c}} })
}

// secretSize is the length of the secret of protocol 3.2; 3.0 has 4 bytes.
const secretSize = 32

// cancelSecret returns the secret of a CancelRequest.
func (c *conn) cancelSecret() []byte {
	if c.minor >= 2 {
		return c.secret[:]
	}
	return c.secret[:4]
}

// cancel serves a CancelRequest: process id, secret. It comes over a connection of its
// own, without a login ("Canceling Requests in Progress"). It interrupts the statement
// of the connection if the secret is right. The client does not learn whether it was.
func (c *conn) cancel(body []byte) {
	other, _ := c.Conn.Other(int32(binary.BigEndian.Uint32(body))).(*conn)
	if other != nil && subtle.ConstantTimeCompare(other.cancelSecret(), body[4:]) == 1 {
		other.Statement.Interrupt(errCanceled)
	}
}

// errNoMemory is sent for an incomplete message that the account of memory refuses.
var errNoMemory = sqlstate.New(sqlstate.OutOfMemory, "out of memory for a long message").
	WithHint("Send shorter statements, or raise limits.memory in the configuration.")

// state is a step in the life of a connection.
type state uint8

const (
	starting    state = iota // before the start-up packet
	identifying              // during the login
	ready                    // messages are served
)

// conn implements the protocol for one connection: a wire.Machine.
type conn struct {
	wire.Session
	protocol *Config
	login    *login // while identifying

	state              state
	minor              uint8 // of the protocol version
	askedSSL, askedGSS bool  // SSLRequest, GSSENCRequest were sent: each only once
	direct             bool  // TLS began without SSLRequest
	skipToSync         bool  // after an error in an extended query
	status             byte  // transaction status in the last ReadyForQuery
	secret             [secretSize]byte

	skip int64 // bytes of a discarded message that have not arrived
}

var _ wire.Machine = (*conn)(nil)

// Feed implements wire.Machine. It returns after a login, and before a TLS
// handshake: the input behind them is for the next Feed.
func (c *conn) Feed(ctx context.Context, in []byte, out *wire.Out) (consumed int, err error) {
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
			n, err = c.message(ctx, rest, out)
		case starting:
			n, err = c.startup(ctx, rest, out)
		case identifying:
			n, err = c.proof(ctx, rest, out)
		}
		consumed += n
		if err != nil || n == 0 && c.skip == 0 || login && c.SQL != nil {
			break
		}
	}
	return consumed, err
}

// message serves the first message of in, or several that the fast path answers
// together. It returns the number of their bytes: 0 while the message has not arrived
// whole, or if its bytes are to be skipped (c.skip).
func (c *conn) message(ctx context.Context, in []byte, out *wire.Out) (n int, err error) {
	h, ok, err := readHeader(in, &c.protocol.Limits)
	n = headerSize + h.size
	switch {
	case err != nil:
		return 0, c.fatal(out, err)
	case !ok:
		return 0, nil
	case h.tooLong:
		c.skipMessage(n)
		err = sqlstate.New(sqlstate.LimitExceeded, "message of type %q is longer than %d bytes", string(h.typ), c.protocol.Limits.Statement).
			WithHint("Send a shorter statement, or raise limits.statement_bytes in the configuration.")
		return 0, c.refuseMessage(h.typ, err, out)
	case c.ignores(h.typ):
		c.skipMessage(n)
		return 0, nil
	case len(in) < n:
		return 0, nil
	}
	drawn := 0
	switch {
	case c.SlowRan: // a ParameterStatus or another transaction status may have to be sent first
	case h.typ == 'Q':
		drawn = c.drawQueries(in, n, out)
	case h.typ == 'B':
		drawn = c.drawExecutions(in, n, out)
	}
	if drawn > 0 {
		return drawn, out.FlushFull()
	}
	if h.typ == 'Q' || h.typ == 'E' {
		c.Conn.Served++
	}
	return n, c.dispatch(ctx, h.typ, in[headerSize:n:n], out)
}

// Drop implements wire.Machine. It ends the connection if held is more than the
// beginning of a message: of the messages behind it, none would be answered.
func (c *conn) Drop(held []byte, out *wire.Out) error {
	h, ok, err := readHeader(held, &c.protocol.Limits)
	left := headerSize + h.size - len(held)
	if !ok || err != nil || left <= 0 {
		return c.fatal(out, errNoMemory)
	}
	c.skipMessage(left)
	return c.refuseMessage(h.typ, errNoMemory, out)
}

// skipMessage discards the next n bytes.
func (c *conn) skipMessage(n int) {
	c.skip = int64(n)
	c.Conn.Skip(true)
}

// ignores reports whether messages of a type are skipped. After an error all
// messages before Sync are. The data of a COPY FROM STDIN (CopyData, CopyDone,
// CopyFail) always is: COPY FROM STDIN is refused, and PostgreSQL ignores such data,
// too.
func (c *conn) ignores(typ byte) bool {
	switch typ {
	case 'd', 'c', 'f':
		return true
	case 'S', 'X':
		return false
	}
	return c.skipToSync
}

// dispatch serves a message (protocol chapter, "Message Flow").
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
		return c.refuseMessage('F', sqlstate.New(sqlstate.FeatureNotSupported, "the function call protocol is not supported by nextid").
			WithHint("Use SELECT."), out)
	}
	return c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "unexpected message of type %q", string(typ)))
}

// errMalformed returns the error for a message with a wrong content. Its length was
// right, so the framing is intact and the connection goes on, as with PostgreSQL.
func errMalformed(typ byte) error {
	return sqlstate.New(sqlstate.ProtocolViolation, "invalid message format of type %q", string(typ))
}

// extended ends a message of the extended protocol. After an error all messages
// before Sync are skipped ("Extended Query").
func (c *conn) extended(out *wire.Out, err error) error {
	if err == nil {
		return out.FlushFull()
	}
	c.skipToSync = true
	return c.answerError(out, err)
}

// answerError sends the error of a statement. It ends the connection if the shutdown
// or a lost client has ended the statement.
func (c *conn) answerError(out *wire.Out, err error) error {
	if broken := out.Err(); broken != nil {
		return broken // the client does not read, which has caused the statement's error
	}
	if errors.Is(err, wire.ErrShutdown) || errors.Is(err, wire.ErrLost) {
		return c.fatal(out, err)
	}
	c.failed(out, err)
	return out.FlushFull()
}

// failed sends an error and fails the transaction.
func (c *conn) failed(out *wire.Out, err error) {
	c.sendNotices(out)
	c.LogInternal(c.protocol.Logger, &c.protocol.Limits, err)
	c.SQL.Fail()
	c.Conn.Answered(err)
	out.B = encode(out.B, errorMessage("ERROR", err))
}

// fatal sends an error that ends the connection, and returns it.
func (c *conn) fatal(out *wire.Out, err error) error {
	c.Conn.Answered(err)
	out.B = encode(out.B, errorMessage("FATAL", err))
	return err
}

// denied sends an error that ends the connection and is in the log already: of a
// login, or of a limit on connections.
func (c *conn) denied(out *wire.Out, err error) error {
	_ = c.fatal(out, err)
	return wire.ErrClosed
}

// refuseMessage sends the error for a message that is not served. After Parse and Bind
// it skips to Sync; after other messages it sends ReadyForQuery.
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
	return out.FlushFull()
}

// sendNotices sends the notices of the last statement.
func (c *conn) sendNotices(out *wire.Out) {
	for _, n := range c.SQL.TakeNotices() {
		out.B = encode(out.B, (*pgproto3.NoticeResponse)(errorMessage(n.Severity, n.Error)))
	}
}

// ready sends the settings that have changed, and ReadyForQuery.
func (c *conn) ready(out *wire.Out) {
	for _, p := range c.SQL.TakeParameters() {
		out.B = appendParameterStatus(out.B, p)
	}
	c.status = c.SQL.Status()
	out.B = append(append(out.B, readyBegin...), c.status)
	c.SlowRan, c.Text = false, "" // the text may be long
}

var errCanceled = sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request")

// End implements sqlfuncs.Connection: pg_cancel_backend and pg_terminate_backend of
// another session. Any goroutine may call it.
func (c *conn) End(queryOnly bool) { c.EndBy(queryOnly, errCanceled, wire.ErrShutdown) }

// Refuse implements wire.Machine.
func (c *conn) Refuse(out *wire.Out, why wire.Reason) {
	var err error // of another reason: an internal error
	switch why {
	case wire.Shutdown, wire.HungUp:
		err = wire.ErrShutdown
		if c.state != ready {
			err = sqlstate.New(sqlstate.CannotConnectNow, "the server is shutting down")
		}
	case wire.TooMany:
		err = sqlstate.New(sqlstate.TooManyConnections, "sorry, too many clients already").WithHint("Use a connection pool, or raise the limits in the configuration.")
	case wire.Slow:
		err = sqlstate.New(sqlstate.QueryCanceled, "terminating connection due to timeout: a message did not arrive whole")
		if c.state != ready {
			err = sqlstate.New(sqlstate.QueryCanceled, "canceling authentication due to timeout")
		}
	case wire.Silent:
		out.B = append(out.B, mysqlError...)
		return
	case wire.Idle:
		err = sqlstate.New(sqlstate.IdleSession, "terminating connection due to idle-session timeout")
		if c.Busy() {
			err = sqlstate.New(sqlstate.IdleInTransaction, "terminating connection due to idle-in-transaction timeout")
		}
	}
	_ = c.fatal(out, err) // the connection ends anyway
}

// mysqlError is an ERR packet of the MySQL protocol, number 1043, for a client that
// sends nothing. PostgreSQL's clients send first; MySQL's clients wait for a
// greeting.
var mysqlError = func() []byte {
	const text = "\xff\x13\x04This is the PostgreSQL port of nextid; MySQL clients use the port of --mysql, 3307 by default"
	return append([]byte{byte(len(text)), 0, 0, 0}, text...)
}()

// Close implements wire.Machine.
func (c *conn) Close() {
	c.Statement.Close()
	if c.SQL != nil {
		c.SQL.Close()
	}
}

// headerSize is a message's type byte and length.
const headerSize = 5

// maxMessage bounds the length of a message: 1 GB, PostgreSQL's limit. A greater
// length means that the framing is lost.
const maxMessage = 1 << 30

// header is the beginning of a message.
type header struct {
	typ     byte
	size    int  // of the body
	tooLong bool // over its limit: to be skipped and answered with an error
}

// readHeader reads the header of the first message of in. ok is false while the
// header has not arrived whole. The type is checked before the length, and the
// length before the body has arrived. After an error the framing is lost.
func readHeader(in []byte, l *wire.Limits) (h header, ok bool, err error) {
	if len(in) == 0 {
		return h, false, nil
	}
	limit, canSkip := messageLimit(in[0], l)
	if limit < 0 {
		return h, false, sqlstate.New(sqlstate.ProtocolViolation, "invalid frontend message type %d", in[0])
	}
	if len(in) < headerSize {
		return h, false, nil
	}
	length := binary.BigEndian.Uint32(in[1:])
	if length < 4 || length > maxMessage {
		return h, false, sqlstate.New(sqlstate.ProtocolViolation, "invalid message length")
	}
	h = header{typ: in[0], size: int(length) - 4}
	if h.size > limit {
		if !canSkip {
			return h, false, sqlstate.New(sqlstate.ProtocolViolation, "message of type %q is longer than %d bytes", string(h.typ), limit)
		}
		h.tooLong = true
	}
	return h, true, nil
}

// messageLimit returns the limit of the body of a message, -1 for types that no
// client sends. canSkip reports that a longer message is skipped; otherwise it ends
// the connection.
func messageLimit(typ byte, l *wire.Limits) (limit int, canSkip bool) {
	switch typ {
	case 'Q', 'P', 'B', 'F', 'd':
		return l.Statement, true
	case 'C', 'D', 'E', 'H', 'S', 'X', 'c', 'f', 'p':
		return l.Small, false
	}
	return -1, false
}
