package generatortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/history"
)

const lowest, highest = math.MinInt64, math.MaxInt64

// call is a Reserve of the key "k" and its result; lo = hi stands for ErrExhausted.
// With n = 0 it is a Release of [lo, hi).
type call struct{ atLeast, n, limit, lo, hi int64 }

// sequences are calls on an empty store, one after the other.
var sequences = []struct {
	name  string
	calls []call
}{
	{"a new key starts at AtLeast, which may be 0", []call{{0, 1, highest, 0, 1}}},
	{"a new key starts at AtLeast, which may be a time", []call{{1_700_000_000_000, 1, highest, 1_700_000_000_000, 1_700_000_000_001}}},
	{"a new key starts at AtLeast, which may be negative", []call{{-7, 1, highest, -7, -6}}},
	{"lo is the greater of the old hi and AtLeast", []call{
		{100, 10, highest, 100, 110},
		{100, 10, highest, 110, 120},
		{500, 10, highest, 500, 510},
		{-9, 10, highest, 510, 520},
		{520, 1, highest, 520, 521},
	}},
	{"hi is the lesser of lo plus N and Limit", []call{{0, 10, 15, 0, 10}, {0, 10, 15, 10, 15}, {0, 10, 16, 15, 16}}},
	{"a key at its Limit is exhausted and stays as it is", []call{
		{0, 10, highest, 0, 10},
		{0, 1, 10, 0, 0},
		{0, 1, 3, 0, 0},
		{0, 1, lowest, 0, 0},
		{99, 1, 99, 0, 0},
		{99, highest, 50, 0, 0},
		{0, 1, highest, 10, 11},
	}},
	{"a new key at its Limit is exhausted and stays unknown", []call{{5, 1, 5, 0, 0}, {-3, 1, highest, -3, -2}}},
	{"numbers at the upper end do not wrap", []call{{highest - 10, highest, highest, highest - 10, highest}, {0, 1, highest, 0, 0}}},
	{"the last number", []call{{highest - 1, 1, highest, highest - 1, highest}}},
	{"all numbers", []call{
		{lowest, highest, highest, lowest, -1}, {lowest, highest, highest, -1, highest - 1}, {lowest, highest, highest, highest - 1, highest},
	}},
	{"numbers at the lower end do not wrap", []call{
		{lowest, 10, lowest + 15, lowest, lowest + 10}, {lowest, 10, lowest + 15, lowest + 10, lowest + 15}, {lowest, 10, lowest + 15, 0, 0},
	}},
	{"numbers across zero", []call{{-5, 10, highest, -5, 5}}},
	{"numbers across zero, with a Limit", []call{{-5, highest, highest - 1, -5, highest - 5}}},
	{"the tail of the last reservation comes back", []call{
		{0, 100, highest, 0, 100}, {lo: 60, hi: 100}, {0, 10, highest, 60, 70}, {lo: 60, hi: 70}, {0, 10, highest, 60, 70},
	}},
	{"Release leaves a key alone that has moved on", []call{
		{0, 100, highest, 0, 100}, {0, 100, highest, 100, 200}, {lo: 60, hi: 100}, {0, 10, highest, 200, 210},
	}},
	{"Release of nothing changes nothing", []call{{0, 100, highest, 0, 100}, {lo: 100, hi: 100}, {0, 10, highest, 100, 110}}},
}

