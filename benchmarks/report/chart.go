package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"regexp"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a bar chart with one or more panels.
type Chart struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`             // of the values
	Better string  `json:"better,omitempty"` // "more" or "less"
	Panels []Panel `json:"panels,omitempty"`
}

// Panel is a set of bars with one scale.
type Panel struct {
	Title string `json:"title,omitempty"`
	Bars  []Bar  `json:"bars"`
}

// Bar is one contestant's value, and the least and the greatest of its rounds, which
// are 0 if there was only one round.
type Bar struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Ours  bool    `json:"ours,omitempty"`
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
}

// Median returns b with the median and the range of samples, one per round.
func (b Bar) Median(samples []float64) Bar {
	b.Value = Median(samples)
	if len(samples) > 1 {
		b.Least, b.Most = slices.Min(samples), slices.Max(samples)
	}
	return b
}

// Scale returns the legend: the unit, which values are better, and the meaning of
// the thin lines.
func (c *Chart) Scale() string {
	text := c.Unit
	if c.Better != "" {
		text += "; " + c.Better + " is better"
	}
	if slices.ContainsFunc(c.Panels, func(p Panel) bool { return slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Most > 0 }) }) {
		text += "; thin lines: from the least to the greatest round"
	}
	return text
}

// theme holds the colours of a chart.
type theme struct{ paper, ink, soft, bar, ours color.Color }

// rgb returns a colour, given as six hexadecimal digits.
func rgb(c uint32) color.Color {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

var (
	light = theme{rgb(0xffffff), rgb(0x1c2430), rgb(0x5b6675), rgb(0xb4bfcc), rgb(0x0f766e)}
	dark  = theme{rgb(0x14181f), rgb(0xe4e8ee), rgb(0x98a4b3), rgb(0x4b5768), rgb(0x2dd4bf)}
)

// Sizes in points.
const (
	chartWidth  = 720
	barHeight   = 17
	titleHeight = 22
)

// SVG returns the chart as an element of an HTML page; "" without values.
func (c *Chart) SVG() template.HTML {
	m := svgPattern.FindStringSubmatch(c.Picture(false))
	if m == nil {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg %s role="img" aria-label="%s">%s`, m[1], html.EscapeString(c.Title), m[2])) // plot escapes texts
}

// svgPattern matches the view box and the content of an SVG file.
var svgPattern = regexp.MustCompile(`(?s)<svg[^>]*(viewBox="[^"]*")[^>]*>(.*)`)

// shown returns the bars that have a value, in ascending order: the last is drawn on
// top.
func (p Panel) shown() []Bar {
	bars := slices.DeleteFunc(slices.Clone(p.Bars), func(b Bar) bool { return b.Value <= 0 })
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(a.Value, b.Value) })
	return bars
}

// height returns the height of a panel, 0 without values.
func (p Panel) height() vg.Length {
	if n := len(p.shown()); n > 0 {
		return titleHeight + barHeight*vg.Length(n)
	}
	return 0
}

// Picture returns the panels, one below the other, as an SVG file in light or dark
// (night) colours; "" without values.
func (c *Chart) Picture(night bool) string {
	t := light
	if night {
		t = dark
	}
	sum, left := vg.Length(0), 0
	for _, p := range c.Panels {
		sum += p.height()
		for _, b := range p.shown() {
			left = max(left, utf8.RuneCountInString(b.Name))
		}
	}
	if sum == 0 {
		return ""
	}
	canvas := vgsvg.New(chartWidth, sum)
	all := draw.New(canvas)
	for _, panel := range c.Panels {
		if panel.height() > 0 {
			part := all
			part.Min.Y = all.Max.Y - panel.height()
			t.plot(panel.Title, panel.shown(), left).Draw(part)
			all.Max.Y = part.Min.Y
		}
	}
	var b bytes.Buffer
	_, _ = canvas.WriteTo(&b) // a bytes.Buffer returns no error
	return b.String()
}

// plot draws the bars of one panel. Names are padded to width characters.
func (t theme) plot(title string, bars []Bar, width int) *plot.Plot {
	p, most := plot.New(), 0.0
	p.BackgroundColor = t.paper
	p.Title.Text, p.Title.TextStyle.Color, p.Title.TextStyle.Font.Variant, p.Title.TextStyle.Font.Size = title, t.ink, "Sans", 9.5
	p.Y.Color, p.Y.Tick.Color, p.Y.Tick.Label.Color = t.soft, t.soft, t.ink
	p.HideX()
	names := make([]string, len(bars))
	labels := plotter.XYLabels{}
	for i, b := range bars {
		// Names of equal length align the bars of all panels.
		names[i] = fmt.Sprintf("%*s", width, b.Name)
		bar, _ := plotter.NewBarChart(plotter.Values{b.Value}, barHeight-5) // fails only without values
		bar.Horizontal, bar.XMin, bar.Color, bar.LineStyle.Width = true, float64(i), t.bar, 0
		if b.Ours {
			bar.Color = t.ours
		}
		p.Add(bar)
		most = max(most, b.Value, b.Most)
		if b.Most > 0 {
			whisker, _ := plotter.NewXErrorBars(struct {
				plotter.XYs
				plotter.XErrors
			}{plotter.XYs{{X: b.Value, Y: float64(i)}}, plotter.XErrors{{Low: b.Value - b.Least, High: b.Most - b.Value}}})
			whisker.LineStyle.Color, whisker.CapWidth = t.ink, 5
			p.Add(whisker)
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: max(b.Value, b.Most), Y: float64(i)})
		labels.Labels = append(labels.Labels, " "+Format(b.Value))
	}
	values, _ := plotter.NewLabels(labels)
	for i := range values.TextStyle {
		values.TextStyle[i].Color, values.TextStyle[i].YAlign = t.soft, draw.YCenter
		values.TextStyle[i].Font.Variant, values.TextStyle[i].Font.Size = "Sans", 9
	}
	p.Add(values)
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Variant, p.Y.Tick.Label.Font.Size = "Mono", 9
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, most*1.13, -0.6, float64(len(bars))-0.4
	return p
}
