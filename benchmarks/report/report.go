// Package report holds the results of a benchmark and writes them as text for a
// terminal, as Markdown, as JSON and as one HTML page with charts.
//
// A Report has Sections, each with a Table and Charts. A Cell of a table holds one
// sample per round, and shows their median. Read reads the JSON, from which all
// other forms can be made again. So fields of the JSON keep their names.
package report

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	text "text/template"
	"time"
	"unicode/utf8"

	"github.com/prometheus/procfs"
)

// Report is one run of a benchmark.
type Report struct {
	Title       string    `json:"title"`
	Answer      string    `json:"answer,omitempty"` // summary in three sentences
	Intro       string    `json:"intro,omitempty"`
	Command     string    `json:"command"`
	Began       time.Time `json:"began"`
	Took        float64   `json:"took_seconds"`
	Interrupted bool      `json:"interrupted,omitempty"` // the report is incomplete
	Machine     Machine   `json:"machine"`
	Versions    []string  `json:"versions"`
	Settings    []string  `json:"settings"`
	Sections    []Section `json:"sections"`
	Notes       []string  `json:"notes,omitempty"`  // measurements that are missing, and why
	Doubts      []string  `json:"doubts,omitempty"` // figures that contradict others, such as one above the floor
}

// Section is a part of a report, with one table.
type Section struct {
	Title  string  `json:"title"`
	Text   string  `json:"text,omitempty"`
	Table  Table   `json:"table"`
	Charts []Chart `json:"charts,omitempty"`
}

