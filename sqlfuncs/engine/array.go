package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// Dimensions are the lengths of an array, outermost first; none when empty.
func Dimensions(v datum.Value) []int {
	var out []int
	for array := v.Type; len(v.Elems) > 0; v = v.Elems[0] {
		if out = append(out, len(v.Elems)); v.Elems[0].Type != array {
			break
		}
	}
	return out
}

// Leaves are the elements of all dimensions.
func Leaves(v datum.Value) []datum.Value {
	if len(Dimensions(v)) < 2 {
		return v.Elems
	}
	var out []datum.Value
	for _, e := range v.Elems {
		out = append(out, Leaves(e)...)
	}
	return out
}

// CodeArraySubscript is array_subscript_error.
const CodeArraySubscript sqlstate.Code = "2202E"
