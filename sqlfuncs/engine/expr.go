package engine

import (
	"context"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Expr is an analysed expression. Plans are made of them: a field more, and each
// takes a sixth more.
type Expr struct {
	Type    datum.OID // Unknown: an untyped literal, NULL or parameter
	TypeMod int32
	Eval    func(x *Exec) (datum.Value, error)
	Param   int          // n of a bare $n whose type is open
	Literal *datum.Value // value of an untyped literal
	pos     syntax.Pos   // where it begins
	name    string       // what a result column of this expression is called

	Refs     []ref // columns it reads
	weak     bool  // the name is only that of a type or CASE: an outer cast or CASE has its own
	Volatile bool  // its value may differ from call to call
	Column   bool  // it is just refs[0]
	Letters  bool  // MySQL: its text compares by letters, see Exact
	counted  bool  // see counted
	known    *Known
}

// Known is what is known of few expressions: conditions, records and columns.
type Known struct {
	Fields []FromColumn // of a record whose columns are known
	Keys   []*KeyTest   // a condition: what it says about single columns
	equal  []*Expr      // a condition: the two sides that it says are equal
	table  uint32       // pg_class oid and attribute of a plain column
	attr   int16
	Origin *Origin // MySQL: of a plain column
}

// Known returns what is known of e beyond its type.
func (e *Expr) Known() Known {
	if e.known == nil {
		return Known{}
	}
	return *e.known
}

// Know replaces it.
func (e *Expr) Know(k Known) { e.known = &k }

// ref is a column of a level's row.
type ref struct{ frame, index int }

// Constant makes an expression of a value. Plans are full of constants: a
// number or a text holds no whole Value.
func Constant(v datum.Value) *Expr {
	e := &Expr{Type: v.Type, TypeMod: -1}
	switch {
	case v.Elems != nil || v.Float != 0 || v.Str != "" && v.Int != 0 || !v.Valid:
		e.Eval = func(*Exec) (datum.Value, error) { return v, nil }
	case v.Str != "":
		typ, text := v.Type, v.Str
		e.Eval = func(*Exec) (datum.Value, error) { return datum.MakeString(typ, text), nil }
	default:
		typ, n := v.Type, v.Int
		e.Eval = func(*Exec) (datum.Value, error) { return datum.Value{Type: typ, Valid: true, Int: n}, nil }
	}
	return e
}

// Derive makes an expression that is computed from others.
func Derive(typ datum.OID, eval func(x *Exec) (datum.Value, error), from ...*Expr) *Expr {
	e := &Expr{Type: typ, TypeMod: -1, Eval: eval}
	for _, f := range from {
		if f != nil {
			e.Refs = append(e.Refs, f.Refs...)
			e.Volatile = e.Volatile || f.Volatile
			e.Letters = e.Letters || f.Letters && IsString(typ) && IsString(f.Type)
		}
	}
	return e
}

// IsConstant reports whether e can be computed once for the whole statement.
func (e *Expr) IsConstant() bool { return len(e.Refs) == 0 && !e.Volatile }

// coerceContext says how far a conversion may go (PostgreSQL, chapter 10).
type coerceContext = datum.CastContext

// Coerce converts e to type t. Untyped literals are read as t, open
// parameters become t.
func (p *Planner) Coerce(e *Expr, t datum.OID, ctx coerceContext) (*Expr, error) {
	if p.MySQL {
		return p.Dialect.Coerce(p, e, t)
	}
	if e.Type == t || t == datum.Unknown {
		return e, nil
	}
	if e.Param > 0 && e.Type == datum.Unknown {
		switch now := p.Params[e.Param-1]; now {
		case datum.Unknown:
			p.Params[e.Param-1] = t
			e.Type = t
			return e, nil
		case t:
			e.Type = t
			return e, nil
		default: // another use of the same parameter decided first
			c := *e
			c.Type, c.Param = now, 0
			return p.Coerce(&c, t, ctx)
		}
	}
	if e.Literal != nil && e.Type == datum.Unknown {
		if !e.Literal.Valid {
			c := Constant(datum.Null(t))
			return c.Named(e), nil
		}
		return p.literalAs(e, t)
	}
	if e.Type == datum.Unknown { // an expression that stayed untyped, e.g. a column of a subquery
		c := *e
		c.Type = datum.Text
		e = &c
		if t == datum.Text {
			return e, nil
		}
		ctx = datum.ExplicitCast
	}
	allowed := datum.CastAllowed(e.Type, t)
	if allowed == datum.NoCast || !castFits(allowed, ctx) {
		return nil, datum.CannotCast(e.Type, t)
	}
	c := Derive(t, func(x *Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(t), err
		}
		return x.Cast(v, t)
	}, e)
	return c.Named(e), nil
}

