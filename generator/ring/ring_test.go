package ring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

var began = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world is a store, a clock that the test controls, and the history of all draws.
type world struct {
	t      *testing.T
	clock  *generatortest.Clock
	store  *generatortest.Faulty
	log    history.Log
	lines  bytes.Buffer // log of the servers
	logger *slog.Logger
	pools  []*worker.Pools
	opened []*Generator
	client int
}

func inWorld(t *testing.T, exclusive bool, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, clock: generatortest.NewClock(began)}
		w.logger = slog.New(slog.NewTextHandler(&w.lines, nil)) // one for all servers, because it holds the lock of lines
		w.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: exclusive, Clock: w.clock}))
		defer func() {
			w.store.Clear()
			for _, g := range w.opened {
				g.Close(context.Background())
			}
			for _, p := range w.pools {
				p.Close(context.Background())
			}
			if err := w.log.Check(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// server starts a server.
func (w *world) server() generator.Kind {
	p := worker.New(worker.Config{
		Store: w.store, Clock: w.clock, Owner: "test", Logger: w.logger,
	})
	w.pools = append(w.pools, p)
	return Kind(p)
}

func define(t testing.TB, k generator.Kind, options string) generator.Definition {
	t.Helper()
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return generator.Definition{Name: "orders", Kind: "ring", Options: o}
}

// open opens the generator until the end of the test.
func (w *world) open(k generator.Kind, options string) *Generator {
	w.t.Helper()
	gen, err := k.Open(w.t.Context(), define(w.t, k, options))
	if err != nil {
		w.t.Fatal(err)
	}
	g := gen.(*Generator)
	w.opened = append(w.opened, g)
	return g
}

// standing holds the columns of nextid.rings for a generator, and of its Stats how
// often it was padded and how many draws found it empty.
type standing struct {
	Capacity, Buffered, Threshold int64
	Borrowed, MaxBorrow           time.Duration
	Padded, Waits                 int64
}

func (g *Generator) standing() standing {
	row, stats := g.Details().Rows[0], g.Stats()
	whole := func(name string) int64 { return row.Value(name).(int64) }
	seconds := func(name string) time.Duration {
		return time.Duration(row.Value(name).(float64) * float64(time.Second))
	}
	return standing{
		Capacity: whole("capacity"), Buffered: whole("buffered"), Threshold: whole("threshold"),
		Borrowed: seconds("borrowed_seconds"), MaxBorrow: seconds("max_borrow_seconds"),
		Padded: stats.Refills, Waits: stats.Waits,
	}
}

func (w *world) record(g *Generator, r generator.Range) {
	w.t.Helper()
	w.log.Add(history.Event{Name: g.name, Client: w.client, Range: r})
	for _, id := range []int64{r.First, r.Last()} {
		tick, worker, _, _ := g.Layout.Unpack(id)
		if lo, hi := g.Layout.TimeOf(tick), g.Layout.TimeOf(tick+1); id < 0 || !w.reserved(g.pool.Line(g.name, worker, 0), lo, hi) {
			w.t.Fatalf("id %d of %v lies outside every acknowledged reservation", id, lo)
		}
		if ahead := g.Layout.TimeOf(tick + 1).Sub(time.UnixMicro(g.pool.Now())); ahead > g.borrow {
			w.t.Fatalf("id %d is %v ahead of the clock, more than %v", id, ahead, g.borrow)
		}
	}
}

func (w *world) reserved(key string, lo, hi time.Time) bool {
	for _, g := range w.store.Grants() {
		if g.Key == key && !lo.Before(time.UnixMilli(g.Lo)) && lo.Before(time.UnixMilli(g.Hi)) {
			lo = time.UnixMilli(g.Hi)
		}
	}
	return !lo.Before(hi)
}

func (w *world) next(g *Generator, n int64) generator.Range {
	w.t.Helper()
	r, err := g.Next(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.record(g, r)
	return r
}

func (w *world) draw(g *Generator, n int64) {
	w.t.Helper()
	for n > 0 {
		n -= w.next(g, n).Count
	}
}

// small is a ring of 4 ticks of 1 s with 8 ids each.
const small = `"bits":"time 31, worker 4, sequence 3","unit":"1s","epoch":"2026-01-01","boost_power":2`

// many is small with more worker ids.
const many = `"bits":"time 31, worker 10, sequence 3","unit":"1s","epoch":"2026-01-01","boost_power":2`

func TestTheRingIsFullAtTheStart(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{}`) // Baidu's defaults
		s := g.standing()
		if s.Capacity != 65536 || s.Buffered != 65536 || s.Threshold != 32768 || s.Padded != 1 {
			t.Errorf("%+v", s)
		}
		if s := g.Stats(); s.Buffered != 65536 || s.Issued != 0 {
			t.Errorf("%+v", s)
		}
		before := w.clock.Time()
		r := w.next(g, 1<<20) // the ids of one tick of 1 s at a time
		if at := g.Layout.TimeOf(r.First >> 32); r.Count != 8192 || at.After(before) || before.Sub(at) >= time.Second {
			t.Errorf("%d ids of %v", r.Count, at)
		}
		w.draw(g, 7*8192)
		if before != w.clock.Time() {
			t.Error("a full ring made a draw wait")
		}
	})
}

// A count that overflows must not give ids of other ticks.
func TestDrawLargerThanTheRing(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`}`)
		for _, n := range []int64{3, 5, 8, 8, 8} {
			asked := int64(math.MaxInt64)
			if n == 3 {
				asked = n
			}
			if r, ok := g.TryNext(asked); !ok || r.Count != n {
				t.Errorf("TryNext(%d): %+v, %v, want %d ids", asked, r, ok, n)
			} else {
				w.record(g, r)
			}
		}
	})
}

func TestTheRingIsPaddedBelowItsThreshold(t *testing.T) {
	for _, factor := range []int64{20, 50, 80} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.server(), fmt.Sprintf(`{%s,"padding_factor":%d}`, small, factor))
			threshold := 32 * factor / 100
			w.draw(g, 32-threshold)
			synctest.Wait()
			if s := g.standing(); s.Buffered != threshold || s.Padded != 1 {
				t.Fatalf("factor %d: padded too early: %+v", factor, s)
			}
			w.draw(g, 1)
			synctest.Wait()
			s := g.standing()
			if s.Padded != 2 || s.Waits != 0 || s.Buffered <= 32-8 || s.Buffered > 32 {
				t.Errorf("factor %d: %+v", factor, s)
			}
		})
	}
}

func TestTheRingIsPaddedOnSchedule(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`,"padding_factor":10,"schedule_interval":"10s","reject_put":"log"}`)
		time.Sleep(10500 * time.Millisecond) // without a draw
		if s := g.standing(); s.Padded != 1 {
			t.Fatalf("%+v", s)
		}
		w.draw(g, 16) // above the threshold
		synctest.Wait()
		if s := g.standing(); s.Buffered != 16 || s.Padded != 1 {
			t.Fatalf("%+v", s)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait() // before the log is read
		if s, full := g.standing(), strings.Count(w.lines.String(), "the ring is full"); s.Buffered != 32 || s.Padded != 2 || full != 1 {
			t.Errorf("%+v, %s", s, w.lines.String())
		}
	})
}

// Baidu's generator returns times of three hours ago after three hours without a
// draw (issue 89 there).
func TestIDsDoNotGrowOldInTheRing(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`,"schedule_interval":"1m"}`)
		time.Sleep(3 * time.Hour)
		r := w.next(g, 1)
		tick, _, _, _ := g.Layout.Unpack(r.First)
		if age := w.clock.Time().Sub(g.Layout.TimeOf(tick)); age > 2*time.Minute {
			t.Errorf("an id of %v ago", age)
		}
	})
	inWorld(t, true, func(w *world) { // without a schedule the ids are as old until the next padding
		g := w.open(w.server(), `{`+small+`}`)
		time.Sleep(3 * time.Hour)
		w.draw(g, 17)
		synctest.Wait()
		tick, _, _, _ := g.Layout.Unpack(w.next(g, 1).First)
		if age := w.clock.Time().Sub(g.Layout.TimeOf(tick)); age > 2*time.Second {
			t.Errorf("an id of %v ago", age)
		}
	})
}

func TestAnEmptyRingMakesDrawsWait(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`,"max_borrow":"8s"}`)
		for range 40 { // seconds of ids, none of them refused
			w.draw(g, 8)
		}
		if got := w.clock.Time().Sub(began); got < 31*time.Second || got > 33*time.Second {
			t.Errorf("40 s of ids with 8 s borrowed took %v", got)
		}
		s := g.standing()
		if s.Waits == 0 || s.Borrowed > 8*time.Second || s.Borrowed < 6*time.Second || s.MaxBorrow != 8*time.Second {
			t.Errorf("%+v", s)
		}
	})
}

// TestSmallDrawsDoNotWaitForLargeOnes checks that large draws leave a share of each
// tick once a small draw has waited.
func TestSmallDrawsDoNotWaitForLargeOnes(t *testing.T) {
	for _, power := range []int{0, 3} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.server(), fmt.Sprintf(`{"bits":"time 31, worker 20, sequence 8","unit":"1s","max_borrow":"16s","boost_power":%d}`, power))
			ctx, stop := context.WithCancel(w.t.Context())
			var large sync.WaitGroup
			defer large.Wait()
			defer stop()
			var taken atomic.Int64
			for range 4 {
				large.Go(func() {
					for {
						r, err := g.Next(ctx, 200)
						if err != nil {
							return
						}
						taken.Add(r.Count)
					}
				})
			}
			longest := time.Duration(0)
			for range 100 {
				time.Sleep(700 * time.Millisecond)
				synctest.Wait() // the large draws take the tick first
				before := w.clock.Time()
				patient, cancel := context.WithTimeout(ctx, time.Minute)
				_, err := g.Next(patient, 1)
				cancel()
				if err != nil {
					t.Fatalf("boost_power %d: %v", power, err)
				}
				longest = max(longest, w.clock.Time().Sub(before))
			}
			if longest > time.Second {
				t.Errorf("boost_power %d: a small draw waited %v, a tick is 1s", power, longest)
			}
			whole := int64(w.clock.Time().Sub(began)/time.Second) * 256
			if got := taken.Load(); got < whole*8/10 {
				t.Errorf("boost_power %d: large draws got %d of %d ids", power, got, whole)
			}
		})
	}
}

func TestAnEmptyRingRefusesDrawsWithRejectTakeError(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`,"max_borrow":"8s","reject_take":"error"}`)
		drawn := int64(0)
		for {
			r, err := g.Next(w.t.Context(), 8)
			if err != nil {
				if !errors.Is(err, generator.ErrRetry) || !strings.Contains(err.Error(), "8s ahead") {
					t.Fatal(err)
				}
				break
			}
			drawn += r.Count
		}
		if drawn < 7*8 || drawn > 9*8 || w.clock.Time() != began {
			t.Errorf("%d ids in %v", drawn, w.clock.Time().Sub(began))
		}
		time.Sleep(time.Second)
		w.draw(g, 8)
	})
}

func TestTheEndOfTimeIsAnError(t *testing.T) {
	inWorld(t, true, func(w *world) {
		epoch := began.Add(-time.Duration(1<<28-4) * time.Second) // three ticks are left
		g := w.open(w.server(), fmt.Sprintf(`{"layout":"baidu","epoch":%d}`, epoch.UnixMilli()))
		w.draw(g, 4*8192)
		for range 3 {
			r, err := g.Next(w.t.Context(), 1)
			if !errors.Is(err, generator.ErrExhausted) {
				t.Fatalf("%v, %v", r, err)
			}
			time.Sleep(time.Second)
		}
	})
	inWorld(t, true, func(w *world) { // Baidu's own epoch has ended
		g := w.open(w.server(), `{"layout":"baidu"}`)
		if r, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrExhausted) {
			t.Fatalf("%v, %v", r, err)
		}
	})
}

// TestNothingFollowsTheGreatestID: a layout without worker bits can use all of an
// int64.
func TestNothingFollowsTheGreatestID(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), fmt.Sprintf(`{"bits":"time 33, sequence 30","unit":"1ms","boost_power":0,"epoch":%d}`,
			began.UnixMilli()-(1<<33-100))) // 100 ticks are left
		last := g.Layout.MaxTick() << 30
		if err := g.Raise(w.t.Context(), last-1, true); err != nil {
			t.Fatal(err)
		}
		if r, err := g.Next(w.t.Context(), 1<<30); err != nil || r.First != last || r.Last() < 0 {
			t.Fatalf("%v, %v", r, err)
		}
		for range 3 {
			r, err := g.Next(w.t.Context(), 1)
			if !errors.Is(err, generator.ErrExhausted) {
				t.Fatalf("%v, %v", r, err)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestARestartRepeatsNothing(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		for _, how := range []string{"close", "crash"} {
			inWorld(t, exclusive, func(w *world) {
				for i := range 20 {
					if how == "crash" || !exclusive {
						w.client = i // after a clean restart on an exclusive store the ids continue in order
					}
					k := w.server()
					gen, err := k.Open(w.t.Context(), define(t, k, `{`+many+`}`))
					if err != nil {
						t.Fatal(err)
					}
					g := gen.(*Generator)
					w.draw(g, 11)
					g.stop() // a crash leaves its reservations as they are
					if how == "close" {
						<-g.lock // a padding may be running
						r := g.ready.Load()
						g.lock <- struct{}{}
						if err := g.Close(w.t.Context()); err != nil {
							t.Fatal(err)
						}
						if marks, _ := w.store.Reserved(w.t.Context(), g.pool.Line(g.name, r.Lease.Worker, 0)); marks[0].Hi >= r.Lease.Hi {
							t.Fatalf("nothing was given back: %v, was %d", marks, r.Lease.Hi)
						}
						if _, ok := g.TryNext(1); ok {
							t.Fatal("a closed ring gives ids")
						}
						if _, err := g.Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
							t.Fatal(err)
						}
					}
					time.Sleep(100 * time.Millisecond)
					w.clock.Step(-200 * time.Millisecond)
				}
			})
		}
	}
}

func TestServersOfOneStoreIssueDifferentIDs(t *testing.T) {
	inWorld(t, false, func(w *world) {
		var rings []*Generator
		for i := range 8 {
			g := w.open(w.server(), `{`+small+`}`)
			rings = append(rings, g)
			w.clock.Step(time.Duration(i%3-1) * time.Second)
		}
		for i := range 400 {
			g := rings[i%8]
			r, err := g.Next(w.t.Context(), int64(i%9+1))
			if err != nil {
				t.Fatal(err)
			}
			w.log.Add(history.Event{Name: g.name, Client: i%8 + 1, Range: r})
		}
	})
}

func TestTheRingOutlastsAStoreThatIsAway(t *testing.T) {
	inWorld(t, false, func(w *world) {
		g := w.open(w.server(), `{`+small+`,"max_borrow":"8s"}`)
		w.store.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailBefore(errors.New("gone")))
		drawn := int64(0)
		var err error
		for err == nil {
			var r generator.Range
			if r, err = g.Next(w.t.Context(), 8); err == nil {
				w.record(g, r)
				drawn += r.Count
			}
		}
		if drawn < 32 || !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("%d ids, then %v", drawn, err)
		}
		w.store.Clear()
		time.Sleep(10 * time.Second)
		w.draw(g, 32)
		synctest.Wait()
		if s := g.standing(); s.Buffered == 0 {
			t.Errorf("not padded after the store came back: %+v", s)
		}
	})
}

func TestRaise(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{`+small+`}`)
		r := w.next(g, 1)
		v := r.First + 2<<7 // two seconds later
		if err := g.Raise(w.t.Context(), v, true); err != nil {
			t.Fatal(err)
		}
		if r := w.next(g, 1); r.First <= v {
			t.Errorf("%d after raising to %d", r.First, v)
		}
		if err := g.Raise(w.t.Context(), r.First+1000<<7, true); !errors.Is(err, generator.ErrOption) {
			t.Errorf("raised into the future: %v", err)
		}
	})
}

