package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator/generatortest"
)

// clockStart marks where the store's clock begins; time of the bubble is added to it.
var clockStart = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// store is a database whose answers take a while.
type store struct {
	began time.Time
	took  time.Duration // half of it before the clock is read
	step  func()        // while the answer is on its way
	err   error
	whole bool // tells whole seconds only
}

func (s *store) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	time.Sleep(s.took / 2)
	earliest = clockStart.Add(time.Since(s.began))
	latest = earliest
	if s.whole {
		earliest = earliest.Truncate(time.Second)
		latest = earliest.Add(time.Second)
	}
	if s.step != nil {
		s.step()
	}
	time.Sleep(s.took / 2)
	return earliest, latest, errors.Join(s.err, ctx.Err())
}

// clockWorld is a server beside its store, in a bubble of virtual time.
type clockWorld struct {
	*store
	clock *generatortest.Clock
	watch *ClockWatch

	mu    sync.Mutex
	log   bytes.Buffer
	doubt atomic.Bool
}

func (w *clockWorld) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

// lines are the log since the last call.
func (w *clockWorld) lines() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.log.Reset()
	return w.log.String()
}

func (w *clockWorld) config() ClockConfig {
	return ClockConfig{
		Store: w.store, Clock: w.clock, Limit: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(w, nil)),
		Doubt: w.doubt.Store,
	}
}

func inClockWorld(t *testing.T, f func(w *clockWorld)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		f(&clockWorld{store: &store{began: time.Now()}, clock: generatortest.NewClock(clockStart)})
	})
}

// compareSome lets a few comparisons happen.
func compareSome() {
	time.Sleep(3*every + every/2)
	synctest.Wait()
}

func TestAClockThatGoesWrongRaisesAnAlarm(t *testing.T) {
	inClockWorld(t, func(w *clockWorld) {
		w.took = 20 * time.Millisecond
		w.watch = NewClockWatch(w.config())
		defer w.watch.Close()
		compareSome()
		if o := w.watch.Offset(); o != (ClockOffset{Known: true}) || w.lines() != "" {
			t.Errorf("clocks that agree: %+v", o)
		}
		for _, ahead := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
			w.clock.Step(ahead)
			compareSome()
			o := w.watch.Offset()
			if !o.Alarm || (o.Ahead-ahead).Abs() > w.took {
				t.Errorf("%v ahead: %+v", ahead, o)
			}
			if said := w.lines(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "clock_limit=5s") {
				t.Errorf("%v ahead: the log says %s", ahead, said)
			}
			if doubt := w.doubt.Load(); doubt != (ahead > 0) {
				t.Errorf("%v ahead: it is followed: %v", ahead, !doubt)
			}
			time.Sleep(remindEvery)
			if said := w.lines(); strings.Count(said, "\n") != 1 {
				t.Errorf("%v ahead, later: the log says %s", ahead, said)
			}
			w.clock.Step(-ahead)
			compareSome()
			if said := w.lines(); w.watch.Offset().Alarm || !strings.Contains(said, "agree again") {
				t.Errorf("set right: %+v; the log says %s", w.watch.Offset(), said)
			}
		}
		w.clock.Step(4 * time.Second)
		compareSome()
		if o := w.watch.Offset(); o.Alarm || o.Ahead < 3*time.Second || w.lines() != "" {
			t.Errorf("less than the limit: %+v", o)
		}
	})
}

// What may be the way of the answer is no difference.
func TestOnlyCertainDifferencesCount(t *testing.T) {
	inClockWorld(t, func(w *clockWorld) {
		cfg := w.config()
		for _, c := range []struct {
			took  time.Duration
			whole bool
			step  time.Duration // of our clock, before
			less  time.Duration // of it that cannot be certain
		}{
			{0, false, 7 * time.Second, 0},
			{1900 * time.Millisecond, false, 700 * time.Millisecond, 950 * time.Millisecond},
			{1900 * time.Millisecond, false, -20 * time.Second, 950 * time.Millisecond},
			{0, true, 400 * time.Millisecond, time.Second},
			{0, true, -90 * time.Minute, time.Second},
		} {
			w.took, w.whole = c.took, c.whole
			w.clock.Step(c.step)
			ahead, err := cfg.compare(t.Context())
			if err != nil || ahead.Abs() > c.step.Abs() || ahead.Abs() < max(c.step.Abs()-c.less, 0) || (ahead < 0) != (c.step < 0) && ahead != 0 {
				t.Errorf("%+v: %v ahead, %v", c, ahead, err)
			}
			w.clock.Step(-c.step)
		}
	})
}

// Answers that say nothing leave things as they are.
func TestAnswersThatSayNothing(t *testing.T) {
	inClockWorld(t, func(w *clockWorld) {
		w.clock.Step(time.Hour)
		cfg := w.config()
		w.took = slow + time.Millisecond
		_, late := cfg.compare(t.Context())
		w.took, w.step = time.Millisecond, func() { w.clock.Step(-time.Hour) }
		_, stepped := cfg.compare(t.Context())
		w.step, w.err = nil, errors.New("away")
		_, away := cfg.compare(t.Context())
		if !errors.Is(late, errSlow) || !errors.Is(stepped, errSlow) || away == nil {
			t.Errorf("late: %v; stepped: %v; away: %v", late, stepped, away)
		}
		w.watch = NewClockWatch(cfg)
		defer w.watch.Close()
		compareSome()
		if o := w.watch.Offset(); o != (ClockOffset{}) || w.lines() != "" {
			t.Errorf("%+v", o)
		}
	})
}

func TestAServerDoesNotStartWithAWrongClock(t *testing.T) {
	inClockWorld(t, func(w *clockWorld) {
		cfg := w.config()
		check := func() string {
			if err := CheckClock(t.Context(), cfg); err != nil {
				return err.Error()
			}
			return ""
		}
		if got := check(); got != "" {
			t.Error(got)
		}
		w.clock.Step(10 * time.Minute)
		if got := check(); got != "the clock of this machine is 10m0s ahead of that of the store" {
			t.Error(got)
		}
		cfg.Limit = 0
		if got := check(); got != "" {
			t.Errorf("without a limit: %s", got)
		}
		cfg.Limit = time.Second
		w.clock.Step(-time.Hour)
		if got := check(); got != "the clock of this machine is 50m0s behind that of the store" {
			t.Error(got)
		}
		w.err = errors.New("away")
		if got := check(); got != "" {
			t.Errorf("a store that says nothing: %s", got)
		}
	})
}
