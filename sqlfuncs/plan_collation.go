package sqlfuncs

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

// collation is what an expression says of how its text compares.
type collation struct {
	name     string // "": the connection's
	strength strength
}

// strength orders what two sides of a comparison say: the greater one wins.
type strength uint8

const (
	coercible strength = iota // literals, numbers: they take the connection's
	system                    // USER(), VERSION(), …
	implicit                  // columns
	explicit                  // COLLATE
)

// Collations of what the server says, and of the columns of tables.
var (
	systemCollation = collation{"utf8mb3_general_ci", system}
	columnCollation = collation{"utf8mb4_general_ci", implicit}
	schemaCollation = collation{"utf8mb3_general_ci", implicit} // of information_schema
)

// describeQuery notes where the columns of a query in FROM come from. Clients
// read the name it has here; that of the table under it is lost in MariaDB,
// too, but for queries that it computes first.
func (it *fromItem) describeQuery(columns []Column) {
	for i := range it.columns {
		c := &it.columns[i]
		origin := &Origin{Table: it.alias, Alias: it.alias, Column: c.name}
		if from := columns[i].Origin; from != nil {
			origin.Schema, origin.InDefault, origin.NotNull = from.Schema, from.InDefault, from.NotNull
		}
		c.origin = origin
	}
}

// mayMiss notes that rows may lack the columns of items: the weak side of an
// outer join.
func mayMiss(items []*fromItem) {
	for _, it := range items {
		for i := range it.columns {
			if o := it.columns[i].origin; o != nil {
				o.NotNull = false
			}
		}
	}
}

// describeMySQL notes where the columns of a table come from, as the statement
// names it, and how they compare.
func (t *table) describeMySQL(it *fromItem, name syntax.Name) {
	from := Origin{Table: t.name, Alias: it.alias}
	switch {
	case t.schema == informationSchema:
		from.Schema = informationSchema
		from.Table = strings.ToUpper(t.name)
	case len(name) > 1:
		from.Schema = name[len(name)-2]
	default:
		from.InDefault = true
	}
	for i := range it.columns {
		c := &it.columns[i]
		origin := from
		origin.Column, origin.NotNull = c.name, !t.columns[i].null
		if c.origin = &origin; t.schema == informationSchema {
			c.collation = schemaCollation
		}
	}
}

func isBinaryCollation(name string) bool { return strings.HasSuffix(name, "_bin") }

// with is the collation of a text that is made of two. Of two that are as
// strong, the one that compares bytes wins.
func (c collation) with(d collation) collation {
	if d.strength > c.strength || d.strength == c.strength && isBinaryCollation(d.name) {
		return d
	}
	return c
}

// exact reports whether texts of a collation compare by their bytes. What the
// connection's says is no secret of the session: sessions in which it compares
// otherwise have a statement cache of their own.
func (p *planner) exact(c collation) bool {
	if c.name == "" {
		return p.dialect.exact(p)
	}
	return isBinaryCollation(c.name)
}

// collationOf is how texts of several expressions compare with one another.
func (p *planner) collationOf(es ...*expr) (collation, error) {
	var c collation
	for _, e := range es {
		d := e.collation
		if c.strength == explicit && d.strength == explicit && c.name != d.name {
			return c, sqlstate.New(sqlstate.InvalidParameterValue, "Illegal mix of collations (%s,EXPLICIT) and (%s,EXPLICIT) for operation", c.name, d.name).
				WithMySQL(1267, "HY000")
		}
		c = c.with(d)
	}
	return c, nil
}

// textFold maps a text so that texts which a collation takes for equal become the
// same, and the others sort as it says.
type textFold func(string) string

// foldOf is the fold of values of a type, nil where they compare as they are.
func (p *planner) foldOf(t datum.OID, c collation) textFold {
	switch {
	case !p.mysql || !isString(t):
		return nil
	}
	return foldOf(p.exact(c))
}

// foldOf is the fold of a collation that compares bytes, or one that does not.
func foldOf(exact bool) textFold {
	if exact {
		return foldBytes
	}
	return foldText
}

// folds are those of the columns of a row, nil when none has any.
type folds []textFold

func (p *planner) foldsOf(es []*expr) folds {
	if !p.mysql {
		return nil
	}
	out := make(folds, len(es))
	for i, e := range es {
		out[i] = p.foldOf(e.typ, e.collation)
	}
	return out
}

func (p *planner) columnFolds(columns []Column) folds {
	if !p.mysql {
		return nil
	}
	out := make(folds, len(columns))
	for i, c := range columns {
		out[i] = p.foldOf(c.Type, c.collation)
	}
	return out
}

func (f folds) at(i int) textFold {
	if i < len(f) {
		return f[i]
	}
	return nil
}

// apply folds a value.
func (f textFold) apply(v datum.Value) datum.Value {
	if f != nil && v.Valid {
		v.Str = f(v.Str)
	}
	return v
}

// foldBytes is the fold of a collation that compares bytes.
func foldBytes(s string) string { return strings.TrimRight(s, " ") }

// folded is a text expression as its collation compares it.
func (p *planner) folded(e *expr, c collation) *expr {
	f := p.foldOf(e.typ, c)
	if f == nil {
		return e
	}
	return derive(e.typ, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		return f.apply(v), err
	}, e)
}

// foldText maps a text so that texts which are equal in utf8mb4_general_ci
// become the same: case and trailing blanks do not count.
func foldText(s string) string {
	s = strings.TrimRight(s, " ")
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c >= 'a' && c <= 'z' {
			return strings.Map(unicode.ToUpper, s)
		}
	}
	return s
}
