package mysqlwire

import (
	"context"
	"errors"
	"net"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// state is where a connection stands.
type state uint8

const (
	silent      state = iota // before the greeting
	greeted                  // the client says who it is
	identifying              // the client proves who it is
	ready                    // commands are served
)

// conn is the protocol's side of one connection: a wire.Machine.
type conn struct {
	protocol *protocol
	info     *wire.Conn

	state   state
	seq     byte // sequence number of the next packet, the client's or ours
	caps    capability
	nonce   [nonceSize]byte
	login   *login // while identifying
	user    string
	session *sqlfuncs.Session
	out     *wire.Out

	text    string // of the statement that ran last the slow way, for the log
	more    uint16 // statusMoreResults while another result follows
	told    told
	skipped skipping // an over-long command

	statements map[uint32]*statement // prepared
	newest     uint32                // id given last
	lastID     uint32                // what lastPrepared stands for
	cursors    int                   // open
	longBytes  int                   // of the statements' long data
	args       []sqlfuncs.Arg        // of the execution being read, storage reused
	scratch    []byte                // texts of args, storage reused

	statement wire.Statement // the context of the one that runs
}

var _ wire.Machine = (*conn)(nil)

// Feed implements wire.Machine.
func (c *conn) Feed(ctx context.Context, in []byte, out *wire.Out) (consumed int, err error) {
	c.out = out
	if c.state == silent {
		c.greet(out)
	}
	served := int64(0)
	for consumed < len(in) {
		login := c.session == nil
		n, commands, err := c.feedOne(ctx, in[consumed:], out)
		consumed += n
		served += int64(commands)
		if errors.Is(err, errStop) {
			return consumed, nil
		}
		if err != nil {
			return consumed, err
		}
		if n == 0 && (!c.skipped.on || c.skipped.left == 0) {
			break // the next header or message has not arrived whole
		}
		if login && c.session != nil {
			break
		}
	}
	if served > 0 {
		c.protocol.commands.Add(served)
		c.info.Served(served)
	}
	return consumed, nil
}

// feedOne serves the first message of in, and copies of it that follow; 0 bytes
// while it has not arrived whole.
func (c *conn) feedOne(ctx context.Context, in []byte, out *wire.Out) (n, commands int, err error) {
	if c.skipped.on {
		n, err = c.skip(in)
		return n, 0, err
	}
	limit := c.commandLimit
	if c.state != ready {
		limit = loginLimit
	} else {
		c.seq = 0
	}
	f, ok, err := readFrame(in, c.seq, limit)
	switch {
	case err != nil:
		return 0, 0, c.fatal(out, err)
	case !ok:
		c.info.Expect(f.size)
		return 0, 0, nil
	case f.tooLong && c.state != ready:
		return 0, 0, c.fatal(out, errTooLong)
	}
	c.seq = f.next
	if f.tooLong && !hasAnswer(in[headerSize]) {
		return 0, 0, c.fatal(out, errTooLong)
	}
	if f.tooLong {
		c.skipMessage(f, 0, errTooLong)
		return 0, 0, nil
	}
	switch c.state {
	case greeted:
		err = c.introduce(ctx, f.payload, out)
	case identifying:
		err = c.answer(ctx, f.payload, out)
	default:
		err = c.command(ctx, f.payload, out)
		commands = 1
		if len(f.payload) > 0 && f.payload[0] == comQuery && err == nil {
			commands += c.sameQueries(f.payload[1:], wire.Repeats(in, f.size), out)
			return commands * f.size, commands, out.Room()
		}
	}
	return f.size, commands, err
}

// loginLimit is how long a packet of a login may be.
func loginLimit(byte) int { return maxHandshake }

// answerError sends the error of a command. That of a statement which the
// server's end cut off is the last word.
func (c *conn) answerError(out *wire.Out, err error) error {
	if broken := out.Err(); broken != nil {
		return broken // not the command's fault, and nobody listens
	}
	if errors.Is(err, wire.ErrShutdown) || errors.Is(err, wire.ErrLost) || errors.Is(err, errKilled) {
		return c.fatal(out, err)
	}
	var e *sqlstate.Error
	if !errors.As(err, &e) || e.Code == sqlstate.Internal {
		cause := err
		if e != nil && e.Cause != nil {
			cause = e.Cause
		}
		c.protocol.log.Error("internal error", "connection", c.info.ID, "error", cause,
			"statement", cutText(c.text, c.protocol.limits.LogText))
	}
	out.B = c.appendError(out.B, err)
	return out.Room()
}

// Drop implements wire.Machine.
func (c *conn) Drop(held []byte, out *wire.Out) error {
	f, _, err := readFrame(held, 0, c.commandLimit)
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

// denied is fatal for an error that the log has already: of a login, or for lack of
// places.
func (c *conn) denied(out *wire.Out, err error) error {
	_ = c.fatal(out, err)
	return wire.ErrClosed
}

// host is the client's address without the port, for messages.
func (c *conn) host() string {
	host, _, err := net.SplitHostPort(c.info.Remote)
	if err != nil {
		return "localhost" // a Unix socket
	}
	return host
}

// told is the session state that the client was told last.
type told struct {
	database   string
	autocommit bool
}

// Kinds of session state (enum_session_state_type).
const (
	trackVariable = 0
	trackSchema   = 1
)

// changes encodes what of the session's state has changed since the client
// was told, nil when nothing has or the client does not want to know.
func (c *conn) changes() []byte {
	if !c.caps.has(clientSessionTrack) {
		return nil
	}
	var b []byte
	for _, p := range c.session.TakeParameters() {
		b = appendChange(b, trackVariable, p.Name, p.Value)
	}
	if a := c.session.Autocommit(); a != c.told.autocommit {
		c.told.autocommit = a
		b = appendChange(b, trackVariable, "autocommit", map[bool]string{true: "ON", false: "OFF"}[a])
	}
	if d := c.session.Database(); d != c.told.database {
		c.told.database = d
		b = appendChange(b, trackSchema, d)
	}
	return b
}

// appendChange appends one change of session state.
func appendChange(dst []byte, kind byte, words ...string) []byte {
	var data []byte
	for _, w := range words {
		data = appendString(data, w)
	}
	return appendString(append(dst, kind), data)
}

// beginStatement returns the context of a statement that may wait: KILL, its timeout or
// the end of the server ends it. The caller ends c.statement.
func (c *conn) beginStatement(ctx context.Context, st *sqlfuncs.Statement) context.Context {
	c.text = st.Text
	if st.OwnTimeout() {
		return c.statement.Begin(ctx, 0, nil)
	}
	timeout, overdue := c.session.StatementTimeout()
	return c.statement.Begin(ctx, timeout, overdue)
}

// read waits for a CPU slot before a text is parsed that takes long. Both can be
// stopped as a statement can, until haveRead.
func (c *conn) read(ctx context.Context, text []byte) error {
	if len(text) < sqlfuncs.LongText {
		return nil
	}
	timeout, overdue := c.session.StatementTimeout()
	err := c.session.ReadLong(c.statement.Begin(ctx, timeout, overdue))
	if err != nil {
		c.statement.Unread()
	}
	return err
}

// haveRead is the end of what read began. The statement may have run since.
func (c *conn) haveRead(text []byte) {
	if len(text) >= sqlfuncs.LongText {
		c.statement.Unread()
	}
}

// IdleTimeout implements wire.Machine.
func (c *conn) IdleTimeout() time.Duration {
	switch {
	case c.session == nil:
		return 0
	case c.session.Status() == 'I':
		return c.protocol.limits.IdleOf(c.session.IdleTimeout())
	}
	return c.protocol.limits.IdleInTransaction
}

// Lost implements wire.Machine.
func (c *conn) Lost() { c.statement.Lose(wire.ErrLost) }

// Busy implements wire.Machine.
func (c *conn) Busy() bool { return c.session != nil && c.session.Status() != 'I' }

// Refuse implements wire.Machine.
func (c *conn) Refuse(out *wire.Out, why wire.Reason) {
	var err error
	switch why {
	case wire.Shutdown:
		err = sqlstate.New(sqlstate.AdminShutdown, "Server shutdown in progress")
	case wire.NoRoom:
		err = sqlstate.New(sqlstate.TooManyConnections, "Too many connections").WithHint("Use a connection pool, or raise the limits in the configuration.")
	case wire.Slow:
		err = sqlstate.New(sqlstate.QueryCanceled, "Got timeout reading communication packets").WithMySQL(1159, "08S01")
	case wire.Idle:
		err = sqlstate.New(sqlstate.IdleSession, "The client was disconnected by the server because of inactivity")
	case wire.HungUp:
		err = errKilled
	default:
		err = errInternal
	}
	if c.state == ready {
		c.seq = 0
	}
	_ = c.fatal(out, err) // the connection ends anyway
}

// Rest implements wire.Machine.
func (c *conn) Rest() {
	if c.session != nil {
		c.session.Rest()
	}
}

// Memory implements wire.Machine.
func (c *conn) Memory() *account.Session {
	if c.session == nil {
		return nil
	}
	return c.session.Memory()
}

// Close implements wire.Machine.
func (c *conn) Close() {
	c.statement.Close()
	if c.session != nil {
		c.closeSession()
	}
}
