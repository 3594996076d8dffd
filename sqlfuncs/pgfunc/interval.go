package pgfunc

import (
	"nextid/sqlfuncs/datum"
)

// interval is an interval taken apart, with room to compute.
type interval struct{ months, days, micros int64 }

func intervalOf(v datum.Value) interval {
	months, days, micros := v.Span()
	return interval{int64(months), int64(days), micros}
}
