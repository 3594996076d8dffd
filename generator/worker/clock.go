package worker

import (
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// timeline computes id time: the time that the ids of this process carry. Id time
// starts at the wall clock, continues by the monotonic clock and never goes back.
type timeline struct {
	clock  generator.Clock
	system bool // clock is the operating system's
	log    *slog.Logger
	anchor atomic.Pointer[anchor]
	backs  atomic.Int64 // how often the wall clock was seen to go back
	doubt  atomic.Bool  // the wall clock is known to be ahead of the store's
	// agreed is the monotonic time of the latest comparison that did not find the wall
	// clock ahead of the store's. It is 0 if they are not compared.
	agreed atomic.Int64

	mu       sync.Mutex
	pinned   bool // ids were issued: id time must not jump any more
	lastWall int64
	lastMono time.Duration
	falling  bool // the latest comparison saw the wall clock lose time
	jumped   bool // the latest comparison saw the wall clock far ahead
	jumpedAt time.Duration
}

// anchor maps the monotonic clock to id time. It is immutable.
type anchor struct {
	micros  int64 // id time at mono, Unix µs
	mono    time.Duration
	slowFor int64 // µs for which id time runs at 9/10 of real speed, because it is ahead of the wall clock
	pushed  int64 // µs by which advance moved id time ahead of all clocks
}

func (a *anchor) at(mono time.Duration) int64 {
	elapsed := (mono - a.mono).Microseconds()
	return a.micros + elapsed - min(elapsed, a.slowFor)/10
}

// remaining returns the part of pushed that is not yet caught up.
func (a *anchor) remaining(mono time.Duration) int64 {
	return max(a.pushed-min((mono-a.mono).Microseconds(), a.slowFor)/10, 0)
}

const (
	// compareEvery is the interval of comparisons with the wall clock.
	compareEvery = time.Second
	// maxForward bounds how far one comparison follows the wall clock forward. So a clock
	// that jumps an hour ahead by mistake does not take the time lines in the store
	// with it.
	maxForward = time.Second
	// backAlarm is the loss of wall-clock time between two comparisons that is counted
	// and logged. Slewing by NTP (500 ppm) stays far below it.
	backAlarm = 20 * time.Millisecond
)

func (t *timeline) init(c generator.Clock, log *slog.Logger) {
	t.clock, t.log = c, log
	_, t.system = c.(generator.SystemClock)
	t.lastWall, t.lastMono = t.read()
	t.anchor.Store(&anchor{micros: t.lastWall, mono: t.lastMono})
}

// read reads both clocks at one moment. A pause between the two readings would look
// like a jump.
func (t *timeline) read() (wall int64, mono time.Duration) {
	for range 10 {
		mono = t.clock.Monotonic()
		wall = t.clock.Wall() / 1000
		if t.clock.Monotonic()-mono < time.Millisecond {
			break
		}
	}
	return wall, mono
}

// now returns id time in Unix microseconds.
func (t *timeline) now() int64 { return t.anchor.Load().at(t.monotonic()) }

func (t *timeline) monotonic() time.Duration {
	if t.system { // fast path: avoids the call through the interface
		return generator.SystemClock{}.Monotonic()
	}
	return t.clock.Monotonic()
}

// Now returns id time in Unix microseconds. It never goes back.
func (p *Pool) Now() int64 { return p.pools.time.now() }

// Monotonic returns the monotonic clock, from which Now is computed.
func (p *Pool) Monotonic() time.Duration { return p.pools.time.monotonic() }

// At returns the value of Now at a moment of Monotonic.
func (p *Pool) At(mono time.Duration) int64 { return p.pools.time.anchor.Load().at(mono) }

// Wall returns the wall clock in Unix microseconds. It may jump.
func (p *Pool) Wall() int64 { return p.pools.time.wall() }

// unpushed returns id time without what advance added to it. Reservations are based on
// it: otherwise servers that push one another ahead would reserve further and
// further.
func (t *timeline) unpushed() int64 {
	a, mono := t.anchor.Load(), t.clock.Monotonic()
	return a.at(mono) - a.remaining(mono)
}

// wall returns the wall clock in Unix microseconds.
func (t *timeline) wall() int64 { return t.clock.Wall() / 1000 }

// advance makes id time at least micros, and ends the free adjustment to the wall clock.
// With push, micros is the begin of reserved time: ids are issued from now on. asked is
// the id time at the request; a wall clock that is set back after it does not count as a
// push by another server. Without push the store grants no time before micros.
func (t *timeline) advance(micros, asked int64, push bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wall, mono := t.read()
	a := t.anchor.Load()
	ours, pushed := a.at(mono), a.remaining(mono)
	if !t.pinned {
		ours, t.pinned = max(wall, asked), true
	}
	if push {
		pushed += max(micros-ours, 0)
	}
	t.setLocked(max(ours, micros), wall, mono, pushed)
}

// unpinned returns both clocks at one moment. ok is false after ids were issued.
func (t *timeline) unpinned() (wall int64, mono time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wall, mono = t.read()
	return wall, mono, !t.pinned
}

// begin sets id time to micros at mono and ends the free adjustment to the wall
// clock, unless that has ended already.
func (t *timeline) begin(micros int64, mono time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pinned {
		return
	}
	wall, now := t.read()
	t.pinned = true
	t.setLocked(micros+(now-mono).Microseconds(), wall, now, 0)
}

// compared records a comparison of the wall clock with the store's.
func (t *timeline) compared(ahead bool) {
	t.doubt.Store(ahead)
	if !ahead {
		t.agreed.Store(max(int64(t.clock.Monotonic()), 1))
	}
}

// setLocked sets id time to ours from mono on. While id time is ahead of the wall
// clock, it runs at 9/10 of real speed. So it is caught up after ten times the
// difference.
func (t *timeline) setLocked(ours, wall int64, mono time.Duration, pushed int64) {
	lead := min(max(ours-wall, 0), math.MaxInt64/100)
	t.anchor.Store(&anchor{micros: ours, mono: mono, slowFor: 10 * lead, pushed: min(pushed, lead)})
}

// compare compares id time with the wall clock. One goroutine calls it every
// compareEvery.
func (t *timeline) compare() {
	t.mu.Lock()
	defer t.mu.Unlock()
	wall, mono := t.read()
	lost := t.lastWall + (mono - t.lastMono).Microseconds() - wall
	t.lastWall, t.lastMono = wall, mono

	falling := lost >= backAlarm.Microseconds()
	if falling && !t.falling {
		t.backs.Add(1)
		t.log.Warn("the wall clock was set back; ids keep growing", "by", time.Duration(lost)*time.Microsecond)
	}
	t.falling = falling

	a := t.anchor.Load()
	ours := a.at(mono)
	behind := wall - ours
	if t.pinned {
		jumped := behind > 2*maxForward.Microseconds()
		if jumped && !t.jumped {
			t.jumpedAt = mono
			t.log.Warn("the wall clock jumped ahead; ids follow it slowly, or at once after a restart",
				"by", time.Duration(behind)*time.Microsecond)
		}
		t.jumped = jumped
		behind = min(behind, maxForward.Microseconds())
		// A jump is followed once the store's clock confirms it.
		agreed := time.Duration(t.agreed.Load())
		if t.doubt.Load() || jumped && agreed > 0 && agreed <= t.jumpedAt {
			behind = min(behind, 0)
		}
	}
	if behind > 0 || !t.pinned {
		ours += behind
	}
	t.setLocked(ours, wall, mono, a.remaining(mono))
}
