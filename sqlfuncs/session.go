package sqlfuncs

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// SessionOptions describes the client's connection when its session begins.
type SessionOptions = engine.Client

// TLS describes the encryption of a session's connection.
type TLS = engine.TLS

// Session is the SQL state of one connection: settings, transaction block, prepared
// statements, portals, currval. One goroutine uses it at a time.
//
// Every method that returns an error leaves the session usable. A caller that sends
// the error to the client also calls Fail, which fails an open transaction block.
type Session struct {
	server    *Server
	dialect   syntax.Dialect
	envOK     bool // env is up to date with vars
	hasPortal bool // unnamedPo is open
	unsettled bool // a portal was opened since EndBatch
	asciiOnly bool // only ASCII texts are accepted, see followReading
	options   SessionOptions
	rights    uint64 // generation of options.Rights in options; 0: none
	started   time.Time

	vars    setting.Variables
	env     datum.Env
	notices []Notice

	tx transaction

	Fast FastPath

	prepared  map[string]prepared
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

	idle, timeout time.Duration // see IdleTimeout and StatementTimeout

	connection Connection // nil: none; set under sessionSet.mu

	mysql      mysql.State
	cacheIndex int // index into Server.caches

	// Other sessions read the fields below.
	appName atomic.Pointer[string] // application_name; nil: ""
	asleep  atomic.Pointer[string] // text of a statement in pg_sleep; nil: none
}

// maxStartupSettings limits the settings in a start-up packet.
const maxStartupSettings = 64

// NewSession starts a session. Bad start-up settings are errors (22023 or 42704).
func (s *Server) NewSession(o SessionOptions) (*Session, error) {
	session := &Session{memory: s.memory.Open(o.User)}
	if err := s.begin(session, o); err != nil {
		session.memory.Close()
		return nil, err
	}
	return session, nil
}

// begin fills in a new session. PostgreSQL's clients that name no database mean the
// one with the user's name (PostgreSQL documentation, StartupMessage).
func (s *Server) begin(session *Session, o SessionOptions) error {
	if o.Database == "" && o.Dialect == syntax.PostgreSQL {
		o.Database = o.User
	}
	session.Fast.session = session
	session.server, session.dialect, session.options, session.started, session.cpu = s, o.Dialect, o, s.now(), s.cpus.Slot()
	if o.Dialect == syntax.MySQL {
		return session.initMySQL()
	}
	if len(o.Settings) > maxStartupSettings {
		return sqlstate.New(sqlstate.LimitExceeded, "too many start-up parameters")
	}
	own := make([]setting.Own, 0, 2+len(o.Settings)) // exact capacity: it lives as long as the session
	own = append(own, setting.Own{Key: "session_authorization", Value: o.User}, setting.Own{Key: isSuperuser, Value: onOff(o.Admin)})
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		def, err := setting.Lookup(name)
		if err != nil {
			return err
		}
		value, err := def.Normalize(o.Settings[name])
		if err != nil {
			return err
		}
		own = append(own, setting.Own{Key: strings.ToLower(name), Value: value})
	}
	session.vars = setting.NewVariables(setting.PostgreSQL, s.parameters, own)
	session.options.Settings = nil // vars has them now
	session.mysql.Autocommit = true
	session.noteAppName()
	session.noteTimeouts()
	session.register()
	return nil
}

