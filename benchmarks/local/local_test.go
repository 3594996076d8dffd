package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every contender runs, with one goroutine and with two.
func TestContendersRun(t *testing.T) {
	results, err := Compare(t.Context(), Contenders(), []int{1, 2}, 3, time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		for _, g := range []int{1, 2} {
			if r.Best(g) <= 0 || r.Best(g) > r.Median(g) || len(r.Samples[g]) != 3 {
				t.Errorf("%s (%s): %v", r.Name, r.Kind, r.Samples)
			}
		}
		if r.Ours {
			ours[r.Kind] = true
		} else {
			theirs[r.Kind] = true
		}
	}
	for kind := range theirs {
		if !ours[kind] {
			t.Errorf("nothing of ours beside %s", kind)
		}
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Contender{Name: "nothing", New: loop(func() error { return nil })}
	if _, err := Measure(ctx, c, 2, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	c.New = loop(func() error { return broken })
	if _, err := Measure(t.Context(), c, 1, time.Hour); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestTable prints the comparison: go test -run Table -v -args -rounds 20.
func TestTable(t *testing.T) {
	if *rounds == 0 {
		t.Skip("no -rounds given")
	}
	contenders := slices.DeleteFunc(Contenders(), func(c Contender) bool { return !strings.Contains(c.Kind, *kind) })
	results, err := Compare(t.Context(), contenders, []int{1, 2}, *rounds, 20*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Logf("%-26s %-42s 1: %8.2f (%8.2f)  2: %8.2f (%8.2f)", r.Kind, r.Name, r.Best(1), r.Median(1), r.Best(2), r.Median(2))
	}
}

var (
	rounds = flag.Int("rounds", 0, "rounds of TestTable")
	kind   = flag.String("kind", "", "what the kinds of TestTable contain")
)

// BenchmarkLocal is the comparison as Go benchmarks: -bench 'Local/UUID_7'.
func BenchmarkLocal(b *testing.B) {
	for _, c := range Contenders() {
		for _, goroutines := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%s/goroutines=%d", c.Kind, c.Name, goroutines), func(b *testing.B) {
				for b.Loop() {
					ns, err := Measure(b.Context(), c, goroutines, 100*time.Millisecond)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(ns, "ns/id")
				}
			})
		}
	}
}
