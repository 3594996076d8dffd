package ids

import (
	"math"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// nextBlock draws a block of consecutive numbers. Limits.IDsPerCall does not apply,
// since they go to a sequence and are not listed.
func nextBlock(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	e, err := Registry(x).Existing(x.Ctx, a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	r, err := e.NextBlock(x.Ctx, math.MinInt64, a[1].Int)
	return datum.MakeInt8(r.First), err
}

// feedRows are nextid.feeds.
func feedRows(x *engine.Exec) (rows [][]any, err error) {
	for _, f := range serverOf(x).Feeds() {
		if x.Host.Client().May(f.Name) != nil {
			continue
		}
		row := []any{f.Name, f.Database, f.Column, nil, nil, nil, nil, nil, f.Moved, f.Looked, f.Moves, f.Failures, orNull(f.Error), f.ErrorAt}
		if f.Last != 0 {
			row[3], row[4], row[5], row[6] = f.First, f.Last, f.Next, f.Left
			if f.Lasts < math.MaxInt64/2 { // something was drawn
				row[7] = int64(f.Lasts / time.Second)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
