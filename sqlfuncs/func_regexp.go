package sqlfuncs

import (
	"io"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

var regexpFunctions = []function{
	{name: "substring", args: args(datum.Text, datum.Text), result: datum.Text, eval: substringPattern, help: "part of a text that matches a regular expression"},
	{name: "regexp_match", args: optional(2, datum.Text, datum.Text, datum.Text), result: datum.TextArray, eval: regexpMatch, help: "captured parts of the first match"},
	{name: "regexp_matches", args: optional(2, datum.Text, datum.Text, datum.Text), result: datum.TextArray, set: true, rows: regexpMatches, help: "captured parts of the first match, or with g of each"},
	{name: "regexp_replace", args: optional(3, datum.Text, datum.Text, datum.Text, datum.Text), result: datum.Text, eval: regexpReplace, help: "replaces the first match, or with g each"},
	{name: "regexp_replace", args: optional(4, datum.Text, datum.Text, datum.Text, datum.Int4, datum.Int4, datum.Text), result: datum.Text, eval: regexpReplaceNth, help: "replaces the n-th match from a position, all if n is 0"},
	{name: "regexp_split_to_array", args: optional(2, datum.Text, datum.Text, datum.Text), result: datum.TextArray, eval: regexpSplitArray, help: "splits a text at the matches"},
	{name: "regexp_split_to_table", args: optional(2, datum.Text, datum.Text, datum.Text), result: datum.Text, set: true, rows: regexpSplitRows, help: "splits a text at the matches, into rows"},
	{name: "regexp_like", args: optional(2, datum.Text, datum.Text, datum.Text), result: datum.Bool, eval: regexpLike, help: "whether a text has a match"},
	{name: "regexp_count", args: optional(2, datum.Text, datum.Text, datum.Int4, datum.Text), result: datum.Int4, eval: regexpCount, help: "number of matches"},
	{name: "regexp_instr", args: optional(2, datum.Text, datum.Text, datum.Int4, datum.Int4, datum.Int4, datum.Text, datum.Int4), result: datum.Int4, eval: regexpInstr, help: "where the n-th match begins (ends), 0 if there is none"},
	{name: "regexp_substr", args: optional(2, datum.Text, datum.Text, datum.Int4, datum.Int4, datum.Text, datum.Int4), result: datum.Text, eval: regexpSubstr, help: "the n-th match"},
}

// matches steps through the matches of a pattern.
type matches struct {
	p    *textPattern
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
	if !m.p.looksBack {
		loc := m.p.re.FindStringSubmatchIndex(m.s[m.at:])
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] += m.at
			}
		}
		return loc
	}
	if m.all == nil {
		m.all = m.p.re.FindAllStringSubmatchIndex(m.s, -1)
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
	p, global, err := compilePattern(a[1].Str, options)
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

func substringPattern(_ *exec, a []datum.Value) (datum.Value, error) {
	m, _, err := newMatches(a, "")
	if err != nil {
		return a[0], err
	}
	loc := m.next()
	return capture(m.s, loc, min(1, max(len(loc)/2-1, 0))), nil
}

func regexpMatch(_ *exec, a []datum.Value) (datum.Value, error) {
	m, _, err := newMatches(a, "regexp_match")
	if err != nil {
		return a[0], err
	}
	if loc := m.next(); loc != nil {
		return captures(m.s, loc), nil
	}
	return datum.Null(datum.TextArray), nil
}

func regexpMatches(_ *exec, a []datum.Value) (rowIter, error) {
	m, global, err := newMatches(a, "")
	if err != nil {
		return nil, err
	}
	row := make([]datum.Value, 1)
	return funcRows(func(x *exec) ([]datum.Value, error) {
		loc := m.next()
		if loc == nil {
			return nil, io.EOF
		}
		m.done = m.done || !global
		row[0] = captures(m.s, loc)
		return row, x.tick()
	}), nil
}

func regexpLike(_ *exec, a []datum.Value) (datum.Value, error) {
	m, _, err := newMatches(a, "regexp_like")
	if err != nil {
		return a[0], err
	}
	return datum.MakeBool(m.p.re.MatchString(m.s)), nil
}

// splitAt calls emit with the pieces between the matches. Empty matches at
// the ends of the text or behind another match do not split.
func (m *matches) splitAt(emit func(piece string) error) error {
	start, end := 0, 0
	for loc := m.next(); loc != nil; loc = m.next() {
		if loc[0] >= len(m.s) || loc[1] <= end {
			continue
		}
		if err := emit(m.s[start:loc[0]]); err != nil {
			return err
		}
		start, end = loc[1], loc[1]
	}
	return emit(m.s[start:])
}

func regexpPieces(a []datum.Value, function string) ([]datum.Value, error) {
	m, _, err := newMatches(a, function)
	if err != nil {
		return nil, err
	}
	var pieces []datum.Value
	err = m.splitAt(func(piece string) error {
		pieces = append(pieces, datum.MakeText(piece))
		return checkArraySize(len(pieces))
	})
	return pieces, err
}

func regexpSplitArray(_ *exec, a []datum.Value) (datum.Value, error) {
	pieces, err := regexpPieces(a, "regexp_split_to_array")
	return datum.MakeArray(datum.TextArray, pieces), err
}

func regexpSplitRows(_ *exec, a []datum.Value) (rowIter, error) {
	pieces, err := regexpPieces(a, "regexp_split_to_table")
	return valueRows(pieces), err
}

func regexpReplace(x *exec, a []datum.Value) (datum.Value, error) {
	options := ""
	if len(a) > 3 {
		options = a[3].Str
	}
	p, global, err := compilePattern(a[1].Str, options)
	if err != nil {
		return a[0], err
	}
	n := 1
	if global {
		n = 0
	}
	return replaceMatches(x, &matches{p: p, s: a[0].Str}, a[2].Str, n)
}

func regexpReplaceNth(x *exec, a []datum.Value) (datum.Value, error) {
	n, options := 1, ""
	if len(a) > 4 {
		n = int(a[4].Int)
	}
	if len(a) > 5 {
		options = a[5].Str
	}
	if n < 0 {
		return a[0], badParameter("n", int64(n))
	}
	at, err := startAt(a[0].Str, a[3].Int)
	if err != nil {
		return a[0], err
	}
	p, global, err := compilePattern(a[1].Str, options)
	if err != nil {
		return a[0], err
	}
	if global && len(a) < 5 {
		n = 0
	}
	return replaceMatches(x, &matches{p: p, s: a[0].Str, at: at, done: at > len(a[0].Str)}, a[2].Str, n)
}

// replaceMatches replaces the n-th match, all if n is 0.
func replaceMatches(x *exec, m *matches, with string, n int) (datum.Value, error) {
	var out strings.Builder
	end, count := 0, 0
	for loc := m.next(); loc != nil; loc = m.next() {
		if count++; n != 0 && count < n {
			continue
		}
		out.WriteString(m.s[end:loc[0]])
		expandReplacement(&out, with, m.s, loc)
		if end = loc[1]; out.Len() > maxTextBytes {
			return datum.Value{}, errTextTooLong
		}
		if err := x.tick(); err != nil {
			return datum.Value{}, err
		}
		if n != 0 {
			break
		}
	}
	out.WriteString(m.s[end:])
	return boundedText(out.String())
}

// expandReplacement writes a replacement with \1 … \9, \& and \\ (9.7.3).
func expandReplacement(out *strings.Builder, with, s string, loc []int) {
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 >= len(with) {
			out.WriteByte(with[i])
			continue
		}
		switch c := with[i+1]; {
		case c >= '1' && c <= '9':
			out.WriteString(capture(s, loc, int(c-'0')).Str)
			i++
		case c == '&':
			out.WriteString(s[loc[0]:loc[1]])
			i++
		case c == '\\':
			out.WriteByte('\\')
			i++
		default:
			out.WriteByte('\\')
		}
	}
}

