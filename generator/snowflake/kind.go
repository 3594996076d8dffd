package snowflake

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// KindName is the name of the kind.
const KindName = "snowflake"

// Kind returns the plug-in. pools are the process's worker ids; defaultLayout
// is the layout of generators that name none.
func Kind(pools *worker.Pools, defaultLayout string) generator.Kind {
	k := kind{pools}
	return generator.Kind{
		Name: KindName, Help: "time, worker id and sequence, after Twitter's Snowflake",
		Normalize: func(raw json.RawMessage) (json.RawMessage, error) { return normalize(raw, defaultLayout) },
		Alter:     alter, Open: k.open, Retire: k.retire, IDBits: idBits,
	}
}

type kind struct{ pools *worker.Pools }

// read returns the options and the layout of a stored definition.
func read(d generator.Definition) (Options, *layout.Layout, error) {
	var o Options
	err := json.Unmarshal(d.Options, &o)
	if err == nil {
		var l *layout.Layout
		if l, err = o.Build(); err == nil {
			return o, l, nil
		}
	}
	return o, nil, &generator.Error{
		Kind: generator.ErrRegressed, Name: d.Name, Cause: err,
		Message: fmt.Sprintf("the stored options of generator %q cannot be used", d.Name),
	}
}

// idBits implements generator.Kind.
func idBits(stored json.RawMessage) (int, error) {
	_, l, err := read(generator.Definition{Options: stored})
	if err != nil {
		return 0, err
	}
	return l.Bits(), nil
}

// open implements generator.Kind.
func (k kind) open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, err := read(d)
	if err != nil {
		return nil, err
	}
	above, err := k.tombstone(ctx, d.Name, l)
	if err != nil {
		return nil, err
	}
	pool, err := k.pools.Open(ctx, widthOf(l), l.Unit)
	if err != nil {
		return nil, err
	}
	return newGenerator(d.Name, o, l, pool, above), nil
}

// widthOf is the worker field of a layout.
func widthOf(l *layout.Layout) worker.Width {
	return worker.Width{Datacenter: l.DatacenterBits(), Worker: l.WorkerBits() - l.DatacenterBits()}
}

// tombstone is the slot above which a generator starts: what a dropped
// generator of the same name, of any kind and layout, left in the store.
func (k kind) tombstone(ctx context.Context, name string, l *layout.Layout) (int64, error) {
	key := generator.NameKey(name)
	marks, err := k.pools.Store().Reserved(ctx, key)
	if err != nil {
		return 0, err
	}
	for _, m := range marks {
		if m.Key != key || m.Hi <= 0 {
			continue
		}
		greatest := m.Hi - 1
		_, err := l.Explain(greatest)
		if tick, _, _, _ := l.Unpack(greatest); err != nil || tick >= l.MaxTick() || !l.Ordered() {
			return 0, &generator.Error{
				Kind: generator.ErrExhausted, Name: name,
				Message: fmt.Sprintf("generator %q was dropped after ids up to %d, and layout %s has none beyond", name, greatest, l.Name),
				Hint:    "Use a generator with another name.",
			}
		}
		tick, _, _, _ := l.Unpack(greatest)
		return (tick+1)<<l.SequenceBits() - 1, nil
	}
	return -1, nil
}

// retire implements generator.Kind. Every id of the name, of any server, was
// stamped inside a slice of the layout's width.
func (k kind) retire(ctx context.Context, d generator.Definition) error {
	_, l, err := read(d)
	if err != nil {
		return err
	}
	end, err := k.pools.Stamped(ctx, widthOf(l))
	if err != nil {
		return err
	}
	last := min(l.TickOf(time.UnixMicro(max(end, 0)*1000-1)), l.MaxTick())
	if last < 0 {
		return nil // nothing was ever issued
	}
	greatest := int64(math.MaxInt64) // of ids that do not rise with time
	if l.Ordered() {
		if greatest, err = l.Ceil(l.TimeOf(last)); err != nil {
			return err
		}
	}
	_, _, err = k.pools.Store().Reserve(ctx, generator.Reservation{
		Key:     generator.NameKey(d.Name),
		AtLeast: min(greatest, math.MaxInt64-2), N: 1, Limit: generator.NoLimit, Owner: "drop_generator",
	})
	return err
}
