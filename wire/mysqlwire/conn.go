package mysqlwire

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// Config configures New.
type Config = wire.Protocol[Exchange]

// New returns a server for the MySQL protocol.
func New(cfg Config) *wire.Server {
	p := &protocol{Config: cfg, started: time.Now(), key: sync.OnceValue(newPasswordKey)}
	return p.Server("", func(c *wire.Conn) wire.Machine { return &conn{protocol: p, Session: wire.Session{Conn: c}} })
}

// protocol holds the common state of a server's connections.
type protocol struct {
	Config
	started time.Time
	key     func() *passwordKey // makes it for the first client that requests it
}

// method returns the authentication method of the greeting, which is sent before the
// user is known. If no proof is needed, it is NativePassword, which all clients have.
func (c *conn) method() string {
	if begin := c.protocol.Auth; begin == nil || begin("", c.Conn).Method() == "" {
		return NativePassword
	}
	return CachingSHA2
}

// state is a step in the life of a connection.
type state uint8

const (
	silent      state = iota // before the greeting
	greeted                  // before the handshake response
	identifying              // during the login
	ready                    // commands are served
)

// conn implements the protocol for one connection: a wire.Machine.
type conn struct {
	wire.Session
	protocol *protocol

	state state
	seq   byte       // sequence number of the next packet, the client's or the server's
	caps  capability // of both sides
	nonce [nonceSize]byte
	login *login // while identifying

	more     uint16 // extra status flags: statusMoreResults, statusCursorExists, statusLastRowSent
	reported reported
	skipped  skipping // a command that is being discarded

	statements map[uint32]*statement // prepared, by id
	newest     uint32                // id of the newest statement, also after it was closed
	lastID     uint32                // id for lastPrepared; 0 after a failed PREPARE
	cursors    int                   // open
	longBytes  int                   // of the statements' long data
}

var _ wire.Machine = (*conn)(nil)

// Feed implements wire.Machine. The first call sends the greeting. Feed returns
// after a login, and before a TLS handshake: the input behind them is for the next
// Feed.
func (c *conn) Feed(ctx context.Context, in []byte, out *wire.Out) (consumed int, err error) {
	c.Out = out
	if c.state == silent {
		if err := c.greet(out); err != nil {
			return 0, err
		}
	}
	for consumed < len(in) {
		login := c.SQL == nil
		n, err := c.feedOne(ctx, in[consumed:], out)
		consumed += n
		if err != nil {
			return consumed, err
		}
		if n == 0 && (!c.skipped.on || c.skipped.left == 0) {
			break // the next header or message has not arrived whole
		}
		if login && c.SQL != nil {
			break
		}
	}
	return consumed, nil
}

// feedOne serves the first message of in, and copies of it that the fast path
// answers. n is the size of all of them. It is 0 while the message has not arrived
// whole, and when a message begins to be skipped.
func (c *conn) feedOne(ctx context.Context, in []byte, out *wire.Out) (n int, err error) {
	if c.skipped.on {
		return c.skip(in)
	}
	if c.state == ready {
		c.seq = 0
	}
	f, ok, err := readFrame(in, c.seq, c.limit)
	switch {
	case err != nil && c.state == greeted && isPostgres(in):
		return 0, c.fatal(out, errPostgres)
	case err != nil:
		return 0, c.fatal(out, err)
	case !ok:
		return 0, nil
	}
	c.seq = f.next
	switch {
	case f.tooLong && (c.state != ready || !hasAnswer(in[headerSize])):
		return 0, c.fatal(out, errTooLong)
	case f.tooLong:
		c.skipMessage(f, 0, errTooLong)
		return 0, nil
	}
	switch c.state {
	case greeted:
		err = c.introduce(ctx, f.payload, out)
	case identifying:
		err = c.answer(ctx, f.payload, out)
	default:
		if n := c.drawQueries(f.payload, in, f.size, out); n > 0 {
			return n, out.FlushFull()
		}
		if err = c.command(ctx, f.payload, out); err == nil {
			c.Conn.Served++
		}
	}
	return f.size, err
}

// isPostgres reports whether the input begins with a start-up packet of the
// PostgreSQL protocol, 3.0 or SSLRequest.
func isPostgres(in []byte) bool {
	if len(in) < 8 {
		return false
	}
	code := binary.BigEndian.Uint32(in[4:])
	return code>>16 == 3 || code == 80877103
}

// errPostgres is for the log. A PostgreSQL client can read neither the greeting nor
// this error.
var errPostgres = sqlstate.New(sqlstate.ProtocolViolation, "this is the MySQL port of nextid; PostgreSQL clients use the port of --pg, 5433 by default").WithMySQL(1043, "08S01")