// postgresParameters returns the settings whose values the server determines.
func (s *Server) postgresParameters(configured map[string]string) map[string]string {
	parameters := map[string]string{"server_version": setting.PostgreSQL["server_version"].Default + " (nextid " + s.version + ")"}
	maps.Copy(parameters, configured)
	if d := s.limits.StatementTime; d > 0 {
		parameters["statement_timeout"], _ = setting.PostgreSQL["statement_timeout"].Normalize(strconv.FormatInt(d.Milliseconds(), 10)) // a number fits
	}
	return parameters
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

// Notice is a notice or warning for the client.
type Notice struct {
	Severity string // "NOTICE", "WARNING"
	Code     sqlstate.Code
	Message  string
}

// maxNotices limits the notices kept between two calls of TakeNotices.
const maxNotices = 100

// warn adds a warning for the client.
func (s *Session) warn(code sqlstate.Code, message string) {
	if s.dialect == syntax.MySQL {
		s.mysql.Warn("Warning", sqlstate.New(code, "%s", message))
		return
	}
	if len(s.notices) < maxNotices {
		s.notices = append(s.notices, Notice{Severity: "WARNING", Code: code, Message: message})
	}
}

// notice adds a notice for the client. In the MySQL dialect SHOW WARNINGS lists it
// as a note.
func (s *Session) notice(message string) {
	if s.dialect == syntax.MySQL {
		s.mysql.Warn("Note", sqlstate.New(sqlstate.Warning, "%s", message))
		return
	}
	if len(s.notices) < maxNotices {
		s.notices = append(s.notices, Notice{Severity: "NOTICE", Code: "00000", Message: message})
	}
}

// TakeNotices returns the notices since the last call, usually nil.
func (s *Session) TakeNotices() []Notice {
	n := s.notices
	s.notices = nil
	return n
}

// Parameter is a setting that is reported to the client (ParameterStatus).
type Parameter struct{ Name, Value string }

// Parameters returns the settings to report at the start, in a fixed order.
func (s *Session) Parameters() []Parameter {
	s.vars.TakeChanged()
	out := make([]Parameter, len(setting.Reported))
	for i, name := range setting.Reported {
		value, _ := s.vars.Get(strings.ToLower(name))
		out[i] = Parameter{name, value}
	}
	return out
}

// TakeParameters returns the reported settings that changed since the last call,
// usually nil.
func (s *Session) TakeParameters() []Parameter {
	changed := s.vars.TakeChanged()
	if len(changed) == 0 {
		return nil
	}
	out := make([]Parameter, len(changed))
	for i, key := range changed {
		value, _ := s.vars.Get(key)
		out[i] = Parameter{setting.PostgreSQL[key].Name, value}
	}
	return out
}

// settingsChanged updates what depends on s.vars. Call it after each change.
func (s *Session) settingsChanged() {
	s.envOK = false
	s.noteAppName()
	s.noteTimeouts()
	s.followReading()
}

// noteTimeouts copies the timeouts from the settings, since each message and
// statement needs them. MySQL's wait_timeout counts only once the client has set it;
// the protocol itself applies the configured timeout.
func (s *Session) noteTimeouts() {
	if s.dialect == syntax.PostgreSQL {
		s.idle, s.timeout = s.vars.Duration("idle_session_timeout"), s.vars.Duration("statement_timeout")
		return
	}
	s.idle, s.timeout = 0, s.maxStatementTime()
	now, _ := s.vars.Get("wait_timeout")
	if begins, _ := s.vars.Begins("wait_timeout"); now != begins {
		s.idle = s.timeLimit("wait_timeout", time.Second)
	}
}

// noteAppName publishes application_name to other sessions.
func (s *Session) noteAppName() {
	if name, _ := s.vars.Get("application_name"); name != "" {
		s.appName.Store(&name)
	} else {
		s.appName.Store(nil)
	}
}

// Env returns the settings on which text forms of values depend. It is valid until
// the next statement.
func (s *Session) Env() *datum.Env {
	s.env.Worker = nil
	if s.envOK {
		return &s.env
	}
	if s.dialect == syntax.MySQL {
		return s.envMySQL()
	}
	zone, _ := s.vars.Get("timezone")
	location, err := setting.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	bytea, _ := s.vars.Get("bytea_output")
	digits, _ := s.vars.Get("extra_float_digits")
	s.env = datum.Env{
		Location: location, ByteaEscape: bytea == "escape", ExtraFloatDigits: parseSmallInt(digits), Names: s.server.system,
	}
	s.envOK = true
	return &s.env
}

// parseSmallInt parses a setting's value as SQL does. It returns 0 for other texts.
func parseSmallInt(s string) int {
	v, err := datum.ParseText(datum.Int4, s, nil)
	if err != nil {
		return 0
	}
	return int(v.Int)
}

// StatementTimeout returns the time limit of a statement (0: none) and the error
// for exceeding it.
func (s *Session) StatementTimeout() (time.Duration, error) {
	if s.dialect == syntax.MySQL {
		return s.timeout, errMaxStatementTime
	}
	return s.timeout, errStatementTimeout
}

// StatementContext derives the context of a statement from the connection's. It
// ends at the statement's timeout.
func (s *Session) StatementContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if d, overdue := s.StatementTimeout(); d > 0 {
		return context.WithTimeoutCause(ctx, d, overdue)
	}
	return context.WithCancel(ctx)
}

