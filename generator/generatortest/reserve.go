package generatortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/history"
)

// reserve covers the arithmetic of Reserve.
func (s suite) reserve(t *testing.T) {
	t.Run("a new key starts at AtLeast", func(t *testing.T) {
		ctx, store := s.start(t)
		for i, at := range []int64{0, 1, 1_700_000_000_000, -7, math.MinInt64, math.MaxInt64 - 1} {
			wantReserve(ctx, t, store, request(fmt.Sprint("k", i), at, 1), at, at+1)
		}
	})
	t.Run("lo is the greater of the old hi and AtLeast", func(t *testing.T) {
		ctx, store := s.start(t)
		wantReserve(ctx, t, store, request("k", 100, 10), 100, 110)
		wantReserve(ctx, t, store, request("k", 100, 10), 110, 120)
		wantReserve(ctx, t, store, request("k", 500, 10), 500, 510)
		wantReserve(ctx, t, store, request("k", -9, 10), 510, 520)
		wantReserve(ctx, t, store, request("k", 520, 1), 520, 521)
	})
	t.Run("hi is the lesser of lo plus N and Limit", func(t *testing.T) {
		ctx, store := s.start(t)
		r := request("k", 0, 10)
		r.Limit = 15
		wantReserve(ctx, t, store, r, 0, 10)
		wantReserve(ctx, t, store, r, 10, 15)
		r.Limit = 16
		wantReserve(ctx, t, store, r, 15, 16)
	})
	t.Run("a key at its Limit is exhausted and stays as it is", s.exhausted)
	t.Run("a new key at its Limit is exhausted and stays unknown", func(t *testing.T) {
		ctx, store := s.start(t)
		r := request("k", 5, 1)
		r.Limit = 5
		_, _, err := store.Reserve(ctx, r)
		wantKind(t, err, generator.ErrExhausted)
		if marks := mustReserved(ctx, t, store, ""); len(marks) != 0 {
			t.Fatalf("the refused key is listed: %+v", marks)
		}
		wantReserve(ctx, t, store, request("k", -3, 1), -3, -2)
	})
	t.Run("N below 1 is refused and changes nothing", func(t *testing.T) {
		ctx, store := s.start(t)
		for _, n := range []int64{0, -1, math.MinInt64} {
			_, _, err := store.Reserve(ctx, request("k", 0, n))
			wantKind(t, err, generator.ErrCount)
		}
		wantReserve(ctx, t, store, request("k", 0, 1), 0, 1)
	})
	t.Run("numbers at the ends of int64 do not wrap", s.extremes)
	t.Run("any sequence of calls agrees with the rule", s.model)
	t.Run("keys are told apart by every byte", func(t *testing.T) {
		ctx, store := s.start(t)
		keys := []string{
			"name/a", "name/A", "name/a.", "name/a-", "name/a ", "name/á", "worker/10/1", "worker/10/01",
			"name/" + strings.Repeat("x", generator.MaxNameBytes), "name/" + strings.Repeat("x", generator.MaxNameBytes-1),
		}
		for i, key := range keys {
			at := int64(i) * 1000
			wantReserve(ctx, t, store, request(key, at, 1), at, at+1)
		}
	})
	t.Run("an ended context grants nothing", func(t *testing.T) {
		ctx, store := s.start(t)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		lo, hi, err := store.Reserve(ended, request("k", 0, 10))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v, want one that wraps context.Canceled", err)
		}
		wantTransient(t, err)
		if lo != 0 || hi != 0 {
			t.Errorf("an error came with the range [%d, %d)", lo, hi)
		}
		mustReserve(ctx, t, store, request("k", 0, 10))
	})
}

// wantTransient checks that an error may vanish with time or on another server.
func wantTransient(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, generator.ErrRetry) {
		wantKind(t, err, generator.ErrRetry)
		return
	}
	wantKind(t, err, generator.ErrNotNow)
}

func (s suite) exhausted(t *testing.T) {
	ctx, store := s.start(t)
	mustReserve(ctx, t, store, request("k", 0, 10))
	before := mustReserved(ctx, t, store, "")
	for _, r := range []generator.Reservation{
		{Key: "k", AtLeast: 0, N: 1, Limit: 10, Owner: "other"},
		{Key: "k", AtLeast: 0, N: 1, Limit: 3, Owner: "other"},
		{Key: "k", AtLeast: 0, N: 1, Limit: math.MinInt64, Owner: "other"},
		{Key: "k", AtLeast: 99, N: 1, Limit: 99, Owner: "other"},
		{Key: "k", AtLeast: 99, N: math.MaxInt64, Limit: 50, Owner: "other"},
	} {
		lo, hi, err := store.Reserve(ctx, r)
		wantKind(t, err, generator.ErrExhausted)
		if lo != 0 || hi != 0 {
			t.Errorf("Reserve(%+v) is exhausted but returned [%d, %d)", r, lo, hi)
		}
	}
	wantMarks(t, mustReserved(ctx, t, store, ""), before)
	wantReserve(ctx, t, store, request("k", 0, 1), 10, 11)
}

