package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	text "text/template"
	"time"
	"unicode/utf8"
)

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
	var all strings.Builder
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
		fmt.Fprintln(&all, strings.TrimRight(line, " "))
	}
	return all.String()
}
