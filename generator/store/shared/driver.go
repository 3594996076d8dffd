package shared

import "context"

// Driver is the plug-in of one kind of database that servers can share:
// every package of an engine has one, and server/standard lists them.
type Driver struct {
	Schemes  []string // of its URLs, the usual one first
	Example  string   // of a URL, for messages
	Failover Failover // what --store-failover auto means

	// Open connects to the database of a URL. unsafe names the settings of
	// the database that may be as they are.
	Open func(ctx context.Context, url string, unsafe []string) (Engine, error)

	// Schema opens what nextid migrate store works on.
	Schema func(url string) (Schema, error)
}

// Schema holds what has to be in a database before servers can use it as their
// store.
type Schema interface {
	Up(ctx context.Context) error   // installs or upgrades it
	Down(ctx context.Context) error // removes it, with everything in it
	Status(ctx context.Context) (text string, complete bool, err error)
	Print() (string, error) // what Up does, without connecting
	Close() error
}

// Granter is a Schema of a database with users of its own.
type Granter interface {
	// Grant lets a user do what servers do, and no more: NAME, in MySQL also
	// NAME@HOST.
	Grant(ctx context.Context, user string) error
}
