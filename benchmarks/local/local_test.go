package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/report"
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
			if r.Best(g) <= 0 || len(r.Samples[g]) != 3 && r.Least == 0 {
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

// A machine that runs the goroutines only when the time is over still gets a
// figure: 0 ids would be an infinite time of each, which JSON has no word for.
func TestMeasureWhenTheTimeIsOver(t *testing.T) {
	c := Contender{Name: "one", New: func(context.Context) (func(int) (int64, error), func(), error) {
		return func(calls int) (int64, error) { return int64(calls), nil }, nil, nil
	}}
	if ns, err := Measure(t.Context(), c, 2, 0); err != nil || ns <= 0 || math.IsInf(ns, 0) {
		t.Errorf("%v ns an id: %v", ns, err)
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

// A report has a section for each kind, in which ours stand first, and after an
// interruption what there is.
func TestReport(t *testing.T) {
	config := Config{Length: time.Millisecond, Rounds: 2, Progress: report.NewProgress(io.Discard)}
	r, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, c := range Contenders() {
		kinds[c.Kind] = true
	}
	if len(r.Sections) != len(kinds) || r.Interrupted || len(r.Versions) == 0 {
		t.Errorf("%d sections for %d kinds; versions %v", len(r.Sections), len(kinds), r.Versions)
	}
	for _, s := range r.Sections {
		for i, row := range s.Table.Rows {
			if len(row.Cells) != len(s.Table.Columns) || i == 0 && !row.Ours {
				t.Errorf("%s: %+v", s.Title, row)
			}
		}
	}
	if text := r.Markdown(); !strings.Contains(text, "bwmarrin/snowflake") {
		t.Errorf("%s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, config); err != nil || !r.Interrupted {
		t.Errorf("%+v, %v", r, err)
	}
}

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
