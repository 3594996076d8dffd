package layout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Pinned is a layout as it is stored with a generator. It holds everything that
// gives the ids their meaning. The options of a kind embed it. A user gives a part
// of it, which Pin completes: a preset, possibly with another epoch, or fields.
type Pinned struct {
	Layout string             `json:"layout"`
	Fields FieldList          `json:"fields"`
	Bits   FieldList          `json:"bits,omitempty"` // another name of Fields for users
	Epoch  generator.Instant  `json:"epoch"`
	Unit   generator.Duration `json:"unit"`
}

// Unpinned is the layout before a user gives a part of it. No layout can have its
// epoch or its unit.
var Unpinned = Pinned{Epoch: generator.Instant(time.Unix(0, 1)), Unit: -1}

// customLayout is the name of a layout that was given field by field without a
// name.
const customLayout = "custom"

// pinned returns the stored form of l under a name.
func (l *Layout) pinned(name string, fields []Field) Pinned {
	return Pinned{Layout: name, Fields: fields, Epoch: generator.Instant(l.Epoch), Unit: generator.Duration(l.Unit)}
}

// Keep refuses a change of the layout.
func (p Pinned) Keep(before Pinned) error {
	if p.Layout == before.Layout && p.Bits == nil && slices.Equal(p.Fields, before.Fields) && time.Time(p.Epoch).Equal(time.Time(before.Epoch)) && p.Unit == before.Unit {
		return nil
	}
	return generator.OptionError("Create a generator with another name and move to it: under one name every id must mean the same.",
		"layout, bits, epoch and unit of a generator cannot be changed")
}

// Pin completes the layout of a user; preset is the default. A stored form has a
// name and fields, and is kept as it is.
func (p *Pinned) Pin(preset string) (*Layout, error) {
	given := *p
	if given.Fields == nil {
		given.Fields = given.Bits
	}
	name := cmp.Or(given.Layout, preset)
	if given.Layout == "" && given.Fields != nil {
		name = customLayout
	}
	*p = Pinned{Layout: name, Fields: given.Fields, Epoch: generator.Instant(time.UnixMilli(twitterEpoch)), Unit: generator.Duration(time.Millisecond)}
	if l, err := Preset(name); err == nil {
		*p = l.pinned(l.Name, l.Fields)
		if (given.Fields != nil && !slices.Equal(given.Fields, p.Fields)) || (given.Unit != Unpinned.Unit && given.Unit != p.Unit) {
			return nil, generator.WrongOption("layout %s has %s of %v; give other bits or units without a layout's name", l.Name, l.FieldList(), l.Unit)
		}
	} else if given.Fields == nil {
		return nil, generator.WrongOption("%s", err)
	}
	if given.Unit != Unpinned.Unit {
		p.Unit = given.Unit
	}
	if given.Epoch != Unpinned.Epoch {
		p.Epoch = given.Epoch
	}
	if err := generator.CheckName(name); err != nil {
		return nil, generator.WrongOption("%q cannot be the name of a layout", name)
	}
	l, err := p.Build()
	if err != nil {
		return nil, generator.WrongOption("layout: %s", err)
	}
	if !l.HasTime() {
		return nil, generator.WrongOption("ids of layout %s hold no time; kind auto_random makes them", name)
	}
	return l, nil
}

// Build returns the Layout.
func (p Pinned) Build() (*Layout, error) {
	l, err := New(p.Layout, p.Fields, time.Time(p.Epoch), time.Duration(p.Unit))
	if err == nil {
		preset := get(l.Name)
		l.Signed = preset != nil && preset.Signed && slices.Equal(preset.Fields, l.Fields)
	}
	return l, err
}

// Pool is the number of ids that a client may derive from one id of a layout that
// Pooled made: the default of JPA's allocationSize. The field of poolBits bits is
// large enough for them.
const (
	Pool     = 50
	poolBits = 6
	pooled   = "-pooled" // suffix of the layout's name
)

// Pooled returns l for clients that count on from an id, like JPA's pooled
// optimizer. The low bits of its sequence are left to the client. So the ids of all
// servers are more than Pool apart. ok is false if the sequence is not the last
// field of l, or too short.
func (l *Layout) Pooled() (p Pinned, ok bool) {
	last := len(l.Fields) - 1
	if f := l.Fields[last]; f.Kind != Sequence || f.Bits < poolBits+4 || l.own.bits > 0 {
		return p, false
	}
	fields := append(slices.Clone(l.Fields), Field{Own, poolBits})
	fields[last].Bits -= poolBits
	return l.pinned(l.Name+pooled, fields), true
}

