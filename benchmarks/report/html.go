package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

//go:embed page.css
var style string

// delta is the class and text of a change.
type deltaText struct{ class, text string }

// noise is how much two runs differ by themselves: less has no colour.
const noise = 0.1

func delta(t *Table, column int, c Cell) deltaText {
	share, text := c.change()
	d := deltaText{"delta", text}
	if share < noise && share > -noise || column >= len(t.Columns) {
		return d
	}
	switch better := t.Columns[column].Better; {
	case better == "":
	case (better == "more") == (share > 0):
		d.class += " good"
	default:
		d.class += " bad"
	}
	return d
}

// markup collects a page. html/template would keep every method of every type
// in the binary, since it finds methods by name: two megabytes more.
type markup struct{ b strings.Builder }

// raw is a text that is markup itself.
type raw string

// add appends a format; strings in args are escaped.
func (m *markup) add(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(s)
		}
	}
	fmt.Fprintf(&m.b, format, args...)
}

// HTML returns the report as one page that needs nothing else.
func (r *Report) HTML() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var m markup
	m.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
<h1>%s</h1>
`, r.Title, raw(style), r.Title)
	if r.Intro != "" {
		m.add("<p class=\"intro\">%s</p>\n", r.Intro)
	}
	m.add("<dl>")
	for _, fact := range r.facts() {
		m.add("<dt>%s</dt><dd>%s</dd>", fact[0], fact[1])
	}
	m.add("</dl>\n<nav>")
	for i, s := range r.Sections {
		m.add(`<a href="#s%d">%s</a> `, i, s.Title)
	}
	m.add("</nav>\n")
	for i := range r.Sections {
		m.section(i, &r.Sections[i])
	}
	if doubtful := r.warnings(); len(doubtful) > 0 {
		m.add("<h2>Doubtful</h2><ul>")
		for _, warning := range doubtful {
			m.add("<li>%s</li>", warning)
		}
		m.add("</ul>\n")
	}
	if len(r.Notes) > 0 {
		m.add("<h2>Not measured</h2><ul>")
		for _, note := range r.Notes {
			m.add("<li>%s</li>", note)
		}
		m.add("</ul>\n")
	}
	m.add(`<h2>Raw data</h2>
<details><summary>The report as JSON, which <code>--baseline</code> reads</summary><pre>%s</pre></details>
</main>
</body>
</html>
`, string(data))
	return []byte(m.b.String()), nil
}

func (m *markup) section(i int, s *Section) {
	m.add("<section id=\"s%d\">\n<h2>%s</h2>\n", i, s.Title)
	if s.Text != "" {
		m.add("<p>%s</p>\n", s.Text)
	}
	for i := range s.Charts {
		c := &s.Charts[i]
		if picture := c.svg(chartWidth); picture != "" {
			m.add("<figure class=\"chart\"><figcaption>%s <span>%s</span></figcaption>%s%s</figure>\n", c.Title, c.scale(), picture, c.svg(narrowWidth))
		}
	}
	m.table(&s.Table)
	m.add("</section>\n")
}

func (m *markup) table(t *Table) {
	m.add("<div class=\"wide\"><table>\n<thead><tr><th>%s</th>", t.First)
	for _, c := range t.Columns {
		m.add("<th>%s</th>", c.Name)
	}
	m.add("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		class := raw("")
		if row.Ours {
			class = ` class="ours"`
		}
		m.add("<tr%s><td>%s</td>", class, row.Name)
		for i, c := range row.Cells {
			m.add("<td>%s", c.String())
			if d := delta(t, i, c); d.text != "" {
				m.add(`<span class="%s">%s</span>`, d.class, d.text)
			}
			m.add("</td>")
		}
		m.add("</tr>\n")
	}
	m.add("</tbody></table></div>\n")
}
