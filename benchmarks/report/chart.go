package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a picture: panels of bars, or lines.
type Chart struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`             // of the values
	Better string  `json:"better,omitempty"` // "more" or "less"
	Panels []Panel `json:"panels,omitempty"`
	Lines  *Lines  `json:"lines,omitempty"`
}

// Panel is one set of bars, which share a scale of their own.
type Panel struct {
	Title string `json:"title,omitempty"`
	Bars  []Bar  `json:"bars"`
}

// Bar is one contestant's value, and the least and greatest of the rounds; 0
// where there was one.
type Bar struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Ours  bool    `json:"ours,omitempty"`
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
}

// Median is a bar of the median of samples, one a round.
func (b Bar) Median(samples []float64) Bar {
	b.Value = Median(samples)
	if len(samples) > 1 {
		b.Least, b.Most = slices.Min(samples), slices.Max(samples)
	}
	return b
}

// Lines are series over a common axis.
type Lines struct {
	X      string   `json:"x"` // name of the axis
	Ticks  []Tick   `json:"ticks,omitempty"`
	Log    bool     `json:"log,omitempty"` // the values' axis is logarithmic
	Series []Series `json:"series"`
}

// Tick names a place on the X axis.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Series is one line.
type Series struct {
	Name   string       `json:"name"`
	Ours   bool         `json:"ours,omitempty"`
	Points [][2]float64 `json:"points"`
}

// Scale says what the values are, which of them are better, and how far apart
// equal steps of the axis are.
func (c *Chart) Scale() string {
	text := c.Unit
	if c.Better != "" {
		text += "; " + c.Better + " is better"
	}
	if c.Lines != nil && c.Lines.Log {
		text += "; logarithmic scale"
	}
	if slices.ContainsFunc(c.Panels, func(p Panel) bool { return slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Most > 0 }) }) {
		text += "; thin lines: from the least to the greatest round"
	}
	return text
}

// theme is the colours of a picture.
type theme struct {
	paper, ink, soft, bar, ours color.Color
	lines                       []color.Color
}

// rgb is a colour of six hexadecimal digits.
func rgb(c uint32) color.Color {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

var (
	light = theme{
		rgb(0xffffff), rgb(0x1c2430), rgb(0x5b6675), rgb(0xb4bfcc), rgb(0x0f766e),
		[]color.Color{rgb(0x7c8da3), rgb(0xc08457), rgb(0x8b7bb5), rgb(0xb56b84), rgb(0x6b93b5), rgb(0x9a9a54), rgb(0xa3785f), rgb(0x708c78)},
	}
	dark = theme{rgb(0x14181f), rgb(0xe4e8ee), rgb(0x98a4b3), rgb(0x4b5768), rgb(0x2dd4bf), nil}
)

// Sizes in points.
const (
	chartWidth  = 720
	barHeight   = 17
	titleHeight = 22
	linesHeight = 330
	nameWidth   = 6.2 // of a character
)

// Picture is a chart of bars as an SVG file, for pages that cannot style it.
func (c *Chart) Picture(night bool) string {
	t := light
	if night {
		t = dark
	}
	return c.bars(t)
}

// SVG is the chart as a part of a page; "" without values.
func (c *Chart) SVG() template.HTML {
	picture := c.bars(light)
	if c.Lines != nil {
		picture = c.lines(light)
	}
	m := svgPattern.FindStringSubmatch(picture)
	if m == nil {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg %s role="img" aria-label="%s">%s`, m[1], html.EscapeString(c.Title), m[2])) //nolint:gosec // plot escapes texts
}

// svgPattern finds the view box and the elements of an SVG file.
var svgPattern = regexp.MustCompile(`(?s)<svg[^>]*(viewBox="[^"]*")[^>]*>(.*)`)

// styled is an empty plot in the colours of a theme.
func (t theme) styled() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = t.paper
	p.Title.TextStyle.Color = t.ink
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color, a.Tick.Color, a.Tick.Label.Color = t.soft, t.soft, t.soft, t.ink
	}
	for _, style := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
		style.Variant, style.Size = "Sans", 9.5
	}
	return p
}

// write returns the SVG that draw has drawn.
func write(height float64, drawing func(draw.Canvas)) string {
	canvas := vgsvg.New(chartWidth, vg.Length(height))
	drawing(draw.New(canvas))
	var b bytes.Buffer
	_, _ = canvas.WriteTo(&b) // of a buffer
	return b.String()
}

// shown are the bars that have a value, the longest last: it is drawn on top.
func (p Panel) shown() []Bar {
	bars := slices.DeleteFunc(slices.Clone(p.Bars), func(b Bar) bool { return b.Value <= 0 })
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
	slices.Reverse(bars)
	return bars
}

