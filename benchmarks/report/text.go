package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"
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
