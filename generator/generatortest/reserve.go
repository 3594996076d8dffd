package generatortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
)

const lowest, highest = math.MinInt64, math.MaxInt64

// reserve covers the arithmetic of Reserve and Release.
func (s suite) reserve(t *testing.T) {
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

// model compares random calls with the definitions of Reserve and Release, with numbers
// near all overflows.
func (suite) model(p place) {
	round := 0
	number := rapid.Custom(func(t *rapid.T) int64 {
		base := rapid.SampledFrom([]int64{lowest, -1000, 0, 1000, highest}).Draw(t, "base")
		return saturated(base, rapid.Int64Range(-30, 30).Draw(t, "offset"))
	})
	rapid.Check(p.T, func(t *rapid.T) {
		round++
		key := fmt.Sprint("model/", round)
		lo, hi, known := int64(0), int64(0), false // of the last reservation
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			if known && rapid.IntRange(0, 2).Draw(t, "release") == 0 {
				to := hi - int64(rapid.Uint64Range(0, min(uint64(hi)-uint64(lo), 50)).Draw(t, "back"))
				at := saturated(hi, -rapid.Int64Range(0, 1).Draw(t, "another end"))
				if err := p.Release(p.ctx, key, at, min(to, at)); err != nil {
					t.Fatalf("Release(%d, %d) at [%d, %d): %v", at, to, lo, hi, err)
				}
				if at == hi {
					hi = to
				}
				continue
			}
			r := generator.Reservation{
				Key: key, AtLeast: number.Draw(t, "at least"), N: max(1, number.Draw(t, "n")), Limit: number.Draw(t, "limit"),
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
			lo, hi, known = gotLo, gotHi, true
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
	s.run(t, "writers never get a number twice", func(p place) {
		load := StartLoad(p, p.Store, p.Store, p.Store, p.Store)
		load.Await(1000)
		if load.Refused() > 0 {
			p.Errorf("%d reservations failed, the last: %v", load.Refused(), load.last.Load())
		}
		load.Stop()
		for _, m := range p.marks("") {
			if last, ok := load.log.Max(m.Key); ok && last >= m.Hi {
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
