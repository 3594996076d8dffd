// Package ring is Baidu's cached uid-generator: it makes ids ahead of their use.
// The ring is padded at the start, when fewer ids than a threshold are left, and on
// a schedule. Under load the ring borrows: its ids carry future times.
//
// The ring holds 2^(sequence bits + boost_power) ids. With short ticks it holds those
// of a second, or of a quarter of max_borrow if that is less. A padding adds all ids
// of some ticks. So the ring is a range of slots of package snowflake (type ready).
// Nothing is written per id, and a draw is one compare-and-swap. The times are
// reserved in the store before their ids enter the ring. Each name and worker id has
// a time line of its own. So two servers, or two starts, never have the same time of
// one worker id.
//
// Further differences from Baidu's generator:
//
//   - max_borrow limits the borrowed time, and nextid.rings shows it.
//   - A draw waits if the ring is empty, instead of failing (reject_take).
//   - After a time without load the next padding replaces the ids in the ring, whose
//     times are old.
//   - After the last tick of the time bits a draw fails. Baidu's returns negative ids.
//   - Ids that do not fit into the ring stay for the next padding. Baidu's generator
//     drops the rest of the second.
package ring

import (
	"context"
	"errors"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
	"nextid/generator/worker"
)

// KindName is the name of the kind.
const KindName = "ring"

// Options are the options of the kind, as they are stored. Baidu's boostPower,
// paddingFactor and scheduleInterval (in seconds) are the first three.
type Options struct {
	layout.Pinned
	BoostPower       int                `json:"boost_power"`       // capacity: 2^(sequence bits + boost_power) ids, or more with short ticks
	PaddingFactor    int                `json:"padding_factor"`    // percent of the capacity below which the ring is padded
	ScheduleInterval generator.Duration `json:"schedule_interval"` // between scheduled paddings; 0: none
	MaxBorrow        generator.Duration `json:"max_borrow"`        // greatest time by which ids may be ahead of the clock

	// With "log", a scheduled padding that finds the ring full writes a line to the log,
	// like Baidu's RejectedPutBufferHandler.
	RejectPut string `json:"reject_put"`
	// A draw that finds the ring empty while nothing may be borrowed waits until the
	// next tick may be. With "error" it is ErrRetry at once, like Baidu's
	// RejectedTakeBufferHandler.
	RejectTake string `json:"reject_take"`
}

// Bounds of the options.
const (
	maxBoostPower = 12
	maxRingBits   = 30
	minSchedule   = generator.Duration(10 * time.Millisecond)
	maxMaxBorrow  = generator.Duration(24 * time.Hour)
)

const hint = "Options: layout, bits, epoch, unit, boost_power (0 to 12), padding_factor (1 to 99), schedule_interval, max_borrow, " +
	"reject_put (discard, log), reject_take (wait, error)."

// Kind returns the kind. pools holds the worker ids of the process. The defaults are
// those of Baidu's CachedUidGenerator and RingBuffer, if they have one.
func Kind(pools *worker.Pools) generator.Kind {
	return kind{kinds.Base[Options]{
		Called: KindName, About: "time-ordered ids made ahead of their use, after Baidu's cached uid-generator", Title: "a ring", Hint: hint,
		Defaults: Options{Pinned: layout.Unpinned, BoostPower: 3, PaddingFactor: 50, MaxBorrow: -1, RejectPut: "discard", RejectTake: "wait"},
		Fill:     (*Options).fill, Check: (*Options).check,
		Keep: func(before, after *Options) error { return after.Pinned.Keep(before.Pinned) },
	}, layout.Timed{Wall: pools.Wall}, pools}
}

type kind struct {
	kinds.Base[Options]
	layout.Timed
	pools *worker.Pools
}

// fill completes the options of a new generator.
func (o *Options) fill() error {
	if _, err := o.Pin("ring"); err != nil {
		return generator.OptionError(hint, "%s", err)
	}
	if o.MaxBorrow == -1 {
		o.MaxBorrow = max(generator.Duration(time.Minute), o.leastBorrow())
	}
	return nil
}

