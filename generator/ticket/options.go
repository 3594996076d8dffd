package ticket

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/counter"
)

// Options are the options of the kind, as they are stored.
type Options struct {
	Databases   []string           `json:"databases"` // URLs; the first has offset 1, the next offset 2, …
	Increment   int64              `json:"increment"` // of every series; the greatest number of databases
	Table       string             `json:"table,omitempty"`
	Start       int64              `json:"start"` // no number is less than start
	Step        int64              `json:"step"`  // least number of tickets drawn at a time
	Deadline    generator.Duration `json:"deadline"`
	Description string             `json:"description,omitempty"`
}

// given holds the options as a user writes them. All but the databases are
// optional.
type given struct {
	Databases   []string            `json:"databases"`
	Increment   *int64              `json:"increment"`
	Table       *string             `json:"table"`
	Start       *int64              `json:"start"`
	Step        *int64              `json:"step"`
	Deadline    *generator.Duration `json:"deadline"`
	Description *string             `json:"description"`
}

const hint = "Options: databases (a list of postgres://, mysql:// and redis:// URLs), increment, table, start, step, deadline, description."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// KindName is the name of the kind.
const KindName = "ticket"

// Kind returns the kind.
func Kind(cfg Config) generator.Kind { return kind{cfg} }

type kind struct{ cfg Config }

// Name implements generator.Kind.
func (kind) Name() string { return KindName }

// Help implements generator.Kind.
func (kind) Help() string {
	return "numbers from auto-increment tables of several databases, after Flickr's ticket servers"
}

// Normalize implements generator.Kind.
func (kind) Normalize(raw json.RawMessage) (json.RawMessage, error) { return normalize(raw) }

// Alter implements generator.Kind.
func (kind) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	return alter(stored, change)
}

// Open implements generator.Kind.
func (k kind) Open(_ context.Context, d generator.Definition) (generator.Generator, error) {
	o, err := read(d.Options)
	if err != nil {
		return nil, err
	}
	return newGenerator(d.Name, o, k.cfg)
}

// Recover implements generator.Recoverable.
func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	key := generator.NameKey(d.Name)
	if r, ok := k.cfg.Store.(generator.Recoverer); ok {
		return r.Recover(ctx, key, atLeast)
	}
	_, _, err := k.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: key, AtLeast: atLeast - 1, N: 1, Limit: generator.NoLimit, Owner: "recover_generator",
	})
	return err
}

// read decodes stored options.
func read(stored json.RawMessage) (Options, error) {
	return generator.StoredOptions(stored, "a ticket generator", (*Options).check)
}

// normalize completes the options of a new generator with defaults.
func normalize(raw json.RawMessage) (json.RawMessage, error) {
	o := Options{Start: 1, Step: 1, Deadline: generator.Duration(counter.DefaultDeadline)}
	return o.with(raw)
}

// alter applies a change to stored options. A database may be replaced, or added at
// the end. The series stay.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	before, err := read(stored)
	if err != nil {
		return nil, err
	}
	after := before
	out, err := after.with(change)
	switch {
	case err != nil:
		return nil, err
	case after.Increment != before.Increment:
		return nil, generator.OptionError("Create another generator with a greater increment.",
			"increment (%d) cannot be changed: other servers go on with it", before.Increment)
	case len(after.Databases) < len(before.Databases):
		return nil, generator.OptionError("Leave it in the list: one that is down is passed over.",
			"a database cannot be taken out of the list: those behind it would get its series")
	case after.Table != before.Table:
		return nil, optionError("table (%q) cannot be changed", before.Table)
	}
	return out, nil
}

// with sets the given options, checks all and returns their stored form.
func (o *Options) with(raw json.RawMessage) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	if g.Databases != nil {
		o.Databases = g.Databases
	}
	generator.SetOption(&o.Increment, g.Increment)
	generator.SetOption(&o.Table, g.Table)
	generator.SetOption(&o.Start, g.Start)
	generator.SetOption(&o.Step, g.Step)
	generator.SetOption(&o.Deadline, g.Deadline)
	generator.SetOption(&o.Description, g.Description)
	if o.Increment == 0 {
		o.Increment = int64(len(o.Databases))
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// Limits of the options.
const (
	maxDatabases = 64
	maxIncrement = 65535 // of MySQL's auto_increment_increment
	maxStart     = 1 << 60
	minDeadline  = generator.Duration(10 * time.Millisecond)
	maxDeadline  = generator.Duration(time.Minute)
)

func (o *Options) check() error {
	switch {
	case len(o.Databases) < 1 || len(o.Databases) > maxDatabases:
		return optionError("databases must name 1 to %d databases", maxDatabases)
	case o.Increment < int64(len(o.Databases)) || o.Increment > maxIncrement:
		return optionError("increment must be between the number of databases (%d) and %d, not %d", len(o.Databases), maxIncrement, o.Increment)
	case o.Start < 1 || o.Start > maxStart:
		return optionError("start must be between 1 and %d, not %d", int64(maxStart), o.Start)
	case o.Step < 1 || o.Step > maxRows:
		return optionError("step must be between 1 and %d, not %d", maxRows, o.Step)
	case o.Deadline < minDeadline || o.Deadline > maxDeadline:
		return optionError("deadline must be between %v and %v, not %v", minDeadline, maxDeadline, o.Deadline)
	}
	var seen []string
	for i, text := range o.Databases {
		l, err := ParseLocation(text)
		if err != nil {
			return optionError("database %d: %v", i+1, err)
		}
		if l.HasPassword() {
			return generator.OptionError("Options can be read by others. Write the password into the file that the setting database_passwords names.",
				"the URL of database %d holds a password", i+1)
		}
		if slices.Contains(seen, l.String()) {
			return optionError("%s is named twice", l)
		}
		seen = append(seen, l.String())
		if _, err := l.System.QuoteName(o.table("x")); err != nil {
			return optionError("table: %v", err)
		}
	}
	return generator.CheckDescription(o.Description)
}

// table returns the name of the table, the sequence or the key. Names that differ
// only in punctuation use the same one, and draw different numbers from it.
func (o *Options) table(name string) string {
	if o.Table != "" {
		return o.Table
	}
	table := "nextid_" + strings.NewReplacer(".", "_", ":", "_", "-", "_").Replace(name)
	return table[:min(len(table), 63)]
}
