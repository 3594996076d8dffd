package worker

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
)

// run lets d pass and checks every millisecond that our time does not fall.
func run(w *world, p *Pool, d time.Duration) {
	w.t.Helper()
	last := p.Now()
	for range d.Milliseconds() {
		time.Sleep(time.Millisecond)
		now := p.Now()
		if now < last {
			w.t.Fatalf("our time fell from %d to %d", last, now)
		}
		last = now
	}
}

// lead is by how much our time is ahead of the wall clock.
func lead(p *Pool) time.Duration { return time.Duration(p.Now()-p.Wall()) * time.Microsecond }

func wantLead(w *world, p *Pool, least, most time.Duration) {
	w.t.Helper()
	if got := lead(p); got < least || got > most {
		w.t.Errorf("our time is %v ahead of the wall clock, want %v to %v", got, least, most)
	}
}

func TestTimeFollowsAHealthyClock(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		run(w, p, 10*time.Second)
		wantLead(w, p, 0, 0)
		if n := p.ClockBack(); n != 0 {
			t.Errorf("%d alarms", n)
		}
	})
}

func TestClockSetBackWhileRunning(t *testing.T) {
	for _, back := range []time.Duration{25 * time.Millisecond, time.Second, time.Hour, 10 * 365 * 24 * time.Hour} {
		inWorld(t, true, func(w *world) {
			p := w.open(w.server())
			run(w, p, 1500*time.Millisecond)
			before := p.Now()
			w.clock.Step(-back)
			run(w, p, 5*time.Second)
			if got := time.Duration(p.Now()-before) * time.Microsecond; got < 4500*time.Millisecond || got > 5*time.Second {
				t.Errorf("back %v: our time went on by %v in 5 s", back, got)
			}
			if n := p.ClockBack(); n != 1 {
				t.Errorf("back %v: %d alarms, want 1", back, n)
			}
			w.wantLog("the wall clock was set back")
		})
	}
}

func TestIDTimeRunsAtNineTenthsUntilTheWallClockHasCaughtUp(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		w.clock.Step(-2 * time.Second)
		run(w, p, 10*time.Second)
		wantLead(w, p, time.Second, 1200*time.Millisecond)
		run(w, p, 12*time.Second)
		wantLead(w, p, 0, 0)
	})
}

func TestRepeatedStepsCountOnceEach(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		for range 3 {
			w.clock.Step(-time.Minute)
			run(w, p, 3*time.Second)
		}
		if n := p.ClockBack(); n != 3 {
			t.Errorf("%d alarms for 3 steps", n)
		}
	})
}

func TestAFrozenClockIsOneEventAndTimeGoesOn(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		before := p.Now()
		w.clock.Freeze(true)
		run(w, p, 30*time.Second)
		if got := time.Duration(p.Now()-before) * time.Microsecond; got < 27*time.Second {
			t.Errorf("our time went on by %v in 30 s", got)
		}
		if n := p.ClockBack(); n != 1 {
			t.Errorf("%d alarms for one freeze", n)
		}
	})
}

func TestSlewingIsNoAlarm(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		for range 60 {
			run(w, p, time.Second)
			w.clock.Step(-500 * time.Microsecond) // 500 ppm
		}
		if n := p.ClockBack(); n != 0 {
			t.Errorf("%d alarms", n)
		}
		wantLead(w, p, 0, 10*time.Millisecond)
	})
}

// A clock that is an hour or a year ahead by mistake must not take the time
// line in the store with it, and the server works on after the correction.
func TestForwardJumpDoesNotSpoilTheStore(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		for _, jump := range []time.Duration{time.Hour, 365 * 24 * time.Hour} {
			inWorld(t, exclusive, func(w *world) {
				s := w.server()
				p := w.open(s)
				w.clock.Step(jump)
				use(p, 30*time.Second)
				w.clock.Step(-jump)
				if far := time.Duration(w.hi(0)-w.now()) * time.Millisecond; far > s.cfg.Slice+31*time.Second {
					t.Errorf("jump %v: the store's line reaches %v ahead", jump, far)
				}
				w.wantLog("jumped ahead")
				if n := strings.Count(w.log.String(), "jumped ahead"); n != 1 {
					t.Errorf("%d log lines about one jump", n)
				}
				use(p, 10*time.Second)
				if l := p.Lease(); l.Hi*1000 <= p.Now() {
					t.Errorf("jump %v: no slice after the correction", jump)
				}
			})
		}
	}
}

