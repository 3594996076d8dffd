package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/layout"
)

// autoRandomName is the name of the kind.
const autoRandomName = "auto_random"

// autoRandomOptions are the stored options of the kind. A user gives the last five
// instead: AUTO_RANDOM(S, R) is shard_bits S and range_bits R, the sign bit included.
type autoRandomOptions struct {
	Layout  string          `json:"layout"`
	Fields  []layout.Field  `json:"fields"`
	Counter json.RawMessage `json:"counter"` // options of the counting kind

	ShardBits *uint8 `json:"shard_bits,omitempty"`
	RangeBits *uint8 `json:"range_bits,omitempty"`
	Start     *int64 `json:"start,omitempty"`
	Step      *int64 `json:"step,omitempty"`
	MaxStep   *int64 `json:"max_step,omitempty"`
}

// Bounds and defaults of TiDB.
const (
	defaultShardBits, maxShardBits              = 5, 15
	defaultRangeBits, minRangeBits, maxRangeBit = 64, 32, 64
)

// AutoRandom returns the kind with the ids of TiDB's AUTO_RANDOM. The low bits are
// a unique counter. A few random bits above it spread rows that are written
// together over the shards of a table. counter is the kind that counts.
func AutoRandom(store generator.Reserver, counter generator.Kind) generator.Kind {
	return autoRandomKind{kinds.Base[autoRandomOptions]{
		Called: autoRandomName, Title: "an auto_random generator",
		Hint: "Options: shard_bits (1 to 15), range_bits (32 to 64), start, step, max_step.",
		Fill: func(o *autoRandomOptions) error { return o.fill(counter) },
		Check: func(o *autoRandomOptions) error {
			_, err := o.build()
			return err
		},
		Keep: func(before, after *autoRandomOptions) error { return after.keep(before, counter) },
	}, store, counter}
}

type autoRandomKind struct {
	kinds.Base[autoRandomOptions]
	store   generator.Reserver
	counter generator.Kind
}

func (k autoRandomKind) Numbers(stored json.RawMessage, past int64) generator.Left {
	var o autoRandomOptions
	if json.Unmarshal(stored, &o) != nil {
		return generator.Left{}
	}
	if n, ok := generator.KindAs[generator.Numbered](k.counter); ok {
		return n.Numbers(o.Counter, past)
	}
	return generator.Left{}
}

// fill completes the options of a new generator.
func (o *autoRandomOptions) fill(counter generator.Kind) error {
	if o.Fields == nil {
		shard, all := *cmp.Or(o.ShardBits, new(uint8(defaultShardBits))), *cmp.Or(o.RangeBits, new(uint8(defaultRangeBits)))
		if shard < 1 || shard > maxShardBits || all < minRangeBits || all > maxRangeBit {
			return generator.WrongOption("AUTO_RANDOM(%d, %d) has bits out of their bounds", shard, all)
		}
		o.Fields = []layout.Field{{Kind: layout.Shard, Bits: shard}, {Kind: layout.Counter, Bits: all - 1 - shard}}
		if o.Layout == "" && (shard != defaultShardBits || all != defaultRangeBits) {
			o.Layout = "custom"
		}
	} else if o.ShardBits != nil || o.RangeBits != nil {
		return generator.WrongOption("fields say the same as shard_bits and range_bits")
	}
	o.Layout = cmp.Or(o.Layout, "tidb")
	l, err := o.build()
	if err != nil {
		return err
	}
	if o.Counter == nil {
		if o.Counter, err = json.Marshal(map[string]*int64{"start": cmp.Or(o.Start, new(int64(1))), "step": o.Step, "max_step": o.MaxStep}); err != nil {
			return err
		}
	}
	*o = autoRandomOptions{Layout: o.Layout, Fields: o.Fields, Counter: o.Counter}
	if o.Counter, err = counter.Normalize(o.Counter); err != nil {
		return err
	}
	// Greater numbers would change the random bits, and ids would come twice.
	o.Counter, err = counter.Alter(o.Counter, fmt.Appendf(nil, `{"min": 0, "max": %d}`, int64(1)<<l.SequenceBits()-1))
	return err
}

