package pgfunc

import (
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var regexpFunctions = []engine.Function{
	{Name: "substring", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Eval: substringPattern, Help: "part of a text that matches a regular expression"},
	{Name: "regexp_match", Args: engine.Optional(2, datum.Text, datum.Text, datum.Text), Result: datum.TextArray, Eval: regexpMatch, Help: "captured parts of the first match"},
}

// matches steps through the matches of a pattern.
type matches struct {
	p    *engine.TextPattern
	s    string
	at   int // where to search
	all  [][]int
	done bool
}

// next returns the next match as regexp's index pairs, nil after the last.
// After an empty match the search goes on one character later.
func (m *matches) next() []int {
	if m.done {
		return nil
	}
	loc := m.find()
	if loc == nil {
		m.done = true
		return nil
	}
	if m.at = loc[1]; loc[0] == loc[1] {
		if m.at >= len(m.s) {
			m.done = true
		} else {
			_, size := utf8.DecodeRuneInString(m.s[m.at:])
			m.at += size
		}
	}
	return loc
}

// find searches from m.at. A pattern that looks at what is before must see
// the whole text, which package regexp can do for all matches at once only.
func (m *matches) find() []int {
	if !m.p.LooksBack {
		loc := m.p.Re.FindStringSubmatchIndex(m.s[m.at:])
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] += m.at
			}
		}
		return loc
	}
	if m.all == nil {
		m.all = m.p.Re.FindAllStringSubmatchIndex(m.s, -1)
	}
	for len(m.all) > 0 && m.all[0][0] < m.at {
		m.all = m.all[1:]
	}
	if len(m.all) == 0 {
		m.all = [][]int{}
		return nil
	}
	return m.all[0]
}

// newMatches compiles a[1] with the options in a[2], if given. noGlobal is
// the function that has no option g.
func newMatches(a []datum.Value, noGlobal string) (m *matches, global bool, err error) {
	options := ""
	if len(a) > 2 {
		options = a[2].Str
	}
	p, global, err := engine.CompilePattern(a[1].Str, options)
	if err != nil {
		return nil, false, err
	}
	if global && noGlobal != "" {
		e := sqlstate.New(sqlstate.InvalidParameterValue, "%s() does not support the \"global\" option", noGlobal)
		if noGlobal == "regexp_match" {
			e.Hint = "Use the regexp_matches function instead."
		}
		return nil, false, e
	}
	return &matches{p: p, s: a[0].Str}, global, nil
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

func substringPattern(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	m, _, err := newMatches(a, "")
	if err != nil {
		return a[0], err
	}
	loc := m.next()
	return capture(m.s, loc, min(1, max(len(loc)/2-1, 0))), nil
}

func regexpMatch(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	m, _, err := newMatches(a, "regexp_match")
	if err != nil {
		return a[0], err
	}
	if loc := m.next(); loc != nil {
		return captures(m.s, loc), nil
	}
	return datum.Null(datum.TextArray), nil
}
