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
	e, err := entry(x, a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	x.Host.Waits()
	r, err := e.NextBlock(x.Ctx, a[1].Int)
	return datum.MakeInt8(r.First), err
}

// feedRows are nextid.feeds.
func feedRows(x *engine.Exec) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, f := range serverOf(x).Feeds() {
		if x.Host.Client().May(f.Name) != nil {
			continue
		}
		row := []datum.Value{datum.MakeText(f.Name), datum.MakeText(f.Database), datum.MakeText(f.Column)}
		seconds := int64(f.Lasts / time.Second)
		for _, n := range []int64{f.First, f.Last, f.Next, f.Left, seconds} {
			v := datum.Null(datum.Int8)
			if f.Last != 0 {
				v = datum.MakeInt8(n)
			}
			row = append(row, v)
		}
		if f.Last != 0 && f.Lasts >= math.MaxInt64/2 { // nothing was drawn
			row[len(row)-1] = datum.Null(datum.Int8)
		}
		trouble := datum.Null(datum.Text)
		if f.Error != "" {
			trouble = datum.MakeText(f.Error)
		}
		rows = append(rows, append(row, timeOrNull(f.Moved), timeOrNull(f.Looked), datum.MakeInt8(f.Moves), datum.MakeInt8(f.Failures),
			trouble, timeOrNull(f.ErrorAt)))
	}
	return rows, nil
}
