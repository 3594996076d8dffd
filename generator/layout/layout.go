// Package layout packs and parses the bit fields of time-based ids. A Layout is
// data: fields from high to low with their widths, an epoch and a unit of time.
// Preset returns those of known systems (presets.tsv); another system is another row
// there. Pinned is the form in which options have a layout. A stored
// layout never changes, since the ids would get another meaning.
package layout

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// FieldKind is the kind of a bit field.
type FieldKind string

// The kinds of fields.
const (
	Time       FieldKind = "time"       // ticks of Unit since Epoch
	Datacenter FieldKind = "datacenter" // high part of the worker id
	Worker     FieldKind = "worker"     // low part of the worker id, or all of it
	Rollback   FieldKind = "rollback"   // number of times that the clock was set back
	Sequence   FieldKind = "sequence"   // number of the id within its tick
	Own        FieldKind = "field"      // set by the caller of next_id(name, field): a shard, a gene

	// Reversed is the time with its bits in reverse order, which spreads consecutive
	// ids (CockroachDB's unordered_unique_rowid).
	Reversed FieldKind = "reversed"
	// Shard and Counter form an id without a time: a number that spreads rows over a
	// sharded table, and a number from the store (TiDB's AUTO_RANDOM). They use the
	// places of worker and sequence.
	Shard   FieldKind = "shard"
	Counter FieldKind = "counter"
)

// Field is one bit field.
type Field struct {
	Kind FieldKind `json:"kind"`
	Bits uint8     `json:"bits"`
}

// Layout describes the fields of an id. New and Preset check it and compute the
// shifts. It must not be changed after that.
type Layout struct {
	Name   string
	Fields []Field // from the highest bits to the lowest
	Epoch  time.Time
	Unit   time.Duration

	// Start is the value of the option sequence_start that matches the system; ""
	// means zero. Only presets have it.
	Start string
	// Note is a remark for users. Only presets have it.
	Note string
	// Signed is set if the system's own ids use the sign bit for the time, too, once
	// its other bits are used up. nextid never issues such ids. Only presets have it.
	Signed bool

	time, datacenter, worker, rollback, sequence, own place

	reversed bool // the time field is Reversed: ids do not rise
}

// place is the position of a field. Fields that the layout does not have are the
// zero place, which holds only 0.
type place struct{ shift, bits uint8 }

func (p place) mask() int64        { return 1<<(p.bits&63) - 1 } // & 63 avoids a comparison in the machine code
func (p place) put(v int64) int64  { return v & p.mask() << (p.shift & 63) }
func (p place) get(id int64) int64 { return id >> (p.shift & 63) & p.mask() }

// Limits of a layout: a positive bigint, and values that the kinds can serve. A
// tick must be short compared to a time slice (package worker).
const (
	maxBits     = 63
	minTimeBits = 20
	minUnit     = time.Microsecond
	maxUnit     = time.Minute
)

// New checks a layout and computes its places. The time field comes first, so that
// ids rise with time. After it each other kind of field may appear at most once, in
// any order. All of them together have at most 63 bits. A layout of Shard and
// Counter has no time; its epoch and unit are not used.
func New(name string, fields []Field, epoch time.Time, unit time.Duration) (*Layout, error) {
	l := &Layout{Name: name, Fields: slices.Clone(fields), Epoch: epoch.UTC(), Unit: unit}
	if err := l.arrange(); err != nil {
		return nil, err
	}
	if !l.HasTime() {
		return l, nil
	}
	if unit < minUnit || unit > maxUnit || unit%minUnit != 0 {
		return nil, fmt.Errorf("unit %v is not a whole number of microseconds up to %v", unit, maxUnit)
	}
	if epoch.Nanosecond()%int(time.Millisecond) != 0 {
		return nil, fmt.Errorf("epoch %s is not a whole number of milliseconds", epoch.Format(time.RFC3339Nano))
	}
	if y := l.Epoch.Year(); y < 0 || y > 9999 { // its text has four digits
		return nil, fmt.Errorf("the epoch is in the year %d, not in 0 to 9999", y)
	}
	if l.time.bits < minTimeBits {
		return nil, fmt.Errorf("the time field has %d bits, at least %d are needed", l.time.bits, minTimeBits)
	}
	if l.MaxTick() >= math.MaxInt64/unit.Microseconds()/2 || l.Last().Year() > 9999 {
		return nil, fmt.Errorf("%d bits of %v from %s on reach beyond the year 9999", l.time.bits, unit, epoch.Format(time.DateOnly))
	}
	return l, nil
}

// arrange sets the place of every field.
func (l *Layout) arrange() error {
	total := l.Bits()
	if total > maxBits {
		return fmt.Errorf("the fields have %d bits, at most %d fit into a bigint", total, maxBits)
	}
	if len(l.Fields) == 0 {
		return errors.New("a layout needs fields")
	}
	shift := uint8(total)
	for i, f := range l.Fields {
		p := l.placeOf(f.Kind)
		switch {
		case p == nil:
			return fmt.Errorf("unknown field %q", f.Kind)
		case f.Bits == 0:
			return fmt.Errorf("field %s has no bits", f.Kind)
		case p.bits != 0:
			return fmt.Errorf("field %s appears twice", f.Kind)
		case (i == 0) != f.Kind.isFirst():
			return errors.New("the time field must come first: otherwise ids do not grow with time")
		case (f.Kind == Counter) != (i > 0 && l.Fields[0].Kind == Shard):
			return errors.New("a shard and a counter make a layout of their own, without other fields")
		}
		l.reversed = l.reversed || f.Kind == Reversed
		shift -= f.Bits
		*p = place{shift, f.Bits}
	}
	return nil
}

