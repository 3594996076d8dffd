package engine

import (
	"context"
	"slices"
	"sort"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Expr is an analysed expression. Large plans consist mostly of Exprs, so each
// additional field counts: one makes an Expr a sixth larger.
type Expr struct {
	Type    datum.OID
	TypeMod int32
	compute func(x *Exec) (datum.Value, error) // nil: a constant, or the value of column Refs[0]
	Literal *datum.Value                       // value of a constant; with the type Unknown, of an untyped literal
	known   *Known
	name    string     // name of a result column of this expression
	Refs    []ref      // columns it reads
	pos     syntax.Pos // where its text begins
	Param   int16      // n of a bare $n whose type is not decided yet

	weak     bool // name comes from a cast or CASE; an outer cast or CASE replaces it
	Volatile bool // its value may differ from call to call
	Column   bool // it is the column Refs[0] and no more
	Letters  bool // its text compares without case, see Exact
	counted  bool // see counted
}

// Eval computes the expression for the current rows.
func (e *Expr) Eval(x *Exec) (datum.Value, error) {
	switch {
	case e.compute != nil:
		return e.compute(x)
	case e.Literal != nil:
		return *e.Literal, nil
	}
	return e.slot(x)
}

// slot returns the value of the column that e reads.
func (e *Expr) slot(x *Exec) (datum.Value, error) {
	r := e.Refs[0]
	return x.Frames[r.frame][r.index], nil
}

// Known holds properties that few expressions have: conditions, records and
// columns.
type Known struct {
	Fields []FromColumn // of a record whose columns are known
	Keys   []*KeyTest   // of a condition: its tests on single columns
	equal  []*Expr      // of a condition left = right: the two sides
	table  uint32       // pg_class oid and attribute of a plain column
	attr   int16
	Origin *Origin // of a plain column, with the trait Origins
}

// Known returns the properties of e beyond its type.
func (e *Expr) Known() Known {
	if e.known == nil {
		return Known{}
	}
	return *e.known
}

// Know sets the properties of e.
func (e *Expr) Know(k Known) { e.known = &k }

// ref is a column of a level's row.
type ref struct{ frame, index int }

// Constant makes an expression of a value.
func Constant(v datum.Value) *Expr { return &Expr{Type: v.Type, TypeMod: -1, Literal: &v} }

// untyped reports whether e is a literal without a type.
func (e *Expr) untyped() bool { return e.Literal != nil && e.Type == datum.Unknown }

// fixed reports whether reading e several times costs nothing.
func (e *Expr) fixed() bool { return e.Column || e.Literal != nil || e.Param > 0 }

// Derive makes an expression computed from others.
func Derive(typ datum.OID, eval func(x *Exec) (datum.Value, error), from ...*Expr) *Expr {
	e := &Expr{Type: typ, TypeMod: -1, compute: eval}
	for _, f := range from {
		if f != nil {
			e.reads(f.Refs)
			e.Volatile = e.Volatile || f.Volatile
			e.Letters = e.Letters || f.Letters && IsString(typ) && IsString(f.Type)
		}
	}
	return e
}

// Strict1 makes a function of one value that is NULL when the value is.
func Strict1(t datum.OID, e *Expr, f func(x *Exec, v datum.Value) (datum.Value, error)) *Expr {
	return Derive(t, func(x *Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(t), err
		}
		return f(x, v)
	}, e)
}

// fewRefs is the number of columns up to which Refs has no duplicates.
const fewRefs = 32

// reads adds columns to those that e reads. Most expressions read the same few
// columns as their parts and share the slice.
func (e *Expr) reads(refs []ref) {
	if len(e.Refs) == 0 {
		e.Refs = slices.Clip(refs)
		return
	}
	for _, r := range refs {
		if len(e.Refs) > fewRefs || !slices.Contains(e.Refs, r) {
			e.Refs = append(e.Refs, r)
		}
	}
}

// IsConstant reports whether e can be computed once for the whole statement.
func (e *Expr) IsConstant() bool { return len(e.Refs) == 0 && !e.Volatile }

// Coerce converts e to type t. ctx limits the conversions. Untyped literals are
// parsed as t, parameters without a type become t.
func (p *Planner) Coerce(e *Expr, t datum.OID, ctx datum.CastContext) (*Expr, error) {
	if e.Type == t || t == datum.Unknown {
		return e, nil
	}
	if e.Param > 0 && e.Type == datum.Unknown {
		now := &p.Params[e.Param-1]
		if *now == datum.Unknown || *now == t {
			*now, e.Type = t, t
			return e, nil
		}
		c := *e // an earlier use of the parameter decided its type
		c.Type, c.Param = *now, 0
		return p.Coerce(&c, t, ctx)
	}
	return p.Dialect.Coerce(p, e, t, ctx)
}

