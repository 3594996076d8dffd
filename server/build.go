package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
	"nextid/generator/ticket"
	"nextid/generator/worker"
	sql "nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
)

// Build holds what a server is built of besides the embedded stores and the SQL of
// nextid itself. Options fill it.
type Build struct {
	kinds     []func(Parts) generator.Kind
	stores    []shared.Driver
	functions []sql.Function
	logger    *slog.Logger // nil: one that writes to output, as the configuration says
	output    io.Writer    // the ready line and the log
	err       error        // of an option
}

// Option adds to a Build.
type Option func(*Build)

// NewBuild applies options.
func NewBuild(options ...Option) *Build { return (&Build{output: os.Stderr}).with(options) }

// with returns a Build with more options; nil is an empty one.
func (b *Build) with(options []Option) *Build {
	more := &Build{output: os.Stderr}
	if b != nil {
		*more = *b
	}
	for _, o := range options {
		o(more)
	}
	return more
}

// Config returns the configuration of a server that was told nothing.
func (b *Build) Config() Config {
	c := DefaultConfig()
	c.build = b
	return c
}

// Parts hold what a server offers to kinds of generators.
type Parts struct {
	// Store has everything that was reserved.
	Store generator.Store
	// Keep is Store for kinds that keep some of what they reserve. On a store
	// that servers share it looks, before any of it is used, whether another
	// server has changed or dropped the name.
	Keep generator.Reserver

	Pools     *worker.Pools // worker ids and their time
	Clock     generator.SystemClock
	Owner     string // of reservations, as operators see it
	Layout    string // of generators that name none
	Passwords ticket.Passwords
	Logger    *slog.Logger
}

// WithKind adds kinds of generators. Each is made once to check options, with
// no Parts but the Layout, and once for a store that is open.
func WithKind(kinds ...func(Parts) generator.Kind) Option {
	return func(b *Build) { b.kinds = slices.Concat(b.kinds, kinds) }
}

// WithStore adds stores that servers share.
func WithStore(drivers ...shared.Driver) Option {
	return func(b *Build) { b.stores = slices.Concat(b.stores, drivers) }
}

// WithLayout adds layouts of ids to those that this process knows.
func WithLayout(layouts ...*layout.Layout) Option {
	return func(b *Build) {
		for _, l := range layouts {
			if err := layout.Add(l); err != nil {
				b.err = err
			}
		}
	}
}

// WithFunction adds SQL functions. One without a schema is in the schema nextid.
func WithFunction(functions ...sql.Function) Option {
	return func(b *Build) {
		b.functions = slices.Concat(b.functions, functions)
		for i := range b.functions {
			b.functions[i].Schema = cmp.Or(b.functions[i].Schema, sql.NextidSchema)
		}
	}
}

// WithLogger makes the server log to l, whatever log_format and log_level say.
func WithLogger(l *slog.Logger) Option { return func(b *Build) { b.logger = l } }

// WithOutput makes the server write its ready line and its log to w; without it
// they go to standard error.
func WithOutput(w io.Writer) Option { return func(b *Build) { b.output = w } }

// Kinds returns the kinds as they check options; they open nothing.
func (b *Build) Kinds(defaultLayout string) []generator.Kind {
	return b.makeKinds(Parts{Layout: defaultLayout})
}

func (b *Build) makeKinds(p Parts) []generator.Kind {
	kinds := make([]generator.Kind, len(b.kinds))
	for i, newKind := range b.kinds {
		kinds[i] = newKind(p)
	}
	return kinds
}

// Store returns the driver of a URL's scheme, nil if there is none.
func (b *Build) Store(scheme string) *shared.Driver {
	for i := range b.stores {
		if slices.Contains(b.stores[i].Schemes, scheme) {
			return &b.stores[i]
		}
	}
	return nil
}

// Schemes lists the shared stores, one scheme each, as in a message.
func (b *Build) Schemes() []string {
	all := make([]string, len(b.stores))
	for i, s := range b.stores {
		all[i] = s.Schemes[0] + "://…"
	}
	return all
}

// takeover does what import_generator does.
func (c *Config) takeover(
	ctx context.Context, name, system, dsn string, options json.RawMessage, agree func(ids.Position) error,
) (ids.Position, error) {
	r, err := ticket.TakeOver(ctx, ticket.TakeoverRequest{
		Name: name, System: system, DSN: dsn, Options: options,
		Agree: func(r ticket.Takeover) error { return agree(ids.Position(r)) },
	}, c.databasePasswords())
	return ids.Position(r), err
}

// databasePasswords reads the file of passwords when one is needed, so that it
// can be changed while the server runs.
func (c *Config) databasePasswords() ticket.Passwords {
	if c.DatabasePasswords == "" {
		return nil
	}
	return func() ([]byte, error) { return ReadPrivate("file of passwords", c.DatabasePasswords) }
}

// OpenStore opens the configured store.
func (c Config) OpenStore(ctx context.Context, log *slog.Logger) (generator.Store, error) {
	if c.Store.Shared() {
		return openShared(ctx, c, log)
	}
	if c.Store.Scheme == StoreMemory {
		return memory.New(memory.Config{Exclusive: true, Seed: rand.Uint64()}), nil
	}
	embedded := sqlite.Config{Dir: c.Data, Owner: owner(), Adopt: c.Once.Adopt, AcceptClock: c.Once.Clock, ClockJump: c.ClockJump}
	if c.Store.Scheme == storeSQLite {
		embedded.Dir, embedded.File = filepath.Dir(c.Store.File), filepath.Base(c.Store.File)
	}
	return sqlite.Open(ctx, embedded)
}

// owner names this process in the store, for operators.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}
