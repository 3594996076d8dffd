package engine

import (
	"errors"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// yieldEvery is the number of expressions after which the planner yields the
// processor, as the parser does.
const yieldEvery = 1 << 9

// Yield counts an expression that is planned or examined. From time to time it
// yields the processor and checks for cancellation.
func (p *Planner) Yield() {
	if p.exprs++; p.exprs%yieldEvery == 0 {
		syntax.Yield()
		p.stopped = p.Host.MayPlan()
	}
}

// Expr analyses an expression in a scope.
func (p *Planner) Expr(s *Scope, e syntax.Expr) (*Expr, error) {
	if p.Yield(); p.stopped != nil {
		return nil, p.stopped
	}
	x, err := p.analyse(s, e)
	if err != nil {
		return x, err
	}
	if x.pos == 0 {
		x.pos = e.Position()
	}
	return counted(x), p.Host.Planned(len(x.Refs) * refBytes)
}

func (p *Planner) analyse(s *Scope, e syntax.Expr) (*Expr, error) {
	if g := p.groupedExpr(s, e); g != nil {
		return g, nil
	}
	if x, err := p.Dialect.Analyse(p, s, e); x != nil || err != nil {
		return x, err
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return p.literal(e)
	case *syntax.Param:
		return p.paramExpr(e)
	case *syntax.Column:
		return p.column(s, e)
	case *syntax.FuncCall:
		return p.FuncCall(s, e)
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
		return p.Expr(s, e.X)
	case *syntax.Array:
		return p.array(s, e)
	case *syntax.Subscript:
		return p.subscript(s, e)
	case *syntax.Field:
		return p.field(s, e)
	case *syntax.NextValueFor:
		return p.Expr(s, &syntax.FuncCall{
			Pos: e.Pos, Name: syntax.Name{"nextval"},
			Args: []syntax.Arg{{Value: &syntax.Literal{Pos: e.Pos, Kind: syntax.StringLiteral, Text: e.Name.Last()}}},
		})
	case *syntax.Star:
		if len(e.Table) > 0 { // t.* as an argument means the row
			for level := s; level != nil; level = level.parent {
				if row := p.wholeRow(level, e.Table.Last()); row != nil {
					return p.outer(row), nil
				}
			}
		}
		return nil, At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "row expansion via \"*\" is not supported here"))
	case *syntax.Default:
		return nil, At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "DEFAULT is not allowed in this context"))
	}
	return nil, Unsupported(e.Position(), "this expression")
}

