package snowflake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Values of Options.SequenceStart: the first sequence of a new tick. A number, such
// as "5", is the least sequence of every tick, as in yitter. A range, such as
// "0-99", means a random number from it, as in Leaf and MyBatis-Plus.
const (
	Zero   = "zero"       // 0, as Twitter does
	Random = "random"     // anywhere in the lower half: the low bits are even at low rates
	Carry  = layout.Carry // continues the last tick's: even low bits without randomness
)

// Values of Options.OnRollback: what happens while the wall clock is behind the
// ids.
const (
	Continue = "continue" // ids keep growing and no draw waits
	Wait     = "wait"     // draws wait until the clock has caught up, at most RollbackWait, then ErrNotNow
	Refuse   = "refuse"   // ErrNotNow, as Twitter does; with a duration such as "5ms" draws wait up to that lag first, as Leaf does
	Bits     = "bits"     // ids carry the wall clock's time and another value in their rollback field
)

// Options are the stored options of the kind. Every option that fixes the meaning
// of the ids is written out.
type Options struct {
	layout.Pinned
	SequenceStart startOption        `json:"sequence_start"`
	MaxAhead      generator.Duration `json:"max_ahead"`
	OnRollback    string             `json:"on_rollback"`
	// RollbackWait is the longest wait of one draw with Wait. nil:
	// defaultRollbackWait.
	RollbackWait *generator.Duration `json:"rollback_wait,omitempty"`

	Strict bool `json:"strict,omitempty"` // one reservation for each batch of draws
}

// startOption is a sequence_start in JSON: a text or a number.
type startOption string

func (s *startOption) UnmarshalJSON(b []byte) error {
	if string(b) == "null" { // keeps the value
		return nil
	}
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

// defaultMaxAhead lets one call of next_ids with the greatest n (10,000 ids, 3 ms
// of Twitter's layout) return at once instead of after three timers. It is no more
// than the usual difference of two servers' clocks.
const defaultMaxAhead = 5 * time.Millisecond

// maxMaxAhead is the greatest max_ahead. Ids of the future lie inside the slice in
// hand, and after a restart they must not lie far ahead.
const maxMaxAhead = time.Second

// The wait for a clock that was set back. It is longer than a step of ntpd and
// shorter than the timeouts of most connection pools.
const (
	defaultRollbackWait = 5 * time.Second
	maxRollbackWait     = time.Hour
)

// noSystems are the presets that no other system uses.
var noSystems = []string{"js", "rollback"}

// fill completes the options of a new generator. A named layout sets sequence_start
// as its system does. Without a layout it is Carry. It matters to users who take ids
// modulo a number of shards, and so need even low bits.
func (o *Options) fill(defaultLayout string) error {
	start, named := startOption(Carry), o.Layout != ""
	l, err := o.Pin(defaultLayout)
	if err != nil {
		return err
	}
	if p, err := layout.Preset(l.Name); err == nil {
		switch {
		case p.Start != "":
			start = startOption(p.Start)
		case named && !slices.Contains(noSystems, l.Name):
			start = Zero
		}
	}
	o.SequenceStart = cmp.Or(o.SequenceStart, start)
	if o.OnRollback == "" {
		o.OnRollback = Continue
		if l.RollbackBits() > 0 && !o.Strict {
			o.OnRollback = Bits
		}
	}
	return nil
}

// check refuses wrong options.
func (o *Options) check() error {
	l, err := o.Build()
	if err != nil {
		return err
	}
	if _, _, err := startRange(string(o.SequenceStart), l.SequenceBits()); err != nil {
		return err
	}
	_, _, ok := onRollback(o.OnRollback)
	switch {
	case !ok:
		return generator.WrongOption("on_rollback must be one of %s, %s, %s, %s or how far the clock may be behind, 1ms to %v, not %q",
			Continue, Wait, Refuse, Bits, maxRollbackWait, o.OnRollback)
	case o.Strict && o.OnRollback == Bits:
		return generator.WrongOption("strict ids follow the store's time, which is never set back: on_rollback bits is not for them")
	case o.OnRollback == Bits && l.RollbackBits() == 0:
		return generator.WrongOption("on_rollback bits needs a layout with a rollback field, such as rollback; %s has none", l.Name)
	}
	if o.RollbackWait != nil {
		if d := time.Duration(*o.RollbackWait); o.OnRollback != Wait || d <= 0 || d > maxRollbackWait {
			return generator.WrongOption("rollback_wait, with on_rollback wait, must be between 1ms and %v, not %v", maxRollbackWait, d)
		}
	}
	return generator.Within("max_ahead", time.Duration(o.MaxAhead), 0, maxMaxAhead)
}

// keep refuses a change of the layout. Options that a change of another one makes
// meaningless are left out.
func keep(before, after *Options) error {
	if after.Strict && !before.Strict && after.OnRollback == Bits && before.OnRollback == Bits {
		after.OnRollback = Continue
	}
	if had := before.RollbackWait; had != nil && after.OnRollback != Wait && after.RollbackWait != nil && *after.RollbackWait == *had {
		after.RollbackWait = nil
	}
	return after.Pinned.Keep(before.Pinned)
}

// startRange parses a sequence_start that is a number or a range. It returns 0, 0
// for the others.
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
		return 0, 0, generator.WrongOption("sequence_start must be one of %s, %s, %s, a number or a range such as 0-99, not %q", Zero, Random, Carry, text)
	}
	if half := int64(1) << bits / 2; high > half {
		return 0, 0, generator.WrongOption("sequence_start %s leaves less than half of a sequence of %d bits", text, bits)
	}
	return low, high, nil
}

