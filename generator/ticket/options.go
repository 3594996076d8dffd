package ticket

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/generator/kinds"
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

// KindName is the name of the kind.
const KindName = "ticket"

// Kind returns the kind.
func Kind(cfg Config) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: KindName, Title: "a ticket generator",
		Hint:     "Options: databases (a list of postgres://, mysql:// and redis:// URLs), increment, table, start, step, deadline, description.",
		Defaults: Options{Start: 1, Step: 1, Deadline: kinds.DefaultDeadline}, Check: (*Options).check, Keep: keep,
		Make: func(name string, o Options) (generator.Generator, error) { return newGenerator(name, o, cfg) },
	}, cfg}
}

type kind struct {
	kinds.Base[Options]
	cfg Config
}

func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	return kinds.Recover(ctx, k.cfg.Store, d.Name, atLeast)
}

// keep refuses changes of the series. A database may be replaced, or added at the
// end.
func keep(before, after *Options) error {
	switch {
	case after.Increment != before.Increment:
		return generator.OptionError("Create another generator with a greater increment.",
			"increment (%d) cannot be changed: other servers go on with it", before.Increment)
	case len(after.Databases) < len(before.Databases):
		return generator.OptionError("Leave it in the list: one that is down is passed over.",
			"a database cannot be taken out of the list: those behind it would get its series")
	case after.Table != before.Table:
		return generator.WrongOption("table (%q) cannot be changed", before.Table)
	}
	return nil
}

// Limits of the options.
const (
	maxDatabases = 64
	maxIncrement = 65535 // of MySQL's auto_increment_increment
	maxStart     = 1 << 60
)

// check checks options, and sets the increment of new ones.
func (o *Options) check() error {
	if o.Increment == 0 {
		o.Increment = int64(len(o.Databases))
	}
	switch {
	case len(o.Databases) < 1 || len(o.Databases) > maxDatabases:
		return generator.WrongOption("databases must name 1 to %d databases", maxDatabases)
	case o.Increment < int64(len(o.Databases)) || o.Increment > maxIncrement:
		return generator.WrongOption("increment must be between the number of databases (%d) and %d, not %d", len(o.Databases), maxIncrement, o.Increment)
	}
	var seen []string
	for i, text := range o.Databases {
		l, err := ParseLocation(text)
		if err != nil {
			return generator.WrongOption("database %d: %v", i+1, err)
		}
		if l.HasPassword() {
			return generator.OptionError("Options can be read by others. Write the password into the file that the setting database_passwords names.",
				"the URL of database %d holds a password", i+1)
		}
		if slices.Contains(seen, l.String()) {
			return generator.WrongOption("%s is named twice", l)
		}
		seen = append(seen, l.String())
		if _, err := l.System.QuoteName(o.table("x")); err != nil {
			return generator.WrongOption("table: %v", err)
		}
	}
	return cmp.Or(generator.Within("start", o.Start, 1, maxStart), generator.Within("step", o.Step, 1, maxRows),
		kinds.CheckDeadline(o.Deadline, o.Description))
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
