package sqlfuncs

import (
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// expr analyses an expression in a scope.
func (p *planner) expr(s *scope, e syntax.Expr) (*expr, error) {
	x, err := p.analyse(s, e)
	if err != nil {
		return x, err
	}
	if x.pos == 0 {
		x.pos = e.Position()
	}
	return counted(x), p.host.Planned(len(x.refs) * refBytes)
}

func (p *planner) analyse(s *scope, e syntax.Expr) (*expr, error) {
	if g := p.groupedExpr(s, e); g != nil {
		return g, nil
	}
	if p.mysql {
		if x, err := p.dialect.analyse(p, s, e); x != nil || err != nil {
			return x, err
		}
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return p.literal(e)
	case *syntax.Param:
		return p.paramExpr(e)
	case *syntax.Column:
		return p.column(s, e)
	case *syntax.Paren:
		return p.expr(s, e.X)
	case *syntax.FuncCall:
		return p.funcCall(s, e)
	case *syntax.Unary:
		return p.unary(s, e)
	case *syntax.Binary:
		return p.binary(s, e)
	case *syntax.Like:
		return p.like(s, e)
	case *syntax.Is:
		return p.is(s, e)
	case *syntax.IsDistinct:
		return p.isDistinct(s, e)
	case *syntax.Between:
		return p.between(s, e)
	case *syntax.In:
		return p.in(s, e)
	case *syntax.Quantified:
		return p.quantified(s, e)
	case *syntax.Exists:
		return p.exists(s, e)
	case *syntax.Subquery:
		return p.subquery(s, e)
	case *syntax.Case:
		return p.caseExpr(s, e)
	case *syntax.Cast:
		return p.cast(s, e)
	case *syntax.Collate:
		x, err := p.expr(s, e.X)
		return x, err
	case *syntax.AtTimeZone:
		return p.expr(s, &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"timezone"}, Args: []syntax.Arg{{Value: e.Zone}, {Value: e.X}}})
	case *syntax.Array:
		return p.array(s, e)
	case *syntax.Row:
		return p.row(s, e)
	case *syntax.Subscript:
		return p.subscript(s, e)
	case *syntax.Field:
		return p.field(s, e)
	case *syntax.NextValueFor:
		return p.expr(s, &syntax.FuncCall{
			Pos: e.Pos, Name: syntax.Name{"nextval"},
			Args: []syntax.Arg{{Value: &syntax.Literal{Pos: e.Pos, Kind: syntax.StringLiteral, Text: e.Name.Last()}}},
		})
	case *syntax.Star:
		if len(e.Table) > 0 { // t.* as an argument is the row
			for level := s; level != nil; level = level.parent {
				if row := p.wholeRow(level, e.Table.Last()); row != nil {
					return p.outer(row), nil
				}
			}
		}
		return nil, at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "row expansion via \"*\" is not supported here"))
	case *syntax.Default:
		return nil, at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "DEFAULT is not allowed in this context"))
	}
	return nil, unsupported(e.Position(), "this expression")
}

