package engine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// How texts compare in a dialect with the trait Collations: by letters, where case does not count,
// or by bytes for the collations of a connection that end in _bin. Trailing
// blanks count in neither.

// describeQuery notes where the columns of a query in FROM come from: clients are
// told the query's alias. The table under it they are told only where MariaDB
// computes the query first.
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

// mayMiss notes that rows may lack the columns of items: the weak side of an
// outer join.
func mayMiss(items []*FromItem) {
	for _, it := range items {
		for i := range it.Columns {
			if o := it.Columns[i].origin; o != nil {
				o.NotNull = false
			}
		}
	}
}

// describe notes where the columns of a table come from, as the statement
// names it, and how they compare.
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

// Exact reports whether texts of expressions compare by their bytes: where the
// connection's collation does, and none of them is a column or a text of the server
// such as VERSION(). Plans for collations that compare bytes are in a statement cache
// of their own.
func (p *Planner) Exact(es ...*Expr) bool {
	return !slices.ContainsFunc(es, func(e *Expr) bool { return e.Letters }) && p.Dialect.Exact(p)
}

// TextFold maps a text so that texts which are equal become the same, and the
// others sort as they should.
type TextFold func(string) string

// FoldOf is the fold of values of a type, nil where they compare as they are.
func (p *Planner) FoldOf(t datum.OID, letters bool) TextFold {
	switch {
	case !p.Traits.Collations || !IsString(t):
		return nil
	case !letters && p.Dialect.Exact(p):
		return foldBytes
	}
	return FoldText
}

// folds are those of the columns of a row, nil when none has any.
type folds []TextFold

func (p *Planner) foldsOf(es []*Expr) folds {
	if !p.Traits.Collations {
		return nil
	}
	out := make(folds, len(es))
	for i, e := range es {
		out[i] = p.FoldOf(e.Type, e.Letters)
	}
	return out
}

func (p *Planner) columnFolds(columns []Column) folds {
	if !p.Traits.Collations {
		return nil
	}
	out := make(folds, len(columns))
	for i, c := range columns {
		out[i] = p.FoldOf(c.Type, c.letters)
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

// foldBytes is the fold of a collation that compares bytes.
func foldBytes(s string) string { return strings.TrimRight(s, " ") }

// Folded is a text expression as it compares.
func (p *Planner) Folded(e *Expr, letters bool) *Expr {
	f := p.FoldOf(e.Type, letters)
	if f == nil {
		return e
	}
	if e.constant {
		v, _ := e.Eval(nil)
		c := Constant(f.Apply(v))
		c.Letters = e.Letters
		return c
	}
	return Derive(e.Type, func(x *Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		return f.Apply(v), err
	}, e)
}

// FoldText maps a text so that texts which are equal in utf8mb4_general_ci
// become the same: case and trailing blanks do not count.
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
