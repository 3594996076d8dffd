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

// Explain plans the row that EXPLAIN shows for a statement.
func Explain(t syntax.Statement) *engine.QueryPlan {
	null := datum.Null(datum.Text)
	table, access, rows, extra := null, null, datum.Null(datum.Int8), "No tables used"
	if sel, ok := t.(*syntax.Select); ok {
		if core, ok := sel.Body.(*syntax.SelectCore); ok && len(core.From) > 0 {
			access, rows, extra = datum.MakeText("ALL"), datum.MakeInt8(1), ""
			if from, ok := core.From[0].(*syntax.Table); ok {
				table = datum.MakeText(from.Name.Last())
			}
		}
	}
	q := &engine.QueryPlan{Open: func(*engine.Exec) (engine.Rows, error) {
		return engine.SingleRow(datum.MakeInt8(1), datum.MakeText("SIMPLE"), table, access, null, null, null, null, rows, datum.MakeText(extra)), nil
	}}
	for name := range strings.FieldsSeq("id select_type table type possible_keys key key_len ref rows Extra") {
		c := engine.TextColumn(name)
		if name == "id" || name == "rows" {
			c = engine.Column{Name: name, Type: datum.Int8, TypeMod: -1, Len: 8}
		}
		q.Columns = append(q.Columns, c)
	}
	return q
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