func TestANameThatIsCreatedAgainGoesOnAbove(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.server()
		g := w.open(k, `{`+small+`}`)
		w.draw(g, 60)
		g.Close(w.t.Context())
		if err := k.(generator.Retirer).Retire(w.t.Context(), define(t, k, `{`+small+`}`)); err != nil {
			t.Fatal(err)
		}
		again := w.open(k, `{`+small+`,"padding_factor":30}`)
		w.draw(again, 60) // the history checks that the ids grow
	})
}

// The time at which a name goes on above others may be centuries away.
func TestANameThatGoesOnFarAhead(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k, options := w.server(), `{"bits":"time 47, worker 4, sequence 12","unit":"1ms"}`
		name := generator.NameKey(define(t, k, options).Name)
		if _, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: name, AtLeast: 32e12 << 16, N: 1, Limit: generator.NoLimit}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.open(k, options).Next(w.t.Context(), 1); !errors.Is(err, generator.ErrNotNow) {
			t.Error(err)
		}
	})
}

func TestConcurrentDrawsNeverRepeat(t *testing.T) {
	w := &world{t: t, clock: generatortest.NewClock(began)}
	w.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: true, Clock: w.clock}))
	p := worker.New(worker.Config{Store: w.store, Clock: w.clock, Logger: slog.New(slog.DiscardHandler)})
	defer p.Close(context.Background())
	g := w.open(Kind(p), `{"bits":"time 41, worker 4, sequence 6","unit":"1ms","max_borrow":"24h"}`)
	defer g.Close(context.Background())
	const draws = 20_000
	seen := make([][]int64, 4)
	var group sync.WaitGroup
	for i := range seen {
		group.Go(func() {
			for d := range draws {
				r, err := g.Next(context.Background(), int64(d%5+1))
				if err != nil {
					t.Error(err)
					return
				}
				for k := range r.Count {
					seen[i] = append(seen[i], r.First+k*r.Step)
				}
			}
		})
	}
	group.Wait()
	all := map[int64]bool{}
	for _, ids := range seen {
		for i, id := range ids {
			if all[id] {
				t.Fatalf("%d came twice", id)
			}
			if i > 0 && id <= ids[i-1] {
				t.Fatalf("%d after %d", id, ids[i-1])
			}
			all[id] = true
		}
	}
}

