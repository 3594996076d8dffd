package history_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/history"
)

func run(first, step, count int64) generator.Range {
	return generator.Range{First: first, Step: step, Count: count}
}

func event(name string, client int, r generator.Range) history.Event {
	return history.Event{Name: name, Client: client, Range: r}
}

func logOf(events ...history.Event) *history.Log {
	l := new(history.Log)
	for _, e := range events {
		l.Add(e)
	}
	return l
}

func TestCheckFindsEachFault(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	cases := []struct {
		name   string
		events []history.Event
		want   error    // nil: the history is correct
		text   []string // what the message must name
	}{
		{name: "an empty history is clean"},
		{name: "two names may give the same id", events: []history.Event{
			event("a", 1, run(5, 1, 1)), event("b", 1, run(5, 1, 1)),
		}},
		{name: "neighbouring ranges are clean", events: []history.Event{
			event("a", 1, run(0, 1, 10)), event("a", 2, run(10, 1, 10)),
		}},
		{name: "interleaved runs of one step are clean", events: []history.Event{
			event("a", 1, run(0, 4, 100)), event("a", 2, run(1, 4, 100)), event("a", 3, run(3, 4, 100)),
		}},
		{name: "even and odd steps that never meet are clean", events: []history.Event{
			event("a", 1, run(0, 6, 1000)), event("a", 2, run(1, 4, 1000)),
		}},
		{name: "descending ranges are clean", events: []history.Event{
			event("a", 1, run(-1, -2, 3)), event("a", 1, run(-7, -2, 3)),
		}},
		{name: "the ends of int64 are clean", events: []history.Event{
			event("a", 1, run(lowest, 1, 1)), event("a", 1, run(lowest+1, 2, math.MaxInt64)),
			event("a", 1, run(highest, 1, 1)),
		}},
		{
			name: "one id twice to one client", want: history.ErrOrder, events: []history.Event{
				event("orders", 7, run(41, 1, 2)), event("orders", 7, run(42, 1, 1)),
			},
			text: []string{`"orders" gave 42 after 42`, "[42] to client 7", "[41, step 1, 2 ids]"},
		},
		{
			name: "one id twice to two clients", want: history.ErrDuplicate, events: []history.Event{
				event("orders", 7, run(41, 1, 2)), event("orders", 8, run(42, 1, 1)),
			},
			text: []string{`"orders" gave 42`, "[42] to client 8", "[41, step 1, 2 ids] to client 7"},
		},
		{
			name: "huge runs of different steps that meet once", want: history.ErrDuplicate, events: []history.Event{
				event("a", 1, run(3, 1_000_003, 1<<40)), event("a", 2, run(1_000_006+5*1_000_003, 1<<20, 1<<40)),
			},
			text: []string{`"a" gave 6000021`},
		},
		{name: "huge runs of different steps that end before they meet", events: []history.Event{
			event("a", 1, run(0, 1_000_003, 1_000_033)), event("a", 2, run(1, 1_000_033, 20)),
		}},
		{name: "an ascending and a descending run that meet", want: history.ErrDuplicate, events: []history.Event{
			event("a", 1, run(-10, 3, 10)), event("a", 2, run(10, -5, 4)),
		}, text: []string{`"a" gave 5`, "step -5"}},
		{name: "steps as large as int64 allows", want: history.ErrDuplicate, events: []history.Event{
			event("a", 1, run(lowest, highest, 3)), event("a", 2, run(-1, 1, 1)),
		}, text: []string{"gave -1"}},
		{name: "the least step", want: history.ErrDuplicate, events: []history.Event{
			event("a", 1, run(0, lowest, 2)), event("a", 2, run(lowest, 1, 1)),
		}},
		{name: "a single id inside a huge run", want: history.ErrDuplicate, events: []history.Event{
			event("a", 1, run(0, 1, 1<<62)), event("a", 2, run(1<<61, 1, 1)),
		}},
		{name: "an id that goes back", want: history.ErrOrder, events: []history.Event{
			event("a", 1, run(100, 1, 1)), event("a", 1, run(50, 1, 1)),
		}, text: []string{"gave 50 after 100", "event 1"}},
		{name: "a range that begins inside the previous one", want: history.ErrOrder, events: []history.Event{
			event("a", 1, run(0, 10, 3)), event("a", 1, run(15, 10, 3)),
		}},
		{name: "a descending range above the previous one", want: history.ErrOrder, events: []history.Event{
			event("a", 1, run(0, -1, 3)), event("a", 1, run(9, -1, 3)),
		}},
		{name: "two clients may interleave", events: []history.Event{
			event("a", 1, run(100, 1, 1)), event("a", 2, run(50, 1, 1)), event("a", 1, run(101, 1, 1)),
		}},
		{name: "no ids", want: history.ErrMalformed, events: []history.Event{event("a", 1, run(0, 1, 0))}},
		{name: "a step of zero", want: history.ErrMalformed, events: []history.Event{event("a", 1, run(0, 0, 2))}},
		{name: "more than int64 upwards", want: history.ErrMalformed, events: []history.Event{
			event("a", 3, run(1, 1, math.MaxInt64)), event("a", 3, run(2, 1, math.MaxInt64)),
		}, text: []string{"client 3", "[2,"}},
		{name: "more than int64 downwards", want: history.ErrMalformed, events: []history.Event{
			event("a", 1, run(0, -2, 1<<62+2)),
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := logOf(c.events...).Check()
			if !errors.Is(err, c.want) {
				t.Fatalf("Check() = %v, want %v", err, c.want)
			}
			for _, want := range c.text {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("message %q does not name %q", err, want)
				}
			}
		})
	}
}

