package mysql

import (
	"math"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// intervalCast reports whether e is INTERVAL x unit, which the parser returns as a
// cast.
func intervalCast(e syntax.Expr) (*syntax.Cast, bool) {
	c, ok := e.(*syntax.Cast)
	return c, ok && strings.HasPrefix(c.Type.Name.Last(), "interval ")
}

// moveTime plans time ± INTERVAL n unit, as in id_floor('orders', NOW() - INTERVAL 1
// HOUR). A DATE, or a literal of one, moved by days or longer units is a DATE, all else a
// DATETIME.
func moveTime(p *engine.Planner, s *engine.Scope, e *syntax.Binary, c *syntax.Cast) (*engine.Expr, error) {
	es, err := p.Exprs(s, []syntax.Expr{e.L, c.X})
	if err != nil {
		return nil, err
	}
	unit := strings.TrimPrefix(c.Type.Name.Last(), "interval ")
	result := datum.Timestamp
	if v := es[0].Literal; v != nil && v.Valid && !strings.ContainsAny(v.Str, " T:") && engine.IsString(es[0].Type) {
		if es[0], err = p.Coerce(es[0], datum.Date, datum.ImplicitCast); err != nil {
			return nil, engine.At(e.Pos, err)
		}
	}
	if es[0].Type == datum.Date && slices.Contains([]string{"day", "week", "month", "year"}, unit) {
		result = datum.Date
	}
	count := datum.Int8
	if unit == "second" { // the only unit with a fraction
		count = datum.Numeric
	}
	if es[0], err = p.Coerce(es[0], datum.Timestamp, datum.ImplicitCast); err == nil {
		es[1], err = p.Coerce(es[1], count, datum.ImplicitCast)
	}
	if err != nil {
		return nil, engine.At(e.Pos, err)
	}
	sign := e.Op[0]
	return engine.Strict2(result, es[0], es[1], func(x *engine.Exec, at, n datum.Value) (datum.Value, error) {
		span, err := datum.ParseText(datum.Interval, TextOf(x, n)+" "+unit, nil)
		if err != nil {
			return at, err
		}
		if at, err = datum.Compute(sign, at, span, x.Env()); err != nil {
			return at, err
		}
		return datum.Cast(at, result, x.Env())
	}), nil
}

// Operator implements engine.Dialect.
func (*Dialect) Operator(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	if test, ok := engine.Comparisons[op]; ok {
		return comparison(p, op, test, l, r)
	}
	switch op {
	case "+", "-", "*", "/", "%":
		return arithmetic(p, op, l, r)
	case "DIV":
		if commonKind(l, r) == kindInt {
			return arithmetic(p, op, l, r)
		}
	}
	return nil, sqlstate.New(sqlstate.FeatureNotSupported, "the operator %s is not supported by nextid", op)
}

// arithmetic plans an operation on integers, decimals or doubles: the wider type of
// the operands. / divides integers as decimals. Division by zero is NULL.
func arithmetic(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	k := commonKind(l, r)
	if op == "/" && k == kindInt {
		k = kindDecimal
	}
	t := kindTypes[k]
	l, err := p.Coerce(l, t, datum.ImplicitCast)
	if err == nil {
		r, err = p.Coerce(r, t, datum.ImplicitCast)
	}
	if err != nil {
		return nil, err
	}
	divides := op == "/" || op == "%" || op == "DIV"
	f := engine.NumberOperators[op]
	switch {
	case op == "DIV":
		f = engine.NumberOperators["/"] // of integers
	case op == "/" && k == kindDecimal:
		f = divideDecimal
	case op == "%" && k == kindDouble:
		f = func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeFloat8(math.Mod(a.Float, b.Float)), nil
		}
	}
	return engine.Strict2(t, l, r, func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		if divides && !truth(x, b) {
			x.Host.Warn(sqlstate.New(sqlstate.DivisionByZero, "Division by 0"))
			return datum.Null(t), nil
		}
		v, err := f(x, a, b)
		if err != nil {
			return v, outOfRange("(" + TextOf(x, a) + " " + op + " " + TextOf(x, b) + ")")
		}
		v.Float += 0 // -0 is 0
		return v, nil
	}), nil
}

// commonKind returns the kind of number as which l and r are computed. A parameter or
// NULL follows the other operand.
func commonKind(l, r *engine.Expr) numberKind {
	switch {
	case l.Type == r.Type: // also NULL + NULL, a double
	case l.Type == datum.Unknown:
		return kindOf(r.Type)
	case r.Type == datum.Unknown:
		return kindOf(l.Type)
	}
	return max(kindOf(l.Type), kindOf(r.Type))
}

// divPrecisionIncrement is the default of MySQL's div_precision_increment: the
// number of digits that a division adds to the scale of its left operand.
const divPrecisionIncrement = 4

// maxScale is the largest scale of a DECIMAL.
const maxScale = 38

// divideDecimal returns a/b. b is not zero.
func divideDecimal(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
	x := decimalOf(a.Str)
	q := x.Quo(decimalOf(b.Str), min(x.Scale+divPrecisionIncrement, maxScale))
	return datum.MakeString(datum.Numeric, q.String()), nil
}

// unary plans the signs. It returns nil, nil for NOT.
func unary(p *engine.Planner, s *engine.Scope, e *syntax.Unary) (*engine.Expr, error) {
	if e.Op == "NOT" { // also !
		return nil, nil
	}
	x, err := p.Expr(s, e.X)
	if err != nil || e.Op == "+" {
		return x, err
	}
	if lit, ok := e.X.(*syntax.Literal); ok && lit.Kind == syntax.IntegerLiteral && lit.Text == "9223372036854775808" {
		return engine.Constant(datum.MakeInt8(-1 << 63)), nil
	}
	t := kindTypes[kindOf(x.Type)]
	if x.Type == datum.Int4 {
		t = datum.Int4
	}
	if x, err = p.Coerce(x, t, datum.ImplicitCast); err != nil {
		return nil, err
	}
	return engine.Strict1(t, x, func(ex *engine.Exec, v datum.Value) (datum.Value, error) {
		n, err := datum.Neg(v)
		if err != nil {
			err = outOfRange("-(" + TextOf(ex, v) + ")")
		}
		n.Float += 0 // -0 is 0
		return n, err
	}), nil
}
