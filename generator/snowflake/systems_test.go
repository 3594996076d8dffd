package snowflake

import (
	"fmt"
	"testing"
	"time"

	"nextid/generator"
)

// How the systems of the layouts begin a tick: yitter keeps 0 for people and
// 1 to 4 for clocks that were set back, MyBatis-Plus draws 1 or 2, Leaf a
// number below 100, CosId goes on from the last tick.
func TestSequenceStartsOfOtherSystems(t *testing.T) {
	for _, c := range []struct {
		layout    string
		low, high int64 // of the first id of a tick
		distinct  int   // numbers with which 300 ticks begin, at least
		perTick   int64 // ids in a tick at the least
	}{
		{"yitter", 5, 5, 1, 59},
		{"mybatis", 1, 2, 2, 4094},
		{"leaf", 0, 99, 60, 3997},
		{"cosid", 0, 2047, 250, 2048},
		{"twitter", 0, 0, 1, 4096},
	} {
		t.Run(c.layout, func(t *testing.T) {
			inWorld(t, true, func(w *world) {
				g := w.open(w.kind(), "orders", `{"max_ahead":0,"layout":"`+c.layout+`"}`)
				starts := map[int64]bool{}
				for range 300 {
					time.Sleep(time.Millisecond)
					_, _, _, first := g.Layout.Unpack(w.next(g, 1).First)
					if first < c.low || first > c.high {
						t.Fatalf("a tick begins at %d, want %d to %d", first, c.low, c.high)
					}
					starts[first] = true
				}
				if len(starts) < c.distinct {
					t.Errorf("300 ticks begin at %d different numbers, want %d", len(starts), c.distinct)
				}
				time.Sleep(time.Millisecond)
				if r := w.next(g, 1<<20); r.Count < c.perTick {
					t.Errorf("a tick has %d ids, want %d", r.Count, c.perTick)
				}
			})
		})
	}
}

// The numbers that yitter keeps free stay free in ticks that are begun ahead
// of the clock, too (its drift), and the drift ends at max_ahead.
func TestYitterDriftsWithoutTheReservedNumbers(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(), "orders", `{"layout":"yitter","max_ahead":"20ms"}`)
		perTick := map[int64]int64{}
		for range 40 * 59 {
			tick, _, _, sequence := g.Layout.Unpack(w.next(g, 1).First)
			if sequence < 5 {
				t.Fatalf("sequence %d is reserved", sequence)
			}
			perTick[tick]++
		}
		for tick, n := range perTick {
			if n != 59 {
				t.Errorf("tick %d has %d ids", tick, n)
			}
		}
		if got := w.elapsed(); got != 19*time.Millisecond { // 21 ticks at once, then one a millisecond
			t.Errorf("40 ticks of ids took %v", got)
		}
	})
}

func TestReversedTimesAreUniqueAndKeepTheirTime(t *testing.T) {
	inWorld(t, true, func(w *world) {
		g := w.open(w.kind(static(7)), "orders", `{"layout":"cockroach-unordered","max_ahead":"100ms"}`)
		seen := map[int64]bool{}
		rising := 0
		last := int64(0)
		for range 5000 {
			r, err := g.Next(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if r.Count != 1 {
				t.Fatalf("a run of %d ids that do not follow one another", r.Count)
			}
			if why := covered(w.store, g.Layout, r); why != "" {
				t.Fatal(why)
			}
			if seen[r.First] {
				t.Fatalf("%d came twice", r.First)
			}
			seen[r.First] = true
			if r.First > last {
				rising++
			}
			last = r.First
			p, err := g.Explain(r.First)
			if err != nil || *p.Worker != 7 || p.Time.Before(start) || p.Time.Sub(start) > w.elapsed()+100*time.Millisecond {
				t.Fatalf("id %d: %v, worker %d, %v", r.First, p.Time, *p.Worker, err)
			}
		}
		if rising < 2000 || rising > 3000 {
			t.Errorf("%d of 5000 ids are greater than the one before", rising)
		}
		if err := g.Raise(t.Context(), last, true); err != nil {
			t.Error(err)
		}
		if _, err := g.Floor(start); err == nil {
			t.Error("ids without an order have a floor")
		}
	})
}

// A name whose ids do not rise cannot come again: nothing lies above them.
func TestANameWithReversedTimesIsNotUsedAgain(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		g := w.open(k, "orders", `{"layout":"cockroach-unordered"}`)
		if _, err := g.Next(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		w.drop(k, g, `{"layout":"cockroach-unordered"}`)
		_, err := k.Open(t.Context(), define(t, k, "orders", ""))
		wantErr(t, err, generator.ErrExhausted, "none beyond")
	})
}

