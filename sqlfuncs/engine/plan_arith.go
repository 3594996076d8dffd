package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// timeOperation is an operator with the types of its operands and of its result.
type timeOperation struct {
	left   datum.OID
	op     string
	right  datum.OID
	result datum.OID
}

// timeArithmetic lists the operators on dates and times. The first one that fits
// decides the type of an untyped literal: that of the other side, if there is one.
var timeArithmetic = []timeOperation{
	{datum.Date, "+", datum.Int4, datum.Date},
	{datum.Date, "-", datum.Int4, datum.Date},
	{datum.Date, "-", datum.Date, datum.Int4},
	{datum.Date, "+", datum.Interval, datum.Timestamp},
	{datum.Date, "-", datum.Interval, datum.Timestamp},
	{datum.Timestamp, "+", datum.Interval, datum.Timestamp},
	{datum.Timestamp, "-", datum.Timestamp, datum.Interval},
	{datum.Timestamp, "-", datum.Interval, datum.Timestamp},
	{datum.TimestampTZ, "+", datum.Interval, datum.TimestampTZ},
	{datum.TimestampTZ, "-", datum.TimestampTZ, datum.Interval},
	{datum.TimestampTZ, "-", datum.Interval, datum.TimestampTZ},
}

// arithmetic plans + - * / % on numbers, dates and times.
func (p *Planner) arithmetic(op string, l, r *Expr) (*Expr, error) {
	if NumberOperators[op] == nil {
		return nil, noOperator(op, l, r)
	}
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		return nil, ambiguousOperator(op)
	}
	if t, ok := timeOperator(op, l.Type, r.Type); ok {
		l, err := p.Coerce(l, t.left, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		if r, err = p.Coerce(r, t.right, datum.ImplicitCast); err != nil {
			return nil, err
		}
		return Strict2(t.result, l, r, func(x *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute(op[0], a, b, x.Env()) }), nil
	}
	lt, rt := l.Type, r.Type
	if lt == datum.Unknown {
		lt = rt
	}
	if rt == datum.Unknown {
		rt = lt
	}
	t := lt
	if datum.NumberRank[rt] > datum.NumberRank[lt] {
		t = rt
	}
	if t == datum.Float4 && lt != rt {
		t = datum.Float8
	}
	if !IsNumber(lt) || !IsNumber(rt) || op == "%" && datum.NumberRank[t] > datum.NumberRank[datum.Numeric] {
		return nil, noOperator(op, l, r)
	}
	pair := []*Expr{l, r}
	if err := p.CoerceAll(pair, t); err != nil {
		return nil, err
	}
	return Strict2(t, pair[0], pair[1], NumberOperators[op]), nil
}

// NumberOperators computes with two numbers of one type. The functions ignore their
// Exec.
var NumberOperators = map[string]func(x *Exec, a, b datum.Value) (datum.Value, error){
	"+": func(_ *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute('+', a, b, nil) },
	"-": func(_ *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute('-', a, b, nil) },
	"*": func(_ *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute('*', a, b, nil) },
	"/": func(_ *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute('/', a, b, nil) },
	"%": func(_ *Exec, a, b datum.Value) (datum.Value, error) { return datum.Compute('%', a, b, nil) },
}

// timeOperator finds the date and time operator for two operand types.
func timeOperator(op string, l, r datum.OID) (timeOperation, bool) {
	fits := func(have, want datum.OID) bool { return have == want || have == datum.Int2 && want == datum.Int4 }
	for _, t := range timeArithmetic {
		if t.op == op && fits(l, t.left) && fits(r, t.right) {
			return t, true
		}
	}
	for _, t := range timeArithmetic { // an untyped literal takes the other side's partner
		if t.op == op && (l == datum.Unknown && r == t.right && t.left == r ||
			r == datum.Unknown && l == t.left && (t.right == datum.Interval || t.right == l)) {
			return t, true
		}
	}
	return timeOperation{}, false
}

// ambiguousOperator returns the error for an operator between untyped literals
// (42725).
func ambiguousOperator(op string) error {
	return sqlstate.New(sqlstate.AmbiguousFunction, "operator is not unique: unknown %s unknown", op).
		WithHint("Several operators take such operands: cast them to the types of the one that you mean.")
}
