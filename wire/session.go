package wire

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Protocol configures a server of one of the SQL protocols, with logins of type E. SQL
// is required: it returns nil while the server waits for its store, and clients then
// get ErrStarting.
type Protocol[E any] struct {
	SQL    func() *sqlfuncs.Server
	TLS    *TLS // nil: plaintext only
	Limits Limits
	Logger *slog.Logger // nil: slog.Default()

	// Auth begins the login of a user. It must treat unknown users like known ones,
	// so that a client cannot find out which users exist. It must be safe for
	// concurrent use. nil: no proof is needed, and every user is an administrator.
	Auth func(user string, c *Conn) E
}

// ErrStarting is sent to clients that connect before there is a store.
var ErrStarting error = sqlstate.New(sqlstate.CannotConnectNow, "the server is starting: it waits for its store").
	WithHint("Connect to another nextid server, or try again.")

// Server returns a server for machines, and fills in the zero fields of p. For alpn
// see Server.ALPN.
func (p *Protocol[E]) Server(alpn string, machine func(c *Conn) Machine) *Server {
	p.Limits, p.Logger = p.Limits.WithDefaults(), cmp.Or(p.Logger, slog.Default())
	return &Server{NewMachine: machine, Limits: p.Limits, Logger: p.Logger, TLS: p.TLS, ALPN: alpn}
}

// Session is the part of a Machine that both protocols have in common: the SQL
// session of the client, and the statement that it runs. The goroutine that serves
// the connection owns it. Any goroutine may call Lost and Statement.Interrupt.
type Session struct {
	SQL       *sqlfuncs.Session // nil before the login
	Conn      *Conn
	Out       *Out
	Statement Statement // context of the running statement
	Text      string    // of the statement that the slow path ran last, for the log
	SlowRan   bool      // the slow path has run since the client was last told the status

	ran  bool          // the slow path has run since IdleTimeout
	idle time.Duration // result of IdleTimeout while ran is false
}

// Options returns options of the client's session. They grant Admin; a login with a
// proof overwrites that.
func (c *Conn) Options(d syntax.Dialect) sqlfuncs.SessionOptions {
	o := sqlfuncs.SessionOptions{Dialect: d, Admin: true, PID: c.ID, RemoteAddr: c.Remote}
	if c.TLS != nil {
		o.TLS = &c.TLS.Shown
	}
	return o
}

// Open opens the SQL session of a client that has logged in, or that is now another
// user. self is the connection of the session.
func (s *Session) Open(sql *sqlfuncs.Server, o sqlfuncs.SessionOptions, self sqlfuncs.Connection, log *slog.Logger, limits *Limits) (err error) {
	if s.SQL, err = sql.NewSession(o); err != nil {
		return err
	}
	log.Debug("logged in", "connection", s.Conn.ID, "remote", s.Conn.Remote,
		"user", sqlstate.Cut(o.User, limits.LogName), "database", sqlstate.Cut(o.Database, limits.LogName))
	s.SQL.Serve(self)
	if s.Conn.server != nil {
		s.Statement.Took = s.Conn.server.Took
	}
	s.SettingsChanged()
	return nil
}

// SettingsChanged notes that the settings of SQL have changed without a statement.
func (s *Session) SettingsChanged() { s.ran = true }

// RunText parses a text and calls run for its statements one after another, up to
// the first error. more: another statement follows. ran is false if there are none.
// A text with a syntax error may run no statement, see sqlfuncs.Session.Simple.
func (s *Session) RunText(ctx context.Context, text []byte, run func(st *sqlfuncs.Statement, more bool) error) (ran bool, err error) {
	if err := s.beginText(ctx, text); err != nil {
		return false, err
	}
	defer s.endText(text)
	batch, err := s.SQL.Simple(text)
	for err == nil {
		var st *sqlfuncs.Statement
		if st, err = batch.Next(); st == nil || err != nil {
			break
		}
		ran = true
		err = run(st, batch.More())
	}
	return ran, err
}

