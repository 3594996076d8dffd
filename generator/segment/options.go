package segment

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"nextid/generator"
)

// Options are the stored options of the kind.
type Options struct {
	Start      int64              `json:"start"`
	Increment  int64              `json:"increment"`         // negative: descending
	Offset     *int64             `json:"offset,omitempty"`  // ids equal it modulo increment; nil: with restart
	Restart    *int64             `json:"restart,omitempty"` // no id lies before it, like PostgreSQL's last_value; nil: start
	Called     bool               `json:"called,omitempty"`  // restart itself is used, like PostgreSQL's is_called
	Min        *int64             `json:"min,omitempty"`
	Max        *int64             `json:"max,omitempty"`
	Step       int64              `json:"step"`        // ids in a reservation: the first and the least
	MaxStep    int64              `json:"max_step"`    // limit of the growing step
	PrefetchAt float64            `json:"prefetch_at"` // used part of a buffer at which the next one is reserved
	Deadline   generator.Duration `json:"deadline"`    // longest wait of a draw for the store
	Strict     bool               `json:"strict"`

	Feeds       map[string]generator.FeedOption `json:"feeds,omitempty"`       // sequences that get blocks of these numbers
	Description string                          `json:"description,omitempty"` // for operators
}

// Defaults of Options. The step's maximum and the threshold are Leaf's.
const (
	defaultStep       = 1000
	defaultMaxStep    = 1_000_000
	defaultPrefetchAt = 0.1
	defaultDeadline   = generator.Duration(5 * time.Second)
)

// given holds the options of a user; each may be missing. null removes a bound.
type given struct {
	Start      *int64              `json:"start"`
	Increment  *int64              `json:"increment"`
	Offset     bound               `json:"offset"`
	Restart    bound               `json:"restart"`
	Called     *bool               `json:"called"`
	Min        bound               `json:"min"`
	Max        bound               `json:"max"`
	Step       *int64              `json:"step"`
	MaxStep    *int64              `json:"max_step"`
	PrefetchAt *float64            `json:"prefetch_at"`
	Deadline   *generator.Duration `json:"deadline"`
	Strict     *bool               `json:"strict"`

	Feeds map[string]*generator.FeedOption `json:"feeds"` // null removes one

	Description *string `json:"description"`
}

// bound is an option that null removes.
type bound struct {
	given bool
	value *int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *bound) UnmarshalJSON(raw []byte) error {
	b.given = true
	if err := json.Unmarshal(raw, &b.value); err != nil {
		return fmt.Errorf("offset, restart, min and max are whole numbers or null, not %s", raw)
	}
	return nil
}

// bound returns the end of the generator's numbers, or nil.
func (o *Options) bound() *int64 {
	if o.Increment < 0 {
		return o.Min
	}
	return o.Max
}

// opposite returns the bound at the other end, or nil.
func (o *Options) opposite() *int64 {
	if o.Increment < 0 {
		return o.Max
	}
	return o.Min
}

const hint = "Options: start, increment, offset, restart, called, min, max, step, max_step, prefetch_at (0 to 1), deadline, strict, feeds, description."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// KindName is the name of the kind.
const KindName = "segment"

// Kind returns the segment kind. owner names this server to operators.
func Kind(store generator.Reserver, clock generator.Runtime, owner string) generator.Kind {
	return kind{store, clock, owner}
}

type kind struct {
	store generator.Reserver
	clock generator.Runtime
	owner string
}

// Name implements generator.Kind.
func (kind) Name() string { return KindName }

// Help implements generator.Kind.
func (kind) Help() string {
	return "numbers in ranges from the store, after Meituan's Leaf"
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
	return newGenerator(d.Name, o, k.store, k.clock, k.owner), nil
}

// Position implements generator.Movable.
func (kind) Position() []string { return []string{"restart", "called", "feeds"} }

// Numbers implements generator.Numbered. Without a minimum the numbers are counted
// from the start.
func (kind) Numbers(stored json.RawMessage, past int64) generator.Left {
	var o Options
	if json.Unmarshal(stored, &o) != nil || o.Increment == 0 {
		return generator.Left{}
	}
	l := newLine(o)
	if l.limit == generator.NoLimit {
		return generator.Left{}
	}
	least := min(l.first, 1)
	if begin := o.opposite(); begin != nil {
		least = min(l.first, l.position(*begin))
	}
	return generator.NumbersLeft(max(l.first, past), least, l.limit, l.increment)
}

// read decodes stored options.
func read(stored json.RawMessage) (Options, error) {
	return generator.StoredOptions(stored, "a segment generator", (*Options).check)
}

// normalize applies the options of a new generator to the defaults.
func normalize(raw json.RawMessage) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	o := Options{Increment: 1, Step: defaultStep, MaxStep: defaultMaxStep, PrefetchAt: defaultPrefetchAt, Deadline: defaultDeadline}
	o.set(g)
	if g.Start == nil {
		o.Start = o.defaultStart()
	}
	return o.written()
}

// defaultStart returns the start of a sequence without START, as in PostgreSQL.
func (o *Options) defaultStart() int64 {
	switch {
	case o.Increment > 0 && o.Min != nil:
		return *o.Min
	case o.Increment < 0 && o.Max != nil:
		return *o.Max
	case o.Offset != nil:
		return *o.Offset
	case o.Increment < 0:
		return -1
	}
	return 1
}