// errStatementTimeout is the cause of a context that ended at statement_timeout.
var errStatementTimeout = sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to statement timeout")

// IdleTimeout returns how long the client may be idle outside a transaction:
// idle_session_timeout (MySQL: wait_timeout); 0: no limit.
func (s *Session) IdleTimeout() time.Duration { return s.idle }

// IdleInTransactionTimeout returns idle_in_transaction_session_timeout; 0: no
// limit.
func (s *Session) IdleInTransactionTimeout() time.Duration {
	if s.dialect == syntax.MySQL {
		return s.timeLimit("idle_transaction_timeout", time.Second)
	}
	return s.vars.Duration("idle_in_transaction_session_timeout")
}

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
	if err := s.AcquireCPU(ctx); err != nil {
		return err
	}
	s.reading = ctx
	return nil
}

// mayRead returns an error once the parsing of a long text is cancelled.
func (s *Session) mayRead() error {
	if s.reading == nil || s.reading.Err() == nil {
		return nil
	}
	return clientError(s.reading, s.reading.Err())
}

// AcquireCPU acquires a CPU slot for a long statement.
func (s *Session) AcquireCPU(ctx context.Context) error {
	if err := (host{s}).Long(ctx); err != nil {
		return clientError(ctx, err)
	}
	return nil
}

// waits releases the CPU slot and lets the connection send the answers so far. It is
// called before something that may take long.
func (s *Session) waits() {
	s.cpu.Release()
	if s.connection != nil {
		s.connection.Waits()
	}
}

// Batch holds the statements of one simple query. The zero Batch has none.
type Batch struct {
	session *Session
	single  *Statement
	text    string
	parsed  []syntax.Parsed
	script  syntax.Script // instead of parsed in the MySQL dialect
	next    int
}

// Simple starts a simple query. It does not keep text. In the PostgreSQL dialect it
// returns the syntax errors of the whole text, before anything runs. In the MySQL
// dialect each statement is parsed after the one before it has run.
func (s *Session) Simple(text []byte) (Batch, error) {
	if st := s.Fast.Cached(text); st != nil {
		return Batch{session: s, single: st}, nil
	}
	source := string(text)
	if s.dialect == syntax.MySQL {
		return s.script(source)
	}
	parsed, err := s.parse(source)
	if err != nil {
		s.reading = nil
		return Batch{}, s.refused(err)
	}
	return Batch{session: s, text: source, parsed: parsed}, nil
}

// Next analyses and returns the next statement, nil after the last. An empty text
// has none.
func (b *Batch) Next() (*Statement, error) {
	s := b.session
	if st := b.single; st != nil {
		b.single = nil
		return st, s.checkTransaction(st.exits)
	}
	if b.text == "" { // an empty text, or a cached statement, which Next has returned
		return nil, nil
	}
	defer func() { s.reading = nil }()
	p, found, err := b.read()
	if err != nil || !found {
		return nil, err
	}
	if err := s.checkTransaction(exitsTransaction(p.Statement)); err != nil {
		return nil, err
	}
	text := statementText(b.text, p)
	st, err := s.planSimple(p.Statement, text, b.text)
	if err != nil {
		return nil, s.refused(err)
	}
	if b.next == 1 && !b.More() && st.shared {
		st.Text = b.text // the key is the text as sent
		s.cache().offer(b.text, st)
	}
	return st, nil
}

// More reports whether Next has another statement.
func (b *Batch) More() bool { return b.single != nil || b.next < len(b.parsed) || b.script.More() }

// read returns the next statement's tree. In the MySQL dialect it parses it now.
func (b *Batch) read() (p syntax.Parsed, found bool, err error) {
	if b.session.dialect == syntax.MySQL {
		p, found, err = b.readScript()
	} else if found = b.next < len(b.parsed); found {
		p = b.parsed[b.next]
	}
	b.next++
	return p, found, err
}

