package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Chart is a picture: panels of bars, or lines.
type Chart struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`             // of the values
	Better string  `json:"better,omitempty"` // "more" or "less"
	Panels []Panel `json:"panels,omitempty"`
	Lines  *Lines  `json:"lines,omitempty"`
}

// scale says what the values are, which of them are better, and how far apart
// equal steps of the axis are.
func (c *Chart) scale() string {
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

// Widths of a chart in the units of its view box, which are pixels of a text:
// for a page that has the room, and for a telephone.
const (
	chartWidth  = 960.0
	narrowWidth = 360.0
)

// svg draws a chart; without values it returns "".
func (c *Chart) svg(width float64) raw {
	d := drawing{width: width}
	switch {
	case c.Lines != nil:
		d.lines(c)
	default:
		d.bars(c)
	}
	if d.height == 0 {
		return ""
	}
	class := "broad"
	if d.narrow() {
		class = "narrow"
	}
	head := fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" class="%s" role="img" aria-label="%s">`,
		width, d.height, class, html.EscapeString(c.Title))
	return raw(head + d.b.String() + "</svg>")
}

// drawing collects the elements of a picture.
type drawing struct {
	b             strings.Builder
	width, height float64
}

// narrow reports whether names have no room beside what they name.
func (d *drawing) narrow() bool { return d.width < chartWidth }

func (d *drawing) text(x, y float64, class, s string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

func oursClass(ours bool, class string) string {
	if ours {
		return class + " ours"
	}
	return class
}

// textWidth is about how wide a text is, in bold.
func textWidth(s string) float64 { return 7.8 * float64(utf8.RuneCountInString(s)) }

// bars draws the panels below each other, the longest bar first. Where it is
// narrow, names are above their bars.
func (d *drawing) bars(c *Chart) {
	const step, thick = 22.0, 14.0
	left, right, above := 40.0, 90.0, 0.0
	for _, p := range c.Panels {
		for _, b := range p.Bars {
			left = max(left, textWidth(b.Name)+14)
		}
	}
	if d.narrow() {
		left, right, above = 2, 72, 17
	}
	y := 6.0
	for _, p := range c.Panels {
		bars := slices.DeleteFunc(slices.Clone(p.Bars), func(b Bar) bool { return b.Value <= 0 })
		if len(bars) == 0 {
			continue
		}
		slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
		if p.Title != "" {
			y += 16
			d.text(left, y, "panel", p.Title)
			y += 10
		}
		longest := bars[0].Value
		for _, b := range bars {
			longest = max(longest, b.Most)
		}
		scale := (d.width - left - right) / longest
		for _, b := range bars {
			length := max(b.Value*scale, 1.5)
			name := oursClass(b.Ours, "name")
			if d.narrow() {
				d.text(left, y+above-3, name+" start", b.Name)
			} else {
				d.text(left-8, y+thick-2.5, name, b.Name)
			}
			y += above
			fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s"><title>%s: %s %s</title></rect>`,
				left, y, length, thick, oursClass(b.Ours, "bar"), html.EscapeString(b.Name), Format(b.Value), html.EscapeString(c.Unit))
			d.spread(b, left, y+thick/2, scale)
			d.text(left+max(length, b.Most*scale)+6, y+thick-2.5, oursClass(b.Ours, "value"), Format(b.Value))
			y += step
		}
		y += 8
		d.height = y
	}
}

// spread draws a thin line from the least to the greatest round of a bar.
func (d *drawing) spread(b Bar, left, y, scale float64) {
	const half = 3.5
	if b.Most <= 0 {
		return
	}
	from, to := left+b.Least*scale, left+b.Most*scale
	d.line(from, y, to, y, "spread")
	d.line(from, y-half, from, y+half, "spread")
	d.line(to, y-half, to, y+half, "spread")
}

// axis maps values to places.
type axis struct {
	low, high float64
	from, to  float64
	log       bool
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(max(v, a.low))
	}
	if high == low {
		return a.from
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// ticks are round values along an axis.
func (a axis) ticks() []float64 {
	var at []float64
	if a.log {
		for v := math.Pow(10, math.Ceil(math.Log10(a.low)-1e-9)); v <= a.high*1.0001; v *= 10 {
			at = append(at, v)
		}
		return at
	}
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (a.high-a.low)/(step*m) <= 5 {
			step *= m
			break
		}
	}
	for v := math.Ceil(a.low/step) * step; v <= a.high*1.0001; v += step {
		at = append(at, v)
	}
	return at
}

