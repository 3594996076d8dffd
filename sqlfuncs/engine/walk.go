package engine

import "nextid/sqlfuncs/syntax"

// walkExpr calls look for e and, while it returns true, for what e is made
// of. It does not go into subqueries: they have scopes of their own.
func walkExpr(e syntax.Expr, look func(syntax.Expr) bool) {
	if e == nil || !look(e) {
		return
	}
	for _, child := range children(e) {
		walkExpr(child, look)
	}
}

// leftmost is where the text of an expression begins; the position of an
// operator is its own.
func leftmost(e syntax.Expr) syntax.Pos {
	first := e.Position()
	walkExpr(e, func(part syntax.Expr) bool {
		first = min(first, part.Position())
		return true
	})
	return first
}

// children lists the direct parts of an expression.
func children(e syntax.Expr) []syntax.Expr {
	switch e := e.(type) {
	case *syntax.Paren:
		return []syntax.Expr{e.X}
	case *syntax.FuncCall:
		var out []syntax.Expr
		for _, a := range e.Args {
			out = append(out, a.Value)
		}
		if w := e.Over; w != nil {
			out = append(out, w.PartitionBy...)
			for _, o := range w.OrderBy {
				out = append(out, o.Expr)
			}
		}
		return out
	case *syntax.Unary:
		return []syntax.Expr{e.X}
	case *syntax.Binary:
		return []syntax.Expr{e.L, e.R}
	case *syntax.Like:
		return []syntax.Expr{e.X, e.Pattern}
	case *syntax.Is:
		return []syntax.Expr{e.X}
	case *syntax.IsDistinct:
		return []syntax.Expr{e.L, e.R}
	case *syntax.Between:
		return []syntax.Expr{e.X, e.Low, e.High}
	case *syntax.In:
		return append([]syntax.Expr{e.X}, e.List...)
	case *syntax.Quantified:
		return []syntax.Expr{e.X, e.Array}
	case *syntax.Case:
		out := []syntax.Expr{e.Operand, e.Else}
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Result)
		}
		return out
	case *syntax.Cast:
		return []syntax.Expr{e.X}
	case *syntax.Collate:
		return []syntax.Expr{e.X}
	case *syntax.AtTimeZone:
		return []syntax.Expr{e.X, e.Zone}
	case *syntax.Array:
		return e.Elems
	case *syntax.Subscript:
		return []syntax.Expr{e.X, e.Index}
	case *syntax.Field:
		return []syntax.Expr{e.X}
	}
	return nil
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