// isFirst reports whether the field must be the first one.
func (k FieldKind) isFirst() bool { return k == Time || k == Reversed || k == Shard }

// placeOf returns the place of a field, nil for an unknown one.
func (l *Layout) placeOf(k FieldKind) *place {
	return map[FieldKind]*place{
		Time: &l.time, Reversed: &l.time, Datacenter: &l.datacenter, Worker: &l.worker, Shard: &l.worker,
		Rollback: &l.rollback, Sequence: &l.sequence, Counter: &l.sequence, Own: &l.own,
	}[k]
}

// HasTime reports whether ids contain a time.
func (l *Layout) HasTime() bool { return l.time.bits > 0 }

// Ordered reports whether ids rise with time.
func (l *Layout) Ordered() bool { return l.HasTime() && !l.reversed }

// RollbackBits returns the width of the rollback field.
func (l *Layout) RollbackBits() uint8 { return l.rollback.bits }

// Field implements generator.Fielder.
func (l *Layout) Field() (shift, bits uint8) { return l.own.shift, l.own.bits }

// SequenceBits returns the width of the sequence field.
func (l *Layout) SequenceBits() uint8 { return l.sequence.bits }

// WorkerBits returns the width of the worker id. It is that of the datacenter and
// the worker field: datacenter 1, worker 2 in 5+5 bits is worker id 1<<5 | 2.
func (l *Layout) WorkerBits() uint8 { return l.datacenter.bits + l.worker.bits }

// DatacenterBits returns the width of the datacenter field.
func (l *Layout) DatacenterBits() uint8 { return l.datacenter.bits }

// SplitWorker returns the values of the datacenter and the worker field of a worker
// id.
func (l *Layout) SplitWorker(id int64) (datacenter, worker int64) {
	return id >> l.worker.bits, id & l.worker.mask()
}

// Workers returns the number of worker ids.
func (l *Layout) Workers() int64 { return 1 << l.WorkerBits() }

// Capacity returns the number of ids: 2 to the power of Bits.
func (l *Layout) Capacity() uint64 { return uint64(l.maxID()) + 1 }

// MaxTick returns the last tick of the time field.
func (l *Layout) MaxTick() int64 { return l.time.mask() }

// RatePerSecond returns the number of ids that one worker can make in a second
// without getting ahead of the clock. It returns 0 without a time, where no such
// limit exists.
func (l *Layout) RatePerSecond() int64 {
	if !l.HasTime() {
		return 0
	}
	return int64(time.Second/time.Microsecond) << l.sequence.bits / l.Unit.Microseconds()
}

// Pack returns an id. Values that do not fit their fields are truncated.
func (l *Layout) Pack(tick, worker, rollback, sequence int64) int64 {
	return l.putTick(tick) | l.Base(worker, rollback) | l.sequence.put(sequence)
}

func (l *Layout) putTick(tick int64) int64 {
	if l.reversed {
		tick = l.reverse(tick)
	}
	return l.time.put(tick)
}

func (l *Layout) getTick(id int64) int64 {
	tick := l.time.get(id)
	if l.reversed {
		tick = l.reverse(tick)
	}
	return tick
}

// reverse reverses the bits of a tick. It is its own inverse.
func (l *Layout) reverse(tick int64) int64 {
	return int64(bits.Reverse64(uint64(tick)) >> (64 - l.time.bits))
}

// Base returns the bits of worker and rollback, which are equal in all ids of a
// worker.
func (l *Layout) Base(worker, rollback int64) int64 {
	return l.datacenter.put(worker>>l.worker.bits) | l.worker.put(worker) | l.rollback.put(rollback)
}

// Place returns the bits of a slot (tick<<SequenceBits | sequence).
func (l *Layout) Place(slot int64) int64 {
	return l.putTick(slot>>l.sequence.bits) | l.sequence.put(slot)
}

// SlotStep returns the difference between the ids of two consecutive slots of one
// tick. If the layout is Seamless, that holds for any two consecutive slots.
func (l *Layout) SlotStep() int64 {
	if l.sequence.bits == 0 {
		return 1 << l.time.shift
	}
	return 1 << l.sequence.shift
}

// Seamless reports whether the sequence is directly below the time. Then the step
// between ids is the same from one tick to the next.
func (l *Layout) Seamless() bool {
	if l.reversed {
		return false
	}
	return l.sequence.bits == 0 || l.time.shift == l.sequence.shift+l.sequence.bits
}