// reserve covers the arithmetic of Reserve and Release.
func (s suite) reserve(t *testing.T) {
	for _, c := range sequences {
		s.run(t, c.name, func(p place) {
			for i, c := range c.calls {
				if c.n == 0 {
					p.release("k", c.hi, c.lo)
					continue
				}
				before := p.marks("")
				lo, hi, err := p.Reserve(p.ctx, generator.Reservation{Key: "k", AtLeast: c.atLeast, N: c.n, Limit: c.limit, Owner: strconv.Itoa(i)})
				if c.lo == c.hi {
					wantKind(p, err, generator.ErrExhausted)
					p.wantMarks("", before)
				}
				if lo != c.lo || hi != c.hi || (err != nil) != (c.lo == c.hi) {
					p.Fatalf("call %d = [%d, %d), %v; want %+v", i, lo, hi, err, c)
				}
			}
		})
	}
	s.run(t, "N below 1 is refused and changes nothing", func(p place) {
		for _, n := range []int64{0, -1, math.MinInt64} {
			_, _, err := p.Reserve(p.ctx, request("k", 0, n))
			wantKind(p, err, generator.ErrCount)
		}
		p.wantReserve("k", 0, 1, 0, 1)
	})
	s.run(t, "any sequence of calls agrees with the rule", s.model)
	s.run(t, "keys are told apart by every byte", func(p place) {
		for i, key := range []string{
			"name/a", "name/A", "name/a.", "name/a-", "name/a ", "name/á", "worker/10/1", "worker/10/01", "k", "K",
			"name/" + strings.Repeat("x", generator.MaxNameBytes), "name/" + strings.Repeat("x", generator.MaxNameBytes-1),
		} {
			at := int64(i) * 1000
			p.wantReserve(key, at, 100, at, at+100)
		}
		p.release("k", 8100, 8000)
		p.wantReserve("K", 0, 1, 9100, 9101)
		p.wantReserve("k", 0, 1, 8000, 8001)
	})
	s.run(t, "an ended context grants and changes nothing", func(p place) {
		p.reserve("k", 0, 100)
		ended, cancel := context.WithCancel(p.ctx)
		cancel()
		lo, hi, err := p.Reserve(ended, request("k", 0, 10))
		if !errors.Is(err, generator.ErrRetry) { // it may vanish with time, or on another server
			wantKind(p, err, generator.ErrNotNow)
		}
		if lo != 0 || hi != 0 || !errors.Is(err, context.Canceled) {
			p.Errorf("Reserve = [%d, %d), %v", lo, hi, err)
		}
		if err := p.Release(ended, "k", 100, 10); !errors.Is(err, context.Canceled) {
			p.Fatalf("Release: %v, want an error that wraps context.Canceled", err)
		}
		if lo, _ := p.reserve("k", 0, 1); lo < 100 {
			p.Errorf("granted from %d", lo)
		}
	})
	s.run(t, "Release never raises a key", func(p place) {
		p.reserve("k", 0, 100)
		// The store may return an error or not.
		_ = p.Release(p.ctx, "k", 100, 101)
		_ = p.Release(p.ctx, "k", 50, 101)
		p.wantReserve("k", 0, 10, 100, 110)
	})
	s.run(t, "Release of a key that does not exist leaves it unknown", func(p place) {
		p.release("k", 0, 0)
		p.release("k", 100, 50)
		p.wantMarks("", nil)
	})
}

// model compares random calls with the definition of Reserve, with numbers near all
// overflows.
func (suite) model(p place) {
	round := 0
	number := rapid.Custom(func(t *rapid.T) int64 {
		base := rapid.SampledFrom([]int64{lowest, -1000, 0, 1000, highest}).Draw(t, "base")
		return saturated(base, rapid.Int64Range(-30, 30).Draw(t, "offset"))
	})
	rapid.Check(p.T, func(t *rapid.T) {
		round++
		hi, known := int64(0), false
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			r := generator.Reservation{
				Key: fmt.Sprint("model/", round), AtLeast: number.Draw(t, "at least"), N: max(1, number.Draw(t, "n")), Limit: number.Draw(t, "limit"),
				Least: max(0, number.Draw(t, "least")),
			}
			wantLo := r.AtLeast
			if known {
				wantLo = max(hi, r.AtLeast)
			}
			gotLo, gotHi, err := p.Reserve(p.ctx, r)
			if wantLo >= r.Limit || uint64(r.Limit)-uint64(wantLo) < uint64(r.Least) {
				if !errors.Is(err, generator.ErrExhausted) {
					t.Fatalf("Reserve(%+v) at %d: %v, want ErrExhausted", r, hi, err)
				}
				continue
			}
			wantHi := min(saturated(wantLo, r.N), r.Limit)
			if err != nil || gotLo != wantLo || gotHi != wantHi {
				t.Fatalf("Reserve(%+v) = [%d, %d), %v; want [%d, %d)", r, gotLo, gotHi, err, wantLo, wantHi)
			}
			hi, known = gotHi, true
		}
	})
}

// saturated returns a+b, limited to int64.
func saturated(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return highest
	case b < 0 && sum > a:
		return lowest
	default:
		return sum
	}
}

