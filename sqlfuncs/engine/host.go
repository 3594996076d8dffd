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

// Host holds what a session lends to the statements that are planned and run for
// it.
type Host interface {
	// Env returns what the text forms of values depend on.
	Env() *datum.Env
	// Now is the time that the server's clock shows.
	Now() time.Time
	// TransactionTime is the start of the transaction in which a statement runs,
	// outside a transaction block that of the statement.
	TransactionTime(x *Exec) time.Time
	// Sleep sends what was answered so far and waits, or until the statement is
	// cancelled.
	Sleep(x *Exec, d time.Duration) error
	// Memory is the account of what the session's statements hold.
	Memory() *account.Session
	// Aside lets another goroutine serve the connections beside this one.
	Aside()
	// Long acquires the CPU slot that a long statement needs, see CPUSlots.
	Long(ctx context.Context) error
	// Planned counts bytes that the plan being made holds.
	Planned(n int) error
	// MayPlan is the end of planning that takes too long.
	MayPlan() error
	// Client is whom the session answers.
	Client() *Client
	// Sessions are the sessions of the server.
	Sessions(x *Exec) []Activity
	// Settings are the session's; SettingsChanged must follow every change.
	Settings() *setting.Variables
	SettingsChanged()
	// Registry has the generators of the server.
	Registry() *generator.Registry
	// Catalog returns what statements can name on the server.
	Catalog() *Catalog
	// Version is nextid's.
	Version() string
	// Started is when the server started.
	Started() time.Time
	// Waits tells the protocol that this may take a while: it sends what it has
	// answered so far.
	Waits()
	// Notice tells the client something beside the answer.
	Notice(message string)
	// Warn is Notice with a WARNING.
	Warn(code sqlstate.Code, message string)
	// Table finds a table that a statement names.
	Table(p *Planner, name syntax.Name) (*Table, error)
}

// NumberRun yields runs of up to max numbers, io.EOF after the last.
type NumberRun interface {
	Next(x *Exec, max int64) (generator.Range, error)

	// Close ends the run. Numbers that were drawn and not returned by Next go
	// back where that is possible.
	Close()
}