// onRollback parses an on_rollback. lag is by how much the wall clock may be behind
// with Refuse before a draw fails instead of waiting.
func onRollback(text string) (rule string, lag time.Duration, ok bool) {
	switch text {
	case Continue, Wait, Refuse, Bits:
		return text, tolerance, true
	}
	lag, err := time.ParseDuration(text)
	return Refuse, lag, err == nil && lag >= time.Millisecond && lag <= maxRollbackWait
}

// KindName is the name of the kind.
const KindName = "snowflake"

// Kind returns the snowflake kind. pools holds the worker ids of the process.
// defaultLayout is the layout of generators whose options name none.
func Kind(pools *worker.Pools, defaultLayout string) generator.Kind {
	return &kind{kinds.Base[Options]{
		Called: KindName, Title: "a snowflake generator",
		Hint: "Options: layout, bits, epoch, unit, sequence_start (zero, random, carry, a number, a range such as 0-99), max_ahead, " +
			"on_rollback (continue, wait, refuse, bits, a duration such as 5ms), rollback_wait, strict.",
		Defaults: Options{Pinned: layout.Unpinned, MaxAhead: generator.Duration(defaultMaxAhead)},
		Fill:     func(o *Options) error { return o.fill(defaultLayout) }, Check: (*Options).check, Keep: keep,
	}, layout.Timed{Wall: pools.Wall}, pools, sync.Mutex{}, map[string]*timing{}}
}

type kind struct {
	kinds.Base[Options]
	layout.Timed
	pools *worker.Pools

	mu      sync.Mutex
	timings map[string]*timing // by stored options; guarded by mu
}

func (k *kind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, above, err := layout.Open(ctx, k.Base, k.pools.Store(), d)
	if err != nil {
		return nil, err
	}
	if o.Strict {
		time, err := k.pools.Strict(ctx, Width(l), l.Unit, l.Epoch)
		if err != nil {
			return nil, err
		}
		return newStrict(newGenerator(d.Name, newTiming(o, l, nil), time.UsedUntil(), above), time), nil
	}
	pool, err := k.pools.Open(ctx, Width(l), l.Unit)
	if err != nil {
		return nil, err
	}
	g := newGenerator(d.Name, k.timing(d.Options, o, l, pool), pool.UsedUntil(), above)
	if o.OnRollback == Bits {
		g.rewind = newRewind(g, above, k.pools.Slice())
	}
	return g, nil
}

// maxTimings is the number of cached timings. Few different options are in use at a
// time.
const maxTimings = 64

// timing returns the timing of stored options. o and l are those options, decoded.
func (k *kind) timing(stored json.RawMessage, o Options, l *layout.Layout, pool *worker.Pool) *timing {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.timings[string(stored)]; t != nil && t.pool == pool {
		return t
	}
	if len(k.timings) >= maxTimings {
		clear(k.timings)
	}
	t := newTiming(o, l, pool)
	k.timings[string(stored)] = t
	return t
}

// Retire implements generator.Retirer. The ids of the name, of any server, lie
// inside slices of the layout's width. So it moves the key above the end of those.
func (k *kind) Retire(ctx context.Context, d generator.Definition) error {
	l, err := layout.Stored(d.Options)
	if err != nil {
		return err
	}
	end, err := k.pools.IssuedUntil(ctx, Width(l), d.Created)
	if err != nil {
		return err
	}
	return Retire(ctx, k.pools, d, end)
}

// Retire implements generator.Retirer for a kind whose ids lie before end (Unix ms), or on
// the lines of the name: those of a ring, or of times when a clock was set back.
func Retire(ctx context.Context, pools *worker.Pools, d generator.Definition, end int64) error {
	l, err := layout.Stored(d.Options)
	if err != nil {
		return err
	}
	lines, err := pools.LinesEnd(ctx, d.Name)
	if err != nil {
		return err
	}
	return l.Bury(ctx, pools.Store(), d.Name, max(end, lines))
}
