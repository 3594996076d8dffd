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
	"nextid/generator/option"
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
	Continue = "continue" // ids go on growing; nobody waits
	Wait     = "wait"     // until the clock has caught up
	Refuse   = "refuse"   // ErrNotNow, as Twitter does
)

// Options are the options of the kind, as they are stored: everything that
// pins the meaning of the ids is written out.
type Options struct {
	Layout        string          `json:"layout"`
	Fields        []layout.Field  `json:"fields"`
	Epoch         option.Instant  `json:"epoch"`
	Unit          option.Duration `json:"unit"`
	SequenceStart string          `json:"sequence_start"`
	MaxAhead      option.Duration `json:"max_ahead"`
	OnRollback    string          `json:"on_rollback"`
}

// given is what a user writes. All of it is optional; bits is another name
// of fields.
type given struct {
	Layout        *string          `json:"layout"`
	Fields        fields           `json:"fields"`
	Bits          fields           `json:"bits"`
	Epoch         *option.Instant  `json:"epoch"`
	Unit          *option.Duration `json:"unit"`
	SequenceStart *startOption     `json:"sequence_start"`
	MaxAhead      *option.Duration `json:"max_ahead"`
	OnRollback    *string          `json:"on_rollback"`
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

const hint = "Options: layout, bits, epoch, unit, sequence_start (zero, random, carry, a number, a range such as 0-99), max_ahead, on_rollback (continue, wait, refuse)."

func optionError(format string, args ...any) error { return option.Error(hint, format, args...) }

// customLayout is the name of a layout that was given field by field without
// a name.
const customLayout = "custom"

// normalize reads the options of a new generator over the defaults.
func normalize(raw json.RawMessage, defaultLayout string) (json.RawMessage, error) {
	var g given
	if err := option.Decode(raw, &g, hint); err != nil {
		return nil, err
	}
	o := Options{SequenceStart: Zero, OnRollback: Continue, MaxAhead: option.Duration(defaultMaxAhead)}
	if err := o.pinLayout(g, defaultLayout); err != nil {
		return nil, err
	}
	return o.apply(g)
}

// pinLayout writes out the layout: a preset, perhaps with another epoch, or
// one given field by field. A stored form gives both and is left as it is.
func (o *Options) pinLayout(g given, defaultLayout string) error {
	own := g.Fields
	if own == nil {
		own = g.Bits
	}
	o.Layout = defaultLayout
	if own != nil {
		o.Layout = customLayout
	}
	if g.Layout != nil {
		o.Layout = *g.Layout
	}
	if l, err := layout.Preset(o.Layout); err == nil {
		o.Layout, o.Fields, o.Epoch, o.Unit = l.Name, l.Fields, option.Instant(l.Epoch), option.Duration(l.Unit)
		if l.Start != "" {
			o.SequenceStart = l.Start
		}
		if (own != nil && !slices.Equal(own, l.Fields)) || (g.Unit != nil && *g.Unit != o.Unit) {
			return optionError("layout %s has %s of %v; give other bits or units without a layout's name", l.Name, l.FieldList(), l.Unit)
		}
	} else {
		if own == nil {
			return optionError("%s", err)
		}
		o.Fields, o.Unit, o.Epoch = own, option.Duration(time.Millisecond), option.Instant(time.UnixMilli(layout.TwitterEpoch))
		if g.Unit != nil {
			o.Unit = *g.Unit
		}
	}
	if g.Epoch != nil {
		o.Epoch = *g.Epoch
	}
	if err := generator.CheckName(o.Layout); err != nil {
		return optionError("%q cannot be the name of a layout", o.Layout)
	}
	l, err := o.build()
	if err != nil {
		return optionError("layout: %s", err)
	}
	if !l.HasTime() {
		return optionError("ids of layout %s hold no time; kind auto_random makes them", o.Layout)
	}
	return nil
}

func (o *Options) build() (*layout.Layout, error) {
	return layout.New(o.Layout, o.Fields, time.Time(o.Epoch), time.Duration(o.Unit))
}

// apply sets what may be changed later, too, and returns the stored form.
func (o *Options) apply(g given) (json.RawMessage, error) {
	if g.SequenceStart != nil {
		o.SequenceStart = string(*g.SequenceStart)
	}
	l, err := o.build()
	if err != nil {
		return nil, err
	}
	if _, _, err := startRange(o.SequenceStart, l.SequenceBits()); err != nil {
		return nil, err
	}
	if g.OnRollback != nil && *g.OnRollback == "bits" {
		return nil, optionError("on_rollback bits is not in this version; ids stay unique without it")
	}
	if err := choose(&o.OnRollback, g.OnRollback, "on_rollback", Continue, Wait, Refuse); err != nil {
		return nil, err
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

func choose(into, v *string, what string, allowed ...string) error {
	if v == nil {
		return nil
	}
	if !slices.Contains(allowed, *v) {
		return optionError("%s must be one of %s, not %q", what, strings.Join(allowed, ", "), *v)
	}
	*into = *v
	return nil
}

// alter merges a change into stored options. The layout is pinned.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	var o Options
	if err := json.Unmarshal(stored, &o); err != nil {
		return nil, &generator.Error{Kind: generator.ErrRegressed, Message: "the stored options cannot be read", Cause: err}
	}
	var g given
	if err := option.Decode(change, &g, hint); err != nil {
		return nil, err
	}
	if g.Layout != nil || g.Fields != nil || g.Bits != nil || g.Epoch != nil || g.Unit != nil {
		return nil, option.Error("Create a generator with another name and move to it: under one name every id must mean the same.",
			"layout, bits, epoch and unit of a generator cannot be changed")
	}
	return o.apply(g)
}

// fields reads a list of fields, from high to low, in three forms:
//
//	"time 41, worker 10, sequence 12"
//	{"time": 41, "worker": 10, "sequence": 12}    in the usual order
//	[{"kind": "time", "bits": 41}, …]             as it is stored
type fields []layout.Field

// usualOrder is the order of fields that are given without one.
var usualOrder = []layout.FieldKind{layout.Time, layout.Datacenter, layout.Worker, layout.Rollback, layout.Sequence}

// UnmarshalJSON implements json.Unmarshaler.
func (f *fields) UnmarshalJSON(b []byte) error {
	var (
		list  []layout.Field
		sizes map[layout.FieldKind]uint8
		text  string
	)
	switch {
	case json.Unmarshal(b, &list) == nil:
		*f = list
		return nil
	case json.Unmarshal(b, &sizes) == nil:
		for _, k := range usualOrder {
			if n, ok := sizes[k]; ok {
				*f = append(*f, layout.Field{Kind: k, Bits: n})
				delete(sizes, k)
			}
		}
		for k, n := range sizes { // unknown: the layout says so
			*f = append(*f, layout.Field{Kind: k, Bits: n})
		}
		return nil
	case json.Unmarshal(b, &text) == nil:
		return f.parse(text)
	}
	return fmt.Errorf("bits are written %q, not %s", "time 41, worker 10, sequence 12", b)
}

func (f *fields) parse(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		kind, bits, _ := strings.Cut(strings.TrimSpace(part), " ")
		n, err := strconv.ParseUint(strings.TrimSpace(bits), 10, 8)
		if err != nil {
			return fmt.Errorf("bits are written %q, not %q", "time 41, worker 10, sequence 12", text)
		}
		*f = append(*f, layout.Field{Kind: layout.FieldKind(kind), Bits: uint8(n)})
	}
	return nil
}
