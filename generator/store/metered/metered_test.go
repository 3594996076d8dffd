package metered

import (
	"context"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/generator/store/storetest"
)

// The wrapper is a store like the one inside.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) generator.Store {
		s, _ := Wrap(memory.New(memory.Config{}))
		return s
	}, storetest.Caps{})
}

func TestBuckets(t *testing.T) {
	bounds := Bounds()
	if bounds[0] != firstBucket || bounds[Buckets-1] != 16384*time.Millisecond {
		t.Errorf("the bounds are %v", bounds)
	}
	for i, bound := range bounds {
		var h Histogram
		h.Observe(bound)
		h.Observe(bound + 1)
		s := h.Snapshot()
		if s.Counts[i] != 1 || s.Counts[i+1] != 1 || s.Sum != 2*bound+1 {
			t.Errorf("%v and a nanosecond more are in %v", bound, s)
		}
	}
	var h Histogram
	h.Observe(0)
	h.Observe(time.Hour)
	if s := h.Snapshot(); s.Counts[0] != 1 || s.Counts[Buckets] != 1 {
		t.Errorf("nothing and an hour are in %v", s)
	}
}

// What goes wrong is counted by the call and by what it means for the
// operator; what a caller did wrong is not.
func TestFailuresAreCounted(t *testing.T) {
	faulty := storetest.NewFaulty(memory.New(memory.Config{}))
	s, m := Wrap(faulty)
	counts := func() map[string]int64 {
		got := map[string]int64{}
		m.Each(func(c Call, s Snapshot, failed func(func(Failure, int64))) {
			for _, n := range s.Counts {
				got[c.String()] += n
			}
			failed(func(f Failure, n int64) {
				if n > 0 {
					got[c.String()+" "+f.String()] = n
				}
			})
		})
		return got
	}
	ctx := t.Context()
	reserve := func(ctx context.Context, key string) {
		_, _, _ = s.Reserve(ctx, generator.Reservation{Key: key, N: 1, Limit: 1}) // the outcome is in the counts
	}
	reserve(ctx, generator.NameKey("orders"))
	reserve(ctx, generator.NameKey("orders")) // exhausted
	reserve(ctx, generator.WorkerKeyPrefix+"10/0")
	reserve(ctx, generator.NodeKeyPrefix+"0")
	_, _ = s.Defined(ctx, "nobody")
	_, _ = s.Reserved(ctx, "")
	_, _ = s.ListDefined(ctx)
	faulty.Inject(storetest.Reserve, 1, storetest.FailBefore(nil))
	reserve(ctx, generator.NameKey("orders"))
	left, cancel := context.WithCancel(ctx)
	cancel()
	reserve(left, generator.NameKey("orders"))
	want := map[string]int64{
		"reserve_numbers": 4, "reserve_numbers unavailable": 1, "reserve_time": 1, "reserve_node": 1, "define": 1, "list": 2, "release": 0,
	}
	got := counts()
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%s: %d, want %d", key, got[key], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
