package snowflake

import (
	"math"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Closed is the slot of a closed Cursor. No draw can follow it, and it is no id's
// slot.
const Closed = math.MaxInt64

// Grid numbers the ids of a layout by slots.
type Grid struct {
	*layout.Layout
	epoch, unit  int64 // µs
	sequenceBits uint8
	maxTick      int64
	share        int64 // see Cursor.Left
}

// NewGrid returns the Grid of a layout.
func NewGrid(l *layout.Layout) Grid {
	return Grid{
		Layout: l, epoch: l.Epoch.UnixMicro(), unit: l.Unit.Microseconds(),
		sequenceBits: l.SequenceBits(), maxTick: l.MaxTick(), share: 1 << l.SequenceBits() / 8,
	}
}

// FirstSlot returns the first slot of a tick.
func (t *Grid) FirstSlot(tick int64) int64 { return tick << t.sequenceBits }

// LastSlot returns the last slot of a tick. The greatest int64 is Closed: a layout
// without worker bits leaves it out.
func (t *Grid) LastSlot(tick int64) int64 {
	return min(t.FirstSlot(tick)|(1<<t.sequenceBits-1), Closed-1)
}

// Tick returns the tick of a slot.
func (t *Grid) Tick(slot int64) int64 { return slot >> t.sequenceBits }

// At returns the tick that contains a Unix microsecond. It is negative before the
// epoch.
func (t *Grid) At(micros int64) int64 { return floorDiv(micros-t.epoch, t.unit) }

// TickAt returns the tick that contains a Unix millisecond: the first tick that
// ends after it begins.
func (t *Grid) TickAt(ms int64) int64 { return t.At(ms * 1000) }

// Until returns the time from a Unix microsecond to the beginning of a tick, which may
// be centuries away.
func (t *Grid) Until(tick, micros int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Microsecond)
	return time.Duration(min(t.epoch+tick*t.unit-micros, most)) * time.Microsecond
}

// Over reports whether a Unix microsecond lies after the last tick.
func (t *Grid) Over(micros int64) bool { return t.At(micros) > t.maxTick }

// Run returns the ids of count slots from first on. base are the worker bits.
func (t *Grid) Run(base, first, count int64) generator.Range {
	return generator.Range{First: base | t.Place(first), Step: t.SlotStep(), Count: count}
}

// RunEnd returns the last slot of the run from first to end: the run ends with the
// tick unless the layout is seamless.
func (t *Grid) RunEnd(first, end int64) int64 {
	if t.Seamless() {
		return end
	}
	return min(end, t.LastSlot(t.Tick(first)))
}

// TickFrom returns the first tick that begins at or after a Unix millisecond.
func (t *Grid) TickFrom(ms int64) int64 { return -floorDiv(t.epoch-ms*1000, t.unit) }