// bars draws the panels below each other.
func (c *Chart) bars(t theme) string {
	height, left := 0.0, 0
	for _, p := range c.Panels {
		bars := p.shown()
		if len(bars) > 0 {
			height += titleHeight + barHeight*float64(len(bars))
		}
		for _, b := range bars {
			left = max(left, len([]rune(b.Name)))
		}
	}
	if height == 0 {
		return ""
	}
	return write(height, func(all draw.Canvas) {
		top := all.Max.Y
		for _, panel := range c.Panels {
			bars := panel.shown()
			if len(bars) == 0 {
				continue
			}
			p, most := t.styled(), 0.0
			p.Title.Text = panel.Title
			p.HideX()
			names := make([]string, len(bars))
			labels := plotter.XYLabels{}
			for i, b := range bars {
				// Of one length, so that the bars of all panels begin at one place.
				names[i] = strings.Repeat(" ", max(0, left-len([]rune(b.Name)))) + b.Name
				bar, _ := plotter.NewBarChart(plotter.Values{b.Value}, barHeight-5) // one value is enough
				bar.Horizontal, bar.XMin, bar.Color, bar.LineStyle.Width = true, float64(i), t.bar, 0
				if b.Ours {
					bar.Color = t.ours
				}
				p.Add(bar)
				most = max(most, b.Value, b.Most)
				if b.Most > 0 {
					whisker, _ := plotter.NewXErrorBars(rounds{b, float64(i)})
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
			p.Y.Tick.Label.Font.Variant = "Mono"
			p.Y.Tick.Label.Font.Size = 9
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, most*1.13, -0.6, float64(len(bars))-0.4
			bottom := top - titleHeight - barHeight*vg.Length(len(bars))
			p.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: all.Min.X, Y: bottom}, Max: vg.Point{X: all.Max.X, Y: top}}})
			top = bottom
		}
	})
}

// rounds is the error bar of a bar, for plotter.
type rounds struct {
	bar Bar
	at  float64
}

func (s rounds) Len() int              { return 1 }
func (s rounds) XY(int) (x, y float64) { return s.bar.Value, s.at }
func (s rounds) XError(int) (float64, float64) {
	return s.bar.Value - s.bar.Least, s.bar.Most - s.bar.Value
}

// lines draws series over one axis, with their last values in the legend.
func (c *Chart) lines(t theme) string {
	p, legend, longest := t.styled(), plot.NewLegend(), 0
	p.X.Label.Text = c.Lines.X
	least, drawn := math.Inf(1), 0
	for _, s := range c.Lines.Series {
		points := make(plotter.XYs, 0, len(s.Points))
		for _, point := range s.Points {
			if !c.Lines.Log || point[1] > 0 {
				points = append(points, plotter.XY{X: point[0], Y: point[1]})
				least = min(least, point[1])
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			continue
		}
		line.Color, line.Width = t.lines[drawn%len(t.lines)], 1.4
		if s.Ours { // which are told apart by dashes
			line.Color, line.Width, line.Dashes = t.ours, 2.2, [][]vg.Length{nil, {8, 4}, {3, 3}, {12, 3, 2, 3}, {2, 6}}[drawn%5]
		}
		drawn++
		dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, 2
		p.Add(line, dots)
		name := s.Name + "  " + Format(points[len(points)-1].Y)
		legend.Add(name, line)
		longest = max(longest, len([]rune(name)))
	}
	if drawn == 0 {
		return ""
	}
	legend.Top, legend.Left, legend.TextStyle.Color = true, true, t.ink
	legend.TextStyle.Font.Variant, legend.TextStyle.Font.Size = "Sans", 9
	p.Y.Tick.Marker = numbers{plot.DefaultTicks{}}
	if p.X.Tick.Marker = (numbers{plot.DefaultTicks{}}); len(c.Lines.Ticks) > 0 {
		var ticks plot.ConstantTicks
		for _, tick := range c.Lines.Ticks {
			ticks = append(ticks, plot.Tick{Value: tick.At, Label: tick.Text})
		}
		p.X.Tick.Marker = ticks
	}
	if p.Y.Min = 0; c.Lines.Log {
		p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, numbers{plot.LogTicks{Prec: -1}}
	}
	p.Add(plotter.NewGrid())
	return write(linesHeight, func(all draw.Canvas) {
		right := vg.Length(float64(longest)*nameWidth*0.85 + 40)
		p.Draw(draw.Crop(all, 0, -right, 0, 0))
		legend.Draw(draw.Crop(all, chartWidth-right+8, 0, 0, -8))
	})
}

// numbers are ticks whose labels are written as the tables' numbers are.
type numbers struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (n numbers) Ticks(from, to float64) []plot.Tick {
	ticks := n.Ticker.Ticks(from, to)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = Format(ticks[i].Value)
		}
	}
	return ticks
}