// Table holds figures, in most tables a row for each contestant.
type Table struct {
	First   string   `json:"first"` // heading of the rows' names
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column is the heading of a column.
type Column struct {
	Name string `json:"name"`
}

// Columns returns columns with the names.
func Columns(names ...string) (all []Column) {
	for _, name := range names {
		all = append(all, Column{name})
	}
	return all
}

// Row is one row of a table.
type Row struct {
	Name  string `json:"name"`
	Ours  bool   `json:"ours,omitempty"` // nextid's
	Cells []Cell `json:"cells"`          // by column
}

// Of is a column of a table whose rows are about values of one type.
type Of[T any] struct {
	Name string
	Cell func(T) Cell
}

// TableOf returns a table with a row for each of all. row returns the row without
// its cells.
func TableOf[T any](first string, all []T, row func(T) Row, columns ...Of[T]) Table {
	t := Table{First: first}
	for _, c := range columns {
		t.Columns = append(t.Columns, Column{c.Name})
	}
	for _, v := range all {
		r := row(v)
		for _, c := range columns {
			r.Cells = append(r.Cells, c.Cell(v))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// Panel returns a panel of a chart, with a bar for each row's cell of a column.
func (t *Table) Panel(title string, column int) Panel {
	p := Panel{Title: title}
	for _, r := range t.Rows {
		p.Bars = append(p.Bars, Bar{Name: r.Name, Ours: r.Ours}.Median(r.Cells[column].Samples))
	}
	return p
}

// Cell is one number or text.
type Cell struct {
	Text    string    `json:"text,omitempty"`    // instead of a number
	Value   float64   `json:"value,omitempty"`   // median of the samples
	Samples []float64 `json:"samples,omitempty"` // one per round
	Suffix  string    `json:"suffix,omitempty"`  // after the number: "x", "%"
	Number  bool      `json:"number,omitempty"`  // Value was measured
}

// Text returns a cell with a text.
func Text(s string) Cell { return Cell{Text: s} }

// Number returns a cell with the median of samples. Without samples the cell is
// empty.
func Number(samples ...float64) Cell {
	if len(samples) == 0 {
		return Cell{}
	}
	return Cell{Number: true, Value: Median(samples), Samples: samples}
}

// Ratio returns a cell with the median of the ratios of two series of samples. The
// ratios are computed round by round, because a machine's speed drifts.
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

// Median returns the median of samples, 0 without samples.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// String returns the text of the cell, "–" for an empty one. A ratio of several
// rounds includes their range.
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

// Format returns a number with two significant digits below 1, three below 100, and
// no decimals from 100 on. Commas separate thousands.
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

// Write writes NAME.json, NAME.md and NAME.html to dir, and returns their paths.
func (r *Report) Write(dir, name string) ([]string, error) {
	raw, err := json.MarshalIndent(r, "", " ")
	page, err2 := r.HTML()
	if err := errors.Join(err, err2); err != nil {
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

const (
	spread = 1.5 // a figure whose rounds differ by a greater factor gets a warning
	busy   = 1.0 // a greater load before the run gets a warning
)

// Warnings returns the reasons to doubt the figures. They are computed from the
// report, so reports of older versions have them, too.
func (r *Report) Warnings() (all []string) {
	if r.Machine.Load > busy {
		all = append(all, fmt.Sprintf("The machine was at work before the run: its load was %.1f on %d cores.", r.Machine.Load, r.Machine.Cores))
	}
	for _, s := range r.Sections {
		figures, apart, most, where := 0, 0, 0.0, ""
		for _, row := range s.Table.Rows {
			for i, c := range row.Cells {
				if len(c.Samples) < 2 || slices.Min(c.Samples) <= 0 {
					continue
				}
				figures++
				between := slices.Max(c.Samples) / slices.Min(c.Samples)
				if between > spread {
					apart++
				}
				if between > most {
					most, where = between, row.Name+", "+s.Table.Columns[i].Name
				}
			}
		}
		if apart > 0 {
			all = append(all, fmt.Sprintf("%s: %d of %d figures differ by more than %.1f times from round to round; %s by %.1f times.", s.Title, apart, figures, spread, where, most))
		}
	}
	return append(all, r.Doubts...)
}

// Passes reports whether a figure exceeds the floor, a server that only sends fixed
// answers: the median of its rounds is above the floor's best round.
func Passes(samples, floor []float64) bool {
	return len(floor) > 0 && Median(samples) > slices.Max(floor)
}

// Doubt adds a doubt if a figure passes the floor: one of the two measurements was
// disturbed. It returns true then. Charts and ratios leave such a figure out.
func (r *Report) Doubt(where, name string, samples, floor []float64) bool {
	if !Passes(samples, floor) {
		return false
	}
	r.Doubts = append(r.Doubts, fmt.Sprintf("%s: %s passes the floor, %s to %s: one of them was disturbed. It is in no chart and no ratio.",
		where, name, Format(Median(samples)), Format(slices.Max(floor))))
	return true
}

// Machine describes the machine on which a benchmark ran.
type Machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_gb"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Load   float64 `json:"load"` // load average of the minute before the run
}

// ThisMachine describes this machine, from /proc. Values that /proc lacks are zero.
func ThisMachine() Machine {
	m := Machine{
		CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		Kernel: strings.TrimSpace(contentOf("/proc/sys/kernel/ostype") + " " + contentOf("/proc/sys/kernel/osrelease")),
	}
	proc, _ := procfs.NewDefaultFS()
	if cpus, _ := proc.CPUInfo(); len(cpus) > 0 {
		m.CPU = cmp.Or(cpus[0].ModelName, m.CPU)
	}
	if memory, _ := proc.Meminfo(); memory.MemTotalBytes != nil {
		m.Memory = float64(*memory.MemTotalBytes) / 1e9
	}
	if load, _ := proc.LoadAvg(); load != nil {
		m.Load = load.Load1
	}
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, %.0f GB, %s, %s, load before the run %.1f", m.Cores, m.CPU, m.Memory, m.Kernel, m.Go, m.Load)
}

// Congestion returns the line of the settings about TCP's congestion control.
func Congestion() string {
	return "congestion control: " + contentOf("/proc/sys/net/ipv4/tcp_congestion_control") + "; the client, the floor and nextid use reno on loopback"
}

// contentOf returns the content of a small file, "" if it cannot be read.
func contentOf(file string) string {
	content, _ := os.ReadFile(file)
	return strings.TrimSpace(string(content))
}

// files holds the templates of a report, and the style of its page.
//
//go:embed page.*
var files embed.FS

var (
	texts = text.Must(text.New("").Funcs(text.FuncMap{
		"line": func(s string) string { return strings.ReplaceAll(s, "\n", " ") },
	}).ParseFS(files, "page.md", "page.txt"))
	page = template.Must(template.New("").Funcs(template.FuncMap{
		"style": func() (template.CSS, error) {
			style, err := files.ReadFile("page.css")
			return template.CSS(style), err
		},
		"json": func(r *Report) (string, error) { data, err := json.Marshal(r); return string(data), err },
	}).ParseFS(files, "page.html"))
)

// Facts returns the names and values of the lines above the sections.
func (r *Report) Facts() [][2]string {
	facts := [][2]string{
		{"Machine", r.Machine.String()},
		{"Run", fmt.Sprintf("%s, took %s", r.Began.UTC().Format("2006-01-02 15:04 UTC"), time.Duration(r.Took*float64(time.Second)).Round(time.Second))},
		{"Versions", strings.Join(r.Versions, "; ")},
		{"Settings", strings.Join(r.Settings, "; ")},
		{"Command", r.Command},
	}
	if r.Interrupted {
		facts = append(facts, [2]string{"Interrupted", "the run was stopped before its end; this is what it had measured"})
	}
	return facts
}

// Markdown returns the report as a page of Markdown.
func (r *Report) Markdown() string {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, "page.md", r); err != nil {
		panic(err) // the template does not match Report
	}
	return b.String()
}

// HTML returns the report as one page that loads no other files.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.ExecuteTemplate(&b, "page.html", r)
	return b.Bytes(), err
}

// Print writes the tables for a terminal.
func (r *Report) Print(w io.Writer) error { return texts.ExecuteTemplate(w, "page.txt", r) }

// Text returns the table with aligned columns: names to the left, figures to the
// right.
func (t Table) Text() string {
	wide := utf8.RuneCountInString(t.First)
	for _, r := range t.Rows {
		wide = max(wide, utf8.RuneCountInString(r.Name))
	}
	var all strings.Builder
	w := tabwriter.NewWriter(&all, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%-*s\t", wide, t.First)
	for _, c := range t.Columns {
		fmt.Fprintf(w, "%s\t", c.Name)
	}
	for _, r := range t.Rows {
		fmt.Fprintf(w, "\n%-*s\t", wide, r.Name)
		for _, c := range r.Cells {
			fmt.Fprintf(w, "%s\t", c)
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a strings.Builder returns no error
	return all.String()
}
