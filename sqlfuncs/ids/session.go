package ids

import (
	"context"
	"encoding/json"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/quota"
	"nextid/generator/uuid"
	"nextid/generator/worker"
	"nextid/sqlfuncs/engine"
)

// Config configures the functions and tables. A test that does not read the table of a
// function may leave the function out.
type Config struct {
	Sequence Auto  // what nextval makes of a name that does not exist
	Trail    Trail // records the ids of get_id, and those of audited generators; nil: none
	// NoTableCreate leaves a name alone that the WHERE of a table asks for and that does
	// not exist.
	NoTableCreate bool
	// Takeover is nil where the server takes over no other systems.
	Takeover Takeover
	// Workers has the worker ids, for libraries that lease some.
	Workers *worker.Pools
	// Own returns this server and its worker ids without asking the store.
	Own func() (generator.Node, []generator.WorkerMark)

	Nodes    func(context.Context) ([]generator.Node, error) // lists the servers on the store
	Feeds    func() []generator.Feed                         // lists the sequences that this server feeds
	Settings func() []Setting                                // lists the configuration
}

// Server holds what the functions of all sessions share.
type Server struct {
	Config
	PerCall int64          // ids in one call, at most
	Layout  *layout.Layout // of parse_id(number)
	UUIDs   *uuid.Source
	Agents  agents               // of get_id
	Quotas  func() []quota.State // limit the draws
}

// Auto is the generator that the first use of a name makes. Without a Kind it is what
// next_id makes.
type Auto struct {
	Kind    string
	Options json.RawMessage
}

// Setting is one key of the server's configuration.
type Setting struct {
	Name    string
	Value   string // without secrets
	Default string
	Source  string // file:line, flag or variable; "" for the default
	Restart bool   // a change needs one
	Help    string
}

// Takeover finds the position of another id system and fences it. Before it
// fences anything it asks agree, and an error of that ends it.
type Takeover func(ctx context.Context, name, system, dsn string, options json.RawMessage, agree func(Position) error) (Position, error)

// Position describes where another id system stands.
type Position struct {
	Kind      string          // of the generator that goes on
	Options   json.RawMessage // of it, when it is new
	Next      int64           // no number of the series at or above it was given
	Increment int64           // of the series that is taken over, Next + k·Increment
	Fenced    bool            // by an earlier call
	Report    string          // what was done
}

// Session holds what the functions ask of a session.
type Session interface {
	engine.Host
	// IDServer returns what it shares with the others.
	IDServer() *Server
	// Drawn returns what it has drawn so far.
	Drawn() *Drawn
	// Charge counts n ids of a name against the quotas, or refuses them; Refund
	// takes back what was charged for ids that were not drawn.
	Charge(name string, n int64) error
	Refund(name string, n int64)
	// Drew notes the newest id that it drew.
	Drew(e *generator.Entry, id int64)
}

// sessionOf is the session for which a statement runs.
func sessionOf(x *engine.Exec) Session { return x.Host.(Session) }

// serverOf returns what the sessions share.
func serverOf(x *engine.Exec) *Server { return sessionOf(x).IDServer() }

// lookupTimeout bounds how long a statement that is planned waits for the store to
// say whether a generator exists.
const lookupTimeout = 2 * time.Second