// Baidu's layout with its own epoch is over; every other split of its bits
// ends with an error, too, and not with a negative id (issue 100 there).
func TestBaidusTimeEndsWithAnError(t *testing.T) {
	for _, options := range []string{
		`{"layout":"baidu"}`,
		`{"bits":"time 29, worker 21, sequence 13","unit":"1s","epoch":"2009-01-01"}`,
		`{"bits":"time 28, worker 27, sequence 8","unit":"1s","epoch":"2016-05-20"}`,
	} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(), "orders", options)
			for range 3 {
				r, err := g.Next(t.Context(), 1)
				if err == nil {
					t.Fatalf("%s: an id, %d", options, r.First)
				}
				wantErr(t, err, generator.ErrExhausted, "ran out at 20")
			}
		})
	}
	inWorld(t, true, func(w *world) {
		// The last two ticks of a layout.
		epoch := start.Add(-time.Duration(1<<28-2) * time.Second)
		g := w.open(w.kind(), "orders", fmt.Sprintf(`{"layout":"baidu","epoch":%d,"max_ahead":"1s"}`, epoch.UnixMilli()))
		for left := int64(2 << 13); left > 0; {
			r := w.next(g, left)
			if r.First < 0 || r.Last() < 0 {
				t.Fatalf("negative ids %v", r)
			}
			left -= r.Count
		}
		for range 3 {
			_, err := g.Next(t.Context(), 1)
			wantErr(t, err, generator.ErrExhausted, "ran out")
			time.Sleep(time.Second)
		}
	})
}

// pgEdgeNode makes ids by the algorithm of pgEdge's extension, as snowflake.c
// has it since 2023-10-31: the time and the count follow the last value, the
// node is added. It never waits: a count that is used up moves the time on.
type pgEdgeNode struct{ node, last int64 }

func (n *pgEdgeNode) nextval(at time.Time) int64 {
	ms, count := n.last>>22, n.last&0xFFF
	if now := at.UnixMilli() - 1672531200000; now > ms {
		ms, count = now, 0
	} else if count++; count > 0xFFF {
		ms, count = ms+1, 0
	}
	n.last = ms<<22 | n.node<<12 | count
	return n.last
}

// nextid as one more node of a pgEdge cluster, under load: no id twice. With
// the bits that pgEdge had before 2023-10-31 there are some.
func TestPgEdgesOwnAlgorithmBesideUs(t *testing.T) {
	for layout, repeats := range map[string]bool{"pgedge": false, "pgedge-2023": true} {
		inWorld(t, true, func(w *world) {
			g := w.open(w.kind(static(7)), "orders", `{"layout":"`+layout+`"}`)
			nodes := []*pgEdgeNode{{node: 1}, {node: 5}, {node: 28}, {node: 1023}}
			seen, twice := map[int64]bool{}, 0
			draw := func(id int64) {
				if seen[id] {
					twice++
				}
				seen[id] = true
			}
			for range 40 {
				r := w.next(g, 300)
				for i := range r.Count {
					draw(r.First + i*r.Step)
				}
				for _, n := range nodes {
					for range 3000 {
						draw(n.nextval(start.Add(w.elapsed())))
					}
				}
				time.Sleep(700 * time.Microsecond)
			}
			t.Logf("%s: %d ids, %d of them twice", layout, len(seen), twice)
			if (twice > 0) != repeats {
				t.Errorf("%s: %d ids came twice", layout, twice)
			}
		})
	}
}

// Two servers, and callers with any bits: the ids are unique without those
// bits already, and in order for each value of them.
func TestCallersBitsNeverMakeIDsEqual(t *testing.T) {
	for _, bits := range []string{
		"time 41, field 10, worker 4, sequence 8", "time 41, worker 4, sequence 8, field 10", "time 41, worker 4, field 10, sequence 8",
	} {
		inWorld(t, false, func(w *world) {
			options := `{"bits":"` + bits + `"}`
			servers := []*Generator{w.open(w.kind(), "users", options), w.open(w.kind(), "users", options)}
			without, last := map[int64]bool{}, map[[2]int64]int64{}
			for i := range 5000 {
				g := servers[i%2]
				shift, width := g.Field()
				v := int64(i*37) % (1 << width)
				r, err := g.Next(w.t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				if why := covered(w.store, g.Layout, r); why != "" {
					t.Fatal(why)
				}
				plain := r.First
				id := plain | v<<shift
				if p, err := g.Explain(id); err != nil || *p.Field != v {
					t.Fatalf("%s: %d is explained as %+v, %v", bits, id, p, err)
				}
				at := [2]int64{int64(i % 2), v}
				if without[plain] || id <= last[at] {
					t.Fatalf("%s: %d came twice, or out of order after %d", bits, id, last[at])
				}
				without[plain], last[at] = true, id
			}
		})
	}
}
