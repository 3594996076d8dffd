package report

import (
	"fmt"
	"slices"
)

const (
	spread = 1.5 // a figure whose rounds differ by a greater factor gets a warning
	busy   = 1.0 // a greater load before the run gets a warning
)

// Warnings returns the reasons to doubt the figures. They are computed from the
// report, so reports of older versions have them, too.
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

// Passes reports whether a figure exceeds the floor, a server that only sends fixed
// answers: the median of its rounds is above the floor's best round.
func Passes(samples, floor []float64) bool {
	return len(floor) > 0 && Median(samples) > slices.Max(floor)
}

// Doubt adds a doubt if a figure passes the floor: one of the two measurements was
// disturbed. It returns true then. Charts and ratios leave such a figure out.
func (r *Report) Doubt(where, name string, samples, floor []float64) bool {
	if !Passes(samples, floor) {
		return false
	}
	r.Doubts = append(r.Doubts, fmt.Sprintf("%s: %s passes the floor, %s to %s: one of them was disturbed. It is in no chart and no ratio.",
		where, name, Format(Median(samples)), Format(slices.Max(floor))))
	return true
}
