package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// TestCrashLoopSticksToNoWorkerID: a server that crashes and starts again 200
// times, at all moments of a slice, never waits for a worker id, and none of
// the 1024 is taken for longer than the slice that it had when it crashed.
func TestCrashLoopSticksToNoWorkerID(t *testing.T) {
	const crashes = 200
	for _, pause := range []time.Duration{0, 100 * time.Millisecond, time.Second, 31 * time.Second, 90 * time.Second} {
		inWorld(t, false, func(w *world) {
			slice := time.Minute.Milliseconds()
			taken := map[int64]int64{} // by worker id: when it must be free at the latest
			for i := range crashes {
				began := time.Now()
				s := w.server()
				pool := w.open(s)
				if waited := time.Since(began); waited != 0 {
					t.Fatalf("pause %v: start %d waited for %v", pause, i, waited)
				}
				id := pool.Lease().Worker
				if until, ok := taken[id]; ok && until > w.now() {
					t.Fatalf("pause %v: start %d got worker id %d, which is taken until %d", pause, i, id, until)
				}
				time.Sleep(pause)
				crash(s)
				w.pools = w.pools[:len(w.pools)-1]
				taken[id] = w.now() + slice
				for id, hi := range w.ends() {
					if until := taken[id]; hi > until {
						t.Fatalf("pause %v: worker id %d is taken until %d, which is %d ms too long", pause, id, hi, hi-until)
					}
				}
			}
			ends := w.ends()
			for id, hi := range ends {
				if hi > w.now()+slice {
					t.Errorf("pause %v: after the last crash worker id %d is taken until %d", pause, id, hi)
				}
			}
			if len(ends) > crashes {
				t.Errorf("%d worker ids for %d starts", len(ends), crashes)
			}
		})
	}
}

// TestCrashLoopDoesNotRunAhead: each crash leaves some time unused that was
// reserved already. On an embedded store the next start goes on above it.
func TestCrashLoopDoesNotRunAhead(t *testing.T) {
	for _, unit := range []time.Duration{time.Millisecond, time.Second} {
		inWorld(t, true, func(w *world) {
			for i := range 500 {
				s := w.server()
				before := w.now()
				pool, err := s.Open(w.t.Context(), Width{Worker: bits}, unit)
				if err != nil {
					t.Fatal(err)
				}
				if waited := w.now() - before; waited > (2*unit + minPiece).Milliseconds() {
					t.Fatalf("unit %v: start %d waited for %d ms", unit, i, waited)
				}
				if lead := pool.Lease().Lo - w.now(); lead > maxAhead.Milliseconds() {
					t.Fatalf("unit %v: start %d is %d ms ahead", unit, i, lead)
				}
				time.Sleep(10 * time.Millisecond)
				crash(s)
				w.pools = w.pools[:len(w.pools)-1]
			}
		})
	}
	inWorld(t, true, func(w *world) { // of a clock that was an hour ahead
		w.taken(0, w.now()+time.Hour.Milliseconds(), time.Second)
		before := w.now()
		if l := w.open(w.server()).Lease(); w.now() != before || l.Lo < before+time.Hour.Milliseconds() {
			t.Errorf("it waited for %d ms and begins at %d", w.now()-before, l.Lo)
		}
	})
}

// TestTheGreatestWorkerIDStaysUnused while another one is free: only an id that was never
// used can be set aside for ids of the past.
func TestTheGreatestWorkerIDStaysUnused(t *testing.T) {
	inWorld(t, true, func(w *world) {
		for start, want := range []int64{0, 1, 2, 0, 1} {
			s := w.server()
			pool, err := s.Open(w.t.Context(), Width{Worker: 2}, time.Millisecond)
			if err != nil || pool.Lease().Worker != want {
				t.Fatalf("start %d: %+v, %v; want worker id %d", start, pool.Lease(), err, want)
			}
			pool.Leave(w.now())
			if err := s.Close(w.t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if _, _, err := w.server().library(2).ReservePast(w.t.Context(), "orders", 4); err != nil {
			t.Error(err)
		}
	})
}

// TestSettingAWorkerIDAsideTwice: names that need their first id of the past at the same
// moment find the worker id unused, and all of them set it aside.
func TestSettingAWorkerIDAsideTwice(t *testing.T) {
	inWorld(t, false, func(w *world) {
		pools := []*Pool{w.server().library(bits), w.server().library(bits), w.server().library(bits)}
		share := func(i int) {
			w.t.Helper()
			if id, share, err := pools[i].ReservePast(w.t.Context(), fmt.Sprint("name", i), 4); err != nil || id != 1<<bits-1 || share != 0 {
				w.t.Errorf("name%d: worker id %d, share %d, %v", i, id, share, err)
			}
		}
		for i := range 2 { // both others are faster than the first between its two calls
			w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
				share(i + 1)
				return call(ctx)
			})
		}
		share(0)
	})
	inWorld(t, false, func(w *world) { // a server has claimed it meanwhile
		w.store.Inject(generatortest.Reserve, 1, func(ctx context.Context, call func(context.Context) error) error {
			w.taken(1<<bits-1, w.now(), time.Second)
			return call(ctx)
		})
		for range 2 {
			if _, _, err := w.server().library(bits).ReservePast(w.t.Context(), "orders", 4); !errors.Is(err, generator.ErrExhausted) {
				w.t.Errorf("a worker id in use was set aside: %v", err)
			}
		}
	})
}

