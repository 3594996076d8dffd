package segment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nextid/generator"
)

// Options are the options of the kind, as they are stored.
type Options struct {
	Start      int64    `json:"start"`
	Increment  int64    `json:"increment"`        // negative: descending
	Offset     *int64   `json:"offset,omitempty"` // ids agree with it modulo increment; nil: with start
	Min        *int64   `json:"min,omitempty"`
	Max        *int64   `json:"max,omitempty"`
	Step       int64    `json:"step"`        // ids in a reservation, at first and at least
	MaxStep    int64    `json:"max_step"`    // to which the step may grow
	PrefetchAt float64  `json:"prefetch_at"` // part of a buffer that is used when the next is fetched
	Deadline   duration `json:"deadline"`    // for which a draw waits for the store
	Strict     bool     `json:"strict"`
}

// Defaults of Options: Leaf's maximum step and threshold.
const (
	defaultStep       = 1000
	defaultMaxStep    = 1_000_000
	defaultPrefetchAt = 0.1
	defaultDeadline   = duration(5 * time.Second)
)

// bound is the value at which the generator ends, nil for none.
func (o *Options) bound() *int64 {
	if o.Increment < 0 {
		return o.Min
	}
	return o.Max
}

// KindName is the name of the kind.
const KindName = "segment"

// Kind returns the plug-in. owner is shown to operators.
func Kind(store generator.Reserver, clock generator.Clock, owner string) generator.Kind {
	return generator.Kind{Name: KindName, Help: "numbers in ranges from the store, after Meituan's Leaf",
		Normalize: func(raw json.RawMessage) (json.RawMessage, error) { return merge(nil, raw) },
		Alter:     alter,
		Open: func(_ context.Context, d generator.Definition) (generator.Generator, error) {
			var o Options
			if err := json.Unmarshal(d.Options, &o); err != nil {
				return nil, &generator.Error{Kind: generator.ErrRegressed, Name: d.Name, Cause: err,
					Message: fmt.Sprintf("the stored options of generator %q cannot be read", d.Name)}
			}
			return newGenerator(d.Name, o, store, clock, owner), nil
		}}
}

func optionError(format string, args ...any) error {
	return &generator.Error{Kind: generator.ErrOption, Message: fmt.Sprintf(format, args...),
		Hint: "Options: start, increment, offset, min, max, step, max_step, prefetch_at (0 to 1), deadline, strict."}
}

// merge reads options over the defaults, or over stored ones, and checks the
// whole.
func merge(stored, raw json.RawMessage) (json.RawMessage, error) {
	o := Options{Increment: 1, Step: defaultStep, MaxStep: defaultMaxStep, PrefetchAt: defaultPrefetchAt, Deadline: defaultDeadline}
	if stored != nil {
		if err := json.Unmarshal(stored, &o); err != nil {
			return nil, err
		}
	}
	given := struct {
		*Options
		Start *int64 `json:"start"`
	}{Options: &o}
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&given); err != nil {
			return nil, optionError("segment options: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	switch {
	case given.Start != nil:
		o.Start = *given.Start
	case stored == nil:
		o.Start = o.defaultStart()
	}
	if o.MaxStep < o.Step {
		o.MaxStep = o.Step
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return json.Marshal(&o)
}

// defaultStart is where a sequence without START begins.
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

// Bounds of the options. maxStepBound keeps step times increment far from
// the ends of an int64.
const (
	maxIncrement = 1 << 31
	maxStepBound = 1 << 30
)

func (o *Options) check() error {
	switch {
	case o.Increment == 0 || o.Increment > maxIncrement || o.Increment < -maxIncrement:
		return optionError("increment must be between 1 and %d, or negative, not %d", maxIncrement, o.Increment)
	case o.Step < 1 || o.Step > maxStepBound:
		return optionError("step must be between 1 and %d, not %d", maxStepBound, o.Step)
	case o.MaxStep > maxStepBound:
		return optionError("max_step must be at most %d, not %d", maxStepBound, o.MaxStep)
	case !(o.PrefetchAt >= 0 && o.PrefetchAt <= 1):
		return optionError("prefetch_at must be between 0 and 1, not %g", o.PrefetchAt)
	case o.Deadline < duration(10*time.Millisecond) || o.Deadline > duration(time.Minute):
		return optionError("deadline must be between 10ms and 1m, not %v", time.Duration(o.Deadline))
	case o.Min != nil && o.Start < *o.Min:
		return optionError("start (%d) cannot be less than min (%d)", o.Start, *o.Min)
	case o.Max != nil && o.Start > *o.Max:
		return optionError("start (%d) cannot be greater than max (%d)", o.Start, *o.Max)
	case o.Start == -1<<63:
		return optionError("start is too small")
	}
	return nil
}

// alter merges a change. The direction is pinned: turning round would give
// the same numbers again. Another increment is safe: reservations on the
// line of the name stay above all that was given.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	merged, err := merge(stored, change)
	if err != nil {
		return nil, err
	}
	var before, after Options
	if err := json.Unmarshal(stored, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(merged, &after); err != nil {
		return nil, err
	}
	if (before.Increment < 0) != (after.Increment < 0) {
		return nil, optionError("the direction of a generator cannot be changed: its numbers would come again")
	}
	return merged, nil
}

// duration is a duration in JSON: "5s", or milliseconds when read.
type duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *duration) UnmarshalJSON(b []byte) error {
	var ms float64
	if json.Unmarshal(b, &ms) == nil {
		*d = duration(ms * float64(time.Millisecond))
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is written \"5s\", not %s", b)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("a duration is written \"5s\", not %q", s)
	}
	*d = duration(v)
	return nil
}