func (p *planner) exprs(s *scope, list []syntax.Expr) ([]*expr, error) {
	out := make([]*expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = p.expr(s, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// literal types a constant as PostgreSQL does: integers by size, decimals
// numeric, strings unknown.
func (p *planner) literal(l *syntax.Literal) (*expr, error) {
	switch l.Kind {
	case syntax.NullLiteral:
		v := datum.Null(datum.Unknown)
		e := constant(v)
		e.lit = &v
		return e, nil
	case syntax.BoolLiteral:
		return constant(datum.MakeBool(l.Text == "true")), nil
	case syntax.IntegerLiteral:
		n, err := strconv.ParseInt(l.Text, 10, 64)
		switch {
		case err != nil:
			v, err := datum.ParseText(datum.Numeric, l.Text, nil)
			return constant(v), at(l.Pos, err)
		case n == int64(int32(n)):
			return constant(datum.MakeInt4(n)), nil
		}
		return constant(datum.MakeInt8(n)), nil
	case syntax.NumericLiteral:
		v, err := datum.ParseText(datum.Numeric, l.Text, nil)
		return constant(v), at(l.Pos, err)
	case syntax.StringLiteral:
		v := datum.MakeString(datum.Unknown, l.Text)
		e := constant(v)
		e.lit = &v
		return e, nil
	case syntax.BytesLiteral:
		return constant(datum.MakeString(datum.Bytea, l.Text)), nil
	}
	return nil, unsupported(l.Pos, "a bit string constant")
}

func (p *planner) paramExpr(e *syntax.Param) (*expr, error) {
	t, err := p.param(e.Pos, e.Number)
	if err != nil {
		return nil, err
	}
	n := e.Number
	return &expr{typ: t, mod: -1, param: n, eval: func(x *exec) (datum.Value, error) { return x.params[n-1], nil }}, nil
}

func (p *planner) column(s *scope, c *syntax.Column) (*expr, error) {
	e, err := p.resolveColumn(s, c)
	if err != nil {
		return nil, err
	}
	e.name = c.Name.Last()
	return e, nil
}

func (p *planner) cast(s *scope, c *syntax.Cast) (*expr, error) {
	t, mod, err := p.typeName(c.Type)
	if err != nil {
		return nil, err
	}
	if a, ok := unparen(c.X).(*syntax.Array); ok && len(a.Elems) == 0 {
		x := constant(datum.MakeArray(t, nil))
		x.name = "array"
		return x, nil
	}
	x, err := p.expr(s, c.X)
	if err != nil {
		return nil, err
	}
	name, weak := x.name, x.weak
	if x, err = p.coerce(x, t, datum.ExplicitCast); err != nil {
		return nil, at(c.Pos, err)
	}
	if mod >= 0 {
		inner := x
		x = derive(t, func(x *exec) (datum.Value, error) {
			v, err := inner.eval(x)
			if err != nil || !v.Valid {
				return v, err
			}
			return datum.ApplyTypeMod(v, mod)
		}, inner)
		x.mod = mod
	} else if x.param == 0 {
		e := *x
		x = &e
	}
	x.name, x.weak = name, weak
	if name == "" || weak {
		x.name, x.weak = typeColumnName(t), true
	}
	return x, nil
}

// typeColumnName is what a cast to a type calls its column: the type's name,
// without the [] of an array.
func typeColumnName(t datum.OID) string {
	info, _ := datum.TypeInfo(t)
	if elem, ok := datum.TypeInfo(info.Elem); ok && elem.Array == t {
		return elem.Name
	}
	return info.Name
}

// typeName resolves a written type and its modifier.
func (p *planner) typeName(t syntax.TypeName) (datum.OID, int32, error) {
	name := t.Name.Last()
	if len(t.Name) > 1 {
		switch t.Name[0] {
		case "pg_catalog", "public", "information_schema":
		default:
			return 0, 0, at(t.Pos, sqlstate.New(sqlstate.InvalidSchema, "schema %q does not exist", sqlstate.Cut(t.Name[0], 64)))
		}
		if base, ok := p.catalog.domains[name]; ok {
			return base, -1, nil
		}
	}
	oid, ok := datum.TypeByName(name)
	if !ok {
		return 0, 0, at(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "type %q does not exist", sqlstate.Cut(strings.Join(t.Name, "."), 64)))
	}
	for range min(t.Array, 1) {
		info, _ := datum.TypeInfo(oid)
		if info.Array == 0 {
			return 0, 0, at(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "type %q does not exist", name+"[]"))
		}
		oid = info.Array
	}
	return oid, typeMod(oid, t.Mods), nil
}

// typeMod encodes (n) and (p,s) as PostgreSQL's atttypmod.
func typeMod(t datum.OID, mods []int64) int32 {
	if len(mods) == 0 {
		return -1
	}
	switch t {
	case datum.Varchar, datum.BPChar, datum.VarcharArray:
		return int32(mods[0]) + 4
	case datum.Numeric:
		scale := int64(0)
		if len(mods) > 1 {
			scale = mods[1]
		}
		return int32(mods[0]<<16|scale&0x7ff) + 4
	case datum.Timestamp, datum.TimestampTZ, datum.Time:
		return int32(mods[0])
	}
	return -1
}

func (p *planner) caseExpr(s *scope, c *syntax.Case) (*expr, error) {
	var operand *expr
	finish := func(e *expr) *expr { return e }
	if c.Operand != nil {
		x, err := p.expr(s, c.Operand)
		if err != nil {
			return nil, err
		}
		operand, finish = once(x)
	}
	var conds, results []*expr
	for _, w := range c.Whens {
		ce, err := p.whenCondition(s, operand, w.Cond)
		if err != nil {
			return nil, err
		}
		re, err := p.expr(s, w.Result)
		if err != nil {
			return nil, err
		}
		conds, results = append(conds, ce), append(results, re)
	}
	if c.Else != nil {
		e, err := p.expr(s, c.Else)
		if err != nil {
			return nil, err
		}
		results = append(results, e)
	}
	t, err := p.caseType(c, results)
	if err != nil {
		return nil, err
	}
	e := derive(t, func(x *exec) (datum.Value, error) {
		for i, cond := range conds {
			v, err := cond.eval(x)
			if err != nil {
				return v, err
			}
			if v.Valid && v.Int == 1 {
				return results[i].eval(x)
			}
		}
		if len(results) > len(conds) {
			return results[len(conds)].eval(x)
		}
		return datum.Null(t), nil
	}, append(conds, results...)...)
	e = finish(e)
	e.name, e.weak = "case", true
	if last := results[len(results)-1]; c.Else != nil && last.name != "" && !last.weak {
		e.name, e.weak = last.name, false
	}
	return e, nil
}

// whenCondition is the condition after WHEN; with an operand, operand = cond.
func (p *planner) whenCondition(s *scope, operand *expr, cond syntax.Expr) (*expr, error) {
	if operand == nil {
		return p.boolean(s, cond, "CASE/WHEN")
	}
	x, err := p.expr(s, cond)
	if err != nil {
		return nil, err
	}
	x, err = p.operator("=", operand, x)
	return x, at(cond.Position(), err)
}

// caseType converts the results of CASE to their common type. ELSE counts
// first, as in PostgreSQL.
func (p *planner) caseType(c *syntax.Case, results []*expr) (datum.OID, error) {
	last := len(results) - 1
	if c.Else == nil {
		return p.common(c.Pos, "CASE", results)
	}
	ordered := append([]*expr{results[last]}, results[:last]...)
	t, err := p.common(c.Pos, "CASE", ordered)
	copy(results, ordered[1:])
	results[last] = ordered[0]
	return t, err
}

// once makes an expression readable several times while it is computed once;
// finish wraps the expression that reads it. Reading it twice could draw two
// ids, and doubles the work at every level of nesting.
func once(e *expr) (read *expr, finish func(*expr) *expr) {
	if e.column || e.lit != nil || e.param > 0 {
		return e, func(reader *expr) *expr { return reader }
	}
	slot := new(slotExpr)
	read = slot.expr(e.typ, e.collation)
	read.pos = e.pos
	return read, func(reader *expr) *expr {
		return derive(reader.typ, func(x *exec) (datum.Value, error) {
			v, err := e.eval(x)
			if err != nil {
				return v, err
			}
			return slot.with(x, v, reader)
		}, e, reader)
	}
}

func (p *planner) array(s *scope, a *syntax.Array) (*expr, error) {
	elems, err := p.exprs(s, a.Elems)
	if err != nil {
		return nil, err
	}
	if len(elems) == 0 {
		return nil, at(a.Pos, sqlstate.New(sqlstate.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."))
	}
	t, err := p.common(a.Pos, "ARRAY", elems)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(t)
	array := info.Array
	nested := info.Category == 'A' && info.Elem != 0 // arrays make one of a dimension more
	if nested {
		array = t
	}
	if array == 0 {
		return nil, at(a.Pos, sqlstate.New(sqlstate.UndefinedObject, "could not find array type for data type %s", datum.FormatType(t, -1)))
	}
	e := derive(array, func(x *exec) (datum.Value, error) {
		out, err := evalAll(x, elems)
		if err == nil && nested {
			return nestArrays(array, out)
		}
		return datum.MakeArray(array, out), err
	}, elems...)
	e.name = "array"
	return e, nil
}

func evalAll(x *exec, es []*expr) ([]datum.Value, error) {
	out := make([]datum.Value, len(es))
	for i, e := range es {
		var err error
		if out[i], err = e.eval(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nestArrays makes arrays of one shape the rows of an array.
func nestArrays(array datum.OID, rows []datum.Value) (datum.Value, error) {
	empty := true
	for _, r := range rows {
		empty = empty && len(r.Elems) == 0
		if !slices.Equal(dimensions(r), dimensions(rows[0])) {
			return datum.Value{}, sqlstate.New(codeArraySubscript, "multidimensional arrays must have array expressions with matching dimensions")
		}
	}
	if empty {
		rows = nil
	}
	return datum.MakeArray(array, rows), nil
}

func (p *planner) row(s *scope, r *syntax.Row) (*expr, error) {
	elems, err := p.exprs(s, r.Elems)
	if err != nil {
		return nil, err
	}
	fields := make([]fromColumn, len(elems))
	for i, e := range elems {
		if elems[i], err = p.resolveUnknown(e); err != nil {
			return nil, err
		}
		fields[i] = fromColumn{name: "f" + strconv.Itoa(i+1), typ: elems[i].typ, mod: -1}
	}
	e := derive(datum.Record, func(x *exec) (datum.Value, error) {
		out, err := evalAll(x, elems)
		return datum.MakeArray(datum.Record, out), err
	}, elems...)
	e.name, e.fields = "row", fields
	return e, nil
}

func (p *planner) field(s *scope, f *syntax.Field) (*expr, error) {
	rec, err := p.expr(s, f.X)
	if err != nil {
		return nil, err
	}
	for i, c := range rec.fields {
		if c.name != f.Name {
			continue
		}
		e := derive(c.typ, func(x *exec) (datum.Value, error) {
			v, err := rec.eval(x)
			if err != nil || !v.Valid || i >= len(v.Elems) {
				return datum.Null(c.typ), err
			}
			return v.Elems[i], nil
		}, rec)
		e.name = f.Name
		return e, nil
	}
	if len(rec.fields) == 0 {
		return nil, at(unparen(f.X).Position(), sqlstate.New(sqlstate.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type",
			sqlstate.Cut(f.Name, 64), datum.FormatType(rec.typ, -1)))
	}
	return nil, at(unparen(f.X).Position(), sqlstate.New(sqlstate.UndefinedColumn, "could not identify column %q in record data type", sqlstate.Cut(f.Name, 64)))
}