func (o *Options) set(g given) {
	generator.SetOption(&o.Start, g.Start)
	generator.SetOption(&o.Increment, g.Increment)
	generator.SetOption(&o.Step, g.Step)
	generator.SetOption(&o.MaxStep, g.MaxStep)
	generator.SetOption(&o.PrefetchAt, g.PrefetchAt)
	generator.SetOption(&o.Deadline, g.Deadline)
	generator.SetOption(&o.Strict, g.Strict)
	generator.SetOption(&o.Called, g.Called)
	generator.SetOption(&o.Description, g.Description)
	for key, f := range g.Feeds {
		if o.Feeds = maps.Clone(o.Feeds); o.Feeds == nil {
			o.Feeds = map[string]generator.FeedOption{}
		}
		if f == nil {
			delete(o.Feeds, key)
		} else {
			o.Feeds[key] = *f
		}
	}
	for _, b := range []struct {
		into **int64
		from bound
	}{{&o.Offset, g.Offset}, {&o.Restart, g.Restart}, {&o.Min, g.Min}, {&o.Max, g.Max}} {
		if b.from.given {
			*b.into = b.from.value
		}
	}
	if g.MaxStep == nil {
		o.MaxStep = max(o.MaxStep, o.Step)
	}
}

// written checks the options and returns their stored form.
func (o *Options) written() (json.RawMessage, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// Limits of the options. They keep every sum of a position and a step inside int64.
const (
	maxIncrement = 1 << 31
	maxStepLimit = 1 << 30
	minDeadline  = generator.Duration(10 * time.Millisecond)
	maxDeadline  = generator.Duration(time.Minute)
)

func (o *Options) check() error {
	switch {
	case o.Increment == 0 || o.Increment > maxIncrement || o.Increment < -maxIncrement:
		return optionError("increment must be between 1 and %d, or negative, not %d", int64(maxIncrement), o.Increment)
	case o.Step < 1 || o.Step > maxStepLimit:
		return optionError("step must be between 1 and %d, not %d", maxStepLimit, o.Step)
	case o.MaxStep < o.Step || o.MaxStep > maxStepLimit:
		return optionError("max_step must be between step (%d) and %d, not %d", o.Step, maxStepLimit, o.MaxStep)
	case !(o.PrefetchAt >= 0 && o.PrefetchAt <= 1): // also excludes NaN
		return optionError("prefetch_at must be between 0 and 1, not %g", o.PrefetchAt)
	case o.Deadline < minDeadline || o.Deadline > maxDeadline:
		return optionError("deadline must be between %v and %v, not %v", minDeadline, maxDeadline, o.Deadline)
	case o.Min != nil && o.Start < *o.Min:
		return optionError("start (%d) cannot be less than min (%d)", o.Start, *o.Min)
	case o.Max != nil && o.Start > *o.Max:
		return optionError("start (%d) cannot be greater than max (%d)", o.Start, *o.Max)
	case o.Start == math.MinInt64 || o.Start == math.MaxInt64:
		return optionError("start cannot be %d", o.Start)
	}
	if err := generator.CheckFeeds(o.Feeds); err != nil {
		return err
	}
	return generator.CheckDescription(o.Description)
}

// alter merges a change into stored options. Reservations continue above all that
// was issued. So another increment, offset or bound cannot repeat a number. Another
// direction could, and is refused.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	before, err := read(stored)
	if err != nil {
		return nil, err
	}
	var g given
	if err := generator.DecodeOptions(change, &g, hint); err != nil {
		return nil, err
	}
	after := before
	after.set(g)
	switch {
	case (before.Increment < 0) != (after.Increment < 0):
		return nil, optionError("the direction of a generator cannot be changed: its numbers would come again")
	case before.Start != after.Start:
		return nil, generator.OptionError("Use setval, or ALTER SEQUENCE … RESTART WITH, which go up.",
			"start is where a generator began (%d) and cannot be changed", before.Start)
	}
	return after.written()
}

// Recover implements generator.Recoverable. For a store that is no Recoverer it
// moves the key up.
func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	o, err := read(d.Options)
	if err != nil {
		return err
	}
	l := newLine(o)
	p := max(l.position(atLeast), l.first)
	if p >= l.limit {
		return optionError("%d is out of the bounds of the generator", atLeast)
	}
	key := generator.NameKey(d.Name)
	if r, ok := k.store.(generator.Recoverer); ok {
		return r.Recover(ctx, key, p)
	}
	if p == l.first {
		return nil
	}
	_, _, err = k.store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: p - 1, N: 1, Limit: generator.NoLimit, Owner: "recover_generator"})
	return err
}

// Retire implements generator.Retirer. The key is above all issued positions. A
// later generator of the other direction counts mirrored positions. The lowest of
// these is that of the start, so the key is moved above it, too.
func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	o, err := read(d.Options)
	if err != nil {
		return err
	}
	l := newLine(o)
	if l.first >= 0 {
		return nil
	}
	key := generator.NameKey(d.Name)
	m, ok, err := k.store.Mark(ctx, key)
	if ok && err == nil && m.Hi <= -l.first {
		_, _, err = k.store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: -l.first, N: 1, Limit: generator.NoLimit, Owner: "drop_generator"})
	}
	return err
}
