package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	text "text/template"
	"time"
	"unicode/utf8"
)

var (
	//go:embed page.md
	markdownText string
	//go:embed page.html
	pageText string
	//go:embed page.css
	style string

	markdown = text.Must(text.New("").Funcs(text.FuncMap{
		"line": func(s string) string { return strings.ReplaceAll(s, "\n", " ") },
	}).Parse(markdownText))
	page = template.Must(template.New("").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style) },
		"json":  func(r *Report) (string, error) { data, err := json.Marshal(r); return string(data), err },
	}).Parse(pageText))
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
	if err := markdown.Execute(&b, r); err != nil {
		panic(err) // the template does not match Report
	}
	return b.String()
}

// HTML returns the report as one page that loads no other files.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, r)
	return b.Bytes(), err
}

// Print writes the tables for a terminal.
func (r *Report) Print(w io.Writer) {
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(w, "%s\n  %s\n\n", title, strings.Join(lines, "\n  "))
		}
	}
	if r.Answer != "" {
		fmt.Fprintf(w, "%s\n\n", r.Answer)
	}
	list("Doubtful", r.Warnings())
	for _, f := range r.Facts() {
		fmt.Fprintf(w, "%-15s%s\n", f[0]+":", f[1])
	}
	for _, s := range r.Sections {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		s.Table.print(w)
	}
	fmt.Fprintln(w)
	list("Not measured", r.Notes)
}

// print writes the table with aligned columns: names to the left, figures to the
// right.
func (t *Table) print(w io.Writer) {
	widths := make([]int, len(t.Columns)+1)
	rows := [][]string{{t.First}}
	for _, c := range t.Columns {
		rows[0] = append(rows[0], c.Name)
	}
	for _, r := range t.Rows {
		texts := []string{r.Name}
		for _, c := range r.Cells {
			texts = append(texts, c.String())
		}
		rows = append(rows, texts)
	}
	for _, texts := range rows {
		for i, s := range texts {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	for _, texts := range rows {
		line := fmt.Sprintf("  %-*s", widths[0], texts[0])
		for i, s := range texts[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], s)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
