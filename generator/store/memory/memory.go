// Package memory is a store in memory, for tests. Nothing in it is durable: a new
// Store is empty. Every method may be called by several goroutines at once.
package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"nextid/generator"
	"nextid/generator/store/local"
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
	local.Store
	cfg Config

	mu     sync.Mutex
	closed bool
	table  table
}

// New returns an empty Store.
func New(cfg Config) *Store {
	cfg.Clock = cmp.Or[generator.Clock](cfg.Clock, generator.SystemClock{})
	s := &Store{cfg: cfg, table: table{map[string]local.Line{}, map[string]local.Entry{}}}
	s.Store = local.Store{Do: s.locked, Clock: cfg.Clock}
	return s
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
func (s *Store) locked(ctx context.Context, f func(t local.Table) error) error {
	if ctx.Err() != nil {
		return generator.StoreLateError(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return generator.StoreClosedError()
	}
	return f(s.table)
}

// table implements local.Table.
type table struct {
	lines   map[string]local.Line
	entries map[string]local.Entry
}

func (t table) Line(key string) (local.Line, error) { return t.lines[key], nil }

func (t table) PutLine(l local.Line, _ int64) error {
	t.lines[l.Key] = l
	return nil
}

func (t table) Marks(prefix string) (all []generator.Mark, err error) {
	for key, line := range t.lines {
		if strings.HasPrefix(key, prefix) {
			all = append(all, line.Mark)
		}
	}
	slices.SortFunc(all, func(a, b generator.Mark) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// Entry returns a copy: the caller may change the options.
func (t table) Entry(name string) (local.Entry, error) {
	e := t.entries[name]
	e.Options = slices.Clone(e.Options)
	return e, nil
}

func (t table) PutEntry(e local.Entry) error {
	e.Options = slices.Clone(e.Options)
	t.entries[e.Name] = e
	return nil
}

func (t table) Definitions() (all []generator.Definition, err error) {
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if e, _ := t.Entry(name); !e.Dropped {
			all = append(all, e.Definition)
		}
	}
	return all, nil
}

func (t table) Count() (int, error) { return len(t.entries), nil }