// Prepare parses the text of a prepared statement.
func (s *Session) Prepare(ctx context.Context, name string, text []byte, types []datum.OID) (*sqlfuncs.Statement, error) {
	if err := s.beginText(ctx, text); err != nil {
		return nil, err
	}
	defer s.endText(text)
	return s.SQL.Prepare(name, string(text), types)
}

// beginText waits for a CPU slot before a long text is parsed. The wait and the
// parsing end like a statement: by the statement timeout or by an interrupt. Without
// an error the caller must call endText.
func (s *Session) beginText(ctx context.Context, text []byte) error {
	if len(text) < sqlfuncs.LongText {
		return nil
	}
	s.ran = true
	timeout, overdue := s.SQL.StatementTimeout(nil)
	err := s.SQL.ReadLong(s.Statement.Begin(ctx, timeout, overdue))
	if err != nil {
		s.Statement.Unread()
	}
	return err
}

// endText ends the parsing of a text. A statement may have run since beginText.
func (s *Session) endText(text []byte) {
	if len(text) >= sqlfuncs.LongText {
		s.Statement.Unread()
	}
}

// BeginStatement returns the context of a statement that the slow path runs. The
// caller must call Statement.End. The protocol resets SlowRan, and until then does not
// use the fast path.
func (s *Session) BeginStatement(ctx context.Context, st *sqlfuncs.Statement) context.Context {
	s.ran, s.SlowRan, s.Text = true, true, st.Text
	timeout, overdue := s.SQL.StatementTimeout(st)
	return s.Statement.Begin(ctx, timeout, overdue)
}

// errInternal is sent for an error that is a bug of the server.
var errInternal = sqlstate.New(sqlstate.Internal, "internal error").WithHint("The server's log has the details.")

// ErrorFor returns the error that a client gets for err. The text of an error
// without a SQLSTATE is for the log only.
func ErrorFor(err error) *sqlstate.Error {
	if e, ok := errors.AsType[*sqlstate.Error](err); ok {
		return e
	}
	return errInternal
}

// LogInternal logs an error that is a bug of the server: it has no SQLSTATE, or that
// of internal errors (XX000).
func (s *Session) LogInternal(log *slog.Logger, limits *Limits, err error) {
	e, ok := errors.AsType[*sqlstate.Error](err)
	if ok && e.Code != sqlstate.Internal {
		return
	}
	if ok && e.Cause != nil {
		err = e.Cause
	}
	log.Error("internal error", "connection", s.Conn.ID, "error", err, "statement", sqlstate.Cut(s.Text, limits.LogText))
}

// Waits implements sqlfuncs.Connection.
func (s *Session) Waits() {
	_ = s.Out.Flush() // a broken connection shows at the next flush
	s.Conn.Wait()
}

// EndBy ends the running statement with query, or with connection, and then the
// connection. Any goroutine may call it.
func (s *Session) EndBy(queryOnly bool, query, connection error) {
	if queryOnly {
		s.Statement.Interrupt(query)
		return
	}
	s.Statement.Interrupt(connection)
	s.Conn.HangUp()
}

// IdleTimeout implements Machine.
func (s *Session) IdleTimeout() time.Duration {
	if !s.ran {
		return s.idle
	}
	s.ran = false
	if s.idle = s.SQL.IdleTimeout(); s.SQL.Status() != 'I' {
		s.idle = s.SQL.IdleInTransactionTimeout()
	}
	return s.idle
}

// Lost implements Machine.
func (s *Session) Lost() { s.Statement.Lose(ErrLost) }

// Busy implements Machine.
func (s *Session) Busy() bool { return s.SQL != nil && s.SQL.Status() != 'I' }

// Rest implements Machine. The fast path holds nothing.
func (s *Session) Rest() {
	if s.ran && s.SQL != nil {
		s.SQL.Rest()
	}
}

// Memory implements Machine.
func (s *Session) Memory() *account.Session {
	if s.SQL == nil {
		return nil
	}
	return s.SQL.Memory()
}