// TestCheckAgreesWithBruteForce draws small dense histories, of which about half
// have a fault, and compares with expanding every id.
func TestCheckAgreesWithBruteForce(t *testing.T) {
	var faulty, clean int
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]int64{0, -500, math.MaxInt64 - 3000, math.MinInt64 + 3000}).Draw(t, "base")
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) history.Event {
			step := rapid.Int64Range(1, 40).Draw(t, "step")
			if rapid.IntRange(0, 4).Draw(t, "descending") == 0 {
				step = -step
			}
			return history.Event{
				Name:   rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
				Client: rapid.IntRange(0, 6).Draw(t, "client"),
				Range:  run(base+rapid.Int64Range(0, 1200).Draw(t, "first"), step, rapid.Int64Range(1, 12).Draw(t, "count")),
			}
		}), 0, 8).Draw(t, "events")

		err := logOf(events...).Check()
		duplicate, disorder := bruteForce(events)
		if got := errors.Is(err, history.ErrDuplicate); got != duplicate {
			t.Fatalf("duplicate found: %v, planted: %v: %v", got, duplicate, err)
		}
		if got := errors.Is(err, history.ErrOrder); got != disorder {
			t.Fatalf("disorder found: %v, planted: %v: %v", got, disorder, err)
		}
		if duplicate {
			faulty++
		} else {
			clean++
		}
	})
	if faulty == 0 || clean == 0 {
		t.Errorf("the draw is one-sided: %d histories with a duplicate, %d without", faulty, clean)
	}
}

// bruteForce expands every range.
func bruteForce(events []history.Event) (duplicate, disorder bool) {
	type id struct {
		name  string
		value int64
	}
	type line struct {
		name   string
		client int
	}
	seen := make(map[id]bool)
	previous := make(map[line][]int64)
	for _, e := range events {
		var ids []int64
		for k := range e.Range.Count {
			v := e.Range.First + k*e.Range.Step
			duplicate = duplicate || seen[id{e.Name, v}]
			seen[id{e.Name, v}] = true
			ids = append(ids, v)
		}
		at := line{e.Name, e.Client}
		for _, p := range previous[at] {
			for _, v := range ids {
				if (e.Range.Step > 0 && v <= p) || (e.Range.Step < 0 && v >= p) {
					disorder = true
				}
			}
		}
		previous[at] = ids
	}
	return duplicate, disorder
}

// TestCheckFindsOneDuplicateAmongAMillion adds one repeated id to ids that sixteen
// clients drew one by one.
func TestCheckFindsOneDuplicateAmongAMillion(t *testing.T) {
	const ids = 1_000_000
	l := singles(ids)
	if got := l.Len(); got != ids {
		t.Fatalf("Len() = %d, want %d", got, ids)
	}
	if err := l.Check(); err != nil {
		t.Fatalf("clean history: %v", err)
	}
	l.Add(event("orders", 99, run(345_678, 1, 1)))
	if err := l.Check(); !errors.Is(err, history.ErrDuplicate) || !strings.Contains(err.Error(), "gave 345678") {
		t.Fatalf("planted duplicate: %v", err)
	}
}

func BenchmarkCheckFiveMillionSingleIDs(b *testing.B) {
	l := singles(5_000_000)
	for b.Loop() {
		if err := l.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

// singles returns a correct history of the ids 0 to n-1, drawn by sixteen clients.
func singles(n int64) *history.Log {
	const clients = 16
	l := new(history.Log)
	var wg sync.WaitGroup
	for c := range int64(clients) {
		wg.Go(func() {
			for id := c; id < n; id += clients {
				l.Add(event("orders", int(c), run(id, 1, 1)))
			}
		})
	}
	wg.Wait()
	return l
}

// TestCheckDoesNotExpandRanges uses ranges that are too long to expand.
func TestCheckDoesNotExpandRanges(t *testing.T) {
	var l history.Log
	for i := range int64(200) {
		l.Add(event("a", int(i), run(i, 1000, math.MaxInt64/1001)))
		l.Add(event("a", int(i), run(math.MaxInt64-1000+i, 1, 1)))
	}
	l.Add(event("a", 777, run(500, 2000, math.MaxInt64/2001)))
	if err := l.Check(); err != nil {
		t.Fatalf("clean history: %v", err)
	}
	l.Add(event("a", 778, run(7<<40, 9973, 1<<40)))
	if err := l.Check(); !errors.Is(err, history.ErrDuplicate) {
		t.Fatalf("crossing run: %v", err)
	}
}

func TestMax(t *testing.T) {
	l := logOf(event("a", 1, run(10, 5, 3)), event("a", 2, run(4, -1, 2)), event("b", 1, run(-9, 1, 1)))
	if v, ok := l.Max("a"); v != 20 || !ok {
		t.Errorf("Max(a) = %d, %v; want 20", v, ok)
	}
	if v, ok := l.Max("b"); v != -9 || !ok {
		t.Errorf("Max(b) = %d, %v; want -9", v, ok)
	}
	if _, ok := l.Max("c"); ok {
		t.Error("Max of a name without ids is ok")
	}
}
