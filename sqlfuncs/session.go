package sqlfuncs

import (
	"context"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Config configures a Server. Registry is required.
type Config struct {
	Registry *generator.Registry
	Version  string // of nextid, for version()
	Limits   Limits
	Clock    generator.Clock // nil: the system's
	Layout   string          // default layout of parse_id(number); "": twitter
}

// Limits bound what one session can make the server hold (invariant 6).
// Zero fields take the defaults of DefaultLimits.
type Limits struct {
	IDsPerCall         int64 // next_ids, next_range, generate_series … in one statement
	Statements         int   // prepared statements of a session
	Portals            int   // open portals (cursors) of a session
	PreparedBytes      int   // text of all prepared statements and bound values of a session
	StatementsPerQuery int   // statements in one simple query
	PlanCache          int   // statements in the server-wide cache
}

// Server is what all sessions share: functions, tables, settings, plans.
type Server struct{}

// NewServer returns a Server.
func NewServer(cfg Config) *Server { panic("todo") }

// SessionOptions is what a connection knows when its session begins.
type SessionOptions struct {
	Dialect    syntax.Dialect
	User       string
	Database   string
	Admin      bool              // may create, alter and drop generators
	PID        int32             // pg_backend_pid(), connection_id()
	RemoteAddr string            // for nextid.sessions and pg_stat_activity
	Settings   map[string]string // start-up parameters: application_name, TimeZone, …
}

// Session is the SQL state of one connection: settings, transaction block,
// prepared statements, portals, currval. It is used by one goroutine.
//
// Every method that returns an error leaves the session usable. Whoever
// sends the error to the client calls Fail, so that a transaction block
// becomes a failed one.
type Session struct{}

// NewSession begins a session. Errors: unknown time zones and other bad start-up settings (22023).
func (s *Server) NewSession(o SessionOptions) (*Session, error) { panic("todo") }

// Close ends the session.
func (s *Session) Close() {}

// Notice is a NOTICE or WARNING for the client.
type Notice struct {
	Severity string // "NOTICE", "WARNING"
	Code     string
	Message  string
}

// Parameter is a setting that the client is told of (ParameterStatus).
type Parameter struct{ Name, Value string }

// Parameters returns the settings to report at the start, in a fixed order.
func (s *Session) Parameters() []Parameter { panic("todo") }

// TakeParameters returns the reported settings that changed since the last call, mostly nil.
func (s *Session) TakeParameters() []Parameter { panic("todo") }

// TakeNotices returns the notices since the last call, mostly nil.
func (s *Session) TakeNotices() []Notice { panic("todo") }

// Status is the transaction status of ReadyForQuery: 'I', 'T' or 'E'.
func (s *Session) Status() byte { panic("todo") }

// Fail turns an open transaction block into a failed one.
func (s *Session) Fail() {}

// Env is what the text forms of values depend on; valid until the next statement.
func (s *Session) Env() *datum.Env { panic("todo") }

// StatementContext derives the context of one statement from the
// connection's: it ends at statement_timeout where that is set.
func (s *Session) StatementContext(ctx context.Context) (context.Context, context.CancelFunc) {
	panic("todo")
}

// IdleInTransactionTimeout is idle_in_transaction_session_timeout, 0: none.
func (s *Session) IdleInTransactionTimeout() time.Duration { panic("todo") }

// Column is one column of a result.
type Column struct {
	Name    string
	Type    datum.OID
	TypeMod int32  // -1: none
	Len     int16  // pg_type.typlen
	Table   uint32 // pg_class oid of the table it comes from, 0: none
	Attr    int16  // its attribute number, 0: none
}

// Statement is an analysed statement: parameter and result types are known.
// It is immutable and may be shared by sessions.
type Statement struct {
	Text    string
	Params  []datum.OID
	Columns []Column // nil: returns no rows

	// Memo holds what a protocol encoded once for this statement, e.g. its
	// RowDescription. The protocols agree on the slots: 0 and 1 are
	// pgwire's (text and binary), 2 and 3 mysqlwire's.
	Memo [4]atomic.Pointer[[]byte]
}

// TryID is the warm path. For a statement that is just SELECT next_id(name),
// name a literal or (arg given, in text) its only parameter, it draws one id
// without waiting, locking or allocating. ok is false for every other
// statement and whenever the slow path must decide.
func (s *Session) TryID(st *Statement, arg []byte) (id int64, ok bool) { panic("todo") }

// Batch is the statements of one simple query. The zero Batch has none.
type Batch struct{ single *Statement }

// Simple begins a simple query. text is not kept. The error of a text that
// does not parse comes from here, before anything runs.
func (s *Session) Simple(text []byte) (Batch, error) { panic("todo") }

// Next analyses and returns the next statement, nil after the last one. An
// empty text has none.
func (b *Batch) Next() (*Statement, error) { panic("todo") }

// Prepare makes the prepared statement name ("" is the unnamed one, which
// is replaced) from a text with at most one statement. params are the types
// that the client declared, Invalid or Unknown where it left them open. An
// empty text makes a statement with Empty() true.
func (s *Session) Prepare(name, text string, params []datum.OID) (*Statement, error) { panic("todo") }

// Empty reports whether the statement's text held nothing to do.
func (st *Statement) Empty() bool { panic("todo") }

// Prepared returns a prepared statement (26000 when there is none).
func (s *Session) Prepared(name []byte) (*Statement, error) { panic("todo") }

// Unprepare drops a prepared statement; an unknown name is no error.
func (s *Session) Unprepare(name []byte) {}

// Arg is one bound parameter as the protocol brought it, borrowed until Bind returns.
type Arg struct {
	Null   bool
	Binary bool
	Data   []byte
}

// Bind makes the portal name ("" is the unnamed one, which is replaced)
// from a statement and its arguments. formats are the protocol's result
// format codes: none, one for all, or one a column.
func (s *Session) Bind(name []byte, st *Statement, args []Arg, formats []int16) (*Portal, error) {
	panic("todo")
}

// Run makes an unnamed portal in text format for a statement of a simple
// query; it leaves the session's unnamed portal alone.
func (s *Session) Run(st *Statement) (*Portal, error) { panic("todo") }

// Portal returns an open portal (34000 when there is none).
func (s *Session) Portal(name []byte) (*Portal, error) { panic("todo") }

// ClosePortal closes a portal; an unknown name is no error.
func (s *Session) ClosePortal(name []byte) {}

// EndBatch is the protocol's Sync, or the end of a simple query: outside a
// transaction block the portals go.
func (s *Session) EndBatch() {}

// Portal is a statement being executed.
type Portal struct{ st *Statement }

// Statement returns what the portal executes.
func (p *Portal) Statement() *Statement { return p.st }

// Columns returns the result columns, nil when it returns no rows. For
// FETCH and EXECUTE they are known only here, not in the Statement.
func (p *Portal) Columns() []Column { panic("todo") }

// Binary reports whether column i is wanted in binary.
func (p *Portal) Binary(i int) bool { panic("todo") }

// TryID is the warm path of a bound portal; see Session.TryID. After ok the portal is done.
func (p *Portal) TryID() (id int64, ok bool) { panic("todo") }

// Next returns the next row, io.EOF after the last. The row and what it
// refers to are valid until the next call. A statement without rows does its
// work in the first call and returns io.EOF.
func (p *Portal) Next(ctx context.Context) ([]datum.Value, error) { panic("todo") }

// IDs reports whether the result is one bigint column of ids that NextIDs can return as runs.
func (p *Portal) IDs() bool { panic("todo") }

// NextIDs returns up to max rows of an IDs portal as one run, io.EOF after the last.
func (p *Portal) NextIDs(ctx context.Context, max int64) (generator.Range, error) { panic("todo") }

// AppendTag appends the command tag after io.EOF (or a row limit); rows is
// the number of rows sent by this execution.
func (p *Portal) AppendTag(dst []byte, rows int64) []byte { panic("todo") }

// Copy returns how the rows are to be sent for COPY … TO STDOUT, nil for other statements.
func (p *Portal) Copy() *CopyOut { panic("todo") }

// Close ends the portal.
func (p *Portal) Close() {}

// CopyOut encodes rows for COPY TO STDOUT.
type CopyOut struct{}

// Binary reports the overall format of CopyOutResponse.
func (c *CopyOut) Binary() bool { panic("todo") }

// AppendHeader appends what precedes the first row (CSV header line, binary signature); it may be nothing.
func (c *CopyOut) AppendHeader(dst []byte) []byte { panic("todo") }

// AppendRow appends one row's CopyData payload.
func (c *CopyOut) AppendRow(dst []byte, row []datum.Value, env *datum.Env) ([]byte, error) {
	panic("todo")
}

// AppendTrailer appends what follows the last row (binary end mark); it may be nothing.
func (c *CopyOut) AppendTrailer(dst []byte) []byte { panic("todo") }