// reserved covers Reserved.
func (s suite) reserved(t *testing.T) {
	keys := []string{
		"name/a", "name/A", "name/a%", "name/a*", "name/a?", "name/a[b]", "name/a_b", "name/ab", "name/a\\b",
		"name/b", "name0", "worker/10/0", "worker/10/1", "worker/1/0", "zz",
	}
	s.run(t, "keys with a prefix come in order, with hi, last owner and time", func(p place) {
		for _, owner := range []string{"first", "owner of "} {
			for i, key := range keys {
				r := request(key, int64(i), 1)
				r.Owner = owner + key
				if _, _, err := p.Reserve(p.ctx, r); err != nil {
					p.Fatal(err)
				}
			}
		}
		for _, prefix := range []string{
			"", "name/", "name/a", "name/A", "name/a%", "name/a_", "name/a*", "name/a?", "name/a[",
			"name/a\\", "worker/1", "worker/1/", "worker/10/", "%", "_", "*", "name/b", "name/bb", "z", "zzz",
		} {
			want := slices.DeleteFunc(slices.Sorted(slices.Values(keys)),
				func(key string) bool { return !strings.HasPrefix(key, prefix) })
			var got []string
			for _, m := range p.marks(prefix) {
				got = append(got, m.Key)
				if i := slices.Index(keys, m.Key); m.Hi != int64(i)+2 || m.Owner != "owner of "+m.Key || m.Updated.IsZero() {
					p.Errorf("mark is %+v", m)
				}
			}
			if !slices.Equal(got, want) {
				p.Errorf("prefix %q: got  %q\nwant %q", prefix, got, want)
			}
		}
	})
}

// concurrent lets many writers reserve, use a part, and give the rest back.
func (s suite) concurrent(t *testing.T) {
	const writers, keys, rounds = 16, 5, 12
	s.run(t, "writers never get a number twice", func(p place) {
		var log history.Log
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range rounds * keys {
					key := fmt.Sprint("k", (i+w)%keys)
					lo, hi, err := p.Reserve(p.ctx, request(key, 0, int64(1+(i*7+w)%20)))
					if err != nil {
						p.Errorf("Reserve: %v", err)
						return
					}
					used := hi - lo
					if i%3 == 0 {
						used = int64(i) % (used + 1)
						if err := p.Release(p.ctx, key, hi, lo+used); err != nil {
							p.Errorf("Release: %v", err)
						}
					}
					if used > 0 {
						log.Add(history.Event{Name: key, Client: w, Range: generator.Range{First: lo, Step: 1, Count: used}})
					}
				}
			})
		}
		wg.Wait()
		if err := log.Check(); err != nil {
			p.Fatal(err)
		}
		for _, m := range p.marks("") {
			if last, ok := log.Max(m.Key); ok && last >= m.Hi {
				p.Errorf("%s: %d was granted, but hi is %d", m.Key, last, m.Hi)
			}
		}
	})
}

// marks returns what Reserved does, and checks that Mark agrees with it.
func (p place) marks(prefix string) []generator.Mark {
	p.Helper()
	marks, err := p.Reserved(p.ctx, prefix)
	if err != nil {
		p.Fatalf("Reserved(%q): %v", prefix, err)
	}
	for _, m := range marks {
		one, ok, err := p.Mark(p.ctx, m.Key)
		if err != nil || !ok || one.Key != m.Key || one.Hi < m.Hi {
			p.Errorf("Mark(%q): %+v, %v, %v; listed %+v", m.Key, one, ok, err, m)
		}
	}
	if m, ok, err := p.Mark(p.ctx, prefix+"\x01none"); ok || err != nil {
		p.Errorf("a key that was never used: %+v, %v", m, err)
	}
	return marks
}

func (p place) wantMarks(prefix string, want []generator.Mark) {
	p.Helper()
	if got := p.marks(prefix); !slices.EqualFunc(got, want, func(a, b generator.Mark) bool {
		return a.Key == b.Key && a.Hi == b.Hi && a.Owner == b.Owner && a.Updated.Equal(b.Updated)
	}) {
		p.Fatalf("marks are\n%+v\nwant\n%+v", got, want)
	}
}
