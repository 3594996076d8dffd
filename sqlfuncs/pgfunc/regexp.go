package pgfunc

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

var regexpFunctions = []engine.Function{
	{Name: "substring", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Does: engine.Eval(substringPattern), Help: "part of a text that matches a regular expression"},
}

// substringPattern is the first part that a[1] captures of its first match in
// a[0], or the whole match when it captures nothing; NULL without a match.
func substringPattern(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	p, err := engine.CompilePattern(a[1].Str, false)
	if err != nil {
		return a[0], err
	}
	loc, err := p.Find(x, a[0].Str)
	if len(loc) > 2 {
		loc = loc[2:]
	}
	if len(loc) == 0 || loc[0] < 0 {
		return datum.Null(datum.Text), err
	}
	return datum.MakeText(a[0].Str[loc[0]:loc[1]]), err
}
