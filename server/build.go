package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/store/shared"
	"nextid/generator/ticket"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	sql "nextid/sqlfuncs/engine"
)

// Build lists the parts of a server: kinds, shared stores and SQL functions. The
// embedded stores and the SQL of nextid are always there. Options fill a Build.
type Build struct {
	kinds     []func(Parts) generator.Kind
	stores    []shared.Driver
	functions []sql.Function
	logger    *slog.Logger // nil: the server logs to output, as log_format and log_level say
	output    io.Writer    // gets the ready line and the log
	err       error        // of the options that failed; New returns it
}

// Option adds parts to a Build.
type Option func(*Build)

// NewBuild returns a Build with the options applied.
func NewBuild(options ...Option) *Build { return (&Build{output: os.Stderr}).with(options) }

// with returns a copy of b with more options applied. A nil b is empty.
func (b *Build) with(options []Option) *Build {
	more := &Build{output: os.Stderr}
	if b != nil {
		*more = *b
	}
	for _, o := range options {
		if o == nil {
			more.err = errors.Join(more.err, errors.New("an option is nil"))
			continue
		}
		o(more)
	}
	return more
}

// check returns an error if parts are missing, or if two have one name. The registry
// would open a stored generator with the kind of its name, whichever that is.
func (b *Build) check() error {
	parts := map[string]int{autoCreateOff: 1, storeSQLite + ":": 1, StoreMemory + ":": 1} // by name
	taken := func(name string) bool { parts[name]++; return parts[name] > 1 }
	for _, newKind := range b.kinds {
		if newKind == nil || newKind(Parts{Layout: layout.Default}) == nil {
			return errors.New("WithKind: a kind is nil")
		}
		if name := newKind(Parts{Layout: layout.Default}).Name(); generator.CheckName(name) != nil || taken(name) {
			return fmt.Errorf("WithKind: %q cannot be the name of a kind, or another kind has it", name)
		}
	}
	for _, d := range b.stores {
		if len(d.Schemes) == 0 || d.Open == nil || d.Schema == nil || slices.ContainsFunc(d.Schemes, func(s string) bool { return taken(s + ":") }) {
			return fmt.Errorf("WithStore: a driver needs Open, Schema, and Schemes that no other store has, not %q", d.Schemes)
		}
	}
	return errors.Join(b.err, sqlfuncs.CheckFunctions(b.functions))
}

// Config returns the default configuration of a server with this Build.
func (b *Build) Config() Config {
	c := DefaultConfig()
	c.build = b
	return c
}

// Parts holds what a server passes to its kinds of generators.
type Parts struct {
	// Store holds all reservations.
	Store generator.Store
	// Keep is Store for kinds that draw from a reservation over time. On a shared
	// store Keep is a generator.Guard. It refuses a reservation for a name that
	// another server has changed or dropped.
	Keep generator.Reserver

	Pools     *worker.Pools // worker ids and their time slices
	Clock     generator.Runtime
	Owner     string // names this process in the store, for operators
	Layout    string // the layout of snowflakes without one of their own
	Passwords ticket.Passwords
	Logger    *slog.Logger
}

// WithKind adds kinds of generators. Each function is called with only the Layout
// set, to check options, and with all Parts once the store is open.
func WithKind(kinds ...func(Parts) generator.Kind) Option {
	return func(b *Build) { b.kinds = slices.Concat(b.kinds, kinds) }
}

// WithStore adds drivers of shared stores.
func WithStore(drivers ...shared.Driver) Option {
	return func(b *Build) { b.stores = slices.Concat(b.stores, drivers) }
}

// WithLayout adds layouts to those of this process. New returns an error if a
// layout cannot be added.
func WithLayout(layouts ...*layout.Layout) Option {
	return func(b *Build) {
		for _, l := range layouts {
			b.err = errors.Join(b.err, layout.Add(l))
		}
	}
}

// WithFunction adds SQL functions. A function without a schema gets the schema
// nextid.
func WithFunction(functions ...sql.Function) Option {
	return func(b *Build) {
		b.functions = slices.Concat(b.functions, functions)
		for i := range b.functions {
			b.functions[i].Schema = cmp.Or(b.functions[i].Schema, sql.NextidSchema)
		}
	}
}

// WithLogger makes the server log to l. log_format and log_level have no effect
// then.
func WithLogger(l *slog.Logger) Option { return func(b *Build) { b.logger = l } }

// WithOutput makes the server write its ready line and its log to w. The default is
// standard error, nil discards both.
func WithOutput(w io.Writer) Option { return func(b *Build) { b.output = cmp.Or(w, io.Discard) } }

// Kinds returns the kinds. Without a Store in p they only check options.
func (b *Build) Kinds(p Parts) []generator.Kind {
	kinds := make([]generator.Kind, len(b.kinds))
	for i, newKind := range b.kinds {
		kinds[i] = newKind(p)
	}
	return kinds
}

// Store returns the driver for the scheme of a URL, or nil.
func (b *Build) Store(scheme string) *shared.Driver {
	for i := range b.stores {
		if slices.Contains(b.stores[i].Schemes, scheme) {
			return &b.stores[i]
		}
	}
	return nil
}

// Schemes lists the shared stores for messages, one scheme each: "postgres://…".
func (b *Build) Schemes() []string {
	all := make([]string, len(b.stores))
	for i, s := range b.stores {
		all[i] = s.Schemes[0] + "://…"
	}
	return all
}

// version is set by release builds: -ldflags "-X nextid/server.version=1.2.3".
var version string

// commit is set by make build, where Go does not read the commit itself
// (-buildvcs=false).
var commit string

// Version returns the version of the release, else that of the module, else
// "devel".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	if version != "" || info == nil || info.Main.Version == "(devel)" {
		return cmp.Or(version, "devel")
	}
	return cmp.Or(info.Main.Version, "devel")
}

// Commit returns the commit of this build, or "unknown". "+changes" marks a tree
// with uncommitted changes.
func Commit() string {
	values := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	for _, s := range cmp.Or(info, &debug.BuildInfo{}).Settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision != "" && values["vcs.modified"] == "true" {
		revision += "+changes"
	}
	return cmp.Or(revision, commit, "unknown")
}
