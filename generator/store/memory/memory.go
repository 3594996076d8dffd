// Package memory is a store in memory, for tests. Nothing in it is durable: a new
// Store is empty. Every method may be called by several goroutines at once.
package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nextid/generator"
)

// Config configures a Store. The zero value is a store for several servers, on the
// system's clock.
type Config struct {
	Exclusive bool            // result of Store.Exclusive
	Seed      uint64          // result of Store.Seed
	Clock     generator.Clock // sets the times of marks and definitions; nil: generator.SystemClock
}

// Store implements generator.Store in memory.
type Store struct {
	cfg Config

	mu     sync.Mutex
	closed bool
	marks  map[string]generator.Mark
	names  map[string]definition
}

// definition is a row of the catalogue. A dropped row stays and keeps its version.
type definition struct {
	generator.Definition
	dropped bool
}

var _ generator.Store = (*Store)(nil)

// New returns an empty Store.
func New(cfg Config) *Store {
	if cfg.Clock == nil {
		cfg.Clock = generator.SystemClock{}
	}
	return &Store{cfg: cfg, marks: make(map[string]generator.Mark), names: make(map[string]definition)}
}

// Exclusive implements generator.Store.
func (s *Store) Exclusive() bool { return s.cfg.Exclusive }

// Seed implements generator.Seeder.
func (s *Store) Seed() uint64 { return s.cfg.Seed }

// Close implements generator.Store. Every later call returns ErrNotNow.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// locked runs f under the mutex unless ctx has ended or the store is closed.
func locked[V any](ctx context.Context, s *Store, f func() (V, error)) (v V, err error) {
	if ctx.Err() != nil {
		return v, generator.StoreLateError(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return v, generator.StoreClosedError()
	}
	return f()
}

func (s *Store) now() time.Time { return time.Unix(0, s.cfg.Clock.Wall()) }

// Reserve implements generator.Reserver.
func (s *Store) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	if r.N < 1 {
		return 0, 0, &generator.Error{
			Kind:    generator.ErrCount,
			Message: fmt.Sprintf("cannot reserve %d numbers for %q", r.N, r.Key),
		}
	}
	lo, err = locked(ctx, s, func() (int64, error) {
		lo := r.AtLeast
		if m, ok := s.marks[r.Key]; ok {
			lo = max(m.Hi, r.AtLeast)
		}
		if lo >= r.Limit {
			return 0, &generator.Error{
				Kind:    generator.ErrExhausted,
				Message: fmt.Sprintf("%q has no numbers left below %d", r.Key, r.Limit),
			}
		}
		hi = r.Limit
		if left := uint64(r.Limit) - uint64(lo); uint64(r.N) < left {
			hi = lo + r.N
		}
		s.marks[r.Key] = generator.Mark{Key: r.Key, Hi: hi, Owner: r.Owner, Updated: s.now()}
		return lo, nil
	})
	return lo, hi, err
}

// Release implements generator.Reserver.
func (s *Store) Release(ctx context.Context, key string, hi, to int64) error {
	_, err := locked(ctx, s, func() (struct{}, error) {
		if m, ok := s.marks[key]; ok && m.Hi == hi && to <= hi {
			m.Hi, m.Updated = to, s.now()
			s.marks[key] = m
		}
		return struct{}{}, nil
	})
	return err
}

// Mark implements generator.Reserver.
func (s *Store) Mark(ctx context.Context, key string) (m generator.Mark, ok bool, err error) {
	m, err = locked(ctx, s, func() (generator.Mark, error) {
		m, ok = s.marks[key]
		return m, nil
	})
	return m, ok, err
}

// Reserved implements generator.Reserver.
func (s *Store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return locked(ctx, s, func() (marks []generator.Mark, err error) {
		for _, key := range slices.Sorted(maps.Keys(s.marks)) {
			if strings.HasPrefix(key, prefix) {
				marks = append(marks, s.marks[key])
			}
		}
		return marks, nil
	})
}

// Define implements generator.Definitions.
func (s *Store) Define(ctx context.Context, d generator.Definition) (stored generator.Definition, created bool, err error) {
	stored, err = locked(ctx, s, func() (generator.Definition, error) {
		old, known := s.names[d.Name]
		if known && !old.dropped {
			return old.copied(), nil
		}
		created = true
		d.Version, d.Created = old.Version+1, s.now()
		d.Options = slices.Clone(d.Options)
		s.names[d.Name] = definition{Definition: d}
		return s.names[d.Name].copied(), nil
	})
	return stored, created, err
}

// Redefine implements generator.Definitions.
func (s *Store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	return locked(ctx, s, func() (generator.Definition, error) {
		old, err := s.defined(d.Name)
		if err == nil && old.Version != d.Version {
			err = generator.ChangedError(d.Name)
		}
		if err != nil {
			return generator.Definition{}, err
		}
		old.Options = slices.Clone(d.Options)
		old.Version++
		s.names[d.Name] = old
		return old.copied(), nil
	})
}

// Defined implements generator.Definitions.
func (s *Store) Defined(ctx context.Context, name string) (generator.Definition, error) {
	return locked(ctx, s, func() (generator.Definition, error) {
		d, err := s.defined(name)
		return d.copied(), err
	})
}

// ListDefined implements generator.Definitions.
func (s *Store) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	return locked(ctx, s, func() (all []generator.Definition, err error) {
		for _, name := range slices.Sorted(maps.Keys(s.names)) {
			if d := s.names[name]; !d.dropped {
				all = append(all, d.copied())
			}
		}
		return all, nil
	})
}

// Count implements generator.Definitions.
func (s *Store) Count(ctx context.Context) (int, error) {
	return locked(ctx, s, func() (int, error) { return len(s.names), nil })
}

// Undefine implements generator.Definitions.
func (s *Store) Undefine(ctx context.Context, name string) error {
	_, err := locked(ctx, s, func() (definition, error) {
		d, err := s.defined(name)
		if err == nil {
			d.dropped = true
			s.names[name] = d
		}
		return d, err
	})
	return err
}

func (s *Store) defined(name string) (definition, error) {
	d, ok := s.names[name]
	if !ok || d.dropped {
		return definition{}, &generator.Error{
			Kind: generator.ErrUnknown, Name: name,
			Message: fmt.Sprintf("generator %q does not exist", name),
		}
	}
	return d, nil
}

// copied returns the definition with options that the caller may change.
func (d definition) copied() generator.Definition {
	c := d.Definition
	c.Options = slices.Clone(c.Options)
	return c
}
