package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"nextid/benchmarks/report"
)

func TestABrowserShowsEveryChart(t *testing.T) {
	t.Parallel()
	r := &report.Report{Title: "Charts", Sections: []report.Section{{Title: "One", Charts: []report.Chart{
		{Title: "Bars", Unit: "ids/s", Panels: []report.Panel{{Title: "1 client", Bars: []report.Bar{{Name: "a", Value: 3}, {Name: "b", Value: 5, Ours: true}}}}},
		{Title: "Two panels", Unit: "ms", Panels: []report.Panel{{Bars: []report.Bar{{Name: "a", Value: 30}}}, {Bars: []report.Bar{{Name: "b", Value: 4, Ours: true}}}}},
	}}}}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	check(t, page, 2)
	// The check must be able to fail.
	bare := regexp.MustCompile(`(?s)<path.*?/>`).ReplaceAll(page, nil)
	for n, marks := range marksOf(t, bare) {
		if marks >= enough {
			t.Errorf("chart %d without bars has %d pixels of them", n, marks)
		}
	}
}

// Size of the browser's window, which shows all of a page.
const width, height = 1200, 3000

// leastScale is the least size of a picture's unit in pixels. Texts are 12 and 13
// units high.
const leastScale = 0.8

// palette holds the colours of bars in the page's light theme. Texts and grids have
// other colours.
var palette = []color.NRGBA{
	{0xb4, 0xbf, 0xcc, 255},
	{0x0f, 0x76, 0x6e, 255},
}

// enough is the number of pixels in the palette's colours that a chart must have.
const enough = 150

// check opens a page in headless Chromium. It fails the test unless the page shows
// the given number of charts, each with bars. Without Chromium it skips the test.
func check(t *testing.T, page []byte, charts int) {
	t.Helper()
	found := marksOf(t, page)
	if len(found) != charts {
		t.Errorf("the page shows %d charts, want %d", len(found), charts)
	}
	for n, marks := range found {
		if marks < enough {
			t.Errorf("chart %d is empty: %d pixels of bars", n, marks)
		}
	}
}

// marksOf opens a page and counts, for each chart, the pixels of bars.
func marksOf(t *testing.T, page []byte) (found []int) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs the Debian package chromium")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	// The page has no script. This script of the test returns the places of the
	// pictures.
	const where = `<script>addEventListener("load", () => { document.title = JSON.stringify(
		[...document.querySelectorAll("figure.chart svg")].map(s => { const r = s.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom, r.width / s.viewBox.baseVal.width] })
			.filter(place => place[4] > 0)) })</script></body>`
	if err := os.WriteFile(file, bytes.Replace(page, []byte("</body>"), []byte(where), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	dom := run(t, browser, dir, "--dump-dom", "file://"+file)
	picture := filepath.Join(dir, "page.png")
	run(t, browser, dir, "--screenshot="+picture, "file://"+file)
	places := read(t, dom)
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shot, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for n, place := range places {
		if !place.In(shot.Bounds()) {
			t.Errorf("chart %d at %s is outside of the page", n, place)
		}
		found = append(found, marks(shot, place.Intersect(shot.Bounds())))
	}
	return found
}

// run runs the browser and returns what it prints.
func run(t *testing.T, browser, dir string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--user-data-dir=" + filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,%d", width, height),
	}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.Bytes())
	}
	return out
}

// read parses the places that the script wrote to the title.
func read(t *testing.T, dom []byte) (places []image.Rectangle) {
	t.Helper()
	title := regexp.MustCompile(`<title>(\[.*?\])</title>`).FindSubmatch(dom)
	if title == nil {
		t.Fatalf("the script of the test did not run:\n%.500s", dom)
	}
	var sides [][5]float64
	if err := json.Unmarshal([]byte(html.UnescapeString(string(title[1]))), &sides); err != nil {
		t.Fatal(err)
	}
	for n, s := range sides {
		if s[4] < leastScale {
			t.Errorf("the texts of chart %d are shown at %.0f %% of their size", n, 100*s[4])
		}
		places = append(places, image.Rect(int(s[0]), int(s[1]), int(s[2]), int(s[3])))
	}
	return places
}

// marks counts the pixels with a colour of the palette.
func marks(shot image.Image, place image.Rectangle) (found int) {
	for y := place.Min.Y; y < place.Max.Y; y++ {
		for x := place.Min.X; x < place.Max.X; x++ {
			c := color.NRGBAModel.Convert(shot.At(x, y)).(color.NRGBA)
			for _, p := range palette {
				if near(c.R, p.R) && near(c.G, p.G) && near(c.B, p.B) {
					found++
					break
				}
			}
		}
	}
	return found
}

func near(a, b uint8) bool { return max(a, b)-min(a, b) < 8 }
