package engine

import (
	"slices"

	"nextid/sqlfuncs/syntax"
)

// readingOrder returns the order in which the tables of FROM a, b, c, … are joined.
// Drivers for ODBC list six catalogs, the largest two first, and relate them in
// WHERE only. In the order of FROM, each row of one would be combined with each row
// of the other. The first table is one that WHERE compares with a constant; then
// follow tables that WHERE compares with earlier ones. Tables that are no catalogs
// keep their order: reading them may draw ids.
func (p *Planner) readingOrder(s *Scope, c *syntax.SelectCore) []int {
	order := make([]int, 0, len(c.From))
	aliases := make([]string, len(c.From))
	reorder := len(c.From) > 2
	for i, item := range c.From {
		t, ok := item.(*syntax.Table)
		if reorder = reorder && ok; !reorder {
			break
		}
		def := p.Catalog.Table(t.Name)
		reorder = def != nil && def.Catalog && (len(t.Name) > 1 || s.cte(t.Name[0]) == nil)
		if aliases[i] = t.Alias; t.Alias == "" {
			aliases[i] = t.Name.Last()
		}
	}
	conds := conjuncts(c.Where, nil)
	var read []string
	for range c.From {
		next := slices.IndexFunc(aliases, func(alias string) bool {
			return reorder && !slices.Contains(read, alias) && slices.ContainsFunc(conds, func(e syntax.Expr) bool { return ties(e, alias, read) })
		})
		for i := 0; next < 0; i++ { // otherwise the first remaining one
			if !slices.Contains(order, i) {
				next = i
			}
		}
		order, read = append(order, next), append(read, aliases[next])
	}
	return order
}

// ties reports whether a condition compares a column of alias with one of the
// tables read before.
func ties(cond syntax.Expr, alias string, read []string) bool {
	e, ok := cond.(*syntax.Binary)
	if !ok || e.Op != "=" {
		return false
	}
	is := func(side, other syntax.Expr) bool {
		c, ok := side.(*syntax.Column)
		if !ok || len(c.Name) != 2 || c.Name[0] != alias {
			return false
		}
		known := true
		walkExpr(other, func(part syntax.Expr) bool {
			if c, ok := part.(*syntax.Column); ok {
				known = known && len(c.Name) == 2 && slices.Contains(read, c.Name[0])
			}
			return known
		})
		return known
	}
	return is(e.L, e.R) || is(e.R, e.L)
}
