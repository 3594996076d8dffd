package counter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Options are the options of the kind, as they are stored.
type Options struct {
	Start       int64              `json:"start"`
	Increment   int64              `json:"increment"`
	Max         *int64             `json:"max,omitempty"`
	Deadline    generator.Duration `json:"deadline"` // longest time for which a draw waits for the store
	Description string             `json:"description,omitempty"`
	Holds       bool               `json:"holds,omitempty"` // numbers can be held; see hold
}

// KindName is the name of the kind.
const KindName = "counter"

// Kind returns the kind. owner is shown to operators.
func Kind(store generator.Reserver, runtime generator.Runtime, owner string) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: KindName, Title: "a counter",
		Hint:     "Options: start, increment, max, deadline, description, holds.",
		Defaults: Options{Start: 1, Increment: 1, Deadline: kinds.DefaultDeadline}, Check: (*Options).check, Keep: keep,
		Make: func(name string, o Options) (generator.Generator, error) {
			return newGenerator(name, o, store, runtime, owner), nil
		},
	}, store, runtime, owner}
}

type kind struct {
	kinds.Base[Options]
	store   generator.Reserver
	runtime generator.Runtime
	owner   string
}

// Position implements generator.Movable. The first hold_id sets holds.
func (kind) Position() []string { return []string{"holds"} }

// Numbers implements generator.Numbered. A counter with a late start is counted as
// if it had begun with 1.
func (kind) Numbers(stored json.RawMessage, past int64) generator.Left {
	var o Options
	if json.Unmarshal(stored, &o) != nil || o.Increment == 0 || o.limit() == generator.NoLimit {
		return generator.Left{}
	}
	return generator.NumbersLeft(max(o.Start, past), min(o.Start, 1), o.limit(), o.Increment)
}

// keep refuses changes of the series.
func keep(before, after *Options) error {
	switch {
	case before.Holds && !after.Holds:
		return generator.WrongOption("holds cannot be taken back: numbers may be held")
	case before.Start != after.Start:
		return generator.OptionError("Use setval, which goes up.", "start is where a counter began (%d) and cannot be changed", before.Start)
	case before.Increment != after.Increment:
		return generator.OptionError("Create another counter for another series.",
			"increment (%d) cannot be changed: other servers may have the numbers in between", before.Increment)
	}
	return nil
}

// Limits of the options. They keep a batch with any increment far from the end of
// an int64.
const (
	maxIncrement = 1 << 31
	minStart     = -math.MaxInt64 / 2
	maxStart     = math.MaxInt64 - maxIncrement
)

func (o *Options) check() error {
	if o.Max != nil && o.Start > *o.Max {
		return generator.WrongOption("start (%d) cannot be greater than max (%d)", o.Start, *o.Max)
	}
	return cmp.Or(generator.Within("increment", o.Increment, 1, maxIncrement), generator.Within("start", o.Start, minStart, maxStart),
		kinds.CheckDeadline(o.Deadline, o.Description))
}

// limit returns the exclusive upper bound of the numbers.
func (o *Options) limit() int64 {
	if o.Max != nil && *o.Max < generator.NoLimit {
		return *o.Max + 1
	}
	return generator.NoLimit
}

// Recover implements generator.Recoverable. Held numbers are given up: the store may
// have lost that they were confirmed.
func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	o, err := k.Read(d.Options)
	if err != nil {
		return err
	}
	if atLeast = max(atLeast, o.Start); atLeast >= o.limit() {
		return generator.WrongOption("%d is out of the bounds of the generator", atLeast)
	}
	if o.Holds {
		if err := newSource(d.Name, o, k.store, k.runtime, k.owner).giveUp(ctx); err != nil {
			return err
		}
	}
	return kinds.Recover(ctx, k.store, d.Name, atLeast)
}

// Retire implements generator.Retirer. The key is above all issued numbers already.
// It must also be above the absolute values of negative ones. Held numbers are given
// up; the new reservation replaces the hold that the last one names.
func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	o, err := k.Read(d.Options)
	if err == nil && o.Holds {
		err = newSource(d.Name, o, k.store, k.runtime, k.owner).giveUp(ctx)
	}
	if err != nil || o.Start >= 0 && !o.Holds {
		return err
	}
	return kinds.Bury(ctx, k.store, d.Name, -o.Start)
}

func (s *source) errExhausted() error {
	return generator.Errorf(generator.ErrExhausted, s.name, fmt.Sprintf("Move the bound with alter_generator('%s', '{\"max\": …}').", s.name),
		"generator %q has reached its maximum value (%d)", s.name, s.limit-1)
}
