package pgfunc

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var regexpFunctions = []engine.Function{
	{Name: "substring", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Eval: substringPattern, Help: "part of a text that matches a regular expression"},
	{Name: "regexp_match", Args: engine.Optional(2, datum.Text, datum.Text, datum.Text), Result: datum.TextArray, Eval: regexpMatch, Help: "captured parts of the first match"},
}

// firstMatch is the first match of the pattern a[1] in a[0], with the options
// in a[2], if given. function is the one that has no option g.
func firstMatch(x *engine.Exec, a []datum.Value, function string) ([]int, error) {
	options := ""
	if len(a) > 2 {
		options = a[2].Str
	}
	if strings.Contains(options, "g") {
		e := sqlstate.New(sqlstate.InvalidParameterValue, "%s() does not support the \"global\" option", function)
		return nil, e.WithHint("Use the regexp_matches function instead.")
	}
	p, err := engine.CompilePattern(a[1].Str, options)
	if err != nil {
		return nil, err
	}
	return p.Find(x, a[0].Str)
}

// capture is the n-th captured part, NULL when it took no part in the match.
func capture(s string, loc []int, n int) datum.Value {
	if 2*n >= len(loc) || loc[2*n] < 0 {
		return datum.Null(datum.Text)
	}
	return datum.MakeText(s[loc[2*n]:loc[2*n+1]])
}

// captures are all captured parts, or the whole match when there are none.
func captures(s string, loc []int) datum.Value {
	if len(loc) == 2 {
		return datum.MakeArray(datum.TextArray, []datum.Value{capture(s, loc, 0)})
	}
	parts := make([]datum.Value, len(loc)/2-1)
	for i := range parts {
		parts[i] = capture(s, loc, i+1)
	}
	return datum.MakeArray(datum.TextArray, parts)
}

func substringPattern(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	loc, err := firstMatch(x, a, "substring")
	return capture(a[0].Str, loc, min(1, max(len(loc)/2-1, 0))), err
}

func regexpMatch(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	loc, err := firstMatch(x, a, "regexp_match")
	if loc == nil || err != nil {
		return datum.Null(datum.TextArray), err
	}
	return captures(a[0].Str, loc), nil
}
