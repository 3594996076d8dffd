package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// binary analyses the operators that PostgreSQL does not have.
func binary(p *engine.Planner, s *engine.Scope, e *syntax.Binary) (*engine.Expr, error) {
	switch e.Op {
	case "XOR":
		l, err := p.Boolean(s, e.L, e.Op)
		if err != nil {
			return nil, err
		}
		r, err := p.Boolean(s, e.R, e.Op)
		if err != nil {
			return nil, err
		}
		return engine.Strict2(datum.Bool, l, r, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeBool(a.Int != b.Int), nil
		}), nil
	case "||": // PIPES_AS_CONCAT
		return p.Expr(s, &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"concat"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
	case "->", "->>":
		x := syntax.Expr(&syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_extract"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
		if e.Op == "->>" {
			x = &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_unquote"}, Args: []syntax.Arg{{Value: x}}}
		}
		return p.Expr(s, x)
	case "+", "-":
		for i, side := range []syntax.Expr{e.L, e.R} {
			other := []syntax.Expr{e.R, e.L}[i]
			if c, ok := intervalCast(side); ok && (e.Op == "+" || i == 1) {
				return addInterval(p, s, e.Pos, other, c, e.Op == "-")
			}
		}
	}
	return nil, nil
}

// operator builds l op r.
func operator(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	if test, ok := engine.Comparisons[op]; ok {
		return comparison(p, op, test, l, r)
	}
	switch op {
	case "+", "-", "*", "/", "%", "MOD", "DIV":
		return arithmetic(p, op, l, r)
	case "&", "|", "^", "<<", ">>":
		es := []*engine.Expr{l, r}
		if err := p.CoerceAll(es, datum.Int8); err != nil {
			return nil, err
		}
		return engine.Strict2(datum.Int8, es[0], es[1], func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
			u, v := uint64(a.Int), uint64(b.Int)
			switch op {
			case "&":
				u &= v
			case "|":
				u |= v
			case "^":
				u ^= v
			case "<<":
				u <<= v
			case ">>":
				u >>= v
			}
			if u > 1<<63-1 {
				return a, unsignedTooLarge(u)
			}
			return datum.MakeInt8(int64(u)), nil
		}), nil
	}
	return nil, sqlstate.New(sqlstate.SyntaxError, "the operator %s does not exist", op)
}

func unsignedTooLarge(u uint64) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "BIGINT value is out of range in '%d'", u).
		WithHint("nextid's integers are signed, ids are at most 9223372036854775807.")
}

// arithmetic computes with integers, decimals or doubles, by the wider
// operand. / makes decimals of integers; division by zero is NULL.
func arithmetic(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	k := max(kindOf(l.Type), kindOf(r.Type))
	if l.Type == datum.Unknown || r.Type == datum.Unknown {
		k = kindOf(l.Type)
		if l.Type == datum.Unknown {
			k = kindOf(r.Type)
		}
		if l.Type == r.Type {
			k = kindDouble
		}
	}
	if op == "/" && k == kindInt {
		k = kindDecimal
	}
	t := kindTypes[k]
	es := []*engine.Expr{l, r}
	if err := p.CoerceAll(es, t); err != nil {
		return nil, err
	}
	result := t
	f := engine.Arithmetic[op]
	switch op {
	case "/":
		if k == kindDecimal {
			f = divideDecimal
		}
	case "MOD":
		f = datum.Mod
	case "DIV":
		result = datum.Int8
		f = func(a, b datum.Value) (datum.Value, error) { return divideInt(a, b) }
	}
	if k == kindDouble && (op == "%" || op == "MOD") {
		f = modDouble
	}
	divides := op == "/" || op == "%" || op == "MOD" || op == "DIV"
	return engine.Strict2(result, es[0], es[1], func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		if divides && !truth(x, b) {
			Warn(x, sqlstate.New(sqlstate.DivisionByZero, "Division by 0"))
			return datum.Null(result), nil
		}
		v, err := f(a, b)
		if err != nil {
			return v, outOfRange("(" + TextOf(x, a) + " " + op + " " + TextOf(x, b) + ")")
		}
		return v, nil
	}), nil
}

