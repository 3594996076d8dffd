package sqlfuncs

import (
	"errors"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// conditionalFunctions are COALESCE, NULLIF, GREATEST and LEAST (9.18), which
// compute no more arguments than they need.
var conditionalFunctions = []function{
	{name: "coalesce", args: args(anyElement), variadic: true, result: anyElement, typed: coalesce, help: "the first argument that is not NULL"},
	{name: "nullif", args: args(anyElement, anyElement), result: anyElement, typed: nullIf, help: "NULL if both arguments are equal, else the first"},
	{name: "greatest", args: args(anyElement), variadic: true, result: anyElement, typed: extreme("GREATEST", 1), help: "the largest argument that is not NULL"},
	{name: "least", args: args(anyElement), variadic: true, result: anyElement, typed: extreme("LEAST", -1), help: "the smallest argument that is not NULL"},
}

// commonArgs converts the arguments of a construct to one type. The caller
// knows where it stands.
func (p *planner) commonArgs(what string, args []*expr) (datum.OID, error) {
	t, err := p.common(noPos, what, args)
	if pe, ok := errors.AsType[*posError](err); ok {
		err = pe.err
	}
	return t, err
}

// noPos is no place in the statement.
const noPos syntax.Pos = -1

// errUnknownPolymorphic comes without a place, as in PostgreSQL.
var errUnknownPolymorphic = at(noPos, sqlstate.New(sqlstate.DatatypeMismatch,
	"could not determine polymorphic type because input has type unknown"))

func coalesce(p *planner, args []*expr) (*expr, error) {
	t, err := p.commonArgs("COALESCE", args)
	if err != nil {
		return nil, err
	}
	return derive(t, func(x *exec) (datum.Value, error) {
		for _, a := range args {
			if v, err := a.eval(x); err != nil || v.Valid {
				return v, err
			}
		}
		return datum.Null(t), nil
	}, args...), nil
}

func nullIf(p *planner, args []*expr) (*expr, error) {
	l, r, err := p.comparable("=", args[0], args[1])
	if err != nil {
		return nil, err
	}
	return derive(l.typ, func(x *exec) (datum.Value, error) {
		a, err := l.eval(x)
		if err != nil || !a.Valid {
			return datum.Null(l.typ), err
		}
		b, err := r.eval(x)
		if err != nil || !b.Valid {
			return a, err
		}
		if c, err := datum.Compare(a, b); err != nil || c == 0 {
			return datum.Null(l.typ), err
		}
		return a, nil
	}, l, r), nil
}

// extreme is GREATEST (sign 1) or LEAST (sign -1).
func extreme(what string, sign int) func(p *planner, args []*expr) (*expr, error) {
	return func(p *planner, args []*expr) (*expr, error) {
		t, err := p.commonArgs(what, args)
		if err != nil {
			return nil, err
		}
		return derive(t, func(x *exec) (datum.Value, error) {
			best := datum.Null(t)
			for _, a := range args {
				v, err := a.eval(x)
				if err != nil {
					return v, err
				}
				if !v.Valid || !best.Valid {
					if v.Valid {
						best = v
					}
					continue
				}
				c, err := datum.Compare(v, best)
				if err != nil {
					return v, err
				}
				if c*sign > 0 {
					best = v
				}
			}
			return best, nil
		}, args...), nil
	}
}
