package ring

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
)

// KindName is the name of the kind.
const KindName = "ring"

// What happens when a draw finds the ring empty and nothing may be borrowed
// (Options.RejectTake).
const (
	Wait = "wait"  // until time has gone on
	Fail = "error" // ErrRetry at once, as Baidu's RejectedTakeBufferHandler
)

// What happens when a scheduled padding finds the ring full
// (Options.RejectPut). Both count it.
const (
	Discard = "discard"
	Log     = "log" // and write it to the log, as Baidu's RejectedPutBufferHandler
)

// Options are the options of the kind, as they are stored.
type Options struct {
	layout.Pinned
	BoostPower       int                `json:"boost_power"`       // the ring holds 2^(sequence bits + boost_power) ids
	PaddingFactor    int                `json:"padding_factor"`    // percent of the ring below which it is padded
	ScheduleInterval generator.Duration `json:"schedule_interval"` // between paddings by the clock; 0: none
	MaxBorrow        generator.Duration `json:"max_borrow"`        // by which ids may be ahead of the clock
	RejectPut        string             `json:"reject_put"`
	RejectTake       string             `json:"reject_take"`
}

// given is what a user writes. Baidu's boostPower, paddingFactor and
// scheduleInterval (in seconds) are these.
type given struct {
	layout.Given
	BoostPower       *int                `json:"boost_power"`
	PaddingFactor    *int                `json:"padding_factor"`
	ScheduleInterval *generator.Duration `json:"schedule_interval"`
	MaxBorrow        *generator.Duration `json:"max_borrow"`
	RejectPut        *string             `json:"reject_put"`
	RejectTake       *string             `json:"reject_take"`
}

// Defaults: those of Baidu's CachedUidGenerator and RingBuffer, where they
// have one.
const (
	defaultLayout        = "ring"
	defaultBoostPower    = 3
	defaultPaddingFactor = 50
	defaultMaxBorrow     = generator.Duration(time.Minute)
)

// Bounds of the options.
const (
	maxBoostPower  = 12
	maxRingBits    = 30
	minSchedule    = generator.Duration(10 * time.Millisecond)
	maxMaxBorrow   = generator.Duration(24 * time.Hour)
	borrowTheRings = 2 // the least max_borrow is that of two rings: one in use, one padded
)

const hint = "Options: layout, bits, epoch, unit, boost_power (0 to 12), padding_factor (1 to 99), schedule_interval, max_borrow, " +
	"reject_put (discard, log), reject_take (wait, error)."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// normalize reads the options of a new generator over the defaults.
func normalize(raw json.RawMessage) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	pinned, l, err := g.Pin(defaultLayout)
	if err != nil {
		return nil, optionError("%s", err)
	}
	o := Options{
		Pinned: pinned, BoostPower: defaultBoostPower, PaddingFactor: defaultPaddingFactor, MaxBorrow: defaultMaxBorrow,
		RejectPut: Discard, RejectTake: Wait,
	}
	o.set(g)
	if g.MaxBorrow == nil {
		o.MaxBorrow = max(o.MaxBorrow, o.leastBorrow())
	}
	return o.written(l)
}

// alter merges a change into stored options. The layout is pinned.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	o, l, err := read(stored)
	if err != nil {
		return nil, err
	}
	var g given
	if err := generator.DecodeOptions(change, &g, hint); err != nil {
		return nil, err
	}
	if g.Changes() {
		return nil, generator.OptionError("Create a generator with another name and move to it: under one name every id must mean the same.",
			"layout, bits, epoch and unit of a generator cannot be changed")
	}
	o.set(g)
	return o.written(l)
}

func (o *Options) set(g given) {
	assign(&o.BoostPower, g.BoostPower)
	assign(&o.PaddingFactor, g.PaddingFactor)
	assign(&o.ScheduleInterval, g.ScheduleInterval)
	assign(&o.MaxBorrow, g.MaxBorrow)
	assign(&o.RejectPut, g.RejectPut)
	assign(&o.RejectTake, g.RejectTake)
}

func assign[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// leastBorrow is what a ring needs to be padded before it is empty.
func (o *Options) leastBorrow() generator.Duration {
	return borrowTheRings * o.Unit << min(max(o.BoostPower, 0), maxBoostPower)
}

func (o *Options) written(l *layout.Layout) (json.RawMessage, error) {
	switch {
	case o.BoostPower < 0 || o.BoostPower > maxBoostPower:
		return nil, optionError("boost_power must be between 0 and %d, not %d", maxBoostPower, o.BoostPower)
	case int(l.SequenceBits())+o.BoostPower > maxRingBits:
		return nil, optionError("a ring of %d sequence bits and boost_power %d is too large", l.SequenceBits(), o.BoostPower)
	case o.PaddingFactor < 1 || o.PaddingFactor > 99:
		return nil, optionError("padding_factor must be between 1 and 99 percent, not %d", o.PaddingFactor)
	case o.ScheduleInterval != 0 && o.ScheduleInterval < minSchedule:
		return nil, optionError("schedule_interval must be 0, which is none, or at least %v, not %v", minSchedule, o.ScheduleInterval)
	case o.MaxBorrow < o.leastBorrow() || o.MaxBorrow > maxMaxBorrow:
		return nil, optionError("max_borrow must be between %v, the time in two rings, and %v, not %v", o.leastBorrow(), maxMaxBorrow, o.MaxBorrow)
	}
	for _, c := range []struct {
		name, value string
		allowed     []string
	}{{"reject_put", o.RejectPut, []string{Discard, Log}}, {"reject_take", o.RejectTake, []string{Wait, Fail}}} {
		if !slices.Contains(c.allowed, c.value) {
			return nil, optionError("%s must be one of %s, not %q", c.name, strings.Join(c.allowed, ", "), c.value)
		}
	}
	return json.Marshal(o)
}

// read returns stored options.
func read(stored json.RawMessage) (Options, *layout.Layout, error) {
	var o Options
	err := json.Unmarshal(stored, &o)
	if err == nil {
		var l *layout.Layout
		if l, err = o.Build(); err == nil {
			return o, l, nil
		}
	}
	return o, nil, &generator.Error{Kind: generator.ErrRegressed, Message: "the stored options of a ring cannot be used", Cause: err}
}
