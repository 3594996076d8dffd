package engine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// This file compares texts for dialects with the trait Collations. Case does not
// count, unless the connection's collation compares bytes (its name ends in _bin).
// Trailing blanks never count.

// describeQuery records where the columns of a query in FROM come from. Clients get
// the query's alias. They get the table under it only where MariaDB materializes
// the query.
func (it *FromItem) describeQuery(columns []Column) {
	for i := range it.Columns {
		c := &it.Columns[i]
		origin := &Origin{Table: it.alias, Alias: it.alias, Column: c.Name}
		if from := columns[i].Origin; from != nil {
			origin.Schema, origin.InDefault, origin.NotNull = from.Schema, from.InDefault, from.NotNull
		}
		c.origin = origin
	}
}

// mayMiss marks items whose columns may be NULL: the inner side of an outer join.
func mayMiss(items []*FromItem) {
	for _, it := range items {
		for i := range it.Columns {
			if o := it.Columns[i].origin; o != nil {
				o.NotNull = false
			}
		}
	}
}

// describe records where the columns of a table come from, as the statement names
// it, and how they compare.
func (t *Table) describe(it *FromItem, name syntax.Name) {
	from := Origin{Table: t.Name, Alias: it.alias}
	switch {
	case t.Schema == InformationSchema:
		from.Schema = InformationSchema
		from.Table = strings.ToUpper(t.Name)
	case len(name) > 1:
		from.Schema = name[len(name)-2]
	default:
		from.InDefault = true
	}
	for i := range it.Columns {
		c := &it.Columns[i]
		origin := from
		origin.Column, origin.NotNull = c.Name, !t.Columns[i].Null
		c.origin = &origin
	}
}

// IsBinaryCollation reports whether a collation compares bytes.
func IsBinaryCollation(name string) bool { return strings.HasSuffix(name, "_bin") }

// Exact reports whether the texts of expressions compare by bytes. They do if one is
// binary. They also do if the connection's collation does and none of the expressions
// is a column or a text of the server such as VERSION(); such plans have a statement
// cache of their own.
func (p *Planner) Exact(es ...*Expr) bool {
	return slices.ContainsFunc(es, func(e *Expr) bool { return e.Type == datum.Bytea }) ||
		!slices.ContainsFunc(es, func(e *Expr) bool { return e.Letters }) && p.Dialect.Exact(p)
}

// TextFold maps equal texts to the same text. The results sort in the collation's
// order.
type TextFold func(string) string

// FoldOf returns the fold for values of a type, nil if they compare unchanged.
func (p *Planner) FoldOf(t datum.OID, letters bool) TextFold {
	switch {
	case !p.Traits.Collations || !IsString(t):
		return nil
	case !letters && p.Dialect.Exact(p):
		return foldBytes
	}
	return FoldText
}

// folds holds the folds of a row's columns; nil if no column has one.
type folds []TextFold

func (p *Planner) foldsOf(es []*Expr) (out folds) {
	for _, e := range es {
		if p.Traits.Collations {
			out = append(out, p.FoldOf(e.Type, e.Letters))
		}
	}
	return out
}

func (p *Planner) columnFolds(columns []Column) (out folds) {
	for _, c := range columns {
		if p.Traits.Collations {
			out = append(out, p.FoldOf(c.Type, c.letters))
		}
	}
	return out
}

func (f folds) at(i int) TextFold {
	if i < len(f) {
		return f[i]
	}
	return nil
}

// Apply folds a value.
func (f TextFold) Apply(v datum.Value) datum.Value {
	if f != nil && v.Valid {
		v.Str = f(v.Str)
	}
	return v
}

// foldBytes folds for a collation that compares bytes.
func foldBytes(s string) string { return strings.TrimRight(s, " ") }

// Folded returns a text expression with the fold applied.
func (p *Planner) Folded(e *Expr, letters bool) *Expr {
	f := p.FoldOf(e.Type, letters)
	if f == nil {
		return e
	}
	return Derive(e.Type, func(x *Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		return f.Apply(v), err
	}, e)
}

// FoldText maps texts that are equal in utf8mb4_general_ci to the same text: case
// and trailing blanks do not count.
func FoldText(s string) string {
	s = strings.TrimRight(s, " ")
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c >= 'a' && c <= 'z' {
			return strings.Map(unicode.ToUpper, s)
		}
	}
	return s
}
