package engine

import (
	"nextid/sqlfuncs/datum"
)

// windowRow is a row for which a window function answers.
type windowRow struct {
	*partition
	call int
	at   int
}

// WindowFunctions are PostgreSQL's window functions (9.22); aggregates are
// window functions, too.
var WindowFunctions = []Function{
	{
		Name: "row_number", Result: datum.Int8, Help: "number of the row in its partition, from 1",
		Window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(int64(w.at) + 1), nil },
	},
	{
		Name: "rank", Result: datum.Int8, Help: "row_number of the first row that is ordered alike",
		Window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(w.rank()), nil },
	},
}

func (w *windowRow) rank() int64 {
	from, _ := w.peers(w.at)
	return int64(from) + 1
}