// Prepare makes a prepared statement from a text with at most one statement. The
// name "" means the unnamed statement, which is replaced. params are the declared
// types, Invalid or Unknown where the client left them open. An empty text makes a
// statement with Empty() true.
func (s *Session) Prepare(name, text string, params []datum.OID) (*Statement, error) {
	if name != "" {
		if _, ok := s.prepared[name]; ok {
			return nil, alreadyPrepared(name)
		}
	} else {
		s.unnamed = nil
	}
	s.mysql.Warnings = nil
	st, err := s.analyse(text, params)
	s.reading = nil
	if err != nil {
		return nil, s.refused(err)
	}
	if name == "" {
		s.unnamed = st
		return st, nil
	}
	return st, s.keep(name, st, "")
}

// analyse returns the statement of a Parse message from the cache, or plans it.
func (s *Session) analyse(text string, params []datum.OID) (*Statement, error) {
	key := cacheKey(text, params)
	if st := s.cache().getString(key); st != nil {
		return st, s.checkTransaction(st.exits)
	}
	parsed, err := s.parse(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(parsed) == 0:
		return &Statement{Text: text, exits: true}, nil
	case len(parsed) > 1:
		return nil, sqlstate.New(sqlstate.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	if err := s.checkTransaction(exitsTransaction(parsed[0].Statement)); err != nil {
		return nil, err
	}
	st, err := s.plan(parsed[0].Statement, text, text, params)
	if err != nil {
		return nil, err
	}
	if st.shared {
		s.cache().offer(key, st)
	}
	return st, nil
}

// prepared is a named prepared statement.
type prepared struct {
	*Statement
	at  time.Time // when it was prepared, for pg_prepared_statements
	sql string    // text of the PREPARE, "" for a Parse message
}

// keep stores a named prepared statement within the session's limits.
func (s *Session) keep(name string, st *Statement, sql string) error {
	if len(s.prepared) >= s.server.limits.Statements {
		return sqlstate.New(sqlstate.LimitExceeded, "this session already has %d prepared statements", len(s.prepared)).
			WithHint("DEALLOCATE statements that are no longer used.")
	}
	if err := s.memory.Draw(st.cost); err != nil {
		return err
	}
	if err := s.drawBytes(len(name) + len(st.Text) + len(sql)); err != nil {
		s.memory.Return(st.cost)
		return err
	}
	if s.prepared == nil {
		s.prepared = map[string]prepared{}
	}
	s.prepared[strings.Clone(name)] = prepared{st, s.server.now(), sql}
	return nil
}

// drawBytes counts the size of texts and values. It returns an error beyond
// Limits.PreparedBytes.
func (s *Session) drawBytes(size int) error {
	if s.bytes+size > s.server.limits.PreparedBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "the prepared statements and bound values of this session are larger than %d bytes",
			s.server.limits.PreparedBytes).WithHint("DEALLOCATE statements and CLOSE cursors that are no longer used.")
	}
	if err := s.memory.Draw(int64(size)); err != nil {
		return err
	}
	s.bytes += size
	return nil
}

// returnBytes undoes drawBytes.
func (s *Session) returnBytes(size int) {
	s.bytes -= size
	s.memory.Return(int64(size))
}

// Prepared returns a prepared statement. An unknown name is an error (26000).
func (s *Session) Prepared(name []byte) (*Statement, error) {
	if len(name) == 0 {
		if s.unnamed == nil {
			return nil, sqlstate.New(sqlstate.InvalidStatementName, "unnamed prepared statement does not exist")
		}
		return s.unnamed, nil
	}
	if st, ok := s.prepared[string(name)]; ok {
		return st.Statement, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidStatementName, "prepared statement %q does not exist", sqlstate.Cut(string(name), 64))
}

// Unprepare drops a prepared statement; an unknown name is no error.
func (s *Session) Unprepare(name []byte) {
	if len(name) == 0 {
		s.unnamed = nil
		return
	}
	if st, ok := s.prepared[string(name)]; ok {
		s.returnBytes(len(name) + len(st.Text) + len(st.sql))
		s.memory.Return(st.cost)
		delete(s.prepared, string(name))
	}
}

// unprepareAll drops all prepared statements, the unnamed one included.
func (s *Session) unprepareAll() {
	for name := range s.prepared {
		s.Unprepare([]byte(name))
	}
	s.unnamed = nil
}
