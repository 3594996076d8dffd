package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// dimensions are the lengths of an array, outermost first; none when empty.
func dimensions(v datum.Value) []int {
	var out []int
	for array := v.Type; len(v.Elems) > 0; v = v.Elems[0] {
		if out = append(out, len(v.Elems)); v.Elems[0].Type != array {
			break
		}
	}
	return out
}

// leaves are the elements of all dimensions.
func leaves(v datum.Value) []datum.Value {
	if len(dimensions(v)) < 2 {
		return v.Elems
	}
	var out []datum.Value
	for _, e := range v.Elems {
		out = append(out, leaves(e)...)
	}
	return out
}

// codeArraySubscript is array_subscript_error.
const codeArraySubscript sqlstate.Code = "2202E"
