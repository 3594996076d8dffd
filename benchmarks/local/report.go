package local

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"nextid/benchmarks/report"
)

// Config says how long to measure.
type Config struct {
	Length   time.Duration // of one measurement
	Rounds   int
	Progress *report.Progress
}

// goroutines are the numbers of them that are measured.
var goroutines = []int{1, 2}

// libraries are the modules whose versions a report names.
var libraries = []string{
	"github.com/bwmarrin/snowflake", "github.com/google/uuid", "github.com/oklog/ulid/v2", "github.com/rs/xid", "github.com/sony/sonyflake/v2",
}

// Run measures all contenders. After an interruption it reports what there is.
func Run(ctx context.Context, c Config) (*report.Report, error) {
	r := &report.Report{
		Title: "nextid-bench local: generators in one process",
		Intro: "The time of one id, from calls in a loop, without wire and SQL: nextid's generators beside other Go libraries, in turns. " +
			"The best round says what the code costs; the median what this machine gave it.",
		Began: time.Now(), Machine: report.ThisMachine(), Versions: versions(),
		Settings: []string{fmt.Sprintf("%s × %d rounds a measurement; %s in fewer rounds where the layout limits the rate", c.Length, c.Rounds, limitedLength)},
	}
	contenders := Contenders()
	each := c.Length * time.Duration(len(goroutines))
	c.Progress.Expect(each * time.Duration(len(contenders)*c.Rounds))
	c.Progress.Part("generators")
	begun := false
	results, err := Compare(ctx, contenders, goroutines, c.Rounds, c.Length, func(next Contender) {
		if begun {
			c.Progress.Did(each)
		}
		begun = true
		c.Progress.Step(next.Kind + ": " + next.Name)
	})
	if r.Interrupted = ctx.Err() != nil; err != nil && !r.Interrupted {
		return nil, err
	}
	r.Sections = sections(results)
	r.Took = time.Since(r.Began).Seconds()
	return r, nil
}

func versions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	named := []string{info.GoVersion}
	for _, m := range info.Deps {
		if slices.Contains(libraries, m.Path) {
			named = append(named, m.Path+" "+m.Version)
		}
	}
	return named
}

// sections are the kinds, in the order of the contenders. The ratio is to the
// first row, which is ours.
func sections(results []Result) []report.Section {
	var out []report.Section
	for _, r := range results {
		i := slices.IndexFunc(out, func(s report.Section) bool { return s.Title == r.Kind })
		if i < 0 {
			i = len(out)
			s := report.Section{Title: r.Kind, Table: report.Table{First: "generator"}, Charts: []report.Chart{{Title: r.Kind, Unit: "ns an id, best round"}}}
			for _, g := range goroutines {
				title := fmt.Sprintf("%d goroutines", g)
				if g == 1 {
					title = "1 goroutine"
				}
				s.Table.Columns = append(s.Table.Columns, report.Column{Name: title + ", best ns", Better: "less"}, report.Column{Name: "median ns", Better: "less"})
				s.Charts[0].Panels = append(s.Charts[0].Panels, report.Panel{Title: title})
			}
			s.Table.Columns = append(s.Table.Columns, report.Column{Name: "note"})
			out = append(out, s)
		}
		row := report.Row{Name: r.Name, Ours: r.Ours}
		for k, g := range goroutines {
			samples := r.Samples[g]
			if len(samples) == 0 {
				row.Cells = append(row.Cells, report.Number(), report.Number())
				continue
			}
			row.Cells = append(row.Cells, report.Number(r.Best(g)), report.Number(samples...))
			panel := &out[i].Charts[0].Panels[k]
			panel.Bars = append(panel.Bars, report.Bar{Name: r.Name, Value: r.Best(g), Ours: r.Ours})
		}
		row.Cells = append(row.Cells, report.Text(r.Note))
		out[i].Table.Rows = append(out[i].Table.Rows, row)
	}
	return out
}
