package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// windowRow is a row for which a window function answers.
type windowRow struct {
	*partition
	call int
	at   int
}

// arg is an argument as row i of the partition gives it; ok is false when
// the call does not have it.
func (w *windowRow) arg(i, n int) (v datum.Value, ok bool) {
	if a := w.rows[i].args[w.call]; n < len(a) {
		return a[n], true
	}
	return v, false
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
	{
		name: "dense_rank", result: datum.Int8, help: "number of different rows up to this one, by their order",
		window: func(w *windowRow) (datum.Value, error) { return datum.MakeInt8(int64(w.group[w.at]) + 1), nil },
	},
	{
		name: "percent_rank", result: datum.Float8, help: "(rank - 1) / (rows - 1)",
		window: func(w *windowRow) (datum.Value, error) {
			if len(w.rows) == 1 {
				return makeFloat(0), nil
			}
			return makeFloat(float64(w.rank()-1) / float64(len(w.rows)-1)), nil
		},
	},
	{
		name: "cume_dist", result: datum.Float8, help: "share of the rows that come before or are ordered alike",
		window: func(w *windowRow) (datum.Value, error) {
			_, to := w.peers(w.at)
			return makeFloat(float64(to) / float64(len(w.rows))), nil
		},
	},
	{name: "ntile", args: args(datum.Int4), result: datum.Int4, help: "number of the row's part, of n parts as even as can be", window: ntile},
	offsetFunction("lag", "value of the row that comes n rows before", -1),
	offsetFunction("lead", "value of the row that comes n rows after", 1),
	{
		name: "first_value", args: args(anyElement), result: anyElement, help: "value of the frame's first row",
		window: func(w *windowRow) (datum.Value, error) { return w.inFrame(1) },
	},
	{
		name: "last_value", args: args(anyElement), result: anyElement, help: "value of the frame's last row",
		window: func(w *windowRow) (datum.Value, error) { return w.inFrame(-1) },
	},
	{name: "nth_value", args: args(anyElement, datum.Int4), result: anyElement, help: "value of the frame's n-th row", window: nthValue},
}

// offsetFunction is lag or lead.
func offsetFunction(name, help string, sign int64) function {
	return function{
		name: name, result: anyElement, help: help,
		args: []argument{{name: "value", typ: anyElement}, {name: "n", typ: datum.Int4, optional: true}, {name: "default", typ: anyElement, optional: true}},
		window: func(w *windowRow) (datum.Value, error) {
			by := datum.Value{Valid: true, Int: 1}
			if n, ok := w.arg(w.at, 1); ok {
				by = n
			}
			if !by.Valid {
				return datum.Value{}, nil
			}
			if to := int64(w.at) + sign*by.Int; to >= 0 && to < int64(len(w.rows)) {
				v, _ := w.arg(int(to), 0)
				return v, nil
			}
			v, _ := w.arg(w.at, 2)
			return v, nil
		},
	}
}

func (w *windowRow) rank() int64 {
	from, _ := w.peers(w.at)
	return int64(from) + 1
}

func ntile(w *windowRow) (datum.Value, error) {
	parts, _ := w.arg(0, 0) // of the partition's first row
	switch {
	case !parts.Valid:
		return datum.Value{}, nil
	case parts.Int <= 0:
		return datum.Value{}, sqlstate.New("22014", "argument of ntile must be greater than zero")
	}
	size, larger := int64(len(w.rows))/parts.Int, int64(len(w.rows))%parts.Int
	at := int64(w.at)
	if in := larger * (size + 1); at >= in { // behind the parts that have one row more
		return datum.Value{Type: datum.Int4, Valid: true, Int: larger + (at-in)/size + 1}, nil
	}
	return datum.Value{Type: datum.Int4, Valid: true, Int: at/(size+1) + 1}, nil
}

func nthValue(w *windowRow) (datum.Value, error) {
	n, _ := w.arg(w.at, 1)
	switch {
	case !n.Valid:
		return datum.Value{}, nil
	case n.Int <= 0:
		return datum.Value{}, sqlstate.New("22016", "argument of nth_value must be greater than zero")
	}
	return w.inFrame(n.Int)
}

// inFrame is the first argument in the n-th row of the frame, counted from
// its end where n is negative.
func (w *windowRow) inFrame(n int64) (datum.Value, error) {
	lo, hi, err := w.frame(w.at)
	if err != nil {
		return datum.Value{}, err
	}
	if w.def.frame.exclude == "" {
		i := int64(lo) + n - 1
		if n < 0 {
			i = int64(hi) + n
		}
		if i < int64(lo) || i >= int64(hi) {
			return datum.Value{}, nil
		}
		v, _ := w.arg(int(i), 0)
		return v, nil
	}
	step := 1
	i := lo
	if n < 0 {
		step, i, n = -1, hi-1, -n
	}
	for ; i >= lo && i < hi; i += step {
		if !w.excluded(w.at, i) {
			if n--; n == 0 {
				v, _ := w.arg(i, 0)
				return v, nil
			}
		}
	}
	return datum.Value{}, nil
}
