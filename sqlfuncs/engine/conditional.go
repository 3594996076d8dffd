package engine

import (
	"errors"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// ConditionalFunctions lists COALESCE and NULLIF (PostgreSQL 9.18). They compute no
// more arguments than they need.
var ConditionalFunctions = []Function{
	{Name: "coalesce", Args: Args(AnyElement), Variadic: true, Result: AnyElement, Does: Typed(Coalesce), Help: "the first argument that is not NULL"},
	{Name: "nullif", Args: Args(AnyElement, AnyElement), Result: AnyElement, Does: Typed(nullIf), Help: "NULL if both arguments are equal, else the first"},
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

func nullIf(p *Planner, args []*Expr) (*Expr, error) {
	l, r, err := p.Dialect.Comparable(p, "=", args[0], args[1])
	if err != nil {
		return nil, err
	}
	null := Derive(l.Type, func(x *Exec) (datum.Value, error) {
		a, err := l.Eval(x)
		if err != nil || !a.Valid {
			return datum.Null(l.Type), err
		}
		b, err := r.Eval(x)
		if err != nil || !b.Valid {
			return a, err
		}
		if c, err := datum.Compare(a, b); err != nil || c == 0 {
			return datum.Null(l.Type), err
		}
		return a, nil
	}, l, r)
	if first := args[0].Type; IsInteger(first) && IsInteger(r.Type) || first == datum.Float4 && r.Type == datum.Float8 {
		return p.Coerce(null, first, datum.ExplicitCast) // PostgreSQL compares these as they are
	}
	return null, nil
}
