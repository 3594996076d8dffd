package sqlfuncs

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"nextid/generator"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/pgcatalog"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// SessionOptions describes the client's connection when its session begins.
type SessionOptions = engine.Client

// TLS describes the encryption of a session's connection.
type TLS = engine.TLS

// Column is one column of a result.
type Column = engine.Column

// Origin describes where a result column comes from.
type Origin = engine.Origin

// Notice is a notice or warning for the client.
type Notice = engine.Notice

// Session is the SQL state of one connection: settings, transaction block, prepared
// statements, portals, currval. One goroutine uses it at a time.
//
// Every method that returns an error leaves the session usable. A caller that sends
// the error to the client also calls Fail, which fails an open transaction block.
//
// Session implements engine.Host and the interfaces Session of ids, pgcatalog and
// mysql, for the statements that it runs.
type Session struct {
	server *Server
	*rules
	dialect   dialect
	envOK     bool // env is up to date with vars
	hasPortal bool // unnamedPo is open
	unsettled bool // a portal was opened since EndBatch

	// Copies of settings, like those below.
	autocommit bool        // false: the first id that is drawn begins a transaction
	mode       syntax.Mode // of the parser

	options SessionOptions
	present *atomic.Uint64 // generation of options.Rights, nil without them
	rights  uint64         // generation of those in options; 0: none
	started int64          // Unix time in ns

	vars    setting.Variables
	env     datum.Env
	notices []Notice
	raised  int // how many of notices the present statement or command has raised

	// Copies of settings, see SettingsChanged.
	encoding    string // of the client where only ASCII texts are accepted, else ""
	rowsAtMost  int64  // rows of a SELECT without LIMIT; -1: no limit
	cacheIndex  int    // index into Server.caches
	idle        time.Duration
	idleInBlock time.Duration
	timeout     time.Duration // of a statement

	tx transaction

	Fast FastPath

	prepared  map[string]*Statement
	unnamed   *Statement
	portals   map[string]*Portal
	unnamedPo *Portal // storage of the unnamed portal, reused; nil before the first
	opened    int64   // number of portals opened so far
	bytes     int     // size of prepared texts and bound values, see Limits.PreparedBytes
	memory    account.Session
	cpu       engine.CPUSlot
	done      engine.Effort   // work since the server last waited for the client
	planning  int64           // bytes drawn from memory for the last parsed text
	reading   context.Context // cancels the parsing of a long text, see ReadLong; else nil

	connection Connection // nil: none; set under sessionSet.mu

	mysql mysql.State

	// Other sessions read the fields below.
	appName atomic.Pointer[string] // application_name; nil: ""
	asleep  atomic.Pointer[string] // text of a statement in pg_sleep; nil: none
}

// NewSession starts a session. Bad start-up settings are errors (22023 or 42704), and
// so is a user that has lost access since its login (57P01).
func (s *Server) NewSession(o SessionOptions) (*Session, error) {
	d := s.dialects[o.Dialect]
	own, err := d.settings(&o)
	if err != nil {
		return nil, err
	}
	o.Settings = nil // own has them now
	session := &Session{
		server: s, rules: d.rules(), dialect: d, options: o, started: s.now().UnixNano(), cpu: s.cpus.Slot(), memory: s.memory.Open(o.User),
		mysql: mysql.State{Database: o.Database},
	}
	session.Fast.session = session
	if o.Rights != nil {
		session.present = o.Rights.Generation()
	}
	session.vars = setting.NewVariables(session.definitions, s.defaults[o.Dialect], own)
	session.SettingsChanged()
	if err := session.renew(); err != nil { // here, so that the first statement can take the fast path
		session.memory.Close()
		return nil, err
	}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.all[session] = struct{}{}
	return session, nil
}

// Close ends the session. It closes the portals and returns the session's memory.
func (s *Session) Close() {
	s.Rest()
	s.closePortals(func(*Portal) bool { return true })
	s.memory.Close()
	s.server.sessions.mu.Lock()
	defer s.server.sessions.mu.Unlock()
	delete(s.server.sessions.all, s)
}

