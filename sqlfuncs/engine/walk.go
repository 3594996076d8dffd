package engine

import "nextid/sqlfuncs/syntax"

// walkExpr calls look for e and, while look returns true, for its parts. It does
// not enter subqueries, which have scopes of their own.
func walkExpr(e syntax.Expr, look func(syntax.Expr) bool) {
	if e == nil || !look(e) {
		return
	}
	eachPart(e, func(part syntax.Expr) { walkExpr(part, look) })
}

// leftmost returns the position where the text of an expression begins. An
// operator's Pos is that of the operator itself.
func leftmost(e syntax.Expr) syntax.Pos {
	first := e.Position()
	walkExpr(e, func(part syntax.Expr) bool {
		first = min(first, part.Position())
		return true
	})
	return first
}

// eachPart calls f for the direct parts of an expression.
func eachPart(e syntax.Expr, f func(syntax.Expr)) {
	all := func(parts ...syntax.Expr) {
		for _, part := range parts {
			f(part)
		}
	}
	switch e := e.(type) {
	case *syntax.FuncCall:
		for _, a := range e.Args {
			f(a.Value)
		}
		order := e.OrderBy
		if w := e.Over; w != nil {
			all(w.PartitionBy...)
			order = w.OrderBy
		}
		for _, o := range order {
			f(o.Expr)
		}
		f(e.Filter)
	case *syntax.Unary:
		f(e.X)
	case *syntax.Binary:
		all(e.L, e.R)
	case *syntax.Like:
		all(e.X, e.Pattern, e.Escape)
	case *syntax.Assign:
		f(e.Value)
	case *syntax.Is:
		f(e.X)
	case *syntax.IsDistinct:
		all(e.L, e.R)
	case *syntax.Between:
		all(e.X, e.Low, e.High)
	case *syntax.In:
		f(e.X)
		all(e.List...)
	case *syntax.Quantified:
		all(e.X, e.Array)
	case *syntax.Case:
		all(e.Operand, e.Else)
		for _, w := range e.Whens {
			all(w.Cond, w.Result)
		}
	case *syntax.Cast:
		f(e.X)
	case *syntax.Collate:
		f(e.X)
	case *syntax.Array:
		all(e.Elems...)
	case *syntax.Subscript:
		all(e.X, e.Index)
	case *syntax.Field:
		f(e.X)
	}
}

// windowCallIn returns the first call with OVER in an expression, or nil.
func windowCallIn(e syntax.Expr) (found *syntax.FuncCall) {
	walkExpr(e, func(part syntax.Expr) bool {
		if call, ok := part.(*syntax.FuncCall); ok && call.Over != nil && found == nil {
			found = call
		}
		return found == nil
	})
	return found
}