func unary(p *engine.Planner, s *engine.Scope, e *syntax.Unary) (*engine.Expr, error) {
	switch e.Op {
	case "-", "+":
		x, err := p.Expr(s, e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == "+" {
			return x, nil
		}
		if lit, ok := engine.Unparen(e.X).(*syntax.Literal); ok && lit.Kind == syntax.IntegerLiteral && lit.Text == "9223372036854775808" {
			return engine.Constant(datum.MakeInt8(-1 << 63)), nil
		}
		t := kindTypes[kindOf(x.Type)]
		if x.Type == datum.Int4 {
			t = datum.Int4
		}
		if x, err = p.Coerce(x, t, datum.ImplicitCast); err != nil {
			return nil, err
		}
		return engine.Derive(t, func(ex *engine.Exec) (datum.Value, error) {
			v, err := x.Eval(ex)
			if err != nil || !v.Valid {
				return v, err
			}
			n, err := datum.Neg(v)
			if err != nil {
				err = outOfRange("-(" + TextOf(ex, v) + ")")
			}
			return n, err
		}, x), nil
	case "NOT", "!":
		x, err := p.Boolean(s, e.X, "NOT")
		if err != nil {
			return nil, err
		}
		return engine.Not(x), nil
	case "~":
		x, err := p.Expr(s, e.X)
		if err == nil {
			x, err = p.Coerce(x, datum.Int8, datum.ImplicitCast)
		}
		if err != nil {
			return nil, err
		}
		return engine.Derive(datum.Numeric, func(ex *engine.Exec) (datum.Value, error) {
			v, err := x.Eval(ex)
			if err != nil || !v.Valid {
				return datum.Null(datum.Numeric), err
			}
			return unsignedDecimal(^uint64(v.Int)), nil
		}, x), nil
	}
	return nil, nil
}

// like is LIKE, REGEXP and RLIKE, which look at case only where an
// operand is binary.
func like(p *engine.Planner, s *engine.Scope, e *syntax.Like) (*engine.Expr, error) {
	l, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	r, err := p.Expr(s, e.Pattern)
	if err != nil {
		return nil, err
	}
	c, err := p.CollationOf(l, r)
	if err != nil {
		return nil, engine.At(e.Pos, err)
	}
	flags := "(?si)"
	if p.Exact(c) || l.Type == datum.Bytea || r.Type == datum.Bytea {
		flags = "(?s)"
	}
	escape := `\`
	if e.Escape != nil {
		lit, ok := engine.Unparen(e.Escape).(*syntax.Literal)
		if !ok || len([]rune(lit.Text)) > 1 {
			return nil, engine.At(e.Pos, sqlstate.New(sqlstate.InvalidEscape, "Incorrect arguments to ESCAPE"))
		}
		escape = lit.Text
	}
	es := []*engine.Expr{l, r}
	if err := p.CoerceAll(es, datum.Text); err != nil {
		return nil, engine.At(e.Pos, err)
	}
	return engine.Strict2(datum.Bool, es[0], es[1], func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		p, err := engine.Pattern("MySQL "+e.Op+flags+escape, b.Str, func() (string, bool, error) {
			if e.Op == "REGEXP" {
				return flags + b.Str, false, nil
			}
			if strings.HasSuffix(b.Str, escape) && escape != "" && !strings.HasSuffix(b.Str, escape+escape) {
				b.Str += escape // an escape at the end stands for itself
			}
			body, err := engine.LikeToRegexp(b.Str, escape)
			return flags + body, false, err
		})
		if err != nil {
			return a, err
		}
		match, err := p.Matches(x, a.Str)
		return datum.MakeBool(match != e.Not), err
	}), nil
}
