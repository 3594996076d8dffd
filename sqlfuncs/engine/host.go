package engine

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Host is the session as the engine sees it: its settings, its memory and its
// connection. Session in package sqlfuncs implements it. Statements call it
// from the session's goroutine.
type Host interface {
	// Env returns the settings on which the text forms of values depend.
	Env() *datum.Env
	// Now returns the time of the server's clock.
	Now() time.Time
	// TransactionTime returns the start of the transaction in which a statement
	// runs, or that of the statement outside a transaction block.
	TransactionTime(x *Exec) time.Time
	// Sleep sends the answers so far and waits for d, or until the statement is
	// cancelled.
	Sleep(x *Exec, d time.Duration) error
	// Memory returns the account of the memory that the session's statements hold.
	Memory() *account.Session
	// Aside lets another goroutine serve the connections that share this one's
	// event loop.
	Aside()
	// Long acquires the CPU slot that a long statement needs, see CPUSlots.
	Long(ctx context.Context) error
	// Planned counts n bytes that the statement's plan will hold. It returns an
	// error (53200) when a memory limit would be exceeded.
	Planned(n int) error
	// MayPlan returns an error once planning has been cancelled.
	MayPlan() error
	// Client returns the description of the session's connection.
	Client() *Client
	// Sessions returns the sessions of the server in the order of their PIDs.
	Sessions(x *Exec) []Activity
	// Settings returns the session's settings. Call SettingsChanged after each
	// change.
	Settings() *setting.Variables
	SettingsChanged()
	// Registry returns the generators of the server.
	Registry() *generator.Registry
	// Catalog returns the functions and tables of the server.
	Catalog() *Catalog
	// Version returns nextid's version.
	Version() string
	// Started returns the time when the server started.
	Started() time.Time
	// Waits sends the answers so far, before something that may take long.
	Waits()
	// Notice sends the client a notice.
	Notice(message string)
	// Warn sends the client a warning.
	Warn(e *sqlstate.Error)
	// Table returns the table that a statement names.
	Table(p *Planner, name syntax.Name) (*Table, error)
}

// Notice is a notice or warning for the client, or an error that SHOW WARNINGS lists.
type Notice struct {
	Severity string
	*sqlstate.Error
}

// The severities of a Notice.
const (
	LevelNotice  = "NOTICE"
	LevelWarning = "WARNING"
	LevelError   = "ERROR"
)

// NumberRun yields runs of up to max numbers. The error after the last is io.EOF.
type NumberRun interface {
	Next(x *Exec, max int64) (generator.Range, error)

	// Close ends the run. Numbers that Next did not return go back to the generator
	// where possible.
	Close()
}

// Client describes the connection of a session, as known when the session begins.
type Client struct {
	Dialect    syntax.Dialect
	Admin      bool  // may create, alter and drop generators
	NoCreate   bool  // a name that does not exist is not created
	OwnOnly    bool  // nextid's tables list only what this server knows, without asking its store
	PID        int32 // pg_backend_pid(), connection_id()
	User       string
	Database   string
	Generators []string      // names that it may draw from; a * at the end matches any rest; nil: all
	Rights     Rights        // changes of Admin and Generators; nil: there are none
	RemoteAddr string        // host:port of the client, "" on a Unix socket
	TLS        *TLS          // nil: none
	Collation  int           // number of the collation in MySQL's login packet; 0: the server's default
	Settings   []setting.Own // start-up parameters: application_name, TimeZone, …; of two for one setting the last counts
}

// Rights returns what the user of a session may do while it is open. Several
// goroutines may call its methods.
type Rights interface {
	// Generation returns a number, not 0, that changes when the rights of any user do.
	Generation() *atomic.Uint64

	// Now returns what the user may do. ok is false when the session must end,
	// because the user was removed or the password changed.
	Now() (admin bool, generators []string, ok bool)
}

// TLS holds what pg_stat_ssl and MySQL's status variables show of a connection's
// encryption.
type TLS struct {
	Version string // TLSv1.3
	Cipher  string
	Bits    int // of the cipher's key

	// Of the client's certificate, if it has one.
	ClientDN, ClientSerial, IssuerDN string
}

// Address returns the address and the port of the client as PostgreSQL prints
// them; ok is false on a Unix socket.
func (c *Client) Address() (addr string, port int, ok bool) {
	a, err := netip.ParseAddrPort(c.RemoteAddr)
	if err != nil {
		return "", 0, false
	}
	return a.Addr().Unmap().WithZone("").String(), int(a.Port()), true
}

// May refuses a generator from which the client may not draw (42501).
func (c *Client) May(generator string) error {
	if c.Generators == nil {
		return nil
	}
	for _, pattern := range c.Generators {
		start, open := strings.CutSuffix(pattern, "*")
		if generator == pattern || open && strings.HasPrefix(generator, start) {
			return nil
		}
	}
	return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for generator %s", generator).
		WithHint("The user's line in the users file names the generators that it may use.")
}

// Sees reports whether the client may see the user and the address of session a.
// Administrators see all sessions, users their own.
func (c *Client) Sees(a *Activity) bool { return c.Admin || c.User == a.User }

// Activity describes a session for the other sessions, as in pg_stat_activity.
type Activity struct {
	*Client
	Own     bool // the session that reads the list
	Started time.Time
	AppName string // application_name
	Text    string // of the running statement; known for the own session and for one in pg_sleep
}
