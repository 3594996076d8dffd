package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
)

// windowRow is a row for which a window function answers.
type windowRow struct {
	*partition
	call int
	at   int
}

// windowFunctions are PostgreSQL's window functions (9.22); aggregates are
// window functions, too.
var windowFunctions = []function{
	{
		name: "row_number", result: datum.Int8, help: "number of the row in its partition, from 1",
		window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(int64(w.at) + 1), nil },
	},
	{
		name: "rank", result: datum.Int8, help: "row_number of the first row that is ordered alike",
		window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(w.rank()), nil },
	},
}

func (w *windowRow) rank() int64 {
	from, _ := w.peers(w.at)
	return int64(from) + 1
}