// PoolOf returns the number of ids that a client may derive from one id of a
// generator with these stored options: Pool if Pooled made the layout, else 1.
func PoolOf(stored json.RawMessage) int64 {
	var p Pinned
	if json.Unmarshal(stored, &p) != nil || !strings.HasSuffix(p.Layout, pooled) || p.Fields[len(p.Fields)-1] != (Field{Own, poolBits}) {
		return 1
	}
	return Pool
}

// Timed is the part that kinds have in common whose options pin a layout with a
// time. Wall is the clock of new generators.
type Timed struct{ Wall func() time.Time }

// Complete implements generator.Completer. It refuses a layout that cannot issue
// ids now: its epoch is in the future, or its time bits are used up.
func (t Timed) Complete(_ context.Context, d generator.Definition) (json.RawMessage, error) {
	l, err := Stored(d.Options)
	if err != nil {
		return nil, generator.OptionError("", "layout: %s", err)
	}
	now := t.Wall().UTC()
	switch tick := l.TickOf(now); {
	case tick < 0:
		return nil, generator.OptionError("Give an epoch that is over, in UTC.",
			"the epoch %s of the layout has not come: it is %s", l.Epoch.Format(time.RFC3339), now.Format(time.RFC3339))
	case tick > l.MaxTick():
		return nil, generator.OptionError(`Give a later epoch, such as {"layout": "`+l.Name+`", "epoch": "`+now.Format("2006")+`-01-01"}, or more bits of time.`,
			"the time bits of layout %s from %s on ran out at %s", l.Name, l.Epoch.Format(time.DateOnly), l.Last().Format(time.RFC3339))
	}
	return d.Options, nil
}

// Shape implements generator.Shaped.
func (Timed) Shape(stored json.RawMessage) (generator.Shape, error) {
	l, err := Stored(stored)
	if err != nil {
		return generator.Shape{}, err
	}
	return generator.Shape{Bits: l.Bits(), WorkerBits: int(l.WorkerBits()), Ends: l.Last().Add(l.Unit), Rate: l.RatePerSecond()}, nil
}

// ExplainStored implements generator.StoredExplainer.
func (Timed) ExplainStored(stored json.RawMessage, id string) (generator.Parts, error) {
	n, err := generator.ParseNumber(id)
	if err != nil {
		return generator.Parts{}, err
	}
	l, err := Stored(stored)
	if err != nil {
		return generator.Parts{}, err
	}
	return l.Explain(n)
}

// maxBuilt is the number of cached layouts. Few different options are in use at a
// time, and the first id of a name needs the layout several times.
const maxBuilt = 64

// built caches layouts by stored options.
var built = struct {
	sync.Mutex
	layouts map[string]*Layout
}{layouts: map[string]*Layout{}}

// Stored returns the layout in stored options. The caller must not change it.
func Stored(stored json.RawMessage) (*Layout, error) {
	built.Lock()
	defer built.Unlock()
	if l := built.layouts[string(stored)]; l != nil {
		return l, nil
	}
	var p Pinned
	if err := json.Unmarshal(stored, &p); err != nil {
		return nil, err
	}
	l, err := p.Build()
	if err != nil {
		return nil, err
	}
	if len(built.layouts) >= maxBuilt {
		clear(built.layouts)
	}
	built.layouts[string(stored)] = l
	return l, nil
}

// FieldList is a list of fields, from high to low. In JSON it is a text, "time 41,
// worker 10, sequence 12", or as it is stored, [{"kind": "time", "bits": 41}, …].
type FieldList []Field

// UnmarshalJSON implements json.Unmarshaler.
func (f *FieldList) UnmarshalJSON(b []byte) error {
	if string(b) == "null" { // keeps the value
		return nil
	}
	var list []Field
	var text string
	switch {
	case json.Unmarshal(b, &list) == nil:
		*f = list
		return nil
	case json.Unmarshal(b, &text) == nil:
		*f = nil
		return f.parse(text)
	}
	return notFields(string(b))
}

// parse parses a text and appends its fields.
func (f *FieldList) parse(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		kind, bits, _ := strings.Cut(strings.TrimSpace(part), " ")
		n, err := strconv.ParseUint(strings.TrimSpace(bits), 10, 8)
		if err != nil {
			return notFields(strconv.Quote(text))
		}
		*f = append(*f, Field{Kind: FieldKind(kind), Bits: uint8(n)})
	}
	return nil
}

func notFields(found string) error {
	return fmt.Errorf("bits are written %q, not %s", "time 41, worker 10, sequence 12", found)
}

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
