package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// expr is an analysed expression.
type expr struct {
	typ   datum.OID // Unknown: an untyped literal, NULL or parameter
	mod   int32
	eval  func(x *exec) (datum.Value, error)
	param int          // n of a bare $n whose type is open
	lit   *datum.Value // value of an untyped literal
	pos   syntax.Pos   // where it begins
	name  string       // what a result column of this expression is called
	weak  bool         // the name is only that of a type or CASE: an outer cast or CASE has its own

	refs      []ref        // columns it reads
	volatile  bool         // its value may differ from call to call
	fields    []fromColumn // of a record whose columns are known
	column    bool         // it is just refs[0]
	keys      []*keyTest   // a condition: what it says about single columns
	equal     []*expr      // a condition: the two sides that it says are equal
	table     uint32       // pg_class oid and attribute of a plain column
	attr      int16
	collation collation // MySQL: how its text compares
	origin    *Origin   // MySQL: of a plain column
	counted   bool      // see counted
}

// ref is a column of a level's row.
type ref struct{ frame, index int }

// constant makes an expression of a value.
func constant(v datum.Value) *expr {
	return &expr{typ: v.Type, mod: -1, eval: func(*exec) (datum.Value, error) { return v, nil }}
}

// derive makes an expression that is computed from others.
func derive(typ datum.OID, eval func(x *exec) (datum.Value, error), from ...*expr) *expr {
	e := &expr{typ: typ, mod: -1, eval: eval}
	for _, f := range from {
		if f != nil {
			e.refs = append(e.refs, f.refs...)
			e.volatile = e.volatile || f.volatile
			if isString(typ) && isString(f.typ) {
				e.collation = e.collation.with(f.collation)
			}
		}
	}
	return e
}

// isConstant reports whether e can be computed once for the whole statement.
func (e *expr) isConstant() bool { return len(e.refs) == 0 && !e.volatile }

// coerceContext says how far a conversion may go (PostgreSQL, chapter 10).
type coerceContext = datum.CastContext

// coerce converts e to type t. Untyped literals are read as t, open
// parameters become t.
func (p *planner) coerce(e *expr, t datum.OID, ctx coerceContext) (*expr, error) {
	if p.mysql {
		return p.dialect.coerce(p, e, t)
	}
	if e.typ == t || t == datum.Unknown {
		return e, nil
	}
	if e.param > 0 && e.typ == datum.Unknown {
		switch now := p.params[e.param-1]; now {
		case datum.Unknown:
			p.params[e.param-1] = t
			e.typ = t
			return e, nil
		case t:
			e.typ = t
			return e, nil
		default: // another use of the same parameter decided first
			c := *e
			c.typ, c.param = now, 0
			return p.coerce(&c, t, ctx)
		}
	}
	if e.lit != nil && e.typ == datum.Unknown {
		if !e.lit.Valid {
			c := constant(datum.Null(t))
			return c.named(e), nil
		}
		return p.literalAs(e, t)
	}
	if e.typ == datum.Unknown { // an expression that stayed untyped, e.g. a column of a subquery
		c := *e
		c.typ = datum.Text
		e = &c
		if t == datum.Text {
			return e, nil
		}
		ctx = datum.ExplicitCast
	}
	allowed := datum.CastAllowed(e.typ, t)
	if allowed == datum.NoCast || !castFits(allowed, ctx) {
		return nil, sqlstate.New(sqlstate.CannotCoerce, "cannot cast type %s to %s", datum.FormatType(e.typ, -1), datum.FormatType(t, -1))
	}
	c := derive(t, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		if err != nil || !v.Valid {
			return datum.Null(t), err
		}
		return x.cast(v, t)
	}, e)
	return c.named(e), nil
}

// named gives a converted expression the name and place of the original.
func (e *expr) named(of *expr) *expr {
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
func (p *planner) literalAs(e *expr, t datum.OID) (*expr, error) {
	text := e.lit.Str
	if stableInput(t) {
		v, err := datum.ParseText(t, text, nil)
		if err != nil {
			return nil, at(e.pos, err)
		}
		return constant(v).named(e), nil
	}
	if _, err := datum.ParseText(t, text, p.host.Env()); err != nil {
		return nil, at(e.pos, err)
	}
	c := derive(t, func(x *exec) (datum.Value, error) { return datum.ParseText(t, text, x.env()) })
	return c.named(e), nil
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

// text gives an untyped expression the type text.
func (p *planner) resolveUnknown(e *expr) (*expr, error) {
	if e.typ == datum.Unknown {
		return p.coerce(e, datum.Text, datum.ImplicitCast)
	}
	return e, nil
}

// boolean analyses a condition. what is the clause, for the message.
func (p *planner) boolean(s *scope, e syntax.Expr, what string) (*expr, error) {
	c, err := p.expr(s, e)
	if err != nil {
		return nil, err
	}
	if p.mysql {
		return p.dialect.truth(p, c)
	}
	if c.typ != datum.Bool && c.typ != datum.Unknown {
		return nil, at(e.Position(), sqlstate.New(sqlstate.DatatypeMismatch, "argument of %s must be type boolean, not type %s",
			what, datum.FormatType(c.typ, -1)))
	}
	c, err = p.coerce(c, datum.Bool, datum.ImplicitCast)
	return c, at(e.Position(), err)
}

// common converts expressions to their common type (PostgreSQL 10.5).
func (p *planner) common(pos syntax.Pos, what string, es []*expr) (datum.OID, error) {
	types := make([]datum.OID, len(es))
	for i, e := range es {
		types[i] = e.typ
	}
	if p.mysql {
		t := p.dialect.common(types)
		return t, at(pos, p.coerceAll(es, t))
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
		return 0, at(pos, sqlstate.New(sqlstate.DatatypeMismatch, "%s types %s and %s cannot be matched",
			what, datum.FormatType(a, -1), datum.FormatType(b, -1)))
	}
	for i, e := range es {
		if es[i], err = p.coerce(e, t, datum.ImplicitCast); err != nil {
			return 0, at(pos, err)
		}
	}
	return t, nil
}

// commonType is the type of a column of a UNION.
func (p *planner) commonType(types ...datum.OID) (datum.OID, error) {
	if p.mysql {
		return p.dialect.common(types), nil
	}
	return datum.CommonType(types)
}

func (p *planner) coerceAll(es []*expr, t datum.OID) error {
	for i, e := range es {
		var err error
		if es[i], err = p.coerce(e, t, datum.ImplicitCast); err != nil {
			return err
		}
	}
	return nil
}
