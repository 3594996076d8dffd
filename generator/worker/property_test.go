package worker

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

// faults hold what a store does to one call.
var faults = map[string]generatortest.Fault{
	"fails": generatortest.FailBefore(nil), "loses the answer": generatortest.FailAfter(nil),
	"hangs": generatortest.Hang(), "answers late": generatortest.HangAfter(),
}

// drawFault injects a fault for the next calls of an operation.
func drawFault(t *rapid.T, s *generatortest.Faulty) {
	what := rapid.SampledFrom([]string{"fails", "loses the answer", "hangs", "answers late"}).Draw(t, "fault")
	op := rapid.SampledFrom([]generatortest.Op{generatortest.Reserve, generatortest.Reserve, generatortest.Reserved, generatortest.Release}).Draw(t, "operation")
	s.Inject(op, rapid.IntRange(1, 3).Draw(t, "calls"), faults[what])
}

// drawClock does something bad to the wall clock.
func drawClock(t *rapid.T, c *generatortest.Clock) {
	switch rapid.SampledFrom([]string{"step", "step", "freeze", "thaw"}).Draw(t, "clock") {
	case "step":
		c.Step(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "by")) * time.Nanosecond)
	case "freeze":
		c.Freeze(true)
	case "thaw":
		c.Freeze(false)
	}
}

// held is the time for which one server may issue ids with one worker id.
type held struct {
	server int
	lease  Lease
}

// judge checks a new lease against all that were ever held. last is the
// lease that the same server had before.
func judge(t *rapid.T, all []held, server int, last, l *Lease, exclusive bool) {
	for _, h := range all {
		if h.server != server && h.lease.Worker == l.Worker && max(l.Lo, h.lease.Lo) < min(l.Hi, h.lease.Hi) {
			t.Fatalf("server %d holds %+v, server %d held %+v", server, *l, h.server, h.lease)
		}
		if exclusive && h.server != server && l.Lo < h.lease.Hi {
			t.Fatalf("embedded store: server %d begins %+v below %+v", server, *l, h.lease)
		}
	}
	goesOn := last != nil && last.Worker == l.Worker && last.Lo == l.Lo && last.Hi <= l.Hi
	if last != nil && !goesOn && l.Lo < last.Hi {
		t.Fatalf("server %d went from %+v to %+v: ids of a name would fall", server, *last, *l)
	}
}

// leave cuts what a server that was stopped held down to what it stamped:
// the rest went back to the store.
func leave(all []held, server int, used int64) {
	for i, h := range all {
		if h.server == server {
			all[i].lease.Hi = min(h.lease.Hi, max(h.lease.Lo, used))
		}
	}
}

func wantAcknowledged(t *rapid.T, s *generatortest.Faulty, p *Pool, l *Lease) {
	at := l.Lo
	for _, g := range s.Grants() {
		if g.Key == p.key(l.Worker) && g.Lo <= at && at < g.Hi {
			at = g.Hi
		}
	}
	if at < l.Hi {
		t.Fatalf("lease %+v is acknowledged to %d only", *l, at)
	}
}

// Whatever clocks, stores and servers do: no two servers ever hold the same
// time of one worker id, and nothing is held that the store did not grant.
func TestSlicesAreExclusiveOnEverySchedule(t *testing.T) {
	generatortest.CheckInBubbles(t, func(t *rapid.T) {
		exclusive := rapid.Bool().Draw(t, "embedded store")
		clock := generatortest.NewClock(start)
		store := generatortest.NewFaulty(memory.New(memory.Config{Exclusive: exclusive, Clock: clock}))
		var all []held
		running := map[int]*Pools{}
		last := map[int]*Lease{}
		defer func() {
			store.Clear()
			for _, p := range running {
				crash(p)
			}
		}()
		servers := 0
		extend := func(server int) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			pool, err := running[server].Open(ctx, Width{Worker: 2}, time.Millisecond)
			if err != nil {
				return
			}
			defer func() { pool.Leave(min(pool.Lease().Hi, pool.Now()/1000+1)) }()
			if rapid.Bool().Draw(t, "extend") {
				pool.Extend(ctx, pool.Lease().Hi)
			}
			if l := pool.Lease(); l != last[server] {
				judge(t, all, server, last[server], l, exclusive)
				wantAcknowledged(t, store, pool, l)
				all, last[server] = append(all, held{server, *l}), l
			}
		}
		for range rapid.IntRange(5, 40).Draw(t, "events") {
			time.Sleep(time.Duration(rapid.IntRange(0, 5000).Draw(t, "sleep")) * time.Millisecond)
			switch rapid.SampledFrom([]string{"draw", "draw", "draw", "clock", "fault", "crash", "stop"}).Draw(t, "event") {
			case "clock":
				drawClock(t, clock)
			case "fault":
				drawFault(t, store)
			case "crash":
				for id, p := range running {
					crash(p)
					delete(running, id)
				}
			case "stop":
				for id, p := range running {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					p.Close(ctx)
					cancel()
					if p.pools[poolKey{2, None}] != nil {
						leave(all, id, p.pools[poolKey{2, None}].UsedUntil())
					}
					delete(running, id)
				}
			default:
				if len(running) == 0 || (!exclusive && len(running) < 4) {
					servers++
					running[servers] = New(Config{Store: store, Clock: clock, Logger: discard})
				}
				for id := range servers + 1 {
					if running[id] != nil {
						extend(id)
					}
				}
			}
		}
	})
}