// SettingsChanged updates what depends on s.vars. Call it after each change.
//
// How a text is parsed depends on settings: which characters are quotes, whether a
// backslash escapes, where a character ends. A client that writes values into its
// texts escapes them for the settings that it assumes. If the server parsed
// differently, a value could end its own quotes (SQL injection). So each of these
// settings is obeyed and reported to the client, or refused. TestReading checks them
// all.
func (s *Session) SettingsChanged() {
	s.envOK = false
	var appName *string
	if name, _ := s.vars.Get("application_name"); name != "" {
		appName = &name
	}
	s.appName.Store(appName)
	index, encoding := s.dialect.follow(s)
	s.encoding = ""
	if wideEncodings[encoding] != "" {
		s.encoding, index = encoding, cacheNone
	}
	if index != s.cacheIndex || index == cacheNone {
		s.cacheIndex, s.Fast.cached = index, nil
	}
}

// wideEncodings maps multi-byte encodings other than UTF-8 to the name of UTF-8 in
// their dialect. In such an encoding, the second byte of a character may be a quote or
// a backslash of ASCII. Only ASCII texts are the same in all encodings, so other texts
// are refused.
var wideEncodings = map[string]string{
	"big5": "utf8mb4", "cp932": "utf8mb4", "eucjpms": "utf8mb4", "euckr": "utf8mb4", "gb18030": "utf8mb4", "gb2312": "utf8mb4",
	"gbk": "utf8mb4", "sjis": "utf8mb4", "ujis": "utf8mb4",
	"EUC_CN": "UTF8", "EUC_JIS_2004": "UTF8", "EUC_JP": "UTF8", "EUC_KR": "UTF8", "EUC_TW": "UTF8", "MULE_INTERNAL": "UTF8",
}

// readable returns an error for a text whose meaning depends on the client's
// encoding.
func (s *Session) readable(text string) error {
	if s.encoding == "" || !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	name := wideEncodings[s.encoding]
	return sqlstate.New(sqlstate.CharacterNotInRepert, "nextid reads only ASCII in %s", s.encoding).
		WithHint("Connect with the character set %s, or SET NAMES '%s'.", name, name)
}

// maxNotices limits the notices that are kept for the client (@@max_error_count).
const maxNotices = 64

func (s *Session) note(level string, e *sqlstate.Error) {
	if s.diagnostics && s.raised == 0 { // those of an earlier statement
		s.notices = nil
	}
	if len(s.notices) < maxNotices {
		s.notices = append(s.notices, Notice{Severity: level, Error: e})
		s.raised++
	}
}

// Warn implements engine.Host.
func (s *Session) Warn(e *sqlstate.Error) { s.note(engine.LevelWarning, e) }

// Notice implements engine.Host.
func (s *Session) Notice(message string) {
	s.note(engine.LevelNotice, sqlstate.New(sqlstate.Success, "%s", message))
}

// noteError adds an error to the rows of SHOW WARNINGS.
func (s *Session) noteError(err error) {
	if e, ok := errors.AsType[*sqlstate.Error](err); ok && s.diagnostics {
		s.note(engine.LevelError, e)
	}
}

// refused notes an error that came before execution.
func (s *Session) refused(err error) error {
	s.raised = 0
	s.noteError(err)
	return err
}

// Notices implements mysql.Session.
func (s *Session) Notices() []Notice { return s.notices }

// Raised returns the number of notices of the present statement or command. With
// diagnostics, Notices holds those of an earlier statement while it is 0.
func (s *Session) Raised() int { return s.raised }

// TakeNotices returns the notices since the last call, usually nil.
func (s *Session) TakeNotices() []Notice {
	n := s.notices
	s.notices = nil
	return n
}

// Parameter is a setting that is reported to the client (ParameterStatus).
type Parameter struct{ Name, Value string }

// Parameters returns the settings to report at the start, in a fixed order.
//
// It makes no slice: the garbage of logins would lie between the sessions.
func (s *Session) Parameters() iter.Seq[Parameter] {
	s.vars.TakeChanged()
	return func(yield func(Parameter) bool) {
		for _, key := range setting.Reported {
			if !yield(s.parameter(key)) {
				return
			}
		}
	}
}

// TakeParameters returns the reported settings that changed since the last call,
// usually nil.
func (s *Session) TakeParameters() (out []Parameter) {
	for _, key := range s.vars.TakeChanged() {
		out = append(out, s.parameter(key))
	}
	return out
}

