// Package report holds what a benchmark measured and writes it as text for a
// terminal, as Markdown, as JSON and as one HTML page with charts. The other
// forms are made from the JSON.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Report is one run of a benchmark.
type Report struct {
	Title       string    `json:"title"`
	Answer      string    `json:"answer,omitempty"` // the page in three sentences
	Intro       string    `json:"intro,omitempty"`
	Command     string    `json:"command"`
	Began       time.Time `json:"began"`
	Took        float64   `json:"took_seconds"`
	Interrupted bool      `json:"interrupted,omitempty"` // it holds what was measured until then
	Machine     Machine   `json:"machine"`
	Versions    []string  `json:"versions"`
	Settings    []string  `json:"settings"`
	Sections    []Section `json:"sections"`
	Notes       []string  `json:"notes,omitempty"`  // what was not measured, and why
	Doubts      []string  `json:"doubts,omitempty"` // figures that contradict others, such as one above the floor
}

// Section is one question, its answer as a table, and pictures of it.
type Section struct {
	Title  string  `json:"title"`
	Text   string  `json:"text,omitempty"`
	Table  Table   `json:"table"`
	Charts []Chart `json:"charts,omitempty"`
}

// Table holds what was measured: a row for each contestant.
type Table struct {
	First   string   `json:"first"` // heading of the rows' names
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column describes the cells below it.
type Column struct {
	Name string `json:"name"`
}

// Columns returns columns of those names.
func Columns(names ...string) (all []Column) {
	for _, name := range names {
		all = append(all, Column{name})
	}
	return all
}

// Row is one contestant.
type Row struct {
	Name  string `json:"name"`
	Ours  bool   `json:"ours,omitempty"`
	Cells []Cell `json:"cells"`
}

// Cell is one number or text.
type Cell struct {
	Text    string    `json:"text,omitempty"`    // instead of a number
	Value   float64   `json:"value,omitempty"`   // median of the samples
	Samples []float64 `json:"samples,omitempty"` // one a round
	Suffix  string    `json:"suffix,omitempty"`  // after the number: "x", "%"
	Number  bool      `json:"number,omitempty"`
}

// Text is a cell of words.
func Text(s string) Cell { return Cell{Text: s} }

// Number is a cell with the median of some samples; none: nothing measured.
func Number(samples ...float64) Cell {
	if len(samples) == 0 {
		return Cell{}
	}
	return Cell{Number: true, Value: Median(samples), Samples: samples}
}

// Ratio is a cell with the median of the ratios of two series of samples,
// taken round by round, since a machine's speed drifts.
func Ratio(a, b []float64) Cell {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	c := Number(ratios...)
	c.Suffix = "x"
	return c
}

// Median of samples, 0 of none.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (c Cell) String() string {
	switch {
	case c.Text != "":
		return c.Text
	case !c.Number:
		return "–"
	}
	s := Format(c.Value) + c.Suffix
	if c.Suffix == "x" && len(c.Samples) > 1 {
		s += " [" + Format(slices.Min(c.Samples)) + "–" + Format(slices.Max(c.Samples)) + "]"
	}
	return s
}

// Format writes a number with three significant digits, thousands apart.
func Format(v float64) string {
	size := math.Abs(v)
	switch {
	case v == math.Trunc(v) && size < 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size < 1:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case size < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case size < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Read reads the JSON of a report.
func Read(file string) (*Report, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("%s is not a report: %w", file, err)
	}
	if len(r.Sections) == 0 {
		return nil, fmt.Errorf("%s is not a report: it has no sections", file)
	}
	return r, nil
}

// Write writes NAME.json, NAME.md and NAME.html into dir and returns their
// paths.
func (r *Report) Write(dir, name string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, err
	}
	page, err := r.HTML()
	if err != nil {
		return nil, err
	}
	var paths []string
	var errs []error
	for _, f := range []struct {
		ext     string
		content []byte
	}{{".json", append(raw, '\n')}, {".md", []byte(r.Markdown())}, {".html", page}} {
		path := filepath.Join(dir, name+f.ext)
		paths = append(paths, path)
		errs = append(errs, os.WriteFile(path, f.content, 0o644))
	}
	return paths, errors.Join(errs...)
}