// lines draws series over one axis, each named at its end.
func (d *drawing) lines(c *Chart) {
	const top, height = 14.0, 380.0
	l := c.Lines
	left, right := 64.0, 60.0
	for _, s := range l.Series {
		right = max(right, textWidth(s.Name)+70)
	}
	if d.narrow() {
		left, right = 44, 16
	}
	xs := axis{low: math.Inf(1), high: math.Inf(-1), from: left, to: d.width - right}
	ys := axis{low: math.Inf(1), high: math.Inf(-1), from: top + height, to: top, log: l.Log}
	for _, s := range l.Series {
		for _, p := range s.Points {
			xs.low, xs.high = min(xs.low, p[0]), max(xs.high, p[0])
			ys.low, ys.high = min(ys.low, p[1]), max(ys.high, p[1])
		}
	}
	if xs.low > xs.high || ys.high <= 0 {
		return // no points
	}
	if l.Log {
		ys.low = math.Pow(10, math.Floor(math.Log10(max(ys.low, ys.high/1e6))))
		ys.high = math.Pow(10, math.Ceil(math.Log10(ys.high)))
	} else {
		ys.low = 0
	}
	for _, v := range ys.ticks() {
		d.line(left, ys.at(v), d.width-right, ys.at(v), "grid")
		d.text(left-8, ys.at(v)+4, "tick end", Format(v))
	}
	ticks := l.Ticks
	if ticks == nil {
		for _, v := range xs.ticks() {
			ticks = append(ticks, Tick{v, Format(v)})
		}
	}
	end := 0.0
	for _, t := range ticks {
		d.line(xs.at(t.At), top, xs.at(t.At), top+height, "grid")
		if at, half := xs.at(t.At), textWidth(t.Text)/2; at-half > end {
			d.text(at, top+height+18, "tick mid", t.Text)
			end = at + half
		}
	}
	d.text((left+d.width-right)/2, top+height+38, "tick mid", l.X)
	d.height = top + height + 48
	d.series(l.Series, xs, ys, c.Unit, top, top+height)
}

// series draws the lines and puts their names beside their ends, moved apart
// where they would overlap, or below the picture where it is narrow.
func (d *drawing) series(series []Series, xs, ys axis, unit string, top, bottom float64) {
	type label struct {
		n    int
		y    float64
		from float64
	}
	var labels []label
	for n, s := range series {
		if len(s.Points) == 0 {
			continue
		}
		end := ys.at(s.Points[len(s.Points)-1][1])
		labels = append(labels, label{n, end, end})
	}
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	const apart = 16.0
	for i := range labels {
		if i > 0 {
			labels[i].y = max(labels[i].y, labels[i-1].y+apart)
		} else {
			labels[i].y = max(labels[i].y, top+4)
		}
	}
	for i := len(labels) - 1; i >= 0; i-- { // and back up, when the last one fell out
		limit := bottom
		if i < len(labels)-1 {
			limit = labels[i+1].y - apart
		}
		labels[i].y = min(labels[i].y, limit)
	}
	slices.SortFunc(labels, func(a, b label) int { // ours on top of the others
		return cmp.Or(cmp.Compare(rank(series[a.n].Ours), rank(series[b.n].Ours)), cmp.Compare(a.n, b.n))
	})
	ours := 0 // which have shades and dashes of their own
	for _, at := range labels {
		s := series[at.n]
		points := make([]string, len(s.Points))
		for i, p := range s.Points {
			points[i] = fmt.Sprintf("%.1f,%.1f", xs.at(p[0]), ys.at(p[1]))
		}
		last := s.Points[len(s.Points)-1]
		x := xs.at(last[0])
		kind := "c"
		if s.Ours {
			kind = "o"
			ours++
			at.n = ours - 1
		}
		fmt.Fprintf(&d.b, `<g class="%s %s%d"><title>%s: %s %s at the end</title>`, oursClass(s.Ours, "series"), kind, at.n%8,
			html.EscapeString(s.Name), Format(last[1]), html.EscapeString(unit))
		fmt.Fprintf(&d.b, `<polyline points="%s"/>`, strings.Join(points, " "))
		for _, p := range s.Points {
			fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="2.5"/>`, xs.at(p[0]), ys.at(p[1]))
		}
		label := oursClass(s.Ours, "label")
		if d.narrow() {
			fmt.Fprintf(&d.b, `<polyline points="2,%.1f 22,%[1]f"/>`, d.height+8)
			d.text(27, d.height+12, label, Format(last[1])+"  "+s.Name)
			d.height += 18
		} else {
			d.line(x+4, at.from, xs.to+14, at.y, "leader")
			d.text(xs.to+18, at.y+4, label, s.Name+"  "+Format(last[1]))
		}
		d.b.WriteString("</g>")
	}
}

func rank(ours bool) int {
	if ours {
		return 1
	}
	return 0
}
