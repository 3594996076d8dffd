package engine

import (
	"context"
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
	// Sessions returns the sessions of the server.
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
