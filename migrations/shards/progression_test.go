package shards

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func progressions(most int64) *rapid.Generator[Progression] {
	return rapid.Custom(func(t *rapid.T) Progression {
		increment := rapid.Int64Range(1, most).Draw(t, "increment")
		return Progression{rapid.Int64Range(1, increment).Draw(t, "offset"), increment}
	})
}

func TestFirstAndMeetAgreeWithCounting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, q := progressions(40).Draw(t, "p"), progressions(40).Draw(t, "q")
		n := rapid.Int64Range(-5, 3000).Draw(t, "n")
		first, common := int64(-1), int64(-1)
		for v := max(n, 1); common < 0 && v < n+2000; v++ {
			if p.has(v) && first < 0 {
				first = v
			}
			if p.has(v) && q.has(v) {
				common = v
			}
		}
		if got, ok := p.first(n); !ok || got != first {
			t.Fatalf("first(%d) of %v is %d, %t, not %d", n, p, got, ok, first)
		}
		got, ok := p.meet(q, n)
		if ok != (common > 0) || ok && got != common {
			t.Fatalf("%v and %v meet from %d on at %d, %t, not at %d", p, q, n, got, ok, common)
		}
		if p.together(q) != ok {
			t.Fatalf("%v together with %v is not %t", p, q, ok)
		}
	})
}

func TestLargeProgressions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, q := progressions(1<<40).Draw(t, "p"), progressions(1<<40).Draw(t, "q")
		n := rapid.Int64().Draw(t, "n")
		if v, ok := p.first(n); ok && (v < n || !p.has(v) || n > p.Offset && v-n >= p.Increment) {
			t.Fatalf("first(%d) of %v is %d", n, p, v)
		}
		if v, ok := p.meet(q, n); ok && (v < n || !p.has(v) || !q.has(v)) {
			t.Fatalf("%v and %v do not meet at %d", p, q, v)
		}
	})
	last := Progression{math.MaxInt64 % 10, 10}
	if v, ok := last.first(math.MaxInt64); !ok || v != math.MaxInt64 {
		t.Errorf("the last number is %d, %t", v, ok)
	}
	if v, ok := (Progression{1, 10}).first(math.MaxInt64); ok {
		t.Errorf("%d is beyond a bigint", v)
	}
}

// TestTwoShardsReturn: a shard that returns leaves numbers for another one.
func TestTwoShardsReturn(t *testing.T) {
	left := []Progression{{2, 4}, {3, 4}, {5, 8}}
	for _, want := range []Progression{{1, 8}, {4, 8}, {8, 8}} {
		got, ok := spare(left)
		if left = append(left, got); got != want || !ok {
			t.Errorf("%v, %t, not %v", got, ok, want)
		}
	}
}

// TestNewShardsShareWhatIsSpare: those that up finds without a note may be some of a
// set whose increments differ, after down or on empty disks.
func TestNewShardsShareWhatIsSpare(t *testing.T) {
	for _, noted := range []map[int]Progression{{}, {1: {2, 2}}, {3: {2, 2}}, {2: {2, 4}}, {0: {1, 4}, 2: {3, 4}}, {0: {1, 2}, 1: {2, 4}}} {
		s := &set{}
		for i := range 4 {
			one := &shard{connection: &connection{system: system{most: maxIncrementMySQL}}}
			if has, ok := noted[i]; ok {
				one.state.Member = &Member{Set: "s", Number: i + 1, Of: 4, Has: has}
			}
			s.shards = append(s.shards, one)
		}
		members, err := s.members()
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range members {
			for _, other := range members[:i] {
				if m.Number == other.Number || m.Has.together(other.Has) {
					t.Errorf("%v and %v, beside the notes %v", m, other, noted)
				}
			}
		}
	}
	s := &set{shards: []*shard{{connection: &connection{}}, {connection: &connection{name: "second"}}}}
	s.shards[0].state.Member = &Member{Set: "s", Number: 1, Of: 2, Has: every}
	if members, err := s.members(); err == nil {
		t.Errorf("%v, where the first shard draws all numbers", members)
	}
}

// TestShardsAreAddedOneByOne takes a spare progression or splits one, as reshard
// does. No number may be in two progressions.
func TestShardsAreAddedOneByOne(t *testing.T) {
	t.Parallel()
	for _, start := range []struct {
		shards    int
		increment int64
	}{{3, 3}, {1, 1}, {3, 16}, {5, 5}} {
		var all []Progression
		for i := range start.shards {
			all = append(all, Progression{int64(i + 1), start.increment})
		}
		for len(all) < 40 {
			add, ok := spare(all)
			if !ok {
				donor := 0
				for i, p := range all {
					if p.Increment < all[donor].Increment {
						donor = i
					}
				}
				all[donor], add = all[donor].halves()
			}
			all = append(all, add)
			if start.increment == 16 && len(all) <= 16 && add.Increment != 16 {
				t.Errorf("16 shards with increment 16 are possible, number %d has %v", len(all), add)
			}
			for v := int64(1); v <= 400; v++ {
				var who []Progression
				for _, p := range all {
					if p.has(v) {
						who = append(who, p)
					}
				}
				if len(who) > 1 {
					t.Fatalf("%d is in %v", v, who)
				}
			}
		}
	}
}
