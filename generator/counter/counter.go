// Package counter issues gap-free numbers: each number is written to the store
// before it is returned, and none is left out. A Generator is Redis's INCR and
// INCRBY with a start and a step, on any store. A DatedGenerator adds a date to the
// numbers. Numbers of a Generator may be held before they are used (hold.go).
//
// Queue is the common part, also of package ticket. It answers the draws in their
// order from a Source, which reserves the ids. At most one request to the Source
// runs at a time.
package counter

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Generator issues the numbers start + k·increment of one name, in order.
type Generator struct {
	*Queue
	source *source
}

func newGenerator(name string, o Options, store generator.Reserver, runtime generator.Runtime, owner string) *Generator {
	s := newSource(name, o, store, runtime, owner)
	// With holds, numbers are drawn one by one.
	return &Generator{Queue: NewQueue(name, s, runtime, time.Duration(o.Deadline), !o.Holds), source: s}
}

// Raise implements generator.Raiser. Other servers go on above v, too. The
// exception are numbers that they drew for clients that have left. Raise gives the
// number that it reserves back: kept here, it would come after greater ones of others.
// After an error it is left out, since the store may have it back.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if v >= g.source.limit {
		return generator.Errorf(generator.ErrOption, g.source.name, "Move the bound with alter_generator first.",
			"%d is out of the bounds of generator %q", v, g.source.name)
	}
	if v < g.source.options.Start {
		return nil
	}
	floor := g.source.floor(v, used)
	return g.Queue.Raise(ctx, floor, func(ctx context.Context) error {
		r, err := g.source.reserve(ctx, floor, 1, 1)
		if errors.Is(err, generator.ErrExhausted) { // everything below the bound is used
			return nil
		}
		if err == nil && r.First >= floor {
			_ = g.source.release(ctx, r.First)
		}
		return err
	})
}

// Peek implements generator.Peeker. It reserves nothing, so another server may draw the
// number first.
func (g *Generator) Peek(ctx context.Context) (next int64, err error) {
	err = g.ask(ctx, func(ctx context.Context) error {
		m, ok, err := g.source.store.Mark(ctx, generator.NameKey(g.source.name))
		if next = g.source.options.Start; ok {
			next = g.source.floor(max(next, m.Hi), false)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.rest) > 0 {
			next = g.rest[0].First
		}
		if err == nil && next >= g.source.limit {
			err = g.source.errExhausted()
		}
		return err
	})
	return next, err
}

// Place implements generator.Placer.
func (g *Generator) Place(id int64) generator.Place {
	p := generator.NewPlace(g.source.options.Start, g.source.options.Increment, id)
	p.Reserved = p.Number > 0 && id < g.source.end.Load()
	return p
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	s, end := g.source, g.source.end.Load()
	st := generator.Stats{Direct: true, Step: 1}
	if end != math.MinInt64 {
		st.ReservedUntil = end
	}
	g.Fill(&st)
	st.Bound(max(end, s.options.Start), s.limit, s.options.Increment)
	return st
}

// source reserves numbers in the store. A reservation of length n·increment holds n
// numbers of the series, wherever it begins.
type source struct {
	name    string
	options Options
	limit   int64 // exclusive
	store   generator.Reserver
	clock   generator.Clock
	owner   string
	end     atomic.Int64 // end of the last reservation; the least int64 for none
	holds   holds
}

var _ Source = (*source)(nil)

func newSource(name string, o Options, store generator.Reserver, clock generator.Clock, owner string) *source {
	s := &source{name: name, options: o, limit: o.limit(), store: store, clock: clock, owner: owner, holds: holds{slots: map[string]hold{}, settled: math.MinInt64}}
	s.end.Store(math.MinInt64)
	return s
}

func (s *source) Draw(ctx context.Context, n, least int64) ([]generator.Range, error) {
	if s.options.Holds {
		first, err := s.hold(ctx, slotFree, 0, generator.HeldBy{})
		return []generator.Range{{First: first, Step: s.options.Increment, Count: 1}}, err
	}
	if n > math.MaxInt64/s.options.Increment {
		return nil, s.errExhausted()
	}
	r, err := s.reserve(ctx, s.options.Start, n, least)
	return []generator.Range{r}, err
}

func (s *source) Renew(r generator.Range) generator.Range { return r }

func (s *source) Return(ctx context.Context, r generator.Range) error {
	if s.options.Holds {
		var err error
		for i := range r.Count {
			err = errors.Join(err, s.giveBack(ctx, r.First+i*r.Step))
		}
		return err
	}
	if r.Last() < s.end.Load()-s.options.Increment {
		return nil // another reservation was made after it
	}
	return s.release(ctx, r.First)
}

// release gives the end of the last reservation back, from a number on.
func (s *source) release(ctx context.Context, from int64) error {
	return s.store.Release(ctx, generator.NameKey(s.name), s.end.Swap(from), from)
}

// reserve reserves up to n numbers at or above atLeast, or none if less than least are
// left. If atLeast is out of the bounds, it reserves the rest below the bound.
func (s *source) reserve(ctx context.Context, atLeast, n, least int64) (generator.Range, error) {
	if atLeast >= s.limit { // reserve everything below
		atLeast = s.limit - 1
	}
	if s.options.Holds {
		first, err := s.take(ctx, atLeast, s.owner)
		return generator.Range{First: first, Step: s.options.Increment, Count: 1}, err
	}
	lo, hi, err := s.store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(s.name), AtLeast: atLeast, N: n * s.options.Increment, Limit: s.limit, Owner: s.owner,
		Least: (least-1)*s.options.Increment + 1,
	})
	if err == nil {
		s.end.Store(hi)
		if first, ok := s.align(lo); ok && first < hi {
			return generator.Range{First: first, Step: s.options.Increment, Count: (hi-first-1)/s.options.Increment + 1}, nil
		}
		err = generator.ErrExhausted // the reservation was cut at the bound
	}
	if errors.Is(err, generator.ErrExhausted) {
		err = s.errExhausted()
	}
	return generator.Range{}, err
}

// align returns the least number of the series at or above v. It reports false if
// that overflows.
func (s *source) align(v int64) (int64, bool) {
	gap := generator.Gap(s.options.Start, s.options.Increment, v)
	return v + gap, v <= math.MaxInt64-gap
}

// floor returns the least number that may be issued after setval(v).
func (s *source) floor(v int64, used bool) int64 {
	if used {
		v++ // v is below the limit
	}
	first, ok := s.align(v)
	if !ok {
		return s.limit
	}
	return min(first, s.limit)
}
