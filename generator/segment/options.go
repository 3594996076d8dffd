package segment

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"

	"nextid/generator"
	"nextid/generator/kinds"
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

	Feeds       map[string]*generator.FeedOption `json:"feeds,omitempty"`       // sequences that get blocks of these numbers; null removes one
	Description string                           `json:"description,omitempty"` // for operators
}

// bounds returns where the generator's numbers may begin and where they end, or nil.
func (o *Options) bounds() (begin, end *int64) {
	if o.Increment < 0 {
		return o.Max, o.Min
	}
	return o.Min, o.Max
}

// restart returns the position that restart makes the last used one.
func (o *Options) restart() int64 {
	if o.Restart == nil {
		return math.MinInt64
	}
	l := newLine(*o)
	p := l.position(*o.Restart)
	if !o.Called && p > math.MinInt64 {
		p--
	}
	return p
}

// KindName is the name of the kind.
const KindName = "segment"

// Kind returns the segment kind. owner names this server to operators. The defaults
// of max_step and prefetch_at are Leaf's.
func Kind(store generator.Reserver, clock generator.Runtime, owner string) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: KindName, Title: "a segment generator",
		Hint:     "Options: start, increment, offset, restart, called, min, max, step, max_step, prefetch_at (0 to 1), deadline, strict, feeds, description.",
		Defaults: Options{Increment: 1, Step: 1000, MaxStep: 1_000_000, PrefetchAt: 0.1, Deadline: kinds.DefaultDeadline}, Check: (*Options).check, Keep: keep,
		Make: func(name string, o Options) (generator.Generator, error) {
			return newGenerator(name, o, store, clock, owner), nil
		},
	}, store}
}

type kind struct {
	kinds.Base[Options]
	store generator.Reserver
}

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
	if begin, _ := o.bounds(); begin != nil {
		least = min(l.first, l.position(*begin))
	}
	return generator.NumbersLeft(max(l.first, past), least, l.limit, l.increment)
}

func (k kind) Normalize(given json.RawMessage) (json.RawMessage, error) {
	return k.completing(given, true).Normalize(given)
}

func (k kind) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	return k.completing(change, false).Alter(stored, change)
}

// completing returns the Base that completes options which depend on others, unless
// they are given.
func (k kind) completing(given json.RawMessage, created bool) kinds.Base[Options] {
	var has struct {
		Start   *int64 `json:"start"`
		MaxStep *int64 `json:"max_step"`
	}
	_ = json.Unmarshal(given, &has) // DecodeOptions returns the error
	k.Check = func(o *Options) error {
		if created && has.Start == nil {
			o.Start = o.defaultStart()
		}
		if has.MaxStep == nil {
			o.MaxStep = max(o.MaxStep, o.Step)
		}
		return o.check()
	}
	return k.Base
}

// defaultStart returns the start of a sequence without START, as in PostgreSQL.
func (o *Options) defaultStart() int64 {
	switch begin, _ := o.bounds(); {
	case begin != nil:
		return *begin
	case o.Offset != nil:
		return *o.Offset
	case o.Increment < 0:
		return -1
	}
	return 1
}

// Limits of the options. They keep every sum of a position and a step inside int64.
const (
	maxIncrement = 1 << 31
	maxStepLimit = 1 << 30
)

func (o *Options) check() error {
	switch {
	case o.Increment == 0 || o.Increment > maxIncrement || o.Increment < -maxIncrement:
		return generator.WrongOption("increment must be between 1 and %d, or negative, not %d", int64(maxIncrement), o.Increment)
	case o.Min != nil && o.Start < *o.Min:
		return generator.WrongOption("start (%d) cannot be less than min (%d)", o.Start, *o.Min)
	case o.Max != nil && o.Start > *o.Max:
		return generator.WrongOption("start (%d) cannot be greater than max (%d)", o.Start, *o.Max)
	case o.Start == math.MinInt64 || o.Start == math.MaxInt64:
		return generator.WrongOption("start cannot be %d", o.Start)
	}
	maps.DeleteFunc(o.Feeds, func(_ string, f *generator.FeedOption) bool { return f == nil })
	return cmp.Or(generator.Within("step", o.Step, 1, maxStepLimit), generator.Within("max_step", o.MaxStep, o.Step, maxStepLimit),
		generator.Within("prefetch_at", o.PrefetchAt, 0, 1),
		generator.CheckFeeds(o.Feeds), kinds.CheckDeadline(o.Deadline, o.Description))
}

// keep refuses changes after which a number could come again. Reservations continue
// above all that was issued. So another increment, offset or bound cannot repeat a
// number. Another direction could.
func keep(before, after *Options) error {
	switch {
	case (before.Increment < 0) != (after.Increment < 0):
		return generator.WrongOption("the direction of a generator cannot be changed: its numbers would come again")
	case before.Start != after.Start:
		return generator.OptionError("Use setval, or ALTER SEQUENCE … RESTART WITH, which go up.",
			"start is where a generator began (%d) and cannot be changed", before.Start)
	case after.restart() < before.restart():
		return generator.Errorf(generator.ErrNotHeld, "", "Nothing was changed. Move it further than that.",
			"setval has moved the generator to %d, perhaps on another server", *before.Restart)
	}
	return nil
}

func (k kind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	o, err := k.Read(d.Options)
	if err != nil {
		return err
	}
	l := newLine(o)
	p := max(l.position(atLeast), l.first)
	if p >= l.limit {
		return generator.WrongOption("%d is out of the bounds of the generator", atLeast)
	}
	return kinds.Recover(ctx, k.store, d.Name, p)
}

// Retire implements generator.Retirer. The key is above all issued positions. A
// later generator of the other direction counts mirrored positions. The lowest of
// these is that of the start, so the key is moved above it, too.
func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	o, err := k.Read(d.Options)
	if err != nil {
		return err
	}
	l := newLine(o)
	if l.first >= 0 {
		return nil
	}
	m, ok, err := k.store.Mark(ctx, generator.NameKey(d.Name))
	if ok && err == nil && m.Hi <= -l.first {
		err = kinds.Bury(ctx, k.store, d.Name, -l.first)
	}
	return err
}