// leastBorrow returns the time span of two full rings: one in use, one padded.
func (o *Options) leastBorrow() generator.Duration {
	return 2 * o.Unit << min(max(o.BoostPower, 0), maxBoostPower)
}

func (o *Options) check() error {
	l, err := o.Build()
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) error { return generator.OptionError(hint, format, args...) }
	switch {
	case o.BoostPower < 0 || o.BoostPower > maxBoostPower:
		return wrong("boost_power must be between 0 and %d, not %d", maxBoostPower, o.BoostPower)
	case int(l.SequenceBits())+o.BoostPower > maxRingBits:
		return wrong("a ring of %d sequence bits and boost_power %d is too large", l.SequenceBits(), o.BoostPower)
	case o.PaddingFactor < 1 || o.PaddingFactor > 99:
		return wrong("padding_factor must be between 1 and 99 percent, not %d", o.PaddingFactor)
	case o.ScheduleInterval != 0 && o.ScheduleInterval < minSchedule:
		return wrong("schedule_interval must be 0, which is none, or at least %v, not %v", minSchedule, o.ScheduleInterval)
	case o.MaxBorrow < o.leastBorrow() || o.MaxBorrow > maxMaxBorrow:
		return wrong("max_borrow must be between %v, the time in two rings, and %v, not %v", o.leastBorrow(), maxMaxBorrow, o.MaxBorrow)
	case o.RejectPut != "discard" && o.RejectPut != "log":
		return wrong("reject_put must be one of discard, log, not %q", o.RejectPut)
	case o.RejectTake != "wait" && o.RejectTake != "error":
		return wrong("reject_take must be one of wait, error, not %q", o.RejectTake)
	}
	return nil
}

// Open implements generator.Kind. The ring is full when it returns.
func (k kind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, above, err := layout.Open(ctx, k.Base, k.pools.Store(), d)
	if err != nil {
		return nil, err
	}
	pool, err := k.pools.Open(ctx, snowflake.Width(l), l.Unit)
	if err != nil {
		return nil, err
	}
	g := &Generator{
		Grid: snowflake.NewGrid(l), name: d.Name, options: o, pool: pool, clock: pool.Runtime(),
		perTick: 1 << l.SequenceBits(), borrow: time.Duration(o.MaxBorrow),
		wake: make(chan struct{}, 1), lock: make(chan struct{}, 1),
	}
	if pool.Exclusive() {
		// Only this server uses the store. So ids continue above those of its last start,
		// also with another worker id. After a loop of crashes that borrowed too much they
		// do not; they are unique either way.
		end, err := k.pools.LinesEnd(ctx, d.Name)
		if err != nil {
			pool.Leave(0)
			return nil, err
		}
		if end > 0 && end < pool.Now()/1000+g.borrow.Milliseconds()/2 {
			above = max(above, g.LastSlot(g.TickFrom(end)-1))
		}
	}
	// A padding is a round trip to the store. So the ring holds a second at least.
	ticks := max(1<<o.BoostPower, int64(min(time.Second, g.borrow/4)/l.Unit))
	g.capacity = g.perTick * ticks
	g.threshold = max(g.capacity*int64(o.PaddingFactor)/100, 1)
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.cursor.Begin(above)
	g.ready.Store(&ready{first: above + 1, last: above})
	g.pace.Store(&generator.Pace{})
	g.lock <- struct{}{}
	if _, err := g.pad(ctx, 0, 0); err != nil && !errors.Is(err, generator.ErrExhausted) {
		_ = g.Close(ctx) // the store failed: nothing was reserved
		return nil, err
	}
	g.clock.Go(&g.work, g.padOnThreshold)
	if o.ScheduleInterval > 0 {
		g.clock.Go(&g.work, g.padOnSchedule)
	}
	return g, nil
}

func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	l, err := layout.Stored(d.Options)
	if err != nil {
		return err
	}
	end, err := k.pools.LinesEnd(ctx, d.Name)
	if err != nil {
		return err
	}
	return l.Bury(ctx, k.pools.Store(), d.Name, end)
}