func (o *autoRandomOptions) build() (*layout.Layout, error) {
	l, err := layout.New(o.Layout, o.Fields, time.Time{}, 0)
	if err == nil && l.HasTime() {
		err = fmt.Errorf("layout %s has a time", o.Layout)
	}
	if err != nil {
		return nil, generator.WrongOption("layout: %s", err)
	}
	return l, nil
}

// keep passes the options that may change to the counter.
func (o *autoRandomOptions) keep(before *autoRandomOptions, counter generator.Kind) (err error) {
	if o.Layout != before.Layout || !slices.Equal(o.Fields, before.Fields) || !bytes.Equal(o.Counter, before.Counter) ||
		o.ShardBits != nil || o.RangeBits != nil || o.Start != nil {
		return generator.OptionError("Create a generator with another name and move to it.",
			"only step and max_step of a generator of kind %s can be changed", autoRandomName)
	}
	change, err := json.Marshal(map[string]*int64{"step": o.Step, "max_step": o.MaxStep}) // null keeps a value
	if err == nil {
		o.Step, o.MaxStep = nil, nil
		o.Counter, err = counter.Alter(o.Counter, change)
	}
	return err
}

func (k autoRandomKind) inner(d generator.Definition) (generator.Definition, *layout.Layout, error) {
	o, err := k.Read(d.Options)
	if err != nil {
		return d, nil, err
	}
	d.Options = o.Counter
	l, err := o.build()
	return d, l, err
}

func (k autoRandomKind) ExplainStored(stored json.RawMessage, id string) (generator.Parts, error) {
	_, l, err := k.inner(generator.Definition{Options: stored})
	if err != nil {
		return generator.Parts{}, err
	}
	n, err := generator.ParseNumber(id)
	if err != nil {
		return generator.Parts{}, err
	}
	return l.Explain(n)
}

func (k autoRandomKind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	d, l, err := k.inner(d)
	if err != nil {
		return nil, err
	}
	counter, err := k.counter.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	if g, ok := counter.(*Generator); ok {
		g.endHint = "Create a generator with another name and more bits that count, and move to it."
	}
	return &AutoRandomGenerator{l, counter.(segment)}, nil
}

// Retire implements generator.Retirer. It moves the name's key above all ids,
// random bits included. Otherwise a later generator of another kind could issue
// them again.
func (k autoRandomKind) Retire(ctx context.Context, d generator.Definition) error {
	return kinds.Bury(ctx, k.store, d.Name, math.MaxInt64-2)
}

func (k autoRandomKind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	d, l, err := k.inner(d)
	if err != nil {
		return err
	}
	_, _, _, count := l.Unpack(atLeast)
	if r, ok := generator.KindAs[generator.Recoverable](k.counter); ok {
		return r.Recover(ctx, d, count)
	}
	return nil
}

// segment is the interface of the counting kind's generators.
type segment interface {
	generator.TryGenerator
	generator.AllGenerator
	generator.Raiser
	generator.Closer
	generator.Reporter
	generator.Placer
}

// AutoRandomGenerator issues the ids of one name. All ids of a run have the same
// random bits, so the rows of a statement are stored together. TiDB does the same
// for a transaction.
type AutoRandomGenerator struct {
	*layout.Layout
	segment
}

// TryNext implements generator.TryGenerator.
func (g *AutoRandomGenerator) TryNext(n int64) (generator.Range, bool) {
	r, ok := g.segment.TryNext(n)
	return g.Convert(r), ok
}

// Next implements generator.Generator.
func (g *AutoRandomGenerator) Next(ctx context.Context, n int64) (generator.Range, error) {
	r, err := g.segment.Next(ctx, n)
	return g.Convert(r), err
}

// Convert implements generator.Converter. It puts random bits above a run of
// counts.
func (g *AutoRandomGenerator) Convert(r generator.Range) generator.Range {
	r.First |= g.Base(rand.Int64N(g.Workers()), 0)
	return r
}

// Raise implements generator.Raiser. It compares only the counter of v.
func (g *AutoRandomGenerator) Raise(ctx context.Context, v int64, used bool) error {
	if _, err := g.Explain(v); err != nil {
		return err
	}
	_, _, _, count := g.Unpack(v)
	return g.segment.Raise(ctx, count, used)
}

// Place implements generator.Placer for the counter of id.
func (g *AutoRandomGenerator) Place(id int64) generator.Place {
	_, _, _, count := g.Unpack(id)
	return g.segment.Place(count)
}
