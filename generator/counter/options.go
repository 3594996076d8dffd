package counter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"nextid/generator"
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

// given holds the options as a user writes them. All are optional; a max of null
// means none.
type given struct {
	Start       *int64              `json:"start"`
	Increment   *int64              `json:"increment"`
	Max         json.RawMessage     `json:"max"`
	Deadline    *generator.Duration `json:"deadline"`
	Description *string             `json:"description"`
	Holds       *bool               `json:"holds"`
}

const hint = "Options: start, increment, max, deadline, description, holds."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// KindName is the name of the kind.
const KindName = "counter"

// Kind returns the kind. owner is shown to operators.
func Kind(store generator.Reserver, runtime generator.Runtime, owner string) generator.Kind {
	return kind{store, runtime, owner}
}

type kind struct {
	store   generator.Reserver
	runtime generator.Runtime
	owner   string
}

// Position implements generator.Movable. The first hold_id sets holds.
func (kind) Position() []string { return []string{"holds"} }

// Name implements generator.Kind.
func (kind) Name() string { return KindName }

// Help implements generator.Kind.
func (kind) Help() string {
	return "gap-free numbers, each written to the store before it is given, as Redis's INCR"
}

// Normalize implements generator.Kind.
func (kind) Normalize(raw json.RawMessage) (json.RawMessage, error) { return normalize(raw) }

// Alter implements generator.Kind.
func (kind) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	return alter(stored, change)
}

// Open implements generator.Kind.
func (k kind) Open(_ context.Context, d generator.Definition) (generator.Generator, error) {
	o, err := read(d.Options)
	if err != nil {
		return nil, err
	}
	return newGenerator(d.Name, o, k.store, k.runtime, k.owner), nil
}

// Numbers implements generator.Numbered. A counter with a late start is counted as
// if it had begun with 1.
func (kind) Numbers(stored json.RawMessage, past int64) generator.Left {
	var o Options
	if json.Unmarshal(stored, &o) != nil || o.Increment == 0 || o.limit() == generator.NoLimit {
		return generator.Left{}
	}
	return generator.NumbersLeft(max(o.Start, past), min(o.Start, 1), o.limit(), o.Increment)
}

// read decodes stored options.
func read(stored json.RawMessage) (Options, error) {
	return generator.StoredOptions(stored, "a counter", (*Options).check)
}

// normalize completes the options of a new generator with defaults.
func normalize(raw json.RawMessage) (json.RawMessage, error) {
	o := Options{Start: 1, Increment: 1, Deadline: generator.Duration(DefaultDeadline)}
	return o.with(raw)
}

// alter applies a change to stored options. Start and increment stay.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	before, err := read(stored)
	if err != nil {
		return nil, err
	}
	after := before
	out, err := after.with(change)
	switch {
	case err != nil:
		return nil, err
	case before.Holds && !after.Holds:
		return nil, optionError("holds cannot be taken back: numbers may be held")
	case before.Start != after.Start:
		return nil, generator.OptionError("Use setval, which goes up.", "start is where a counter began (%d) and cannot be changed", before.Start)
	case before.Increment != after.Increment:
		return nil, generator.OptionError("Create another counter for another series.",
			"increment (%d) cannot be changed: other servers may have the numbers in between", before.Increment)
	}
	return out, nil
}

// with sets the given options, checks all and returns their stored form.
func (o *Options) with(raw json.RawMessage) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	generator.SetOption(&o.Start, g.Start)
	generator.SetOption(&o.Increment, g.Increment)
	generator.SetOption(&o.Deadline, g.Deadline)
	generator.SetOption(&o.Description, g.Description)
	generator.SetOption(&o.Holds, g.Holds)
	if g.Max != nil {
		o.Max = nil
		if err := json.Unmarshal(g.Max, &o.Max); err != nil {
			return nil, optionError("max is a whole number or null, not %s", g.Max)
		}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// Limits of the options. They keep a batch with any increment far from the end of
// an int64.
const (
	maxIncrement = 1 << 31
	minStart     = -math.MaxInt64 / 2
	maxStart     = math.MaxInt64 - maxIncrement
	minDeadline  = generator.Duration(10 * time.Millisecond)
	maxDeadline  = generator.Duration(time.Minute)
)

func (o *Options) check() error {
	switch {
	case o.Increment < 1 || o.Increment > maxIncrement:
		return optionError("increment must be between 1 and %d, not %d", int64(maxIncrement), o.Increment)
	case o.Deadline < minDeadline || o.Deadline > maxDeadline:
		return optionError("deadline must be between %v and %v, not %v", minDeadline, maxDeadline, o.Deadline)
	case o.Max != nil && o.Start > *o.Max:
		return optionError("start (%d) cannot be greater than max (%d)", o.Start, *o.Max)
	case o.Start > maxStart || o.Start < minStart:
		return optionError("start must be between %d and %d, not %d", int64(minStart), int64(maxStart), o.Start)
	}
	return generator.CheckDescription(o.Description)
}

// limit returns the exclusive upper bound of the numbers.
func (o *Options) limit() int64 {
	if o.Max != nil && *o.Max < generator.NoLimit {
		return *o.Max + 1
	}
	return generator.NoLimit
}

// Recover implements generator.Recoverable.
func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	o, err := read(d.Options)
	if err != nil {
		return err
	}
	if atLeast = max(atLeast, o.Start); atLeast >= o.limit() {
		return optionError("%d is out of the bounds of the generator", atLeast)
	}
	key := generator.NameKey(d.Name)
	if r, ok := k.store.(generator.Recoverer); ok {
		return r.Recover(ctx, key, atLeast)
	}
	if atLeast == o.Start {
		return nil
	}
	_, _, err = k.store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: atLeast - 1, N: 1, Limit: generator.NoLimit, Owner: "recover_generator"})
	return err
}

// Retire implements generator.Retirer. The key is above all issued numbers already.
// It must also be above the absolute values of negative ones.
func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	o, err := read(d.Options)
	if err != nil || o.Start >= 0 {
		return err
	}
	_, _, err = k.store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(d.Name), AtLeast: -o.Start, N: 1, Limit: generator.NoLimit, Owner: "drop_generator",
	})
	return err
}

func (s *source) errExhausted() error {
	return &generator.Error{
		Kind: generator.ErrExhausted, Name: s.name,
		Message: fmt.Sprintf("generator %q has reached its maximum value (%d)", s.name, s.limit-1),
		Hint:    fmt.Sprintf("Move the bound with alter_generator('%s', '{\"max\": …}').", s.name),
	}
}

// storeError turns the store's ErrExhausted into the counter's own.
func (s *source) storeError(err error) error {
	if errors.Is(err, generator.ErrExhausted) {
		return s.errExhausted()
	}
	return err
}