func badParameter(name string, value int64) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, value)
}

// startAt is the byte offset of the start-th character; a start behind the
// end gives len(s)+1.
func startAt(s string, start int64) (int, error) {
	if start <= 0 {
		return 0, badParameter("start", start)
	}
	offset := 0
	for n := int64(1); n < start; n++ {
		if offset >= len(s) {
			return len(s) + 1, nil
		}
		_, size := utf8.DecodeRuneInString(s[offset:])
		offset += size
	}
	return offset, nil
}

// numbered are the arguments of regexp_instr and regexp_substr.
type numbered struct {
	start, n, end, group int64
	options              string
}

// find returns the n-th match from the start, nil if there is none.
func (f numbered) find(a []datum.Value, function string) ([]int, error) {
	at, err := startAt(a[0].Str, f.start)
	switch {
	case err != nil:
		return nil, err
	case f.n <= 0:
		return nil, badParameter("n", f.n)
	case f.end != 0 && f.end != 1:
		return nil, badParameter("endoption", f.end)
	case f.group < 0:
		return nil, badParameter("subexpr", f.group)
	}
	m, _, err := newMatches([]datum.Value{a[0], a[1], datum.MakeText(f.options)}, function)
	if err != nil || at > len(a[0].Str) {
		return nil, err
	}
	m.at = at
	for n := f.n; ; n-- {
		loc := m.next()
		if loc == nil || n == 1 {
			if 2*int(f.group) >= len(loc) {
				return nil, nil
			}
			return loc[2*f.group : 2*f.group+2], nil
		}
	}
}

func regexpCount(x *exec, a []datum.Value) (datum.Value, error) {
	start, options := int64(1), ""
	if len(a) > 2 {
		start = a[2].Int
	}
	if len(a) > 3 {
		options = a[3].Str
	}
	at, err := startAt(a[0].Str, start)
	if err != nil {
		return a[0], err
	}
	m, _, err := newMatches([]datum.Value{a[0], a[1], datum.MakeText(options)}, "regexp_count")
	if err != nil || at > len(a[0].Str) {
		return datum.MakeInt4(0), err
	}
	m.at = at
	count := int64(0)
	for ; m.next() != nil; count++ {
		if err := x.tick(); err != nil {
			return a[0], err
		}
	}
	return datum.MakeInt4(count), nil
}

func regexpInstr(_ *exec, a []datum.Value) (datum.Value, error) {
	f := numbered{start: 1, n: 1}
	for i, to := range []*int64{2: &f.start, 3: &f.n, 4: &f.end, 6: &f.group} {
		if to != nil && i < len(a) {
			*to = a[i].Int
		}
	}
	if len(a) > 5 {
		f.options = a[5].Str
	}
	loc, err := f.find(a, "regexp_instr")
	if err != nil || loc == nil || loc[0] < 0 {
		return datum.MakeInt4(0), err
	}
	return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:loc[f.end]])) + 1), nil
}

func regexpSubstr(_ *exec, a []datum.Value) (datum.Value, error) {
	f := numbered{start: 1, n: 1}
	for i, to := range []*int64{2: &f.start, 3: &f.n, 5: &f.group} {
		if to != nil && i < len(a) {
			*to = a[i].Int
		}
	}
	if len(a) > 4 {
		f.options = a[4].Str
	}
	loc, err := f.find(a, "regexp_substr")
	return capture(a[0].Str, loc, 0), err
}