func (s *Session) parameter(key string) Parameter {
	value, _ := s.vars.Get(key)
	return Parameter{setting.PostgreSQL[key].Name, value}
}

// Env returns the settings on which text forms of values depend. It is valid until
// the next statement.
func (s *Session) Env() *datum.Env {
	s.env.Worker = nil
	if !s.envOK {
		s.env, s.envOK = s.dialect.env(s), true
	}
	return &s.env
}

// StatementTimeout returns the time limit of a statement (0: none) and the error
// for exceeding it. st is nil for a text that is not analysed yet.
func (s *Session) StatementTimeout(st *Statement) (time.Duration, error) {
	if st != nil && st.limits.Time != nil {
		return *st.limits.Time, s.overdue
	}
	return s.timeout, s.overdue
}

// StatementContext derives the context of a statement from the connection's. It
// ends at the statement's timeout.
func (s *Session) StatementContext(ctx context.Context, st *Statement) (context.Context, context.CancelFunc) {
	if d, overdue := s.StatementTimeout(st); d > 0 {
		return context.WithTimeoutCause(ctx, d, overdue)
	}
	return context.WithCancel(ctx)
}

// selectLimit returns the largest number of rows of a statement, -1 for no limit. A
// LIMIT in the statement takes precedence.
func (s *Session) selectLimit(st *Statement) int64 {
	switch {
	case !st.allRows:
		return -1
	case st.limits.Rows != nil:
		return *st.limits.Rows
	}
	return s.rowsAtMost
}

// IdleTimeout returns how long the client may be idle outside a transaction:
// idle_session_timeout (MySQL: wait_timeout); 0: no limit.
func (s *Session) IdleTimeout() time.Duration { return s.idle }

// IdleInTransactionTimeout returns idle_in_transaction_session_timeout; 0: no
// limit.
func (s *Session) IdleInTransactionTimeout() time.Duration { return s.idleInBlock }

// Memory returns the session's memory account. Only the session's goroutine uses
// it.
func (s *Session) Memory() *account.Session { return &s.memory }

// Connection is the protocol's connection as the session calls it.
type Connection interface {
	// Waits is called before a statement waits for a tick, the store or a timer.
	// The connection sends the answers so far.
	Waits()

	// End closes the connection, or cancels only its statement. Any goroutine may
	// call it: for administrators, and when a user is removed. It must not wait.
	End(queryOnly bool)
}

// Killer is a Connection that executes KILL: it closes the connection id or cancels
// only its statement.
type Killer interface {
	Kill(id int64, queryOnly bool) error
}

// Serve sets the connection that the session serves.
func (s *Session) Serve(c Connection) {
	s.server.sessions.mu.Lock()
	defer s.server.sessions.mu.Unlock()
	s.connection = c
}

// Rest releases the CPU slot of a long statement and resets the count of work. The
// protocol calls it before it waits for its client.
func (s *Session) Rest() {
	s.cpu.Release()
	s.done = engine.Effort{}
}

// LongText is the size in bytes from which a text takes about a millisecond to
// parse and plan.
const LongText = 16 << 10

// ReadLong acquires a CPU slot before a text of LongText bytes or more is parsed.
// The end of ctx cancels the parsing of the next text and the planning of its first
// statement.
func (s *Session) ReadLong(ctx context.Context) error {
	if err := s.Long(ctx); err != nil {
		return clientError(ctx, err)
	}
	s.reading = ctx
	return nil
}

// The methods below implement engine.Host.

var (
	_ ids.Session       = (*Session)(nil)
	_ pgcatalog.Session = (*Session)(nil)
	_ mysql.Session     = (*Session)(nil)
)

// sessionOf returns the session of an execution.
func sessionOf(x *engine.Exec) *Session { return x.Host.(*Session) }

// plannedFor returns the session of a planner.
func plannedFor(p *engine.Planner) *Session { return p.Host.(*Session) }

// portalOf returns the portal of an execution, or nil.
func portalOf(x *engine.Exec) *Portal {
	p, _ := x.Caller.(*Portal)
	return p
}

// Now returns the time of the server's clock.
func (s *Session) Now() time.Time { return s.server.now() }

// Client returns the description of the session's connection.
func (s *Session) Client() *engine.Client { return &s.options }