// EndMillis returns the end of a tick in Unix ms, rounded up.
func (t *Grid) EndMillis(tick int64) int64 {
	return -floorDiv(-(t.epoch + (tick+1)*t.unit), 1000)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// AheadError returns the ErrNotNow of ids that have come further than the clock.
func (t *Grid) AheadError(name string, until time.Time) error {
	return generator.Errorf(generator.ReasonClock, name, "Wait until then, or use a generator with another name.",
		"the ids of generator %q are ahead of the clock; it issues again at %s", name, until.UTC().Format(time.RFC3339))
}

// Window is a time slice in slots of one layout. A slice belongs to this process for
// good. So a draw that still uses an old Window is safe.
type Window struct {
	Lease       *worker.Lease
	Base        int64 // worker bits of the ids
	First, Last int64 // slots whose ticks lie wholly inside the slice
	firstTick   int64
	soon        int64 // slot from which draws ask for a renewal
}

// NewWindow returns the Window of a slice.
func (t *Grid) NewWindow(l *worker.Lease) *Window {
	w := &Window{Lease: l, Base: t.Base(l.Worker, 0), firstTick: max(t.TickFrom(l.Lo), 0)}
	end := min(t.TickAt(l.Hi), t.maxTick+1)
	w.First = t.FirstSlot(w.firstTick)
	w.Last = t.LastSlot(end - 1)
	if w.firstTick > t.maxTick || end <= 0 {
		w.First, w.Last = 0, -1
	}
	w.soon = t.FirstSlot(min(t.TickAt(l.Soon), t.maxTick))
	return w
}

// Width returns the worker field of a layout.
func Width(l *layout.Layout) worker.Width {
	return worker.Width{Datacenter: l.DatacenterBits(), Worker: l.WorkerBits() - l.DatacenterBits()}
}

// Cursor holds the last slot that one name has issued.
type Cursor struct {
	begun   int64        // slot at Begin
	crowded atomic.Int64 // ns of the monotonic clock; see Left
	_       [16]byte     // in Generator, the cache line that every draw writes begins here

	slot    atomic.Int64 // last slot issued
	skipped atomic.Int64 // slots since Begin that hold no id
	final   atomic.Int64 // slot at Finish
	seen    atomic.Int64 // greatest result of Issued
}

// Begin sets the slot after which the Cursor continues, before its first draw.
func (c *Cursor) Begin(slot int64) {
	c.begun = slot
	c.slot.Store(slot)
	c.final.Store(slot)
}

// Slot returns the last slot issued, or Closed.
func (c *Cursor) Slot() int64 { return c.slot.Load() }

// Advance moves the slot from last to end. The slots from first on are issued.
// Skipped slots are counted before the slot is moved, so Issued never counts an id
// that was not issued.
func (c *Cursor) Advance(last, first, end int64) bool {
	skipped := first - last - 1
	if skipped != 0 {
		c.skipped.Add(skipped)
	}
	if c.slot.CompareAndSwap(last, end) {
		return true
	}
	if skipped != 0 {
		c.skipped.Add(-skipped)
	}
	return false
}

// smallDraw is the size of the largest draw that is small. Statements draw large
// numbers of ids by about a thousand.
const smallDraw = 64

// Small reports whether large draws leave a share of each tick to a draw of n ids.
func (t *Grid) Small(n int64) bool { return n <= min(t.share, smallDraw) }

// Left returns how many slots of the last tick a large draw leaves to small draws: an
// eighth of a tick, for as long as Crowd said. Large draws take each tick as it
// begins, one after the other.
func (c *Cursor) Left(g *Grid, now time.Duration) int64 {
	if int64(now) < c.crowded.Load() {
		return g.share
	}
	return 0
}

// Crowd is called by a draw that has to wait for a tick. If it is small, large draws
// leave it a share of the ticks that begin in the next second.
func (c *Cursor) Crowd(g *Grid, n int64, now time.Duration) {
	if g.Small(n) {
		c.crowded.Store(int64(now + time.Second + 2*time.Duration(g.unit)*time.Microsecond))
	}
}

// Skip moves the slot to at least to, without an id.
func (c *Cursor) Skip(to int64) {
	for last := c.slot.Load(); last < to && !c.Advance(last, to+1, to); last = c.slot.Load() {
	}
}

// Usable returns the error of a draw at a tick of the clock: that of a closed Cursor, or
// of a clock outside the layout's time.
func (c *Cursor) Usable(t *Grid, name string, tick int64) error {
	switch {
	case c.Slot() == Closed:
		return generator.ClosedError(name)
	case tick < 0:
		return t.BeforeEpochError(name)
	case tick > t.maxTick:
		return t.ExhaustedError(name)
	}
	return nil
}

// Raise passes the tick of v (see generator.Raiser) as a whole: the worker bits of an id
// in it may be greater than this server's. The tick must not lie after latest. reserve
// makes sure that it is reserved. Otherwise v would be forgotten after a crash.
func (c *Cursor) Raise(t *Grid, name string, v int64, used bool, latest int64, reserve func(tick int64) error) error {
	if !used && v > math.MinInt64 {
		v--
	}
	if v < 0 {
		return nil
	}
	if _, err := t.Explain(v); err != nil {
		return err
	}
	tick, _, _, _ := t.Unpack(v)
	switch {
	case c.Slot() == Closed:
		return generator.ClosedError(name)
	case tick > latest:
		return t.FutureError(name, v)
	}
	if err := reserve(tick); err != nil {
		return err
	}
	if c.Skip(t.LastSlot(tick)); c.Slot() == Closed {
		return generator.ClosedError(name)
	}
	return nil
}

// Finish ends all draws. It returns the last slot, or Closed after the first call.
func (c *Cursor) Finish() int64 {
	last := c.slot.Swap(Closed)
	if last != Closed {
		c.final.Store(last)
	}
	return last
}

// Issued returns the number of issued ids: all slots since Begin except the skipped
// ones. It does not fall.
func (c *Cursor) Issued() int64 {
	last := c.slot.Load()
	if last == Closed {
		last = c.final.Load()
	}
	return raise(&c.seen, last-c.begun-c.skipped.Load())
}

// raise sets *greatest to at least n and returns its value.
func raise(greatest *atomic.Int64, n int64) int64 {
	for {
		old := greatest.Load()
		if n <= old || greatest.CompareAndSwap(old, n) {
			return max(n, old)
		}
	}
}