// floor is a store that was failed over: it grants no time before this Unix ms.
type floor int64

func (f floor) EarliestTime(context.Context, int64) (int64, error) { return int64(f), nil }

// TestNothingIsSetAsideAfterALoss: a store that may have lost a claim of the worker id
// does not know whether it was in use. What was set aside before stays.
func TestNothingIsSetAsideAfterALoss(t *testing.T) {
	inWorld(t, false, func(w *world) {
		past := func(name string, from int64) error {
			s := w.server(func(c *Config) { c.Grants = floor(from) })
			_, _, err := s.library(bits).ReservePast(w.t.Context(), name, 4)
			return err
		}
		wantErr(t, past("orders", w.now()), generator.ErrExhausted, "failed over or restored before worker id 1023")
		for _, from := range []int64{math.MinInt64, w.now()} {
			if err := past("orders", from); err != nil {
				w.t.Error(err)
			}
		}
	})
}

// TestWorkerIDsBeginAtTheSeed: the greatest worker id comes last, since it is set aside
// for ids of the past.
func TestWorkerIDsBeginAtTheSeed(t *testing.T) {
	inWorld(t, true, func(w *world) {
		for i, want := range []int64{1021, 1022, 0, 1} {
			s := w.server(func(c *Config) { c.Seed = 5*1023 + 1021 })
			if l := w.open(s).Lease(); l.Worker != want {
				t.Errorf("start %d: worker id %d, want %d", i, l.Worker, want)
			}
			crash(s)
			w.pools = w.pools[:len(w.pools)-1]
		}
	})
}

// TestRepair: a clock that was 60 years ahead, and is right again.
func TestRepair(t *testing.T) {
	inWorld(t, true, func(w *world) {
		const years = 60 * 365 * 24 * time.Hour
		w.taken(3, w.now()-time.Hour.Milliseconds(), time.Second)
		w.taken(7, w.now()+years.Milliseconds(), time.Second)
		if l := w.open(w.server()).Lease(); l.Lo < w.now()+years.Milliseconds() {
			t.Errorf("before the repair the lease is %+v", *l)
		}
		crash(w.pools[0])
		w.pools = nil
		find := func() []Ahead {
			t.Helper()
			ahead, err := FindAhead(w.t.Context(), w.store, time.UnixMilli(w.now()), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return ahead
		}
		ahead := find()
		if len(ahead) != 2 || ahead[0].Left != 1021 {
			t.Fatalf("ahead are %+v", ahead)
		}
		if err := Repair(w.t.Context(), w.store, ahead); err != nil {
			t.Fatal(err)
		}
		if left := find(); len(left) != 0 {
			t.Errorf("still ahead: %+v", left)
		}
		created := time.UnixMilli(w.now()).Add(-time.Hour)
		time.Sleep(time.Second)
		before := w.ends()
		s := w.server()
		l := w.open(s).Lease()
		if _, used := before[l.Worker]; used || l.Lo != w.now() {
			t.Errorf("after the repair the lease is %+v", *l)
		}
		for _, c := range []struct {
			created time.Time
			ahead   bool
		}{{created, true}, {time.UnixMilli(w.now()), false}, {time.UnixMilli(w.now()).Add(years), true}} {
			end, err := s.IssuedUntil(w.t.Context(), Width{Worker: bits}, c.created)
			if got := end > w.now()+years.Milliseconds(); got != c.ahead || err != nil {
				t.Errorf("created at %v: stamped up to %d, %v", c.created, end, err)
			}
		}
		_, err := w.server(static(7)).Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
		wantErr(t, err, generator.ErrNotNow, "given up") // a planned id does not bring it back
	})
	inWorld(t, true, func(w *world) {
		ahead := []Ahead{{Bits: 10, Worker: 1, Until: time.UnixMilli(w.now()), Left: 3}, {Bits: 0, Worker: 0, Until: time.UnixMilli(w.now())}}
		if err := Repair(w.t.Context(), w.store, ahead); !errors.Is(err, generator.ErrExhausted) || len(w.ends()) != 0 {
			t.Errorf("a width without another worker id: %v, %v", err, w.ends())
		}
	})
}

// ends is the end of every time line in the store, by worker id.
func (w *world) ends() map[int64]int64 {
	w.t.Helper()
	marks, err := w.store.Reserved(w.t.Context(), generator.WorkerKeyPrefix)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[int64]int64{}
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Key[strings.LastIndex(m.Key, "/")+1:], 10, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		all[id] = m.Hi
	}
	return all
}
