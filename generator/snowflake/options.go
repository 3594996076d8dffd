package snowflake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
)

// What the sequence of a new tick starts with (Options.SequenceStart). A
// number, such as "5", is the least sequence of every tick, as yitter has it;
// a range, such as "0-99", a random number of it, as Leaf and MyBatis-Plus do.
const (
	Zero   = "zero"       // 0, as Twitter does
	Random = "random"     // anywhere in the lower half: even low bits at low rates
	Carry  = layout.Carry // where the last tick's left off: even low bits, no randomness
)

// What happens while the wall clock is behind the ids (Options.OnRollback).
const (
	Continue = "continue" // ids go on growing, and no draw waits
	Wait     = "wait"     // until the clock has caught up, no longer than RollbackWait, then ErrNotNow
	Refuse   = "refuse"   // ErrNotNow, as Twitter does; a duration such as "5ms" waits up to that lag before, as Leaf does
	Bits     = "bits"     // ids carry the clock's time and another value in their rollback field
)

// Options are the options of the kind, as they are stored: everything that
// pins the meaning of the ids is written out.
type Options struct {
	layout.Pinned
	SequenceStart string             `json:"sequence_start"`
	MaxAhead      generator.Duration `json:"max_ahead"`
	OnRollback    string             `json:"on_rollback"`
	// RollbackWait bounds the wait of one draw with Wait. nil: defaultRollbackWait.
	RollbackWait *generator.Duration `json:"rollback_wait,omitempty"`

	Strict bool `json:"strict,omitempty"` // a reservation for each draw
}

// given holds what a user writes. All of it is optional.
type given struct {
	layout.Given
	SequenceStart *startOption        `json:"sequence_start"`
	MaxAhead      *generator.Duration `json:"max_ahead"`
	OnRollback    *string             `json:"on_rollback"`
	RollbackWait  *generator.Duration `json:"rollback_wait"`
	Strict        *bool               `json:"strict"`
}

// startOption is a sequence_start in JSON: a text, or a number.
type startOption string

// UnmarshalJSON implements json.Unmarshaler.
func (s *startOption) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*s = startOption(text)
		return nil
	}
	var n uint32
	if json.Unmarshal(b, &n) != nil {
		return fmt.Errorf("sequence_start is zero, random, carry, a number or a range of numbers such as \"0-99\", not %s", b)
	}
	*s = startOption(strconv.FormatUint(uint64(n), 10))
	return nil
}

// defaultMaxAhead lets one call of next_ids with the greatest n (10,000 ids,
// 3 ms of Twitter's layout) be answered at once instead of by three timers.
// It is no more than what the clocks of two servers may differ by anyway.
const defaultMaxAhead = 5 * time.Millisecond

// maxMaxAhead bounds max_ahead: ids of the future are stamped only inside
// the slice in hand, and on a restart they must not lie far ahead.
const maxMaxAhead = time.Second

// The wait for a clock that was set back: long enough for a step of ntpd, and
// shorter than the patience of most pools.
const (
	defaultRollbackWait = 5 * time.Second
	maxRollbackWait     = time.Hour
)

func (o *Options) rollbackWait() time.Duration {
	if o.RollbackWait == nil {
		return defaultRollbackWait
	}
	return time.Duration(*o.RollbackWait)
}

const hint = "Options: layout, bits, epoch, unit, sequence_start (zero, random, carry, a number, a range such as 0-99), max_ahead, " +
	"on_rollback (continue, wait, refuse, bits, a duration such as 5ms), rollback_wait, strict."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// noSystems are presets of no other system.
var noSystems = []string{"js", "rollback"}

// normalize reads the options of a new generator over the defaults. A layout
// that is named begins ticks as its system does, and one that is not as start
// says: even low bits matter to those who take ids modulo a number of shards.
func normalize(raw json.RawMessage, defaultLayout, start string) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	pinned, l, err := g.Pin(defaultLayout)
	if err != nil {
		return nil, optionError("%s", err)
	}
	o := Options{Pinned: pinned, SequenceStart: start, OnRollback: Continue, MaxAhead: generator.Duration(defaultMaxAhead)}
	if p, err := layout.Preset(l.Name); err == nil {
		switch {
		case p.Start != "":
			o.SequenceStart = p.Start
		case g.Layout != nil && !slices.Contains(noSystems, l.Name):
			o.SequenceStart = Zero
		}
	}
	if l.RollbackBits() > 0 {
		o.OnRollback = Bits
	}
	return o.apply(g)
}

