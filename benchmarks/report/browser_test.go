package report_test

import (
	"regexp"
	"testing"

	"nextid/benchmarks/report"
	"nextid/benchmarks/report/charttest"
)

func TestABrowserShowsEveryChart(t *testing.T) {
	t.Parallel()
	r := &report.Report{Title: "Charts", Sections: []report.Section{{Title: "One", Charts: []report.Chart{
		{Title: "Bars", Unit: "ids/s", Panels: []report.Panel{{Title: "1 client", Bars: []report.Bar{{Name: "a", Value: 3}, {Name: "b", Value: 5, Ours: true}}}}},
		{Title: "Lines", Unit: "ms", Lines: &report.Lines{X: "rows", Log: true, Series: []report.Series{
			{Name: "a", Points: [][2]float64{{1, 1}, {2, 30}, {3, 1000}}}, {Name: "b", Ours: true, Points: [][2]float64{{1, 2}, {2, 3}, {3, 4}}},
		}}},
	}}}}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, page, 2)
	// The look is one that can fail.
	bare := regexp.MustCompile(`(?s)<polyline.*?/>|<circle.*?/>|<rect.*?</rect>`).ReplaceAll(page, nil)
	for n, marks := range charttest.Marks(t, bare) {
		if marks >= charttest.Enough {
			t.Errorf("chart %d without bars and lines has %d pixels of them", n, marks)
		}
	}
}
