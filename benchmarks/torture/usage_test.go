package torture

import (
	"math/rand/v2"
	"testing"
)

// TestGrowthIsSeen computes trends of series of samples.
func TestGrowthIsSeen(t *testing.T) {
	t.Parallel()
	noise := rand.New(rand.NewPCG(1, 2))
	series := func(n int, at func(i int) float64) (samples []sample) {
		for i := range n {
			samples = append(samples, sample{at(i)})
		}
		return samples
	}
	for name, tc := range map[string]struct {
		samples       []sample
		judged, grown bool
	}{
		"flat, with noise":        {series(360, func(int) float64 { return 60 + 15*noise.Float64() }), true, false},
		"warming up, then flat":   {series(360, func(i int) float64 { return 40 + 60*min(float64(i)/60, 1) }), true, false},
		"a peak":                  {series(360, func(i int) float64 { return 60 + 500*float64(i/200*(1-i/210)) }), true, false},
		"a leak, 1 MiB a minute":  {series(360, func(i int) float64 { return 60 + 15*noise.Float64() + float64(i)/6 }), true, true},
		"too short to be told":    {series(least-1, func(i int) float64 { return float64(i * 100) }), false, false},
		"a step that stays":       {series(360, func(i int) float64 { return 60 + 40*float64(i/180) }), true, true},
		"as little as slack says": {series(360, func(i int) float64 { return 60 + float64(i)/40 }), true, false},
	} {
		got, judged := trendOf(tc.samples, 0)
		if judged != tc.judged || got.grown != tc.grown {
			t.Errorf("%s: %+v, judged %v", name, got, judged)
		}
	}
}

func TestMetricsAreRead(t *testing.T) {
	t.Parallel()
	text := "# HELP go_goroutines x\ngo_goroutines 17\ngo_memstats_heap_inuse_bytes 2.097152e+06\nprocess_open_fds 18\nprocess_resident_memory_bytes 3.145728e+06\n"
	used, err := metrics(text)
	if want := (sample{3, 2, 17, 18}); err != nil || used != want {
		t.Errorf("%v, %v", used, err)
	}
	if _, err := metrics("go_goroutines 17\n"); err == nil {
		t.Error("a page without the others passed")
	}
}