func (s suite) extremes(t *testing.T) {
	const lowest, highest = math.MinInt64, math.MaxInt64
	ctx, store := s.start(t)
	wantReserve(ctx, t, store, request("up", highest-10, highest), highest-10, highest)
	_, _, err := store.Reserve(ctx, request("up", 0, 1))
	wantKind(t, err, generator.ErrExhausted)

	wantReserve(ctx, t, store, request("whole", lowest, highest), lowest, -1)
	wantReserve(ctx, t, store, request("whole", lowest, highest), -1, highest-1)
	wantReserve(ctx, t, store, request("whole", lowest, highest), highest-1, highest)

	r := request("negative", lowest, 10)
	r.Limit = lowest + 15
	wantReserve(ctx, t, store, r, lowest, lowest+10)
	wantReserve(ctx, t, store, r, lowest+10, lowest+15)
	_, _, err = store.Reserve(ctx, r)
	wantKind(t, err, generator.ErrExhausted)

	wantReserve(ctx, t, store, request("across zero", -5, 10), -5, 5)
	r = request("limited", -5, highest)
	r.Limit = highest - 1
	wantReserve(ctx, t, store, r, -5, highest-5)
}

// model compares random calls with the definition of Reserve, with numbers near all
// overflows.
func (s suite) model(t *testing.T) {
	ctx, store := s.start(t)
	round := 0
	number := rapid.Custom(func(t *rapid.T) int64 {
		base := rapid.SampledFrom([]int64{math.MinInt64, -1000, 0, 1000, math.MaxInt64}).Draw(t, "base")
		return saturated(base, rapid.Int64Range(-30, 30).Draw(t, "offset"))
	})
	rapid.Check(t, func(t *rapid.T) {
		round++
		hi, known := int64(0), false
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			r := generator.Reservation{
				Key:     fmt.Sprint("model/", round),
				AtLeast: number.Draw(t, "at least"),
				N:       max(1, number.Draw(t, "n")),
				Limit:   number.Draw(t, "limit"),
			}
			wantLo := r.AtLeast
			if known {
				wantLo = max(hi, r.AtLeast)
			}
			gotLo, gotHi, err := store.Reserve(ctx, r)
			if wantLo >= r.Limit {
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
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}

// release covers Release.
func (s suite) release(t *testing.T) {
	t.Run("the tail of the last reservation comes back", func(t *testing.T) {
		ctx, store := s.start(t)
		wantReserve(ctx, t, store, request("k", 0, 100), 0, 100)
		mustRelease(ctx, t, store, "k", 100, 60)
		wantReserve(ctx, t, store, request("k", 0, 10), 60, 70)
		mustRelease(ctx, t, store, "k", 70, 60)
		wantReserve(ctx, t, store, request("k", 0, 10), 60, 70)
	})
	t.Run("a key that has moved on is left alone", func(t *testing.T) {
		ctx, store := s.start(t)
		mustReserve(ctx, t, store, request("k", 0, 100))
		mustReserve(ctx, t, store, request("k", 0, 100))
		mustRelease(ctx, t, store, "k", 100, 60)
		wantReserve(ctx, t, store, request("k", 0, 10), 200, 210)
	})
	t.Run("a key is never raised", func(t *testing.T) {
		ctx, store := s.start(t)
		mustReserve(ctx, t, store, request("k", 0, 100))
		// The store may return an error or not.
		_ = store.Release(ctx, "k", 100, 101)
		_ = store.Release(ctx, "k", 50, 101)
		mustRelease(ctx, t, store, "k", 100, 100)
		wantReserve(ctx, t, store, request("k", 0, 10), 100, 110)
	})
	t.Run("a key that does not exist stays unknown", func(t *testing.T) {
		ctx, store := s.start(t)
		mustRelease(ctx, t, store, "k", 0, 0)
		mustRelease(ctx, t, store, "k", 100, 50)
		if marks := mustReserved(ctx, t, store, ""); len(marks) != 0 {
			t.Fatalf("releasing created %+v", marks)
		}
	})
	t.Run("other keys are left alone", func(t *testing.T) {
		ctx, store := s.start(t)
		mustReserve(ctx, t, store, request("k", 0, 100))
		mustReserve(ctx, t, store, request("K", 0, 100))
		mustRelease(ctx, t, store, "k", 100, 0)
		wantReserve(ctx, t, store, request("K", 0, 1), 100, 101)
		wantReserve(ctx, t, store, request("k", 0, 1), 0, 1)
	})
	t.Run("an ended context changes nothing", func(t *testing.T) {
		ctx, store := s.start(t)
		mustReserve(ctx, t, store, request("k", 0, 100))
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := store.Release(ended, "k", 100, 10); !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v, want one that wraps context.Canceled", err)
		}
		wantReserve(ctx, t, store, request("k", 0, 1), 100, 101)
	})
}

// reserved covers Reserved.
func (s suite) reserved(t *testing.T) {
	keys := []string{
		"name/a", "name/A", "name/a%", "name/a*", "name/a?", "name/a[b]", "name/a_b", "name/ab", "name/a\\b",
		"name/b", "name0", "worker/10/0", "worker/10/1", "worker/1/0", "zz",
	}
	ctx, store := s.start(t)
	for i, key := range keys {
		r := request(key, int64(i), 1)
		r.Owner = "owner of " + key
		mustReserve(ctx, t, store, r)
	}
	for _, prefix := range []string{
		"", "name/", "name/a", "name/A", "name/a%", "name/a_", "name/a*", "name/a?", "name/a[",
		"name/a\\", "worker/1", "worker/1/", "worker/10/", "%", "_", "*", "name/b", "name/bb", "z", "zzz",
	} {
		t.Run(fmt.Sprintf("prefix %q gives its keys in order", prefix), func(t *testing.T) {
			want := slices.DeleteFunc(slices.Sorted(slices.Values(keys)),
				func(key string) bool { return !strings.HasPrefix(key, prefix) })
			var got []string
			for _, m := range mustReserved(ctx, t, store, prefix) {
				got = append(got, m.Key)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
	t.Run("a mark tells hi, owner and time", func(t *testing.T) {
		m := mustReserved(ctx, t, store, "name/b")[0]
		if i := slices.Index(keys, "name/b"); m.Hi != int64(i)+1 || m.Owner != "owner of name/b" || m.Updated.IsZero() {
			t.Errorf("mark is %+v", m)
		}
	})
	t.Run("the owner is the last one that reserved", func(t *testing.T) {
		r := request("zz", 0, 1)
		r.Owner = "second"
		mustReserve(ctx, t, store, r)
		if m := mustReserved(ctx, t, store, "zz")[0]; m.Owner != "second" {
			t.Errorf("owner is %q", m.Owner)
		}
	})
}

// concurrent lets many writers reserve, use a part, and give the rest back.
func (s suite) concurrent(t *testing.T) {
	t.Run("writers never get a number twice", func(t *testing.T) {
		const writers, keys, rounds = 16, 5, 12
		ctx, store := s.start(t)
		var log history.Log
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range rounds * keys {
					key := fmt.Sprint("k", (i+w)%keys)
					n := int64(1 + (i*7+w)%20)
					lo, hi, err := store.Reserve(ctx, request(key, 0, n))
					if err != nil {
						t.Errorf("Reserve: %v", err)
						return
					}
					used := hi - lo
					if i%3 == 0 {
						used = int64(i) % (used + 1)
						if err := store.Release(ctx, key, hi, lo+used); err != nil {
							t.Errorf("Release: %v", err)
						}
					}
					if used > 0 {
						log.Add(history.Event{
							Name: key, Client: w,
							Range: generator.Range{First: lo, Step: 1, Count: used},
						})
					}
				}
			})
		}
		wg.Wait()
		if err := log.Check(); err != nil {
			t.Fatal(err)
		}
		for _, m := range mustReserved(ctx, t, store, "") {
			if last, ok := log.Max(m.Key); ok && last >= m.Hi {
				t.Errorf("%s: %d was granted, but hi is %d", m.Key, last, m.Hi)
			}
		}
	})
}

func mustRelease(ctx context.Context, t *testing.T, s generator.Store, key string, hi, to int64) {
	t.Helper()
	if err := s.Release(ctx, key, hi, to); err != nil {
		t.Fatalf("Release(%q, %d, %d): %v", key, hi, to, err)
	}
}

// mustReserved also checks that Mark agrees with Reserved.
func mustReserved(ctx context.Context, t *testing.T, s generator.Store, prefix string) []generator.Mark {
	t.Helper()
	marks := reservedOf(ctx, t, s, prefix)
	for _, m := range marks { // Mark returns the same
		one, ok, err := s.Mark(ctx, m.Key)
		if err != nil || !ok || one.Key != m.Key || one.Hi < m.Hi {
			t.Errorf("Mark(%q): %+v, %v, %v; listed %+v", m.Key, one, ok, err, m)
		}
	}
	if m, ok, err := s.Mark(ctx, prefix+"\x01none"); ok || err != nil {
		t.Errorf("a key that was never used: %+v, %v", m, err)
	}
	return marks
}

func reservedOf(ctx context.Context, t *testing.T, s generator.Store, prefix string) []generator.Mark {
	t.Helper()
	marks, err := s.Reserved(ctx, prefix)
	if err != nil {
		t.Fatalf("Reserved(%q): %v", prefix, err)
	}
	return marks
}

func wantMarks(t *testing.T, got, want []generator.Mark) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b generator.Mark) bool {
		return a.Key == b.Key && a.Hi == b.Hi && a.Owner == b.Owner && a.Updated.Equal(b.Updated)
	}) {
		t.Fatalf("marks are\n%+v\nwant\n%+v", got, want)
	}
}