// Named gives a converted expression the name and place of the original.
func (e *Expr) Named(of *Expr) *Expr {
	e.name, e.weak, e.pos = of.name, of.weak, of.pos
	return e
}

// castFits reports whether a cast that is allowed in one context may be used
// in another: implicit casts everywhere, explicit ones only when written.
func castFits(allowed, ctx datum.CastContext) bool {
	rank := map[datum.CastContext]int{datum.ExplicitCast: 1, datum.AssignmentCast: 2, datum.ImplicitCast: 3}
	return rank[allowed] >= rank[ctx]
}

// literalAs reads an untyped literal as type t, at once where the result
// cannot depend on the session.
func (p *Planner) literalAs(e *Expr, t datum.OID) (*Expr, error) {
	text := e.Literal.Str
	if stableInput(t) {
		v, err := datum.ParseText(t, text, nil)
		if err != nil {
			return nil, At(e.pos, err)
		}
		return Constant(v).Named(e), nil
	}
	if _, err := datum.ParseText(t, text, p.Host.Env()); err != nil {
		return nil, At(e.pos, err)
	}
	c := Derive(t, func(x *Exec) (datum.Value, error) { return datum.ParseText(t, text, x.Env()) })
	return c.Named(e), nil
}

// stableInput reports whether a type's input does not look at settings, the
// clock or the catalogue.
func stableInput(t datum.OID) bool {
	if i, ok := datum.TypeInfo(t); ok && i.Elem != 0 {
		t = i.Elem
	}
	switch t {
	case datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ:
		return false
	}
	return !isReg(t)
}

// ResolveUnknown gives an untyped expression the type text.
func (p *Planner) ResolveUnknown(e *Expr) (*Expr, error) {
	if e.Type == datum.Unknown {
		return p.Coerce(e, datum.Text, datum.ImplicitCast)
	}
	return e, nil
}

// Boolean analyses a condition. what is the clause, for the message.
func (p *Planner) Boolean(s *Scope, e syntax.Expr, what string) (*Expr, error) {
	c, err := p.Expr(s, e)
	if err != nil {
		return nil, err
	}
	if p.MySQL {
		return p.Dialect.Truth(p, c)
	}
	if c.Type != datum.Bool && c.Type != datum.Unknown {
		return nil, At(e.Position(), sqlstate.New(sqlstate.DatatypeMismatch, "argument of %s must be type boolean, not type %s",
			what, datum.FormatType(c.Type, -1)))
	}
	c, err = p.Coerce(c, datum.Bool, datum.ImplicitCast)
	return c, At(e.Position(), err)
}

// common converts expressions to their common type (PostgreSQL 10.5).
func (p *Planner) common(pos syntax.Pos, what string, es []*Expr) (datum.OID, error) {
	types := make([]datum.OID, len(es))
	for i, e := range es {
		types[i] = e.Type
	}
	if p.MySQL {
		t := p.Dialect.Common(types)
		return t, At(pos, p.CoerceAll(es, t))
	}
	t, err := datum.CommonType(types)
	if err != nil {
		a, b := types[0], datum.Unknown
		for i, o := range types {
			if a == datum.Unknown {
				a = o
			}
			if _, err := datum.CommonType(types[:i+1]); err != nil {
				b, pos = o, es[i].pos
				break
			}
		}
		return 0, At(pos, sqlstate.New(sqlstate.DatatypeMismatch, "%s types %s and %s cannot be matched",
			what, datum.FormatType(a, -1), datum.FormatType(b, -1)))
	}
	for i, e := range es {
		if es[i], err = p.Coerce(e, t, datum.ImplicitCast); err != nil {
			return 0, At(pos, err)
		}
	}
	return t, nil
}

// commonType is the type of a column of a UNION.
func (p *Planner) commonType(types ...datum.OID) (datum.OID, error) {
	if p.MySQL {
		return p.Dialect.Common(types), nil
	}
	return datum.CommonType(types)
}

// CoerceAll converts expressions to a type, in place.
func (p *Planner) CoerceAll(es []*Expr, t datum.OID) error {
	for i, e := range es {
		var err error
		if es[i], err = p.Coerce(e, t, datum.ImplicitCast); err != nil {
			return err
		}
	}
	return nil
}

// ConstantValue computes an expression that does not depend on the execution.
func (p *Planner) ConstantValue(e *Expr) (datum.Value, bool) {
	if !e.IsConstant() || e.Param > 0 {
		return datum.Value{}, false
	}
	x := NewExec(context.Background(), p.Host, p.Dialect, nil)
	defer x.Release()
	v, err := e.Eval(x)
	return v, err == nil
}
