package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/syntax"
)

// Output implements engine.Dialect. It converts result columns to types that MySQL
// has: booleans to integers, times to the session's time zone.
func (*Dialect) Output(p *engine.Planner, out *engine.Output) error {
	for i, e := range out.Exprs {
		t := e.Type
		switch t {
		case datum.Bool:
			t = datum.Int4
		case datum.TimestampTZ:
			t = datum.Timestamp
		case datum.JSONB:
			t = datum.JSON
		case datum.UUID, datum.Name, datum.Char:
			t = datum.Text
		}
		if t == e.Type {
			continue
		}
		x, err := p.Coerce(e, t, datum.ImplicitCast)
		if err != nil {
			return err
		}
		out.Exprs[i] = x
		out.Columns[i].Type = t
	}
	return nil
}

// Label implements engine.Dialect. A column has its own name, a string its value.
// Any other expression has its source text as the name.
func (d *Dialect) Label(t syntax.Target, x *engine.Expr) string {
	if t.Text == "" {
		return engine.PostgreSQL{}.Label(t, x)
	}
	switch e := t.Expr.(type) {
	case *syntax.Column:
		if !strings.ContainsAny(t.Text, "`\"") {
			return strings.Trim(t.Text[strings.LastIndexByte(t.Text, '.')+1:], "() \t\r\n")
		}
		return e.Name.Last()
	case *syntax.Literal:
		if e.Kind == syntax.StringLiteral {
			return e.Text
		}
		return strings.Trim(t.Text, "() \t\r\n")
	case *syntax.Unary:
		if e.Op == "+" {
			return d.Label(syntax.Target{Expr: e.X, Text: strings.TrimLeft(t.Text, "+ \t\n")}, x)
		}
	}
	return t.Text
}
