// Package counter makes gap-free numbers: each one is written to the store
// before it is given, and none is left out. It is Redis's INCR and INCRBY,
// with a start and a step, on whatever store the server has.
package counter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Generator issues the numbers of one name: those of the form
// start + k·increment, in order.
type Generator struct {
	*Queue
	source *source
}

var (
	_ generator.AllGenerator = (*Generator)(nil)
	_ generator.Holder       = (*Generator)(nil)
	_ generator.Closer       = (*Generator)(nil)
	_ generator.Raiser       = (*Generator)(nil)
	_ generator.Peeker       = (*Generator)(nil)
	_ generator.Reporter     = (*Generator)(nil)
	_ generator.Placer       = (*Generator)(nil)
)

func newGenerator(name string, o Options, store generator.Reserver, runtime generator.Runtime, owner string) *Generator {
	s := &source{name: name, options: o, limit: o.limit(), store: store, clock: runtime, owner: owner, holds: holds{slots: map[string]hold{}, settled: math.MinInt64}}
	return &Generator{Queue: NewQueue(name, s, runtime, time.Duration(o.Deadline)), source: s}
}

// Raise implements generator.Raiser. Other servers go on above v, too, but for
// numbers that they drew for clients which left.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if v >= g.source.limit {
		return &generator.Error{
			Kind: generator.ErrOption, Name: g.source.name, Hint: "Move the bound with alter_generator first.",
			Message: fmt.Sprintf("%d is out of the bounds of generator %q", v, g.source.name),
		}
	}
	if v < g.source.options.Start {
		return nil
	}
	floor := g.source.floor(v, used)
	return g.Queue.Raise(ctx, floor, func(ctx context.Context) (generator.Range, error) {
		r, err := g.source.reserve(ctx, floor, 1)                                    // it is the next number to be given
		if errors.Is(err, generator.ErrExhausted) || err == nil && r.First < floor { // below the bound all is used now
			return generator.Range{}, nil
		}
		return r, err
	})
}

// Ends implements generator.AllGenerator. Numbers among which some are held are drawn
// one by one.
func (g *Generator) Ends() bool { return !g.source.options.Holds && g.Queue.Ends() }

// Peek implements generator.Peeker.
func (g *Generator) Peek(ctx context.Context) (int64, error) { return g.Queue.First(ctx) }

// Place implements generator.Placer.
func (g *Generator) Place(id int64) generator.Place {
	p := generator.NewPlace(g.source.options.Start, g.source.options.Increment, id)
	p.Reserved = p.Number > 0 && id < g.source.end.Load()
	return p
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	st := generator.Stats{Direct: true, ReservedUntil: g.source.end.Load(), Step: 1}
	g.Fill(&st)
	if s := g.source; s.limit != generator.NoLimit {
		st.Bounded, st.Left = true, st.Buffered+max(0, s.limit-max(st.ReservedUntil, s.options.Start))/s.options.Increment
	}
	return st
}

// source takes numbers from the store. A stretch of n·increment of the number
// line holds n numbers of the series, wherever it begins.
type source struct {
	name    string
	options Options
	limit   int64 // exclusive
	store   generator.Reserver
	clock   generator.Clock
	owner   string
	end     atomic.Int64 // of the last reservation
	holds   holds
}

var _ AllSource = (*source)(nil)

// Draw implements Source.
func (s *source) Draw(ctx context.Context, n int64) (generator.Range, error) {
	if s.options.Holds {
		first, err := s.hold(ctx, slotFree, 0, generator.HeldBy{})
		return generator.Range{First: first, Step: s.options.Increment, Count: 1}, err
	}
	return s.reserve(ctx, s.options.Start, n)
}

// DrawAll implements AllSource.
func (s *source) DrawAll(ctx context.Context, n int64) (generator.Range, error) {
	lo, hi, err := generator.ReserveAll(ctx, s.store, generator.Reservation{
		Key: generator.NameKey(s.name), AtLeast: s.options.Start, Limit: s.limit, Owner: s.owner,
	}, func(lo int64) (int64, bool) {
		first, ok := s.align(lo)
		gap := first - lo
		return gap + (n-1)*s.options.Increment + 1, ok && n-1 <= (math.MaxInt64-1-gap)/s.options.Increment
	})
	return s.granted(lo, hi, err)
}

// Renew implements Source.
func (s *source) Renew(r generator.Range) generator.Range { return r }

// Return implements Source.
func (s *source) Return(ctx context.Context, r generator.Range) error {
	if s.options.Holds {
		var err error
		for i := range r.Count {
			err = errors.Join(err, s.giveBack(ctx, r.First+i*r.Step))
		}
		return err
	}
	if r.Last() < s.end.Load()-s.options.Increment {
		return nil // not the newest: another reservation came after it
	}
	return s.store.Release(ctx, generator.NameKey(s.name), s.end.Load(), r.First)
}

func (s *source) reserve(ctx context.Context, atLeast, n int64) (generator.Range, error) {
	if atLeast >= s.limit { // use up all that is below
		atLeast = s.limit - 1
	}
	if s.options.Holds {
		first, err := s.take(ctx, atLeast, s.owner)
		return generator.Range{First: first, Step: s.options.Increment, Count: 1}, err
	}
	lo, hi, err := s.store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(s.name), AtLeast: atLeast, N: n * s.options.Increment, Limit: s.limit, Owner: s.owner,
	})
	return s.granted(lo, hi, err)
}

// granted returns the numbers in a reservation.
func (s *source) granted(lo, hi int64, err error) (generator.Range, error) {
	if err != nil {
		return generator.Range{}, s.storeError(err)
	}
	s.end.Store(hi)
	first, ok := s.align(lo)
	if !ok || first >= hi { // the stretch was cut off at the bound
		return generator.Range{}, s.errExhausted(nil)
	}
	return generator.Range{First: first, Step: s.options.Increment, Count: (hi-first-1)/s.options.Increment + 1}, nil
}

// align is the least number of the series at v or above.
func (s *source) align(v int64) (int64, bool) {
	gap := modulo(modulo(s.options.Start, s.options.Increment)-modulo(v, s.options.Increment), s.options.Increment)
	return v + gap, v <= math.MaxInt64-gap
}

func modulo(a, m int64) int64 { return (a%m + m) % m }

// floor is the least position that may be given after setval(v).
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
