package layout

import (
	"context"
	"errors"
	"math"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Open reads the options of a definition, which have a layout, and returns the slot
// (tick<<SequenceBits | sequence) above which its generator starts. The store keeps
// that slot from a dropped generator of any kind and layout. It is -1 if there was none.
// A definition's Version does not tell: a store that was copied begins with Version 1.
func Open[O any](ctx context.Context, k kinds.Base[O], store generator.Store, d generator.Definition) (o O, l *Layout, above int64, err error) {
	if o, err = k.Read(d.Options); err == nil {
		l, err = Stored(d.Options)
	}
	if err != nil {
		return o, l, 0, err
	}
	m, _, err := store.Mark(ctx, generator.NameKey(d.Name))
	if err != nil || m.Hi <= 0 {
		return o, l, -1, err
	}
	greatest := m.Hi - 1
	_, err = l.Explain(greatest)
	tick, _, _, _ := l.Unpack(greatest)
	if err != nil || tick >= l.MaxTick() || !l.Ordered() {
		return o, l, 0, generator.Errorf(generator.ErrExhausted, d.Name, "Use a generator with another name.",
			"generator %q was dropped after ids up to %d, and layout %s has none beyond", d.Name, greatest, l.Name)
	}
	return o, l, (tick+1)<<l.SequenceBits() - 1, nil
}

// Bury stores that the name had ids with times up to end (exclusive, Unix ms); see
// generator.Retirer.
func (l *Layout) Bury(ctx context.Context, store generator.Store, name string, end int64) error {
	last := min(l.TickOf(time.UnixMicro(min(max(end, 0), math.MaxInt64/1000)*1000-1)), l.MaxTick())
	if last < 0 {
		return nil // nothing was ever issued
	}
	greatest := int64(math.MaxInt64) // greatest id if ids do not rise with time
	if l.Ordered() {
		var err error
		if greatest, err = l.Ceil(l.TimeOf(last)); err != nil {
			return err
		}
	}
	greatest = min(greatest, math.MaxInt64-2)
	err := kinds.Bury(ctx, store, name, greatest)
	if errors.Is(err, generator.ErrRegressed) {
		err = kinds.Recover(ctx, store, name, greatest+1) // no id was ever above, whatever the store forgot
	}
	return err
}
