package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var regexpFunctions = []engine.Function{
	{Name: "substring", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Does: engine.Eval(substringPattern), Help: "part of a text that matches a regular expression"},
	{Name: "regexp_match", Args: engine.Args(datum.Text, datum.Text), Result: datum.TextArray, Does: engine.Eval(regexpMatch), Help: "captured parts of the first match"},
}

// captures are the captured parts of the first match of a[1] in a[0], or the
// whole match when the pattern captures nothing; nil without a match.
func captures(x *engine.Exec, a []datum.Value) ([]datum.Value, error) {
	p, err := engine.CompilePattern(a[1].Str, false)
	if err != nil {
		return nil, err
	}
	loc, err := p.Find(x, a[0].Str)
	if len(loc) > 2 {
		loc = loc[2:]
	}
	var parts []datum.Value
	for ; len(loc) > 0; loc = loc[2:] {
		part := datum.Null(datum.Text) // it took no part in the match
		if loc[0] >= 0 {
			part = datum.MakeText(a[0].Str[loc[0]:loc[1]])
		}
		parts = append(parts, part)
	}
	return parts, err
}

func substringPattern(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	parts, err := captures(x, a)
	if len(parts) == 0 {
		return datum.Null(datum.Text), err
	}
	return parts[0], err
}

func regexpMatch(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	parts, err := captures(x, a)
	if parts == nil || err != nil {
		return datum.Null(datum.TextArray), err
	}
	return datum.MakeArray(datum.TextArray, parts), nil
}
