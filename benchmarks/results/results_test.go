// Package results checks that README.md and the pictures say what was measured.
package results

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nextid/benchmarks/report"
)

var update = flag.Bool("update", false, "write the table in this folder's README.md and its pictures again")

const readme = "README.md"

// The table stands between these lines.
const (
	begin = "<!-- results: written by make docs from benchmarks/results -->\n"
	end   = "<!-- end of results -->\n"
)

// quoted are the lines of the table: cells of the reports.
var quoted = []struct {
	what, report, section, column string
	rows                          []string
}{
	{
		"ids/s : PostgreSQL `nextval`, 1 / 8 / 32 / 64 connections", "sql", "PostgreSQL's protocol over TCP", "nextid : PostgreSQL CACHE 1",
		[]string{"simple, 1 connection", "simple, 8 connections", "simple, 32 connections", "simple, 64 connections"},
	},
	{
		"the same with prepared statements", "sql", "PostgreSQL's protocol over TCP", "nextid : PostgreSQL CACHE 1",
		[]string{"prepared, 1 connection", "prepared, 8 connections", "prepared, 32 connections", "prepared, 64 connections"},
	},
	{
		"the same pipelined, 8 connections × 16", "sql", "PostgreSQL's protocol over TCP", "nextid : PostgreSQL CACHE 1",
		[]string{"simple, 16 at a time, 8 connections"},
	},
	{
		"CPU per id, PostgreSQL `nextval` : nextid, 8 / 32 connections", "sql", "PostgreSQL's protocol over TCP: CPU and latency", "CPU PostgreSQL CACHE 1 : nextid",
		[]string{"simple, 8 connections", "simple, 32 connections"},
	},
	{
		"ids/s : MariaDB `NEXT VALUE FOR`, CACHE 1000, 1 / 8 / 32 connections", "sql", "MySQL's protocol over TCP", "nextid : MariaDB CACHE 1000",
		[]string{"simple, 1 connection", "simple, 8 connections", "simple, 32 connections"},
	},
	{
		"ids/s : Redis `INCR`, 1 / 8 / 32 connections", "sql", "Beside Redis", "nextid : Redis INCR",
		[]string{"simple, 1 connection", "simple, 8 connections", "simple, 32 connections"},
	},
	{
		"rows/s with ids taken by 1000 : `auto_increment`, 3 MariaDB shards, 8 clients", "compare", "Rows a second", "ratio at 8 clients",
		[]string{"next_id snowflake by 1000, 3 MariaDB shards"},
	},
	{
		"rows/s with one `next_id` a row : `identity` of PostgreSQL, 8 clients", "compare", "Rows a second", "ratio at 8 clients",
		[]string{"next_id snowflake, then INSERT"},
	},
	{
		"rows/s with `DEFAULT next_id` by 1000 through postgres_fdw : `identity`, 8 clients", "compare", "Rows a second", "ratio at 8 clients",
		[]string{"DEFAULT next_id by 1000, postgres_fdw"},
	},
}

// The Markdown beside each report is what its JSON says.
func TestMarkdownIsOfTheReport(t *testing.T) {
	files, err := filepath.Glob("*/report.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		r, err := report.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".md")
		if err != nil || string(text) != r.Markdown() {
			t.Errorf("report.md beside %s is of another report (%v): nextid-bench render benchmarks/results/%s", file, err, file)
		}
	}
}

func TestReadmeQuotesTheResults(t *testing.T) {
	reports := map[string]*report.Report{}
	for _, name := range []string{"sql", "compare"} {
		r, err := report.Read(name + "/report.json")
		if err != nil {
			t.Fatal(err)
		}
		reports[name] = r
	}
	var table strings.Builder
	table.WriteString("| nextid beside | ratio |\n|---|---|\n")
	for _, q := range quoted {
		var ratios []string
		for _, row := range q.rows {
			c, err := cell(reports[q.report], q.section, row, q.column)
			if err != nil {
				t.Fatal(err)
			}
			if c.Number {
				c = report.Text(report.Format(c.Value) + "x")
			}
			ratios = append(ratios, c.Text)
		}
		fmt.Fprintf(&table, "| %s | %s |\n", q.what, strings.Join(ratios, " / "))
	}
	for _, name := range []string{"sql", "compare"} {
		r := reports[name]
		fmt.Fprintf(&table, "\n`%s`, %s, %s.", r.Command, r.Began.UTC().Format("2006-01-02"), r.Machine)
	}
	table.WriteString("\n")
	content, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(content), begin)
	now, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("benchmarks/results/README.md lacks the lines %q and %q", begin, end)
	}
	if now == table.String() {
		return
	}
	if !*update {
		t.Fatalf("benchmarks/results/README.md does not quote the reports; run make docs. It should say:\n%s", table.String())
	}
	if err := os.WriteFile(readme, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawn are the panels of the picture: one setting each, of the run of sql.
var drawn = []struct{ title, row string }{
	{"Ids a second, 8 connections, one at a time", "simple, 8 connections"},
	{"32 connections", "simple, 32 connections"},
	{"8 connections, 16 queries at a time", "simple, 16 at a time, 8 connections"},
}

// contestants are the bars of a panel.
var contestants = []struct {
	name, section, column string
	ours                  bool
}{
	{"nextid", "PostgreSQL's protocol over TCP", "nextid /s", true},
	{"PostgreSQL nextval", "PostgreSQL's protocol over TCP", "PostgreSQL CACHE 1 /s", false},
	{"MariaDB NEXT VALUE, CACHE 1000", "MySQL's protocol over TCP", "MariaDB CACHE 1000 /s", false},
	{"Redis INCR", "Beside Redis", "Redis INCR /s", false},
}

// TestPictures: the pictures of the first page are of the newest run.
func TestPictures(t *testing.T) {
	r, err := report.Read("sql/report.json")
	if err != nil {
		t.Fatal(err)
	}
	chart := report.Chart{Title: "Ids a second of nextid, PostgreSQL, MariaDB and Redis on one machine; more is better", Unit: "ids/s"}
	for _, panel := range drawn {
		p := report.Panel{Title: panel.title}
		for _, c := range contestants {
			value, err := cell(r, c.section, panel.row, c.column)
			if err != nil {
				t.Fatal(err)
			}
			p.Bars = append(p.Bars, report.Bar{Name: c.name, Value: value.Value, Ours: c.ours})
		}
		chart.Panels = append(chart.Panels, p)
	}
	for name, night := range map[string]bool{"light.svg": false, "dark.svg": true} {
		want := chart.Picture(night)
		if got, err := os.ReadFile(name); err == nil && string(got) == want {
			continue
		} else if !*update {
			t.Errorf("%s is not of sql/report.json; run make docs", name)
		} else if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func cell(r *report.Report, section, row, column string) (report.Cell, error) {
	for _, s := range r.Sections {
		for i, c := range s.Table.Columns {
			for _, candidate := range s.Table.Rows {
				if s.Title == section && candidate.Name == row && c.Name == column && candidate.Cells[i].String() != "–" {
					return candidate.Cells[i], nil
				}
			}
		}
	}
	return report.Cell{}, fmt.Errorf("the report has nothing for %s, %s, %s", section, row, column)
}