// Unpack is the inverse of Pack.
func (l *Layout) Unpack(id int64) (tick, worker, rollback, sequence int64) {
	worker = l.datacenter.get(id)<<l.worker.bits | l.worker.get(id)
	return l.getTick(id), worker, l.rollback.get(id), l.sequence.get(id)
}

// TimeOf returns the instant at which a tick begins.
func (l *Layout) TimeOf(tick int64) time.Time {
	return time.UnixMicro(l.Epoch.UnixMicro() + tick*l.Unit.Microseconds()).UTC()
}

// TickOf returns the tick of an instant. It is negative before the epoch.
func (l *Layout) TickOf(t time.Time) int64 {
	micros, unit := t.UnixMicro()-l.Epoch.UnixMicro(), l.Unit.Microseconds()
	return (micros - generator.Modulo(micros, unit)) / unit
}

// Last returns the beginning of the last tick.
func (l *Layout) Last() time.Time { return l.TimeOf(l.MaxTick()) }

// Explain returns the parts of an id; see generator.Explainer. A number with more
// bits than the layout is ErrOption.
func (l *Layout) Explain(id int64) (generator.Parts, error) {
	beyond := id < 0 && l.Signed
	if !beyond && (id < 0 || id > l.maxID()) {
		return generator.Parts{}, generator.OptionError("Name the generator or the layout of the id: parse_id(id, 'name').",
			"%d is not an id of layout %s, whose ids are 0 to %d", id, l.Name, l.maxID())
	}
	said := &struct { // one allocation
		at    time.Time
		parts [5]int64
	}{}
	p := generator.Parts{Kind: "auto_random", Layout: l.Name, ID: id}
	if l.HasTime() {
		tick := l.getTick(id)
		if beyond {
			tick = int64(uint64(id) >> l.time.shift)
		}
		said.at = l.TimeOf(tick)
		p.Kind, p.Time = "snowflake", &said.at
	}
	for i, part := range [len(said.parts)]struct {
		into **int64
		at   place
	}{{&p.Datacenter, l.datacenter}, {&p.Worker, l.worker}, {&p.Rollback, l.rollback}, {&p.Sequence, l.sequence}, {&p.Field, l.own}} {
		if part.at.bits > 0 {
			said.parts[i] = part.at.get(id)
			*part.into = &said.parts[i]
		}
	}
	return p, nil
}

func (l *Layout) maxID() int64 { return 1<<l.Bits() - 1 }

// Bits returns the width of the ids, at most 63.
func (l *Layout) Bits() int {
	total := 0
	for _, f := range l.Fields {
		total += int(f.Bits)
	}
	return total
}

// Floor returns the least id of the tick of t.
func (l *Layout) Floor(t time.Time) (int64, error) { return l.bound(t, 0) }

// Ceil returns the greatest id of the tick of t.
func (l *Layout) Ceil(t time.Time) (int64, error) { return l.bound(t, 1<<l.time.shift-1) }

// bound returns the tick of t with the bits below it. It fails if ids do not rise with
// time.
func (l *Layout) bound(t time.Time, below int64) (int64, error) {
	if !l.Ordered() {
		return 0, generator.Errorf(generator.ErrWrongKind, "", "Keep the time in a column of its own.",
			"ids of layout %s are not in the order of time", l.Name)
	}
	tick := l.TickOf(t)
	if tick < 0 || tick > l.MaxTick() {
		return 0, generator.OptionError(fmt.Sprintf("Its ids are of %s to %s.", l.Epoch.Format(time.RFC3339), l.Last().Format(time.RFC3339)),
			"%s is outside the time of layout %s", t.UTC().Format(time.RFC3339), l.Name)
	}
	return l.time.put(tick) | below, nil
}

// FieldList returns the fields as a text: "time 41, datacenter 5, worker 5,
// sequence 12".
func (l *Layout) FieldList() string {
	parts := make([]string, len(l.Fields))
	for i, f := range l.Fields {
		parts[i] = string(f.Kind) + " " + strconv.Itoa(int(f.Bits))
	}
	return strings.Join(parts, ", ")
}

// BeforeEpochError returns the ErrNotNow of a server whose clock is before the
// epoch.
func (l *Layout) BeforeEpochError(name string) error {
	return generator.Errorf(generator.ReasonClock, name, "Set the server's clock and restart it, or use a generator with an earlier epoch.",
		"the clock of this server is before %s, the epoch of generator %q", l.Epoch.Format(time.RFC3339), name)
}

// ExhaustedError returns the ErrExhausted of time bits that are used up.
func (l *Layout) ExhaustedError(name string) error {
	return generator.Errorf(generator.ErrExhausted, name, "Create a generator with a later epoch or more time bits, and move to it.",
		"the time bits of generator %q ran out at %s", name, l.Last().Format(time.RFC3339))
}

// FutureError returns the ErrOption of a position v whose time is in the future.
func (l *Layout) FutureError(name string, v int64) error {
	tick, _, _, _ := l.Unpack(v)
	return generator.Errorf(generator.ErrOption, name, "Ids of this generator follow the clock; only a segment generator can be raised freely.",
		"%d is an id of %s, which is in the future", v, l.TimeOf(tick).Format(time.RFC3339))
}