// apply sets what may be changed later, too, and returns the stored form.
func (o *Options) apply(g given) (json.RawMessage, error) {
	if g.SequenceStart != nil {
		o.SequenceStart = string(*g.SequenceStart)
	}
	l, err := o.Build()
	if err != nil {
		return nil, err
	}
	if _, _, err := startRange(o.SequenceStart, l.SequenceBits()); err != nil {
		return nil, err
	}
	if g.OnRollback != nil {
		if _, _, ok := onRollback(*g.OnRollback); !ok {
			return nil, optionError("on_rollback must be one of %s, %s, %s, %s or how far the clock may be behind, 1ms to %v, not %q",
				Continue, Wait, Refuse, Bits, maxRollbackWait, *g.OnRollback)
		}
		o.OnRollback = *g.OnRollback
	}
	if g.Strict != nil {
		o.Strict = *g.Strict
	}
	if o.Strict && o.OnRollback == Bits {
		if g.OnRollback != nil {
			return nil, optionError("strict ids follow the store's time, which is never set back: on_rollback bits is not for them")
		}
		o.OnRollback = Continue
	}
	if o.OnRollback == Bits && l.RollbackBits() == 0 {
		return nil, optionError("on_rollback bits needs a layout with a rollback field, such as rollback; %s has none", l.Name)
	}
	if g.RollbackWait != nil {
		if d := time.Duration(*g.RollbackWait); o.OnRollback != Wait || d <= 0 || d > maxRollbackWait {
			return nil, optionError("rollback_wait, with on_rollback wait, must be between 1ms and %v, not %v", maxRollbackWait, d)
		}
		o.RollbackWait = g.RollbackWait
	}
	if o.OnRollback != Wait {
		o.RollbackWait = nil
	}
	if g.MaxAhead != nil {
		if d := time.Duration(*g.MaxAhead); d < 0 || d > maxMaxAhead {
			return nil, optionError("max_ahead must be between 0 and %v, not %v", maxMaxAhead, d)
		}
		o.MaxAhead = *g.MaxAhead
	}
	return json.Marshal(o)
}

// startRange reads a sequence_start that is a number or a range of them; it
// is 0, 0 for the others.
func startRange(text string, bits uint8) (low, high int64, err error) {
	if text == Zero || text == Random || text == Carry {
		return 0, 0, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	low, err = strconv.ParseInt(from, 10, 64)
	if high = low; err == nil && ranged {
		high, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil || low < 0 || high < low {
		return 0, 0, optionError("sequence_start must be one of %s, %s, %s, a number or a range such as 0-99, not %q", Zero, Random, Carry, text)
	}
	if half := int64(1) << bits / 2; high > half {
		return 0, 0, optionError("sequence_start %s leaves less than half of a sequence of %d bits", text, bits)
	}
	return low, high, nil
}

// onRollback reads an on_rollback: the rule, and by how much the wall clock may
// be behind with Refuse before a draw fails instead of waiting.
func onRollback(text string) (rule string, lag time.Duration, ok bool) {
	switch text {
	case Continue, Wait, Refuse, Bits:
		return text, tolerance, true
	}
	lag, err := time.ParseDuration(text)
	return Refuse, lag, err == nil && lag >= time.Millisecond && lag <= maxRollbackWait
}

// alter merges a change into stored options. The layout is pinned.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	var o Options
	if err := json.Unmarshal(stored, &o); err != nil {
		return nil, &generator.Error{Kind: generator.ErrRegressed, Message: "the stored options cannot be read", Cause: err}
	}
	var g given
	if err := generator.DecodeOptions(change, &g, hint); err != nil {
		return nil, err
	}
	if g.Changes() {
		return nil, generator.OptionError("Create a generator with another name and move to it: under one name every id must mean the same.",
			"layout, bits, epoch and unit of a generator cannot be changed")
	}
	return o.apply(g)
}
