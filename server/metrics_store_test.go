package server

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

// The wrapper is a store like the one inside.
func TestMeteredStoreIsAStore(t *testing.T) {
	generatortest.RunStore(t, func(*testing.T) generator.Store {
		s, _ := meter(memory.New(memory.Config{}))
		return s
	}, generatortest.StoreCaps{})
}

// Failures are counted by call and by reason. Mistakes of the caller are not
// counted.
func TestFailuresOfTheStoreAreCounted(t *testing.T) {
	faulty := generatortest.NewFaulty(memory.New(memory.Config{}))
	s, m := meter(faulty)
	counts := func() map[string]int64 {
		got := map[string]int64{}
		for _, name := range storeCalls {
			var d dto.Metric
			if err := m.durations.WithLabelValues(name).(prometheus.Metric).Write(&d); err != nil {
				t.Fatal(err)
			}
			got[name] = int64(d.GetHistogram().GetSampleCount())
			for _, f := range storeFailures {
				var n dto.Metric
				if err := m.errors.WithLabelValues(name, f.reason).Write(&n); err != nil {
					t.Fatal(err)
				}
				if n := n.GetCounter().GetValue(); n > 0 {
					got[name+" "+f.reason] = int64(n)
				}
			}
		}
		return got
	}
	ctx := t.Context()
	reserve := func(ctx context.Context, key string) {
		_, _, _ = s.Reserve(ctx, generator.Reservation{Key: key, N: 1, Limit: 1}) // the counts show the outcome
	}
	reserve(ctx, generator.NameKey("orders"))
	reserve(ctx, generator.NameKey("orders")) // exhausted
	reserve(ctx, generator.WorkerKeyPrefix+"10/0")
	reserve(ctx, generator.NodeKeyPrefix+"0")
	_, _ = s.Defined(ctx, "nobody")
	_, _ = s.Reserved(ctx, "")
	_, _ = s.ListDefined(ctx)
	faulty.Inject(generatortest.Reserve, 1, generatortest.FailBefore(nil))
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
