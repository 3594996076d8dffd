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

// Doubt doubts a figure that is better than that of a server which does
// nothing but answer: one of the two was disturbed.
func (r *Report) Doubt(where, name string, samples, floor []float64) {
	if v, bound := Median(samples), Median(floor); bound > 0 && v > bound {
		r.Doubts = append(r.Doubts, fmt.Sprintf("%s: %s passes the floor, %s to %s: one of them was disturbed.", where, name, Format(v), Format(bound)))
	}
}