func TestAForwardStepIsFollowedByASecondASecond(t *testing.T) {
	inWorld(t, true, func(w *world) {
		p := w.open(w.server())
		w.clock.Step(10 * time.Second)
		run(w, p, 5500*time.Millisecond)
		wantLead(w, p, -5*time.Second, -5*time.Second)
		run(w, p, 10*time.Second)
		wantLead(w, p, 0, 0)
	})
}

// Before anything was stamped there is nothing to protect: a machine without
// a battery clock starts in 1970 and gets the time from the network.
// A clock that the store's contradicts is not followed: time goes on as it was.
func TestADoubtedClockIsNotFollowed(t *testing.T) {
	inWorld(t, true, func(w *world) {
		s := w.server()
		p := w.open(s)
		s.Doubt(true)
		w.clock.Step(time.Hour)
		before := p.Now()
		run(w, p, 30*time.Second)
		if got := time.Duration(p.Now()-before) * time.Microsecond; got != 30*time.Second {
			t.Errorf("our time went on by %v in 30 s", got)
		}
		if ahead := s.ClockLead(); ahead != -time.Hour {
			t.Errorf("%v ahead of the clock", ahead)
		}
		s.Doubt(false) // the store's clock is what was wrong
		run(w, p, 30*time.Second)
		if got := time.Duration(p.Now()-before) * time.Microsecond; got < 85*time.Second || got > 95*time.Second {
			t.Errorf("our time went on by %v in 60 s", got)
		}
	})
}

// A server that dies may leave ids behind which the store forgets in a failover.
// They must not lie ahead of the store's clock: a jump of the wall clock waits
// for the comparison of the two.
func TestAJumpWaitsForAComparison(t *testing.T) {
	inWorld(t, false, func(w *world) {
		s := w.server()
		p := w.open(s)
		s.Doubt(false)
		run(w, p, 1500*time.Millisecond)
		w.clock.Step(time.Hour)
		run(w, p, 10*time.Second) // the store does not answer
		wantLead(w, p, -time.Hour, -time.Hour+10*time.Millisecond)
		s.Doubt(false) // the store's clock confirms it
		run(w, p, 10*time.Second)
		wantLead(w, p, -time.Hour+9*time.Second, -time.Hour+11*time.Second)
	})
}

func TestBeforeTheFirstClaimTimeFollowsTheClockAtOnce(t *testing.T) {
	for _, step := range []time.Duration{30 * 365 * 24 * time.Hour, -30 * 365 * 24 * time.Hour} {
		inWorld(t, true, func(w *world) {
			s := w.server()
			w.clock.Step(step)
			time.Sleep(2 * time.Second)
			p := w.open(s)
			wantLead(w, p, 0, 0)
			if l := p.Lease(); l.Lo != w.now() {
				t.Errorf("step %v: slice from %d, now is %d", step, l.Lo, w.now())
			}
		})
	}
}

// Somebody else's slices push our time ahead, but by no more than a slice:
// that is how long servers wait after the store went back (rule R7).
func TestServersOnOneWorkerIDPushOneAnotherNoFurtherThanASlice(t *testing.T) {
	inWorld(t, false, func(w *world) {
		p := w.open(w.server(func(c *Config) { c.Source = Fixed{ID: 1} }))
		slice := p.pools.cfg.Slice.Milliseconds()
		refused := 0
		for range 20 {
			l := p.Lease()
			w.taken(1, l.Hi, 100*time.Millisecond)
			end := w.hi(1)
			err := p.Extend(w.t.Context(), l.Hi)
			if l := p.Lease(); l.Hi > w.now()+slice+2*minPiece.Milliseconds() {
				t.Fatalf("reserved until %d ms from now", l.Hi-w.now())
			}
			if err == nil {
				continue
			}
			refused++
			if !errors.Is(err, generator.ErrNotNow) || !strings.Contains(err.Error(), "worker id 1") {
				t.Fatal(err)
			}
			if w.hi(1) != end {
				t.Error("what was refused was not given back")
			}
		}
		if refused == 0 {
			t.Error("pushed ahead twenty times without a refusal")
		}
		// Time passes, and slices have their length again.
		time.Sleep(2 * time.Hour)
		if l := p.Lease(); l.Hi-w.now() < slice/2 || l.Hi-w.now() > slice+1000 {
			t.Errorf("the slice ends in %d ms", l.Hi-w.now())
		}
	})
}
