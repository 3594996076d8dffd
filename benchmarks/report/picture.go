package report

import (
	"fmt"
	"html"
)

// theme is the colours of a picture that stands alone.
type theme struct{ paper, ink, soft, bar, ours string }

var (
	light = theme{"#ffffff", "#1c2430", "#5b6675", "#b4bfcc", "#0f766e"}
	dark  = theme{"#14181f", "#e4e8ee", "#98a4b3", "#4b5768", "#2dd4bf"}
)

// Picture is a chart of bars as an SVG file, for pages that cannot style it.
func (c *Chart) Picture(night bool) string {
	d := drawing{width: chartWidth}
	d.bars(c)
	t := light
	if night {
		t = dark
	}
	style := fmt.Sprintf(`text{font:13px system-ui,"Segoe UI","Liberation Sans",sans-serif;fill:%s}`+
		`.name{text-anchor:end}.value{fill:%s;font-size:12px}.panel{font-weight:600}.bar{fill:%s}.bar.ours{fill:%s}text.ours{font-weight:600;fill:%s}.spread{stroke:%s;opacity:.7}`,
		t.ink, t.soft, t.bar, t.ours, t.ours, t.ink)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s"><style>%s</style>`+
		`<rect width="100%%" height="100%%" fill="%s"/>%s</svg>`+"\n",
		chartWidth, d.height+6, html.EscapeString(c.Title), style, t.paper, d.b.String())
}
