package pgfunc

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var splitFunctions = []engine.Function{
	{Name: "split_part", Args: engine.Args(datum.Text, datum.Text, datum.Int4), Result: datum.Text, Does: engine.Eval(splitPart), Help: "the n-th field of a text, from the end if n is negative"},
	{Name: "array_to_string", Args: engine.Optional(2, datum.AnyArray, datum.Text, datum.Text), Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(arrayToString), Help: "the elements of an array as one text; the third argument stands for NULL"},
}

func splitPart(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, separator, n := a[0].Str, a[1].Str, int(a[2].Int)
	if n == 0 {
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "field position must not be zero")
	}
	fields := []string{s}
	if separator != "" {
		fields = strings.Split(s, separator)
	}
	if n < 0 {
		n += len(fields) + 1
	}
	if n < 1 || n > len(fields) {
		return datum.MakeText(""), nil
	}
	return datum.MakeText(fields[n-1]), nil
}

func arrayToString(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid || !a[1].Valid {
		return datum.Null(datum.Text), nil
	}
	elems := a[0].Elems
	if len(a) > 2 && a[2].Valid {
		elems = slices.Clone(elems)
		for i, e := range elems {
			if !e.Valid {
				elems[i] = a[2]
			}
		}
	}
	return joinValues(x, a[1].Str, elems)
}
