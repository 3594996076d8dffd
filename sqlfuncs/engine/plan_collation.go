package engine

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Collations of the MySQL dialect (MariaDB's manual, "Setting Character Sets
// and Collations"; "COERCIBILITY"). There are two ways to compare texts: by
// letters, where case does not count, and by bytes for collations that end in
// _bin. Trailing blanks count in neither.

// Collation is what an expression says of how its text compares.
type Collation struct {
	Name     string // "": the connection's
	Strength Strength
}

// Strength orders what two sides of a comparison say: the greater one wins.
type Strength uint8

// Strengths, the weakest first (MariaDB Knowledge Base, "Coercibility").
const (
	Coercible Strength = iota // literals, numbers: they take the connection's
	system                    // USER(), VERSION(), …
	implicit                  // columns
	Explicit                  // COLLATE
)

// Collations of what the server says, and of the columns of tables.
var (
	SystemCollation = Collation{"utf8mb3_general_ci", system}
	columnCollation = Collation{"utf8mb4_general_ci", implicit}
	schemaCollation = Collation{"utf8mb3_general_ci", implicit} // of information_schema
)

// describeQuery notes where the columns of a query in FROM come from. Clients
// read the name it has here; that of the table under it is lost in MariaDB,
// too, but for queries that it computes first.
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

// describeMySQL notes where the columns of a table come from, as the statement
// names it, and how they compare.
func (t *Table) describeMySQL(it *FromItem, name syntax.Name) {
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
		if c.origin = &origin; t.Schema == InformationSchema {
			c.collation = schemaCollation
		}
	}
}

// IsBinaryCollation reports whether a collation compares bytes.
func IsBinaryCollation(name string) bool { return strings.HasSuffix(name, "_bin") }

// with is the collation of a text that is made of two. Of two that are as
// strong, the one that compares bytes wins.
func (c Collation) with(d Collation) Collation {
	if d.Strength > c.Strength || d.Strength == c.Strength && IsBinaryCollation(d.Name) {
		return d
	}
	return c
}

// Exact reports whether texts of a collation compare by their bytes. What the
// connection's says is no secret of the session: sessions in which it compares
// otherwise have a statement cache of their own.
func (p *Planner) Exact(c Collation) bool {
	if c.Name == "" {
		return p.Dialect.Exact(p)
	}
	return IsBinaryCollation(c.Name)
}

// CollationOf is how texts of several expressions compare with one another.
func (p *Planner) CollationOf(es ...*Expr) (Collation, error) {
	var c Collation
	for _, e := range es {
		d := e.Collation
		if c.Strength == Explicit && d.Strength == Explicit && c.Name != d.Name {
			return c, sqlstate.New(sqlstate.InvalidParameterValue, "Illegal mix of collations (%s,EXPLICIT) and (%s,EXPLICIT) for operation", c.Name, d.Name).
				WithMySQL(1267, "HY000")
		}
		c = c.with(d)
	}
	return c, nil
}

// TextFold maps a text so that texts which a collation takes for equal become the
// same, and the others sort as it says.
type TextFold func(string) string

// FoldOf is the fold of values of a type, nil where they compare as they are.
func (p *Planner) FoldOf(t datum.OID, c Collation) TextFold {
	switch {
	case !p.MySQL || !IsString(t):
		return nil
	}
	return FoldOf(p.Exact(c))
}

// FoldOf is the fold of a collation that compares bytes, or one that does not.
func FoldOf(exact bool) TextFold {
	if exact {
		return foldBytes
	}
	return FoldText
}

// folds are those of the columns of a row, nil when none has any.
type folds []TextFold

func (p *Planner) foldsOf(es []*Expr) folds {
	if !p.MySQL {
		return nil
	}
	out := make(folds, len(es))
	for i, e := range es {
		out[i] = p.FoldOf(e.Type, e.Collation)
	}
	return out
}

func (p *Planner) columnFolds(columns []Column) folds {
	if !p.MySQL {
		return nil
	}
	out := make(folds, len(columns))
	for i, c := range columns {
		out[i] = p.FoldOf(c.Type, c.collation)
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

// Folded is a text expression as its collation compares it.
func (p *Planner) Folded(e *Expr, c Collation) *Expr {
	f := p.FoldOf(e.Type, c)
	if f == nil {
		return e
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
