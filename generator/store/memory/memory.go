// Package memory is a store in memory, for tests. Nothing in it is durable: a new
// Store is empty. Every method may be called by several goroutines at once.
package memory

import (
	"cmp"
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

// Reserve implements generator.Reserver.
func (s *Store) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	if r.N < 1 {
		return 0, 0, &generator.Error{
			Kind:    generator.ErrCount,
			Message: fmt.Sprintf("cannot reserve %d numbers for %q", r.N, r.Key),
		}
	}
	if err := s.lock(ctx); err != nil {
		return 0, 0, err
	}
	defer s.mu.Unlock()
	lo = r.AtLeast
	if m, ok := s.marks[r.Key]; ok {
		lo = max(m.Hi, r.AtLeast)
	}
	if lo >= r.Limit {
		return 0, 0, &generator.Error{
			Kind:    generator.ErrExhausted,
			Message: fmt.Sprintf("%q has no numbers left below %d", r.Key, r.Limit),
		}
	}
	hi = r.Limit
	if left := uint64(r.Limit) - uint64(lo); uint64(r.N) < left {
		hi = lo + r.N
	}
	s.marks[r.Key] = generator.Mark{Key: r.Key, Hi: hi, Owner: r.Owner, Updated: s.now()}
	return lo, hi, nil
}

// Release implements generator.Reserver.
func (s *Store) Release(ctx context.Context, key string, hi, to int64) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if m, ok := s.marks[key]; ok && m.Hi == hi && to <= hi {
		m.Hi, m.Updated = to, s.now()
		s.marks[key] = m
	}
	return nil
}

// Mark implements generator.Reserver.
func (s *Store) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	if err := s.lock(ctx); err != nil {
		return generator.Mark{}, false, err
	}
	defer s.mu.Unlock()
	m, ok := s.marks[key]
	return m, ok, nil
}

// Reserved implements generator.Reserver.
func (s *Store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var marks []generator.Mark
	for key, m := range s.marks {
		if strings.HasPrefix(key, prefix) {
			marks = append(marks, m)
		}
	}
	slices.SortFunc(marks, func(a, b generator.Mark) int { return cmp.Compare(a.Key, b.Key) })
	return marks, nil
}

// Define implements generator.Definitions.
func (s *Store) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	if err := s.lock(ctx); err != nil {
		return generator.Definition{}, false, err
	}
	defer s.mu.Unlock()
	old, known := s.names[d.Name]
	if known && !old.dropped {
		return old.copied(), false, nil
	}
	d.Version, d.Created = old.Version+1, s.now()
	d.Options = slices.Clone(d.Options)
	s.names[d.Name] = definition{Definition: d}
	return s.names[d.Name].copied(), true, nil
}

// Redefine implements generator.Definitions.
func (s *Store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	if err := s.lock(ctx); err != nil {
		return generator.Definition{}, err
	}
	defer s.mu.Unlock()
	old, err := s.defined(d.Name)
	if err != nil {
		return generator.Definition{}, err
	}
	if old.Version != d.Version {
		return generator.Definition{}, generator.ChangedError(d.Name)
	}
	old.Options = slices.Clone(d.Options)
	old.Version++
	s.names[d.Name] = old
	return old.copied(), nil
}

// Defined implements generator.Definitions.
func (s *Store) Defined(ctx context.Context, name string) (generator.Definition, error) {
	if err := s.lock(ctx); err != nil {
		return generator.Definition{}, err
	}
	defer s.mu.Unlock()
	d, err := s.defined(name)
	return d.copied(), err
}

// ListDefined implements generator.Definitions.
func (s *Store) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []generator.Definition
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		if d := s.names[name]; !d.dropped {
			all = append(all, d.copied())
		}
	}
	return all, nil
}

// Count implements generator.Definitions.
func (s *Store) Count(ctx context.Context) (int, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return len(s.names), nil
}

// Undefine implements generator.Definitions.
func (s *Store) Undefine(ctx context.Context, name string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	d, err := s.defined(name)
	if err != nil {
		return err
	}
	d.dropped = true
	s.names[name] = d
	return nil
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

// lock takes the mutex unless ctx has ended or the store is closed.
func (s *Store) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return generator.StoreLateError(ctx)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return generator.StoreClosedError()
	}
	return nil
}

func (s *Store) now() time.Time { return time.Unix(0, s.cfg.Clock.Wall()) }
