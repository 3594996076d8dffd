package shared

import "context"

// Driver is the plug-in of one kind of database. Every package of an engine has
// one; server/standard lists them.
type Driver struct {
	Schemes  []string // of its URLs, the usual one first
	Example  string   // of a URL, for messages
	Failover Failover // meaning of --store-failover auto

	// Open connects to the database of a URL. unsafe names the unsafe settings of the
	// database that are accepted.
	Open func(ctx context.Context, url string, unsafe []string) (Engine, error)

	// Schema opens the schema for nextid migrate store.
	Schema func(url string) (Schema, error)
}

// Schema holds what a database needs before servers can use it as their store.
type Schema interface {
	Up(ctx context.Context) error   // installs or upgrades it
	Down(ctx context.Context) error // removes it, with everything in it
	Status(ctx context.Context) (text string, complete bool, err error)
	Print() (string, error) // the statements of Up, without connecting
	Close() error
}

// Granter is a Schema of a database with user accounts.
type Granter interface {
	// Grant gives a user the rights that servers need, and no more. The user is NAME,
	// in MySQL also NAME@HOST.
	Grant(ctx context.Context, user string) error
}
