// Package checked is a kind of generator in one file, to begin one's own with.
// See docs/extending.md.
//
// It makes numbers whose last digit is a check digit, by Luhn's method: 18, 26,
// 34, 42, 59, … A number with one wrong digit, or two neighbours exchanged, is
// none of them.
package checked

import (
	"context"
	"encoding/json"
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// Options are the options of the kind, as they are stored.
type Options struct {
	Step int64 `json:"step"` // numbers in a reservation
}

const hint = "Options: step (1 to 1000000)."

// Kind returns the plug-in. owner is shown to operators.
func Kind(store generator.Reserver, owner string) generator.Kind {
	read := func(into Options, raw json.RawMessage) (Options, error) {
		err := generator.DecodeOptions(raw, &into, hint)
		if err == nil && (into.Step < 1 || into.Step > 1_000_000) {
			err = generator.OptionError(hint, "step is between 1 and 1000000")
		}
		return into, err
	}
	merge := func(into Options, raw json.RawMessage) (json.RawMessage, error) {
		o, err := read(into, raw)
		if err != nil {
			return nil, err
		}
		return json.Marshal(o)
	}
	return generator.Kind{
		Name: "checked", Help: "numbers with a check digit",
		Normalize: func(raw json.RawMessage) (json.RawMessage, error) { return merge(Options{Step: 100}, raw) },
		Alter: func(stored, change json.RawMessage) (json.RawMessage, error) {
			o, err := read(Options{}, stored)
			if err != nil {
				return nil, err
			}
			return merge(o, change)
		},
		Open: func(_ context.Context, d generator.Definition) (generator.Generator, error) {
			o, err := read(Options{}, d.Options)
			if err != nil {
				return nil, err
			}
			return &Generator{key: generator.NameKey(d.Name), step: o.Step, store: store, owner: owner}, nil
		},
		// What is reserved are the ids themselves, so the key is above all of
		// them already.
		Retire: func(context.Context, generator.Definition) error { return nil },
		Recover: func(ctx context.Context, d generator.Definition, atLeast int64) error {
			if r, ok := store.(generator.Recoverer); ok {
				return r.Recover(ctx, generator.NameKey(d.Name), atLeast)
			}
			_, _, err := store.Reserve(ctx, generator.Reservation{
				Key: generator.NameKey(d.Name), AtLeast: max(atLeast-1, 0), N: 1, Limit: generator.NoLimit, Owner: "recover_generator",
			})
			return err
		},
	}
}

// Generator issues the numbers of one name.
type Generator struct {
	key   string
	step  int64
	store generator.Reserver
	owner string

	mu     sync.Mutex
	next   int64 // without the check digit
	end    int64 // exclusive, likewise
	hi     int64 // of the reservation
	closed bool
}

var (
	_ generator.Generator = (*Generator)(nil)
	_ generator.Closer    = (*Generator)(nil)
)

// Next implements generator.Generator. Numbers with check digits are no
// arithmetic run, so it returns one of them: callers ask again.
func (g *Generator) Next(ctx context.Context, _ int64) (generator.Range, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return generator.Range{}, &generator.Error{Kind: generator.ErrNotNow, Message: "the generator is closed"}
	}
	for g.next >= g.end {
		// The store knows nothing of check digits: a number is one of ten.
		lo, hi, err := g.store.Reserve(ctx, generator.Reservation{
			Key: g.key, AtLeast: 10, N: 10 * g.step, Limit: generator.NoLimit, Owner: g.owner,
		})
		if err != nil {
			return generator.Range{}, err
		}
		// Only whole tens: the ends may belong to somebody else.
		g.next, g.end, g.hi = (lo-1)/10+1, hi/10, hi
	}
	id := 10*g.next + CheckDigit(g.next)
	g.next++
	return generator.Range{First: id, Step: 1, Count: 1}, nil
}

// Close implements generator.Closer: what was not used is given back.
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

// CheckDigit is Luhn's for a number: every second digit from the right is
// doubled, and the digits of all that and the check digit add up to tens.
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
