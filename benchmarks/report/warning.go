package report

import (
	"fmt"
	"slices"
)

// What a reader is warned of: rounds that differ by more than spread times, and
// a machine that had a core's work of others in the minute before.
const (
	spread = 1.5
	busy   = 1.0
)

// Warnings says what makes the figures doubtful. They follow from the report,
// so that older ones have them, too.
func (r *Report) Warnings() (all []string) {
	if r.Machine.Load > busy {
		all = append(all, fmt.Sprintf("The machine was at work before the run: its load was %.1f on %d cores.", r.Machine.Load, r.Machine.Cores))
	}
	for _, s := range r.Sections {
		figures, apart, most, where := 0, 0, 0.0, ""
		for _, row := range s.Table.Rows {
			for i, c := range row.Cells {
				if len(c.Samples) < 2 || slices.Min(c.Samples) <= 0 {
					continue
				}
				figures++
				between := slices.Max(c.Samples) / slices.Min(c.Samples)
				if between > spread {
					apart++
				}
				if between > most {
					most, where = between, row.Name+", "+s.Table.Columns[i].Name
				}
			}
		}
		if apart > 0 {
			all = append(all, fmt.Sprintf("%s: %d of %d figures differ by more than %.1f times from round to round; %s by %.1f times.", s.Title, apart, figures, spread, where, most))
		}
	}
	return append(all, r.Doubts...)
}

// Passes reports whether a figure is better than a server that does nothing but
// answer: the median of its rounds is above the floor's best.
func Passes(samples, floor []float64) bool {
	return len(floor) > 0 && Median(samples) > slices.Max(floor)
}

// Doubt doubts a figure that passes the floor: one of the two was disturbed.
// Charts and ratios leave it out.
func (r *Report) Doubt(where, name string, samples, floor []float64) {
	if Passes(samples, floor) {
		r.Doubts = append(r.Doubts, fmt.Sprintf("%s: %s passes the floor, %s to %s: one of them was disturbed. It is in no chart and no ratio.",
			where, name, Format(Median(samples)), Format(slices.Max(floor))))
	}
}