func TestOptions(t *testing.T) {
	k := Kind(nil)
	for in, want := range map[string]string{
		`{"boost_power":13}`:                          "between 0 and 12",
		`{"boost_power":-1}`:                          "between 0 and 12",
		`{"boost_power":"3"}`:                         "option boost_power must be a whole number",
		`{"padding_factor":100}`:                      "between 1 and 99",
		`{"padding_factor":0}`:                        "between 1 and 99",
		`{"schedule_interval":"1ms"}`:                 "at least 10ms",
		`{"max_borrow":"15s"}`:                        "between 16s",
		`{"max_borrow":"25h"}`:                        "24h",
		`{"reject_put":"throw"}`:                      "discard, log",
		`{"reject_take":"throw"}`:                     "wait, error",
		`{"layout":"tidb"}`:                           "no time",
		`{"sequence_start":"zero"}`:                   "unknown option",
		`{"bits":"time 31, sequence 28","unit":"1s"}`: "boost_power must be between 0 and 2",
	} {
		_, err := k.Normalize(json.RawMessage(in))
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	o, err := k.Normalize(json.RawMessage(`{"layout":"twitter","boost_power":4}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.Normalize(o); err != nil || string(again) != string(o) {
		t.Errorf("%s became %s, %v", o, again, err)
	}
	if changed, err := k.Alter(o, json.RawMessage(`{"padding_factor":30}`)); err != nil || !strings.Contains(string(changed), `"padding_factor":30,`) {
		t.Errorf("%s, %v", changed, err)
	}
	if _, err := k.Alter(o, json.RawMessage(`{"layout":"leaf"}`)); !errors.Is(err, generator.ErrOption) {
		t.Errorf("the layout changed: %v", err)
	}
}

// On a store of several servers, a ring borrows at most one time slice. After a
// failover the servers wait for one slice, and everything that was forgotten must
// be over then.
func TestARingBorrowsNoFurtherThanServersWait(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		inWorld(t, exclusive, func(w *world) {
			g := w.open(w.server(), `{"bits":"time 31, worker 4, sequence 3","unit":"1s","epoch":"2026-01-01","boost_power":6,"max_borrow":"1h"}`)
			greatest := int64(0)
			for range 200 {
				r, err := g.Next(w.t.Context(), 8)
				if err != nil {
					break // no more can be borrowed
				}
				w.record(g, r)
				for _, grant := range w.store.Grants() {
					if strings.Contains(grant.Key, "/line/") {
						greatest = max(greatest, grant.Hi-w.clock.Wall()/1e6)
					}
				}
			}
			if far := greatest > 61_000; far != exclusive {
				t.Errorf("a ring on an exclusive store: %v; reserved %d ms ahead", exclusive, greatest)
			}
		})
	}
}

// The time that an idle ring lasts is that of its ids, also if their times are
// past. With draws it is the time until the ring is empty.
func TestIdleRingLasts(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{}`)
		time.Sleep(time.Hour)
		if s := g.Stats(); s.Lasts < time.Hour || s.Buffered == 0 {
			t.Errorf("idle for an hour: %+v", s)
		}
		w.store.Inject(generatortest.Reserve, math.MaxInt, func(context.Context, func(context.Context) error) error { return generatortest.ErrUnreachable })
		all := g.Stats().Buffered
		for range all / 1000 {
			if _, ok := g.TryNext(1000); !ok {
				t.Fatal("nothing drawn")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if s := g.Stats(); s.Buffered == 0 || s.Lasts > 30*time.Second {
			t.Errorf("nearly empty: %+v", s)
		}
	})
}

// Without the store an idle ring keeps its ids, which the schedule would replace.
func TestScheduleKeepsIDsWithoutStore(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.server(), `{"schedule_interval": "1s"}`)
		time.Sleep(time.Minute)
		w.store.Inject(generatortest.Reserve, math.MaxInt, func(context.Context, func(context.Context) error) error { return generatortest.ErrUnreachable })
		time.Sleep(time.Hour)
		if s := g.Stats(); s.Buffered == 0 || s.Lasts < time.Hour {
			t.Errorf("after an hour without the store: %+v", s)
		}
		if _, ok := g.TryNext(1); !ok {
			t.Error("nothing drawn")
		}
		w.store.Clear()
		time.Sleep(time.Minute)
		if s := g.standing(); s.Buffered == 0 || s.Borrowed > 10*time.Minute {
			t.Errorf("with the store again: %+v", s)
		}
	})
}
