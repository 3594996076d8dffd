// Package local is the generator.Store on data inside a server's process, SQLite's
// or in memory, which is changed by one transaction at a time. Store computes what
// each call does to a row. A Table holds the rows.
package local

import (
	"cmp"
	"context"
	"time"

	"nextid/generator"
)

// Line is the row of a key.
type Line struct {
	generator.Mark
	Lo  int64 // begin of the latest reservation
	Seq int64 // number of reservations; 0: there is no row
}

// Entry is the row of a name. The row of a dropped name stays and keeps its version.
type Entry struct {
	generator.Definition // Version 0: there is no row
	Dropped              bool
}

// Table holds the rows of a store, for one transaction.
type Table interface {
	Line(key string) (Line, error)
	// PutLine writes the row of a key. granted is the number of new reservations in it.
	PutLine(l Line, granted int64) error
	// Marks lists the rows of the keys that begin with prefix, ordered by key.
	Marks(prefix string) ([]generator.Mark, error)

	Entry(name string) (Entry, error)
	PutEntry(e Entry) error
	// Definitions lists the entries that are not dropped, ordered by name.
	Definitions() ([]generator.Definition, error)
	// Count returns the number of entries.
	Count() (int, error)
}

// Store implements generator.Store but for Exclusive and Close.
type Store struct {
	// Do runs f in a transaction, and returns when its end is durable, or when ctx has
	// ended. In the second case f may still run, and what it did is not used. An error
	// of f is that of its call alone if it is a *generator.Error. f changes nothing
	// after such an error.
	Do    func(ctx context.Context, f func(t Table) error) error
	Owner string          // of reservations that name none
	Clock generator.Clock // sets the times of marks and definitions
}

// run returns what f computes in a transaction. A call that is left behind still
// writes its result: that is never the caller's variable.
func run[V any](ctx context.Context, s *Store, f func(t Table) (V, error)) (V, error) {
	var v, none V
	err := s.Do(ctx, func(t Table) (err error) {
		v, err = f(t)
		return err
	})
	if err != nil {
		return none, err
	}
	return v, nil
}

func (s *Store) now() time.Time { return time.UnixMilli(s.Clock.Wall() / 1e6) }

// Reserve implements generator.Reserver.
func (s *Store) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	if err := r.Check(); err != nil {
		return 0, 0, err
	}
	granted, err := run(ctx, s, func(t Table) (Line, error) {
		l, err := t.Line(r.Key)
		if err != nil {
			return Line{}, err
		}
		l.Lo = r.AtLeast
		if l.Seq > 0 {
			l.Lo = max(l.Hi, r.AtLeast)
		}
		if l.Lo >= r.Bound() {
			return Line{}, r.ExhaustedError()
		}
		l.Mark = generator.Mark{Key: r.Key, Hi: r.End(l.Lo), Owner: cmp.Or(r.Owner, s.Owner), Updated: s.now()}
		l.Seq++
		return l, t.PutLine(l, 1)
	})
	return granted.Lo, granted.Hi, err
}

// Release implements generator.Reserver.
func (s *Store) Release(ctx context.Context, key string, hi, to int64) error {
	return s.Do(ctx, func(t Table) error {
		l, err := t.Line(key)
		if err != nil || l.Seq == 0 || l.Hi != hi || to > hi {
			return err
		}
		l.Lo, l.Hi, l.Updated = min(l.Lo, to), to, s.now()
		return t.PutLine(l, 0)
	})
}

// Mark implements generator.Reserver.
func (s *Store) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	l, err := run(ctx, s, func(t Table) (Line, error) { return t.Line(key) })
	return l.Mark, l.Seq > 0, err
}

// Reserved implements generator.Reserver.
func (s *Store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return run(ctx, s, func(t Table) ([]generator.Mark, error) { return t.Marks(prefix) })
}

// Define implements generator.Definitions.
func (s *Store) Define(ctx context.Context, d generator.Definition) (stored generator.Definition, created bool, err error) {
	type answer struct {
		stored  generator.Definition
		created bool
	}
	a, err := run(ctx, s, func(t Table) (answer, error) {
		old, err := t.Entry(d.Name)
		if err != nil || old.Version > 0 && !old.Dropped {
			return answer{old.Definition, false}, err
		}
		d := d
		d.Version, d.Created = old.Version+1, s.now()
		return answer{d, true}, t.PutEntry(Entry{Definition: d})
	})
	return a.stored, a.created, err
}

// Redefine implements generator.Definitions.
func (s *Store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	return run(ctx, s, func(t Table) (generator.Definition, error) {
		e, err := defined(t, d.Name)
		if err == nil && e.Version != d.Version {
			err = generator.ChangedError(d.Name)
		}
		if err != nil {
			return generator.Definition{}, err
		}
		e.Options = d.Options
		e.Version++
		return e.Definition, t.PutEntry(e)
	})
}

// Defined implements generator.Definitions.
func (s *Store) Defined(ctx context.Context, name string) (generator.Definition, error) {
	e, err := run(ctx, s, func(t Table) (Entry, error) { return defined(t, name) })
	return e.Definition, err
}

// ListDefined implements generator.Definitions.
func (s *Store) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	return run(ctx, s, Table.Definitions)
}

// Count implements generator.Definitions.
func (s *Store) Count(ctx context.Context) (int, error) { return run(ctx, s, Table.Count) }

// Undefine implements generator.Definitions.
func (s *Store) Undefine(ctx context.Context, name string) error {
	return s.Do(ctx, func(t Table) error {
		e, err := defined(t, name)
		if err != nil {
			return err
		}
		e.Dropped = true
		return t.PutEntry(e)
	})
}

// defined reads the row of a name that is not dropped.
func defined(t Table, name string) (Entry, error) {
	e, err := t.Entry(name)
	if err == nil && (e.Version == 0 || e.Dropped) {
		err = generator.UnknownError(name)
	}
	return e, err
}