// answerError sends the error of a command. It ends the connection if the shutdown,
// KILL or a lost client has ended the statement.
func (c *conn) answerError(out *wire.Out, err error) error {
	if broken := out.Err(); broken != nil {
		return broken // the client does not read, which has caused the command's error
	}
	if errors.Is(err, wire.ErrShutdown) || errors.Is(err, wire.ErrLost) || errors.Is(err, errKilled) {
		return c.fatal(out, err)
	}
	c.LogInternal(c.protocol.Logger, &c.protocol.Limits, err)
	out.B = c.appendError(out.B, err)
	return out.FlushFull()
}

// Drop implements wire.Machine. It ends the connection if the command has no answer,
// or if held ends between two packets.
func (c *conn) Drop(held []byte, out *wire.Out) error {
	f, _, err := readFrame(held, 0, c.limit)
	c.seq = f.next
	if err != nil || f.size <= len(held) || !hasAnswer(held[headerSize]) {
		return c.fatal(out, errNoMemory)
	}
	c.skipMessage(f, len(held), errNoMemory)
	return nil
}

var errNoMemory = sqlstate.New(sqlstate.OutOfMemory, "Out of memory for a long packet; send shorter statements, or raise limits.memory in the configuration")

// fatal sends an error that ends the connection, and returns it.
func (c *conn) fatal(out *wire.Out, err error) error {
	out.B = c.appendError(out.B, err)
	return err
}

// denied sends an error that ends the connection and is in the log already: of a
// login, or of a limit on connections.
func (c *conn) denied(out *wire.Out, err error) error {
	_ = c.fatal(out, err)
	return wire.ErrClosed
}

// reported is the state of the session that was last sent to the client.
type reported struct {
	database   string
	autocommit bool
	status     uint16 // flags of the last packet of an answer
}

// Kinds of session state (enum_session_state_type).
const (
	trackVariable = 0
	trackSchema   = 1
)

// changes encodes the changes of the session's state since the last call
// ("OK_Packet", session state information). It returns nil if there are none or the
// client does not track them (CLIENT_SESSION_TRACK).
func (c *conn) changes() []byte {
	if !c.caps.has(clientSessionTrack) {
		return nil
	}
	var b []byte
	for _, p := range c.SQL.TakeParameters() {
		b = appendChange(b, trackVariable, p.Name, p.Value)
	}
	if a := c.SQL.Autocommit(); a != c.reported.autocommit {
		c.reported.autocommit = a
		b = appendChange(b, trackVariable, "autocommit", map[bool]string{true: "ON", false: "OFF"}[a])
	}
	if d := c.SQL.MySQL().Database; d != c.reported.database {
		c.reported.database = d
		b = appendChange(b, trackSchema, d)
	}
	return b
}

// appendChange appends one change of session state: its kind and its strings.
func appendChange(dst []byte, kind byte, words ...string) []byte {
	var data []byte
	for _, w := range words {
		data = appendString(data, w)
	}
	return appendString(append(dst, kind), data)
}

var (
	errInterrupted = sqlstate.New(sqlstate.QueryCanceled, "Query execution was interrupted")
	errKilled      = sqlstate.New(sqlstate.ProtocolViolation, "Connection was killed").WithMySQL(1927, "70100")
)

// Kill implements sqlfuncs.Killer: the statement KILL of this session. If it names
// its own connection, Kill returns the statement's error; errKilled ends the
// connection.
func (c *conn) Kill(id int64, queryOnly bool) error {
	switch {
	case id != int64(c.Conn.ID):
		if c.SQL.EndOther(id, queryOnly) {
			return nil
		}
		return sqlstate.New(sqlstate.UndefinedObject, "Unknown thread id: %d", id).WithMySQL(1094, "HY000")
	case queryOnly:
		return errInterrupted
	}
	return errKilled
}

// End implements sqlfuncs.Connection: KILL by another session. Any goroutine may
// call it.
func (c *conn) End(queryOnly bool) { c.EndBy(queryOnly, errInterrupted, errKilled) }

// Refuse implements wire.Machine.
func (c *conn) Refuse(out *wire.Out, why wire.Reason) {
	if c.state == ready {
		c.seq = 0
	}
	_ = c.fatal(out, refusals[why]) // the connection ends anyway
}

var (
	errTimeout = sqlstate.New(sqlstate.QueryCanceled, "Got timeout reading communication packets").WithMySQL(1159, "08S01")

	refusals = map[wire.Reason]error{ // others: an internal error
		wire.Shutdown: sqlstate.New(sqlstate.AdminShutdown, "Server shutdown in progress"),
		wire.TooMany:  sqlstate.New(sqlstate.TooManyConnections, "Too many connections").WithHint("Use a connection pool, or raise the limits in the configuration."),
		wire.HungUp:   errKilled,
		wire.Slow:     errTimeout,
		wire.Idle:     sqlstate.New(sqlstate.IdleSession, "The client was disconnected by the server because of inactivity"),
		wire.Silent:   errTimeout,
	}
)

// Close implements wire.Machine.
func (c *conn) Close() {
	c.Statement.Close()
	if c.SQL != nil {
		c.closeSession()
	}
}
