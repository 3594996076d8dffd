package engine

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// like plans LIKE and SIMILAR TO. With the trait Collations, LIKE ignores case unless it
// compares bytes, and an escape character at the end of a pattern matches itself.
func (p *Planner) like(s *Scope, e *syntax.Like) (*Expr, error) {
	es, err := p.Exprs(s, []syntax.Expr{e.X, e.Pattern})
	if err != nil {
		return nil, err
	}
	flags, open := "(?s)", p.Traits.Collations
	if open && !p.Exact(es...) {
		flags = "(?si)"
	}
	escape := Constant(datum.MakeText(`\`))
	if e.Escape != nil {
		if escape, err = p.Expr(s, e.Escape); err != nil {
			return nil, err
		}
	}
	refused := noOperator("~~", es[0], es[1])
	es = append(es, escape)
	if p.CoerceAll(es, datum.Text) != nil {
		return nil, At(e.Pos, refused)
	}
	op, not := e.Op, e.Not
	toRegexp := func(pattern, escape string) (string, bool, error) {
		if utf8.RuneCountInString(escape) > 1 {
			return "", false, sqlstate.New(sqlstate.InvalidEscape, "invalid escape string").
				WithHint("Escape string must be empty or one character.")
		}
		if open && escape != "" && strings.HasSuffix(pattern, escape) && !strings.HasSuffix(pattern, escape+escape) {
			pattern += escape
		}
		body, err := likeToRegexp(pattern, escape, op == "SIMILAR TO")
		return flags + body, false, err
	}
	match := Strict2(datum.Bool, es[0], es[1], func(x *Exec, a, b datum.Value) (datum.Value, error) {
		esc, err := es[2].Eval(x)
		if err != nil || !esc.Valid {
			return datum.Null(datum.Bool), err
		}
		p, err := compiled(op+flags+esc.Str, b.Str, func() (string, bool, error) { return toRegexp(b.Str, esc.Str) })
		if err != nil {
			return a, err
		}
		match, err := p.Matches(x, a.Str)
		return datum.MakeBool(match != not), err
	})
	match.reads(es[2].Refs)
	match.Volatile = match.Volatile || es[2].Volatile
	return match, nil
}

// likeToRegexp translates a pattern of LIKE, or of SIMILAR TO if similar is set, for
// package regexp. In SIMILAR TO, |*+?{}() and [sets] mean the same as in a regexp. So do
// escaped letters and digits (\d) and, as in PostgreSQL, an escape at the end is
// nothing; an escaped double quote separates parts.
func likeToRegexp(pattern, escape string, similar bool) (string, error) {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped, set := false, false
	for _, r := range pattern {
		switch {
		case escaped:
			switch escaped = false; {
			case similar && r == '"' && !set:
				b.WriteString(")(?:")
			case similar && r < utf8.RuneSelf:
				b.WriteString(`\` + string(r))
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		case escape != "" && string(r) == escape:
			escaped = true
		case similar && r == '(' && !set:
			b.WriteString("(?:")
		case set && r != '\\', similar && strings.ContainsRune("|*+?{})[]", r):
			b.WriteRune(r)
			set = r == '[' || set && r != ']'
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped && !similar {
		return "", sqlstate.New(sqlstate.InvalidEscape, "LIKE pattern must not end with escape character")
	}
	b.WriteString(")$")
	return b.String(), nil
}
