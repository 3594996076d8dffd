// Package checked is an example of a generator kind in one file. See
// docs/extending.md.
//
// It makes numbers whose last digit is a check digit by Luhn's method: 18, 26, 34,
// 42, 59, … A number with one wrong digit, or with two exchanged neighbours, has a
// wrong check digit.
package checked

import (
	"context"
	"sync"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// Options holds the options of the kind, as they are stored.
type Options struct {
	Step int64 `json:"step"` // numbers in a reservation
}

// Kind returns the kind. owner is the name of this server that operators see in the
// store.
func Kind(store generator.Reserver, owner string) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: "checked", Title: "a checked generator", Hint: "Options: step (1 to 1000000).", Defaults: Options{Step: 100},
		Check: func(o *Options) error { return generator.Within("step", o.Step, 1, 1_000_000) },
		Make: func(name string, o Options) (generator.Generator, error) {
			return &Generator{key: generator.NameKey(name), step: o.Step, store: store, owner: owner}, nil
		},
	}, store}
}

// kind is a generator.Kind, by kinds.Base.
type kind struct {
	kinds.Base[Options]
	store generator.Reserver
}

// Recover implements generator.Recoverable. The kind needs no Retirer: the key of a
// name counts the ids themselves, so it is above all of them.
func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	return kinds.Recover(ctx, k.store, d.Name, atLeast)
}

// Generator issues the numbers of one name.
type Generator struct {
	key   string
	step  int64
	store generator.Reserver
	owner string

	mu     sync.Mutex
	next   int64 // next to issue, without the check digit
	end    int64 // exclusive, likewise
	hi     int64 // end of the reservation, for Release
	closed bool
}

var (
	_ generator.Generator = (*Generator)(nil)
	_ generator.Closer    = (*Generator)(nil)
)

// Next implements generator.Generator. Numbers with check digits have no constant
// step, so it returns one number. Callers ask again.
func (g *Generator) Next(ctx context.Context, _ int64) (generator.Range, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return generator.Range{}, &generator.Error{Kind: generator.ErrNotNow, Message: "the generator is closed"}
	}
	for g.next >= g.end {
		// The store knows nothing of check digits: it reserves ten of its numbers for
		// each of ours.
		lo, hi, err := g.store.Reserve(ctx, generator.Reservation{
			Key: g.key, AtLeast: 10, N: 10 * g.step, Limit: generator.NoLimit, Owner: g.owner,
		})
		if err != nil {
			return generator.Range{}, err
		}
		// Use whole tens only: other servers may own the numbers before and after.
		g.next, g.end, g.hi = (lo-1)/10+1, hi/10, hi
	}
	id := 10*g.next + CheckDigit(g.next)
	g.next++
	return generator.Range{First: id, Step: 1, Count: 1}, nil
}

// Close implements generator.Closer. It gives unused numbers back.
func (g *Generator) Close(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.next >= g.end {
		g.closed = true
		return nil
	}
	g.closed = true
	return g.store.Release(ctx, g.key, g.hi, 10*g.next)
}

// CheckDigit returns the check digit of n by Luhn's method: every second digit from
// the right is doubled. The check digit completes the sum of all digits to a
// multiple of ten.
func CheckDigit(n int64) int64 {
	sum := int64(0)
	for double := true; n > 0; n, double = n/10, !double {
		d := n % 10
		if double {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return (10 - sum%10) % 10
}

// Function is the SQL function is_checked(n).
var Function = engine.Function{
	Name: "is_checked", Args: []engine.Argument{{Name: "n", Type: datum.Int8}}, Result: datum.Bool,
	Help: "whether the last digit of n is its check digit",
	Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeBool(a[0].Int%10 == CheckDigit(a[0].Int/10)), nil
	}),
}
