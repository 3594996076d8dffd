package report

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sample returns a report with every kind of cell and chart.
func sample() *Report {
	return &Report{
		Title: "A <comparison>", Intro: "What it costs.", Command: "nextid bench test",
		Began: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Took: 61.2,
		Machine: Machine{CPU: "Some CPU", Cores: 2, Memory: 8, Kernel: "Linux 6", Go: "go1.26", Load: 0.5},
		Sections: []Section{{
			Title: "Throughput", Text: "Ids a second.",
			Table: Table{First: "contestant", Columns: Columns("ids/s", "µs", "ratio"), Rows: []Row{
				{"nextid", true, []Cell{Number(90000, 110000, 100000), Number(5), Ratio([]float64{90000, 110000}, []float64{30000, 50000})}},
				{"other | pipe", false, []Cell{Number(30000), Text("none"), {}}},
			}},
			Charts: []Chart{
				{Title: "Throughput", Unit: "ids/s", Panels: []Panel{{"1 client", []Bar{{Name: "other", Value: 30000, Least: 20000, Most: 150000}, {Name: "nextid", Value: 100000, Ours: true}, {Name: "nothing"}}}}},
				{Title: "Latency", Unit: "ms", Better: "less", Panels: []Panel{{"50 %", []Bar{{Name: "other", Value: 0.3}}}, {"99 %", []Bar{{Name: "nextid", Value: 0.4, Ours: true}}}}},
				{Title: "Empty", Unit: "MB"},
			},
		}},
		Notes: []string{"Redis INCR: not installed"},
	}
}

func TestMarkdownAndTerminal(t *testing.T) {
	t.Parallel()
	r := sample()
	var terminal strings.Builder
	if err := r.Print(&terminal); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Markdown": r.Markdown(), "terminal": terminal.String()} {
		for _, want := range []string{"100,000", "2.60x [2.20–3]", "none", "Redis INCR: not installed", "2 × Some CPU, 8 GB, Linux 6, go1.26, load before the run 0.5", "1m1s"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
	}
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths, err := sample().Write(dir, "report")
	if err != nil || len(paths) != 3 {
		t.Fatalf("%v, %v", paths, err)
	}
	earlier, err := Read(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if earlier.Markdown() != sample().Markdown() {
		t.Errorf("read again, it is another report:\n%s", earlier.Markdown())
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"a":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "x.json")); err == nil {
		t.Error("something else was read as a report")
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	page, err := sample().HTML()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(page, []byte("<figure")); n != 2 {
		t.Errorf("%d charts, want 2: those that have values", n)
	}
	for _, bad := range []string{"<script", "src=", "http://", "https://", "url(", "NaN", "Inf", "ZgotmplZ"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page holds %s", bad)
		}
	}
}

// TestScalesAreNamed: the legend says which values are better, and what thin lines
// are.
func TestScalesAreNamed(t *testing.T) {
	t.Parallel()
	charts := sample().Sections[0].Charts
	for i, want := range []string{"ids/s; thin lines: from the least to the greatest round", "ms; less is better", "MB"} {
		if got := charts[i].Scale(); got != want {
			t.Errorf("%s: %q, want %q", charts[i].Title, got, want)
		}
	}
	if b := (Bar{}).Median([]float64{3, 1, 2}); b.Value != 2 || b.Least != 1 || b.Most != 3 {
		t.Errorf("%+v", b)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 7: "7", 0.1234: "0.12", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234567: "1,234,567", -1234: "-1,234", 999.9: "1,000"} {
		if got := Format(v); got != want {
			t.Errorf("Format(%g) = %s, want %s", v, got, want)
		}
	}
}

// TestDoubtfulFiguresAreNamed: warnings name figures whose rounds differ, and a load
// before the run.
func TestDoubtfulFiguresAreNamed(t *testing.T) {
	steady := Row{Name: "steady", Cells: []Cell{Number(100, 110, 90)}}
	r := &Report{Machine: Machine{Cores: 2}, Sections: []Section{{Title: "Rows", Table: Table{Columns: []Column{{Name: "8 clients"}}, Rows: []Row{steady}}}}}
	if got := r.Warnings(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	r.Machine.Load = 3
	r.Sections[0].Table.Rows = append(r.Sections[0].Table.Rows, Row{Name: "wild", Cells: []Cell{Number(100, 250)}})
	want := []string{
		"The machine was at work before the run: its load was 3.0 on 2 cores.",
		"Rows: 1 of 2 figures differ by more than 1.5 times from round to round; wild, 8 clients by 2.5 times.",
	}
	if got := r.Warnings(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r.Doubt("Ids", "slow", []float64{90}, []float64{100})
	r.Doubt("Ids", "no floor", []float64{90}, nil)
	r.Doubt("Ids", "slower than the best round", []float64{110, 120, 100}, []float64{90, 130})
	r.Doubt("Ids", "fast", []float64{110, 120, 100}, []float64{100})
	if got := r.Warnings(); len(got) != 3 || got[2] != "Ids: fast passes the floor, 110 to 100: one of them was disturbed. It is in no chart and no ratio." {
		t.Errorf("%q", got)
	}
	if page, err := r.HTML(); err != nil || !strings.Contains(string(page), "wild, 8 clients by 2.5 times") || !strings.Contains(r.Markdown(), "Doubtful:") {
		t.Errorf("not shown, %v", err)
	}
}