// Coerce implements Dialect (PostgreSQL 10.4).
func (PostgreSQL) Coerce(p *Planner, e *Expr, t datum.OID, ctx datum.CastContext) (*Expr, error) {
	if e.untyped() {
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
	if allowed == datum.NoCast || allowed < ctx {
		return nil, datum.CannotCast(e.Type, t)
	}
	return Strict1(t, e, func(x *Exec, v datum.Value) (datum.Value, error) { return x.Cast(v, t) }).Named(e), nil
}

// Named gives a converted expression the name and position of the original.
func (e *Expr) Named(of *Expr) *Expr {
	e.name, e.weak, e.pos = of.name, of.weak, of.pos
	return e
}

// literalAs parses an untyped literal as type t. It does so during planning if the
// result cannot depend on the session.
func (p *Planner) literalAs(e *Expr, t datum.OID) (*Expr, error) {
	text := e.Literal.Str
	if stableInput(t) {
		v, err := p.readLiteral(t, text, nil)
		if err != nil {
			return nil, At(e.pos, err)
		}
		return Constant(v).Named(e), nil
	}
	if _, err := p.readLiteral(t, text, p.Host.Env()); err != nil {
		return nil, At(e.pos, err)
	}
	c := Derive(t, func(x *Exec) (datum.Value, error) { return datum.ParseText(t, text, x.Env()) })
	return c.Named(e), nil
}

// readLiteral parses the text of a literal. A long text counts as memory while it
// is parsed, its value afterwards.
func (p *Planner) readLiteral(t datum.OID, text string, env *datum.Env) (datum.Value, error) {
	if len(text) <= uncounted {
		return datum.ParseText(t, text, env)
	}
	work := int64(len(text)) * WorkFactor
	if err := p.Host.Memory().Draw(work); err != nil {
		return datum.Value{}, err
	}
	defer p.Host.Memory().Return(work)
	if env == nil {
		env = &datum.Env{}
	}
	env.Worker = p
	v, err := datum.ParseText(t, text, env)
	if err == nil {
		err = p.Host.Planned(SizeOf(v))
	}
	return v, err
}

// Work implements datum.Worker.
func (p *Planner) Work(n int) error {
	if p.worked += n; p.worked >= lookAfter {
		p.worked = 0
		syntax.Yield()
		return p.Host.MayPlan()
	}
	return nil
}

// stableInput reports whether the input function of a type ignores settings, the
// clock and the catalog.
func stableInput(t datum.OID) bool {
	if i, ok := datum.TypeInfo(t); ok && i.Elem != 0 {
		t = i.Elem
	}
	switch t {
	case datum.Date, datum.Timestamp, datum.TimestampTZ:
		return false
	}
	return !datum.IsReg(t)
}

// ResolveUnknown gives an untyped expression the type text.
func (p *Planner) ResolveUnknown(e *Expr) (*Expr, error) {
	if e.Type == datum.Unknown {
		return p.Coerce(e, datum.Text, datum.ImplicitCast)
	}
	return e, nil
}

// Boolean analyses a condition. what names its clause in error messages.
func (p *Planner) Boolean(s *Scope, e syntax.Expr, what string) (*Expr, error) {
	c, err := p.Expr(s, e)
	if err != nil {
		return nil, err
	}
	c, err = p.Dialect.Truth(p, c, what)
	return c, At(e.Position(), err)
}

// Truth implements Dialect.
func (PostgreSQL) Truth(p *Planner, e *Expr, clause string) (*Expr, error) {
	if e.Type != datum.Bool && e.Type != datum.Unknown {
		return nil, sqlstate.New(sqlstate.DatatypeMismatch, "argument of %s must be type boolean, not type %s", clause, datum.FormatType(e.Type, -1))
	}
	return p.Coerce(e, datum.Bool, datum.ImplicitCast)
}

// common converts expressions to their common type (PostgreSQL 10.5).
func (p *Planner) common(pos syntax.Pos, what string, es []*Expr) (datum.OID, error) {
	types := make([]datum.OID, len(es))
	for i, e := range es {
		types[i] = e.Type
	}
	t, err := p.Dialect.Common(types)
	if err != nil {
		first := slices.IndexFunc(types, func(t datum.OID) bool { return t != datum.Unknown })
		odd := sort.Search(len(types), func(i int) bool {
			_, err := datum.CommonType(types[:i+1])
			return err != nil
		})
		return 0, At(es[odd].pos, sqlstate.New(sqlstate.DatatypeMismatch, "%s types %s and %s cannot be matched",
			what, datum.FormatType(types[first], -1), datum.FormatType(types[odd], -1)))
	}
	return t, At(pos, p.CoerceAll(es, t))
}

// Common implements Dialect (PostgreSQL 10.5).
func (PostgreSQL) Common(types []datum.OID) (datum.OID, error) { return datum.CommonType(types) }

// CoerceAll converts expressions to a type, in place.
func (p *Planner) CoerceAll(es []*Expr, t datum.OID) error {
	for i, e := range es {
		p.Yield()
		var err error
		if es[i], err = p.Coerce(e, t, datum.ImplicitCast); err != nil {
			return err
		}
	}
	return nil
}

// ConstantValue computes an expression that does not depend on the execution; ok is
// false for others.
func (p *Planner) ConstantValue(e *Expr) (datum.Value, bool) {
	if !e.IsConstant() || e.Param > 0 {
		return datum.Value{}, false
	}
	x := NewExec(context.Background(), p.Host, p.Dialect, nil)
	defer x.Release()
	v, err := e.Eval(x)
	return v, err == nil
}
