package snowflake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// What a new tick's sequence starts with (Options.SequenceStart).
const (
	Zero   = "zero"   // 0, as Twitter does
	Random = "random" // anywhere in the lower half: even low bits at low rates
	Carry  = "carry"  // where the last tick's left off: even low bits, no randomness
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
	Layout        string         `json:"layout"`
	Fields        []layout.Field `json:"fields"`
	Epoch         timestamp      `json:"epoch"`
	Unit          duration       `json:"unit"`
	SequenceStart string         `json:"sequence_start"`
	MaxAhead      duration       `json:"max_ahead"`
	OnRollback    string         `json:"on_rollback"`
}

// given is what a user writes: all optional, and bits as a shorter way to
// name fields.
type given struct {
	Layout        *string          `json:"layout"`
	Fields        []layout.Field   `json:"fields"`
	Bits          map[string]uint8 `json:"bits"`
	Epoch         *timestamp       `json:"epoch"`
	Unit          *duration        `json:"unit"`
	SequenceStart *string          `json:"sequence_start"`
	MaxAhead      *duration        `json:"max_ahead"`
	OnRollback    *string          `json:"on_rollback"`
}

// maxMaxAhead bounds max_ahead.
const maxMaxAhead = time.Minute

// KindName is the name of the kind.
const KindName = "snowflake"

// Kind returns the plug-in. pools are the process's worker ids; defaultLayout
// is the layout of generators that name none.
func Kind(pools *worker.Pools, defaultLayout string) generator.Kind {
	k := kind{pools, defaultLayout}
	return generator.Kind{Name: KindName, Help: "time, worker id and sequence, after Twitter's Snowflake",
		Normalize: k.normalize, Alter: alter, Open: k.open}
}

type kind struct {
	pools         *worker.Pools
	defaultLayout string
}

func optionError(format string, args ...any) error {
	return &generator.Error{Kind: generator.ErrOption, Message: fmt.Sprintf(format, args...),
		Hint: "Options: layout, bits, epoch, unit, sequence_start (zero, random, carry), max_ahead, on_rollback (continue, wait, refuse)."}
}

func decode(raw json.RawMessage) (given, error) {
	var g given
	if len(raw) == 0 {
		return g, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return g, optionError("snowflake options: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return g, nil
}

// normalize implements generator.Kind.
func (k kind) normalize(raw json.RawMessage) (json.RawMessage, error) {
	g, err := decode(raw)
	if err != nil {
		return nil, err
	}
	o := Options{SequenceStart: Zero, OnRollback: Continue}
	if err := k.pinLayout(&o, g); err != nil {
		return nil, err
	}
	return o.apply(g)
}

// pinLayout writes out the layout: a preset, perhaps with another epoch, or
// one given field by field.
func (k kind) pinLayout(o *Options, g given) error {
	name := k.defaultLayout
	custom := g.Fields != nil || g.Bits != nil
	if g.Layout != nil {
		name = *g.Layout
	}
	if custom && g.Layout == nil {
		name = "custom"
	}
	base, err := layout.Preset(name)
	if err != nil && !custom {
		return optionError("%s", err)
	}
	if !custom {
		o.Layout, o.Fields, o.Epoch, o.Unit = base.Name, base.Fields, timestamp(base.Epoch), duration(base.Unit)
	} else {
		o.Layout, o.Unit, o.Epoch = name, duration(time.Millisecond), timestamp(time.UnixMilli(layout.TwitterEpoch))
		if o.Fields, err = customFields(g); err != nil {
			return err
		}
	}
	if g.Epoch != nil {
		o.Epoch = *g.Epoch
	}
	if g.Unit != nil {
		o.Unit = *g.Unit
	}
	if _, err := o.build(); err != nil {
		return optionError("layout: %s", err)
	}
	return nil
}

// customFields reads fields, or bits: {"time": 41, "worker": 10, …}, which
// come in the usual order.
func customFields(g given) ([]layout.Field, error) {
	if g.Fields != nil {
		return g.Fields, nil
	}
	var fields []layout.Field
	for _, k := range []layout.FieldKind{layout.Time, layout.Datacenter, layout.Worker, layout.Rollback, layout.Sequence} {
		if n, ok := g.Bits[string(k)]; ok {
			fields = append(fields, layout.Field{Kind: k, Bits: n})
			delete(g.Bits, string(k))
		}
	}
	for name := range g.Bits {
		return nil, optionError("bits: unknown field %q", name)
	}
	return fields, nil
}

func (o *Options) build() (*layout.Layout, error) {
	return layout.New(o.Layout, o.Fields, time.Time(o.Epoch), time.Duration(o.Unit))
}

// apply sets what may be changed later, too, and returns the stored form.
func (o *Options) apply(g given) (json.RawMessage, error) {
	choice := func(into *string, v *string, what string, allowed ...string) error {
		if v == nil {
			return nil
		}
		if !slices.Contains(allowed, *v) {
			return optionError("%s must be one of %s, not %q", what, strings.Join(allowed, ", "), *v)
		}
		*into = *v
		return nil
	}
	if err := choice(&o.SequenceStart, g.SequenceStart, "sequence_start", Zero, Random, Carry); err != nil {
		return nil, err
	}
	if err := choice(&o.OnRollback, g.OnRollback, "on_rollback", Continue, Wait, Refuse); err != nil {
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

// alter implements generator.Kind. The layout is pinned.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	var o Options
	if err := json.Unmarshal(stored, &o); err != nil {
		return nil, err
	}
	g, err := decode(change)
	if err != nil {
		return nil, err
	}
	if g.Layout != nil || g.Fields != nil || g.Bits != nil || g.Epoch != nil || g.Unit != nil {
		return nil, &generator.Error{Kind: generator.ErrOption,
			Message: "the layout of a generator is pinned when it is created",
			Hint:    "Create a generator with another name and move to it: under one name every id must mean the same."}
	}
	return o.apply(g)
}

// open implements generator.Kind.
func (k kind) open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	var o Options
	if err := json.Unmarshal(d.Options, &o); err != nil {
		return nil, &generator.Error{Kind: generator.ErrRegressed, Name: d.Name, Cause: err,
			Message: fmt.Sprintf("the stored options of generator %q cannot be read", d.Name)}
	}
	l, err := o.build()
	if err != nil {
		return nil, &generator.Error{Kind: generator.ErrRegressed, Name: d.Name, Cause: err,
			Message: fmt.Sprintf("the stored layout of generator %q is not usable", d.Name)}
	}
	pool, err := k.pools.Open(ctx, l.WorkerBits(), l.Unit)
	if err != nil {
		return nil, err
	}
	return newGenerator(d.Name, o, l, pool), nil
}

// timestamp is an epoch in JSON: RFC 3339, or Unix milliseconds when read.
type timestamp time.Time

// MarshalJSON implements json.Marshaler.
func (t timestamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *timestamp) UnmarshalJSON(b []byte) error {
	var ms int64
	if json.Unmarshal(b, &ms) == nil {
		*t = timestamp(time.UnixMilli(ms).UTC())
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("epoch must be a time or Unix milliseconds, not %s", b)
	}
	for _, form := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if v, err := time.Parse(form, s); err == nil {
			*t = timestamp(v.UTC().Truncate(time.Millisecond))
			return nil
		}
	}
	return fmt.Errorf("epoch %q is not a time; write 2024-01-01T00:00:00Z", s)
}

// duration is a duration in JSON: "5ms", or milliseconds when read.
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
		return fmt.Errorf("a duration is written \"5ms\", not %s", b)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("a duration is written \"5ms\", not %q", s)
	}
	*d = duration(v)
	return nil
}