// Settings returns the session's settings.
func (s *Session) Settings() *setting.Variables { return &s.vars }

// Registry returns the generators of the server.
func (s *Session) Registry() *generator.Registry { return s.server.registry }

// Catalog returns the functions and tables of the server.
func (s *Session) Catalog() *engine.Catalog { return s.server.catalog }

// Version returns nextid's version.
func (s *Session) Version() string { return s.server.version }

// Started returns the time when the server started.
func (s *Session) Started() time.Time { return s.server.started }

// Planned counts n bytes that the tree or the plan of the last text will hold.
func (s *Session) Planned(n int) error {
	if err := s.memory.Draw(int64(n)); err != nil {
		return err
	}
	s.planning += int64(n)
	return nil
}

// MayPlan returns an error once the parsing of a long text is cancelled.
func (s *Session) MayPlan() error {
	if s.reading == nil || s.reading.Err() == nil {
		return nil
	}
	return clientError(s.reading, s.reading.Err())
}

// Table returns the table that a statement names.
func (s *Session) Table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	return s.dialect.table(p, name)
}

// Waits releases the CPU slot and lets the connection send the answers so far. It is
// called before something that may take long.
func (s *Session) Waits() {
	s.cpu.Release()
	if s.connection != nil {
		s.connection.Waits()
	}
}

// Aside lets another goroutine serve the connections that share the event loop. A
// session that holds a CPU slot has handed over the event loop before, in Long.
func (s *Session) Aside() {
	if !s.cpu.Held() {
		s.Waits()
		runtime.Gosched() // let the waiting connections run first
	}
}

// Long acquires the CPU slot of a long statement. Before, it sends the answers so far
// and lets another goroutine serve the connections that share the event loop.
func (s *Session) Long(ctx context.Context) error {
	if !s.cpu.Held() {
		s.Waits()
	}
	return s.cpu.Acquire(ctx)
}

// TransactionTime returns the start of the transaction or, outside a block, of the
// statement.
func (s *Session) TransactionTime(x *engine.Exec) time.Time {
	if s.tx.state != txIdle {
		return s.tx.began
	}
	return x.Started
}

// Sleep waits for d. Other sessions see the statement while it sleeps.
func (s *Session) Sleep(x *engine.Exec, d time.Duration) error {
	s.Waits()
	if p := portalOf(x); p != nil {
		s.asleep.Store(&p.st.Text)
		defer s.asleep.Store(nil)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.Ctx.Done():
		return x.Ctx.Err()
	}
}

// The methods below implement the interfaces Session of ids, pgcatalog and mysql.

// IDServer returns what the functions of ids share.
func (s *Session) IDServer() *ids.Server { return s.server.ids }

// Drawn returns what the session has drawn.
func (s *Session) Drawn() *ids.Drawn { return &s.Fast.drawn }

// System returns the system catalogs of the server.
func (s *Session) System() *pgcatalog.System { return s.server.system }

// MySQL returns the state that only sessions in MySQL's dialect have.
func (s *Session) MySQL() *mysql.State { return &s.mysql }

// InTransaction reports whether a transaction block is open.
func (s *Session) InTransaction() bool { return s.tx.state != txIdle }

// PreparedCount returns the number of prepared statements.
func (s *Session) PreparedCount() int { return len(s.prepared) }

// errEnded is returned to a session whose user lost access (57P01).
var errEnded = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command").
	WithDetail("The user was removed, or has another password.")

// renew updates the session's rights if rights may have changed. It is called before
// each statement. An error ends the session: the user was removed, or has
// another password.
func (s *Session) renew() error {
	if s.upToDate() {
		return nil
	}
	generation := s.present.Load() // before Now, so that the next statement sees a change in between
	admin, generators, ok := s.options.Rights.Now()
	if !ok {
		if s.connection != nil {
			s.connection.End(false)
		}
		return errEnded
	}
	s.rights, s.options.Generators = generation, generators
	if admin == s.options.Admin {
		return nil
	}
	s.server.sessions.mu.Lock()
	s.options.Admin = admin
	s.server.sessions.mu.Unlock()
	s.vars.Begin(setting.Own{Key: isSuperuser, Value: onOff[admin]})
	return nil
}
