package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg":   func(c Chart) template.HTML { return c.svg() },
	"delta": delta,
}).Parse(pageText))

// delta is the class and text of a change.
type deltaText struct{ Class, Text string }

// noise is how much two runs differ by themselves: less has no colour.
const noise = 0.1

func delta(t Table, column int, c Cell) deltaText {
	share, text := c.change()
	d := deltaText{"delta", text}
	if share < noise && share > -noise || column >= len(t.Columns) {
		return d
	}
	switch better := t.Columns[column].Better; {
	case better == "":
	case (better == "more") == (share > 0):
		d.Class += " good"
	default:
		d.Class += " bad"
	}
	return d
}

// HTML returns the report as one page that needs nothing else.
func (r *Report) HTML() ([]byte, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, struct {
		*Report
		Facts [][2]string
		Raw   string
	}{r, r.facts(), string(raw)})
	if err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return b.Bytes(), nil
}
