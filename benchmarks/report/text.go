package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// facts are the lines above the sections.
func (r *Report) facts() [][2]string {
	facts := [][2]string{
		{"Machine", r.Machine.String()},
		{"Run", fmt.Sprintf("%s, took %s", r.Began.UTC().Format("2006-01-02 15:04 UTC"), time.Duration(r.Took*float64(time.Second)).Round(time.Second))},
		{"Versions", strings.Join(r.Versions, "; ")},
		{"Settings", strings.Join(r.Settings, "; ")},
		{"Command", r.Command},
	}
	if r.Baseline != "" {
		facts = append(facts, [2]string{"Compared with", r.Baseline})
	}
	if r.Interrupted {
		facts = append(facts, [2]string{"Interrupted", "the run was stopped before its end; this is what it had measured"})
	}
	return facts
}

// text is the cell with its change, for the text forms.
func (c Cell) text() string {
	if _, change := c.change(); change != "" {
		return c.String() + " (" + change + ")"
	}
	return c.String()
}

// Markdown returns the report as a page of Markdown.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", r.Title)
	if r.Intro != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Intro)
	}
	for _, f := range r.facts() {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], f[1])
	}
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		if s.Text != "" {
			fmt.Fprintf(&b, "%s\n\n", s.Text)
		}
		fmt.Fprintf(&b, "| %s |", s.Table.First)
		for _, c := range s.Table.Columns {
			fmt.Fprintf(&b, " %s |", c.Name)
		}
		fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---:|", len(s.Table.Columns)))
		for _, row := range s.Table.Rows {
			name := row.Name
			if row.Ours {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&b, "| %s |", name)
			for _, c := range row.Cells {
				fmt.Fprintf(&b, " %s |", c.text())
			}
			b.WriteByte('\n')
		}
	}
	for i, warning := range r.warnings() {
		if i == 0 {
			b.WriteString("\n## Doubtful\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", warning)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n## Not measured\n\n")
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(n, "\n", " "))
		}
	}
	return b.String()
}

// Print writes the tables for a terminal.
func (r *Report) Print(w io.Writer) {
	for _, f := range r.facts() {
		fmt.Fprintf(w, "%-15s%s\n", f[0]+":", f[1])
	}
	for _, s := range r.Sections {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		s.Table.print(w)
	}
	for i, warning := range r.warnings() {
		if i == 0 {
			fmt.Fprintln(w, "\nDoubtful")
		}
		fmt.Fprintln(w, "  "+warning)
	}
	for i, n := range r.Notes {
		if i == 0 {
			fmt.Fprintln(w, "\nNot measured")
		}
		fmt.Fprintln(w, "  "+n)
	}
}

func (t *Table) print(w io.Writer) {
	widths := make([]int, len(t.Columns)+1)
	rows := [][]string{make([]string, len(t.Columns)+1)}
	rows[0][0] = t.First
	for i, c := range t.Columns {
		rows[0][i+1] = c.Name
	}
	for _, r := range t.Rows {
		texts := []string{r.Name}
		for _, c := range r.Cells {
			texts = append(texts, c.text())
		}
		rows = append(rows, texts)
	}
	for _, texts := range rows {
		for i, s := range texts {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	for _, texts := range rows {
		var line strings.Builder
		for i, s := range texts {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if i == 0 {
				pad, s = s, pad // names to the left, numbers to the right
			}
			line.WriteString("  " + pad + s)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