// Exprs plans a list of expressions.
func (p *Planner) Exprs(s *Scope, list []syntax.Expr) ([]*Expr, error) {
	out := make([]*Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = p.Expr(s, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// literal gives a constant its type as PostgreSQL does: integers by size, decimals
// numeric, strings unknown.
func (p *Planner) literal(l *syntax.Literal) (*Expr, error) {
	switch l.Kind {
	case syntax.NullLiteral:
		return Constant(datum.Null(datum.Unknown)), nil
	case syntax.BoolLiteral:
		return Constant(datum.MakeBool(l.Text == "true")), nil
	case syntax.IntegerLiteral:
		n, err := strconv.ParseInt(l.Text, 10, 64)
		switch {
		case err != nil:
			v, err := datum.ParseText(datum.Numeric, l.Text, nil)
			return Constant(v), At(l.Pos, err)
		case n == int64(int32(n)):
			return Constant(datum.MakeInt4(n)), nil
		}
		return Constant(datum.MakeInt8(n)), nil
	case syntax.NumericLiteral:
		v, err := datum.ParseText(datum.Numeric, l.Text, nil)
		return Constant(v), At(l.Pos, err)
	case syntax.StringLiteral:
		return Constant(datum.MakeString(datum.Unknown, l.Text)), nil
	}
	return Constant(datum.MakeString(datum.Bytea, l.Text)), nil // syntax.BytesLiteral
}

func (p *Planner) paramExpr(e *syntax.Param) (*Expr, error) {
	t, err := p.param(e.Pos, e.Number)
	if err != nil {
		return nil, err
	}
	n := e.Number
	return &Expr{Type: t, TypeMod: -1, Param: int16(n), compute: func(x *Exec) (datum.Value, error) { return x.Params[n-1], nil }}, nil
}

func (p *Planner) column(s *Scope, c *syntax.Column) (*Expr, error) {
	e, err := p.resolveColumn(s, c)
	if err != nil {
		return nil, err
	}
	e.name = c.Name.Last()
	return e, nil
}

func (p *Planner) cast(s *Scope, c *syntax.Cast) (*Expr, error) {
	t, mod, err := p.TypeName(c.Type)
	if err != nil {
		return nil, err
	}
	if a, ok := c.X.(*syntax.Array); ok && len(a.Elems) == 0 {
		x := Constant(datum.MakeArray(t, nil))
		x.name = "array"
		return x, nil
	}
	x, err := p.Expr(s, c.X)
	if err != nil {
		return nil, err
	}
	name, weak := x.name, x.weak
	switch {
	case t == datum.Bit && IsInteger(x.Type):
		inner := x
		n := mod
		x = Strict1(datum.Bit, inner, func(_ *Exec, v datum.Value) (datum.Value, error) { return datum.BitsOfInt(v.Int, n), nil })
		x.TypeMod, mod = n, -1
	case t == datum.Bit || t == datum.VarBit:
		return nil, Unsupported(c.Pos, "a cast of "+datum.FormatType(x.Type, -1)+" to "+datum.FormatType(t, -1))
	default:
		if x, err = p.Coerce(x, t, datum.ExplicitCast); err != nil {
			return nil, At(c.Pos, err)
		}
		if x.Param == 0 {
			e := *x
			e.TypeMod = -1
			x = &e
		}
	}
	if mod >= 0 {
		x = Strict1(t, x, func(_ *Exec, v datum.Value) (datum.Value, error) { return datum.FitLength(v, mod), nil })
		x.TypeMod = mod
	}
	x.name, x.weak = name, weak
	if name == "" || weak {
		x.name, x.weak = typeColumnName(t), true
	}
	return x, nil
}

// typeColumnName returns the column name of a cast: the type's name, for an array
// that of the element type.
func typeColumnName(t datum.OID) string {
	info, _ := datum.TypeInfo(t)
	if elem, ok := datum.TypeInfo(info.Elem); ok && elem.Array == t {
		return elem.Name
	}
	return info.Name
}

// TypeName resolves a written type and its modifier.
func (p *Planner) TypeName(t syntax.TypeName) (datum.OID, int32, error) {
	name := t.Name.Last()
	if len(t.Name) > 1 {
		switch t.Name[0] {
		case "pg_catalog", "public", "information_schema":
		default:
			return 0, 0, At(t.Pos, NoSchema(t.Name[0]))
		}
		if base, ok := p.Catalog.Domains[name]; ok {
			return base, -1, nil
		}
	}
	oid, ok := datum.TypeByName(name)
	if !ok {
		return 0, 0, At(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "type %q does not exist", sqlstate.Cut(strings.Join(t.Name, "."), 64)))
	}
	mods := t.Mods
	if name == "character" && mods == nil {
		mods = []int64{1}
	}
	mod, err := typeMod(oid, mods)
	if err != nil {
		return 0, 0, At(t.Pos, err)
	}
	if t.Array > 0 {
		if mod >= 0 {
			return 0, 0, Unsupported(t.Pos, "an array of "+datum.FormatType(oid, mod))
		}
		info, _ := datum.TypeInfo(oid)
		if info.Array == 0 {
			return 0, 0, At(t.Pos, sqlstate.New(sqlstate.UndefinedObject, "type %q does not exist", name+"[]"))
		}
		oid = info.Array
	}
	return oid, mod, nil
}

// typeMod encodes (n) and (p,s) as PostgreSQL's atttypmod.
func typeMod(t datum.OID, mods []int64) (int32, error) {
	if len(mods) == 0 {
		if t == datum.Bit {
			return 1, nil
		}
		return -1, nil
	}
	const longest = 10 << 20
	n := mods[0]
	mod, ok := int32(n), len(mods) == 1 && 1 <= n && n <= longest
	switch t {
	case datum.Varchar, datum.BPChar:
		mod += 4
	case datum.Bit:
	case datum.Numeric, datum.Timestamp, datum.TimestampTZ, datum.Time:
		return 0, sqlstate.New(sqlstate.FeatureNotSupported, "a modifier of type %s is not supported by nextid", datum.FormatType(t, -1))
	default:
		return 0, sqlstate.New(sqlstate.SyntaxError, "type modifier is not allowed for type %q", datum.FormatType(t, -1))
	}
	if !ok {
		return 0, sqlstate.New(sqlstate.InvalidParameterValue, "invalid modifier of type %s", datum.FormatType(t, -1))
	}
	return mod, nil
}

// NumericMod encodes (precision,scale) of a numeric.
func NumericMod(precision, scale int64) int32 { return int32(precision<<16|scale&0x7ff) + 4 }

func (p *Planner) caseExpr(s *Scope, c *syntax.Case) (*Expr, error) {
	defer s.noSets()() // a set would be read whatever the conditions are
	var operand *Expr
	finish := func(e *Expr) *Expr { return e }
	if c.Operand != nil {
		x, err := p.Expr(s, c.Operand)
		if err != nil {
			return nil, err
		}
		operand, finish = Once(x)
	}
	var conds, results []*Expr
	for _, w := range c.Whens {
		ce, err := p.whenCondition(s, operand, w.Cond)
		if err != nil {
			return nil, err
		}
		re, err := p.Expr(s, w.Result)
		if err != nil {
			return nil, err
		}
		conds, results = append(conds, ce), append(results, re)
	}
	if c.Else != nil {
		e, err := p.Expr(s, c.Else)
		if err != nil {
			return nil, err
		}
		results = append(results, e)
	}
	t, err := p.caseType(c, results)
	if err != nil {
		return nil, err
	}
	e := Derive(t, func(x *Exec) (datum.Value, error) {
		for i, cond := range conds {
			v, err := cond.Eval(x)
			if err != nil {
				return v, err
			}
			if v.Valid && v.Int == 1 {
				return results[i].Eval(x)
			}
		}
		if len(results) > len(conds) {
			return results[len(conds)].Eval(x)
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

// whenCondition plans the condition after WHEN; with an operand, operand = cond.
func (p *Planner) whenCondition(s *Scope, operand *Expr, cond syntax.Expr) (*Expr, error) {
	if operand == nil {
		return p.Boolean(s, cond, "CASE/WHEN")
	}
	x, err := p.Expr(s, cond)
	if err != nil {
		return nil, err
	}
	x, err = p.Dialect.Operator(p, "=", operand, x)
	return x, At(cond.Position(), err)
}

// caseType converts the results of CASE to their common type. As in PostgreSQL,
// ELSE comes first.
func (p *Planner) caseType(c *syntax.Case, results []*Expr) (datum.OID, error) {
	last := len(results) - 1
	if c.Else == nil {
		return p.common(c.Pos, "CASE", results)
	}
	ordered := append([]*Expr{results[last]}, results[:last]...)
	t, err := p.common(c.Pos, "CASE", ordered)
	copy(results, ordered[1:])
	results[last] = ordered[0]
	return t, err
}

// Once lets an expression be read several times and computed once. finish wraps the
// expression that contains the reads. Computing e twice could draw two ids and
// would double the work at each level of nesting.
func Once(e *Expr) (read *Expr, finish func(*Expr) *Expr) {
	if e.fixed() {
		return e, func(reader *Expr) *Expr { return reader }
	}
	slot := new(slotExpr)
	read = slot.expr(e.Type, e.Letters)
	read.pos = e.pos
	return read, func(reader *Expr) *Expr {
		return Derive(reader.Type, func(x *Exec) (datum.Value, error) {
			v, err := e.Eval(x)
			if err != nil {
				return v, err
			}
			return slot.with(x, v, reader)
		}, e, reader)
	}
}

func (p *Planner) array(s *Scope, a *syntax.Array) (*Expr, error) {
	elems, err := p.Exprs(s, a.Elems)
	if err != nil {
		return nil, err
	}
	if len(elems) == 0 {
		return nil, At(a.Pos, sqlstate.New(sqlstate.IndeterminateDatatype, "cannot determine type of empty array").
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."))
	}
	t, err := p.common(a.Pos, "ARRAY", elems)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(t)
	array := info.Array
	if array == 0 {
		return nil, Unsupported(a.Pos, "an array of "+datum.FormatType(t, -1))
	}
	e := Derive(array, func(x *Exec) (datum.Value, error) {
		out, err := EvalAll(x, elems)
		return datum.MakeArray(array, out), err
	}, elems...)
	e.name = "array"
	return e, nil
}

// EvalAll evaluates expressions.
func EvalAll(x *Exec, es []*Expr) ([]datum.Value, error) {
	out := make([]datum.Value, len(es))
	for i, e := range es {
		var err error
		if out[i], err = e.Eval(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fieldOf reads the field i of a record.
func fieldOf(rec *Expr, i int, c FromColumn) *Expr {
	e := Strict1(c.Type, rec, func(_ *Exec, v datum.Value) (datum.Value, error) { return v.Elems[i], nil })
	e.name = c.Name
	return e
}

func (p *Planner) field(s *Scope, f *syntax.Field) (*Expr, error) {
	rec, err := p.Expr(s, f.X)
	if err != nil {
		return nil, err
	}
	fields := rec.Known().Fields
	for i, c := range fields {
		if c.Name != f.Name {
			continue
		}
		return fieldOf(rec, i, c), nil
	}
	if len(fields) == 0 {
		return nil, At(f.X.Position(), sqlstate.New(sqlstate.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type",
			sqlstate.Cut(f.Name, 64), datum.FormatType(rec.Type, -1)))
	}
	return nil, At(f.X.Position(), sqlstate.New(sqlstate.UndefinedColumn, "could not identify column %q in record data type", sqlstate.Cut(f.Name, 64)))
}

// ConditionalFunctions lists COALESCE and NULLIF (PostgreSQL 9.18). They compute no
// more arguments than they need.
var ConditionalFunctions = []Function{
	{Name: "coalesce", Args: Args(AnyElement), Variadic: true, Result: AnyElement, Does: Typed(Coalesce), Help: "the first argument that is not NULL"},
	{Name: "nullif", Args: Args(AnyElement, AnyElement), Result: AnyElement, Does: Typed(NullIf), Help: "NULL if both arguments are equal, else the first"},
}

// CommonArgs converts the arguments of a construct to one type. Its errors have no
// position; the caller adds the construct's.
func (p *Planner) CommonArgs(what string, args []*Expr) (datum.OID, error) {
	t, err := p.common(noPos, what, args)
	if pe, ok := errors.AsType[*posError](err); ok {
		err = pe.err
	}
	return t, err
}

// noPos marks errors that are reported without a position.
const noPos syntax.Pos = -1

// ErrUnknownPolymorphic has no position in PostgreSQL either.
var ErrUnknownPolymorphic = At(noPos, sqlstate.New(sqlstate.DatatypeMismatch,
	"could not determine polymorphic type because input has type unknown"))

// Coalesce plans COALESCE, the first argument that is not NULL.
func Coalesce(p *Planner, args []*Expr) (*Expr, error) {
	t, err := p.CommonArgs("COALESCE", args)
	if err != nil {
		return nil, err
	}
	return Derive(t, func(x *Exec) (datum.Value, error) {
		for _, a := range args {
			if v, err := a.Eval(x); err != nil || v.Valid {
				return v, err
			}
		}
		return datum.Null(t), nil
	}, args...), nil
}

// NullIf plans NULLIF: NULL if both arguments are equal, else the first. PostgreSQL
// converts the first one as for the comparison, unless it compares the types as they are.
func NullIf(p *Planner, args []*Expr) (*Expr, error) {
	x, finish := Once(args[0])
	l, r, err := p.Dialect.Comparable(p, "=", x, args[1])
	if err != nil {
		return nil, err
	}
	same, err := p.Dialect.Operator(p, "=", x, args[1])
	if err != nil {
		return nil, err
	}
	switch {
	case p.Traits.Lenient, IsInteger(x.Type) && IsInteger(r.Type), x.Type == datum.Float4 && r.Type == datum.Float8:
		l, err = p.ResolveUnknown(x)
	case l.Type == datum.Varchar, l.Type == datum.Char && r.Type != datum.Char: // they compare as text
		l, err = p.Coerce(l, datum.Text, datum.ImplicitCast)
	}
	if err != nil {
		return nil, err
	}
	return finish(Derive(l.Type, func(x *Exec) (datum.Value, error) {
		v, err := same.Eval(x)
		if err != nil || v.Valid && v.Int == 1 {
			return datum.Null(l.Type), err
		}
		return l.Eval(x)
	}, l, same)), nil
}

// subscript analyses x[i] (8.15.3). It is NULL outside the array. Slices and
// several dimensions are refused.
func (p *Planner) subscript(s *Scope, e *syntax.Subscript) (*Expr, error) {
	array, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	info, _ := datum.TypeInfo(array.Type)
	if array.Type == datum.Name { // name[i] is a character
		info.Elem = datum.Char
	}
	if info.Elem == 0 {
		return nil, At(array.pos, sqlstate.New(sqlstate.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting",
			datum.FormatType(array.Type, -1)))
	}
	index, err := p.Expr(s, e.Index)
	if err == nil {
		index, err = p.Coerce(index, datum.Int4, datum.AssignmentCast)
	}
	if err != nil {
		return nil, At(e.Pos, err)
	}
	base := int64(1)
	if array.Type == datum.Int2Vector || array.Type == datum.OidVector || array.Type == datum.Name {
		base = 0
	}
	r := Strict2(info.Elem, array, index, func(_ *Exec, a, n datum.Value) (datum.Value, error) {
		i, null := n.Int-base, datum.Null(info.Elem)
		switch {
		case i < 0:
			return null, nil
		case a.Type == datum.Name && i < int64(len(a.Str)):
			return datum.MakeString(datum.Char, a.Str[i:i+1]), nil
		case i < int64(len(a.Elems)):
			return a.Elems[i], nil
		}
		return null, nil
	})
	r.name = array.name
	return r, nil
}
