package engine

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Scope holds the names that an expression can use: the FROM items of one query
// level and those of the levels around it.
type Scope struct {
	parent  *Scope
	Frame   int // index of this level's row in exec.frames
	width   int // columns of the row so far
	items   []*FromItem
	shown   []foundColumn // the columns that * stands for, in its order
	ctes    map[string]*ctePlan
	group   *grouping   // set while the select list of a grouped query is analysed
	windows *windowPlan // collects window functions of the select list and ORDER BY; nil: not allowed here
	sets    *setSlots   // collects set-returning functions of the select list; nil: not allowed here
}

// FromItem is one table of FROM: a range of columns of the level's row.
type FromItem struct {
	alias    string
	schema   string
	Columns  []FromColumn
	offset   int
	relation uint32 // pg_class OID of a table, 0 for others
	working  bool   // the working table of a recursion
	scalar   bool   // a function that returns one plain value, which the alias names
	missing  []ref  // columns that are true where an outer join has no row of the item
}

// FromColumn is a column of a FromItem.
type FromColumn struct {
	Name    string
	Type    datum.OID
	TypeMod int32
	table   uint32
	attr    int16
	fields  []FromColumn // of a record whose columns are known
	merged  bool         // a column of JOIN … USING, found only with its table's name

	letters bool // see Exact
	origin  *Origin
}

// Add appends an item to the level's row.
func (s *Scope) Add(it *FromItem) error {
	for _, other := range s.items {
		if other.alias == it.alias && it.alias != "" && other.schema == it.schema {
			return sqlstate.New(sqlstate.DuplicateAlias, "table name %q specified more than once", it.alias)
		}
	}
	it.offset = s.width
	s.width += len(it.Columns)
	s.items = append(s.items, it)
	for i := range it.Columns {
		s.shown = append(s.shown, foundColumn{it, i})
	}
	return nil
}

// noSets forbids set-returning functions until restore is called.
func (s *Scope) noSets() (restore func()) {
	if s == nil {
		return func() {}
	}
	sets := s.sets
	s.sets = nil
	return func() { s.sets = sets }
}

func (s *Scope) cte(name string) *ctePlan {
	for ; s != nil; s = s.parent {
		if c := s.ctes[name]; c != nil {
			return c
		}
	}
	return nil
}

// resolveColumn returns the expression for a column reference.
func (p *Planner) resolveColumn(s *Scope, c *syntax.Column) (*Expr, error) {
	name := c.Name
	column := name.Last()
	table, schema := "", ""
	if len(name) > 1 {
		table = name[len(name)-2]
	}
	if len(name) > 2 {
		schema = name[len(name)-3]
	}
	tableSeen := false
	for level := s; level != nil; level = level.parent {
		var found *Expr
		for _, it := range level.items {
			if table != "" && (!p.same(it.alias, table) || !p.sameSchema(it.schema, schema)) {
				continue
			}
			tableSeen = tableSeen || table != ""
			for i := range it.Columns {
				fc := &it.Columns[i]
				if !p.same(fc.Name, column) || (fc.merged && table == "") {
					continue
				}
				if found != nil {
					return nil, At(c.Pos, sqlstate.New(sqlstate.AmbiguousColumn, "column reference %q is ambiguous", column))
				}
				found = columnExpr(ref{level.Frame, it.offset + i}, fc)
			}
		}
		if found == nil && table == "" && p.Traits.WholeRows {
			found = p.wholeRow(level, column)
		}
		if found == nil {
			found = systemColumn(level, table, column)
		}
		if found != nil {
			e, err := p.grouped(level, c, found)
			return p.outer(e), err
		}
	}
	return nil, At(c.Pos, p.Dialect.NoColumn(c, tableSeen))
}

// same compares identifiers, without case if the dialect ignores case.
func (p *Planner) same(a, b string) bool {
	return a == b || p.Traits.IgnoreCase && strings.EqualFold(a, b)
}

// sameSchema reports whether a qualified column can mean a table of schema
// have.
func (p *Planner) sameSchema(have, want string) bool {
	if want == "" || have == "" || p.Traits.IgnoreCase && !strings.EqualFold(want, InformationSchema) {
		return true
	}
	return p.same(have, want)
}

// NoColumn implements Dialect.
func (PostgreSQL) NoColumn(c *syntax.Column, inTable bool) error {
	switch {
	case len(c.Name) == 1:
		return noColumn(c.Name.Last())
	case inTable:
		return sqlstate.New(sqlstate.UndefinedColumn, "column %s does not exist", sqlstate.Cut(strings.Join(c.Name, "."), 128))
	}
	return missingFrom(c.Name[len(c.Name)-2])
}

func missingFrom(table string) error {
	return sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %q", sqlstate.Cut(table, 64))
}

func noColumn(name string) error {
	return sqlstate.New(sqlstate.UndefinedColumn, "column %q does not exist", sqlstate.Cut(name, 64))
}

// columnExpr reads a column of the level's current row.
func columnExpr(r ref, fc *FromColumn) *Expr {
	return &Expr{
		Type: fc.Type, TypeMod: fc.TypeMod, Letters: fc.letters,
		known: columnOf(Known{Fields: fc.fields, table: fc.table, attr: fc.attr, Origin: fc.origin}),
		Refs:  []ref{r}, Column: true,
	}
}

// columnOf returns a column's properties, or nil if there are none.
func columnOf(k Known) *Known {
	if len(k.Fields) == 0 && k.table == 0 && k.attr == 0 && k.Origin == nil {
		return nil
	}
	return &Known{Fields: k.Fields, table: k.table, attr: k.attr, Origin: k.Origin}
}

// systemColumn finds tableoid, a system column of every row (PostgreSQL 5.5). It returns
// nil for another column, and if no table or more than one has the name.
func systemColumn(level *Scope, table, column string) *Expr {
	if column != "tableoid" {
		return nil
	}
	var found *Expr
	for _, it := range level.items {
		if (table != "" && it.alias != table) || len(it.Columns) == 0 || it.relation == 0 {
			continue
		}
		if found != nil {
			return nil
		}
		v, first := datum.Value{Type: datum.Oid, Valid: true, Int: int64(it.relation)}, columnExpr(ref{level.Frame, it.offset}, &it.Columns[0])
		found = Derive(v.Type, func(x *Exec) (datum.Value, error) {
			if c, err := first.Eval(x); err != nil || !c.Valid { // the NULL side of an outer join
				return datum.Null(v.Type), err
			}
			return v, nil
		}, first)
	}
	return found
}

// wholeRow returns a table's row as one value: t in SELECT t FROM … t.
func (p *Planner) wholeRow(level *Scope, alias string) *Expr {
	for _, it := range level.items {
		if it.alias != alias {
			continue
		}
		if it.scalar && len(it.Columns) >= 1 {
			return columnExpr(ref{level.Frame, it.offset}, &it.Columns[0])
		}
		frame, from, to := level.Frame, it.offset, it.offset+len(it.Columns)
		e := &Expr{Type: datum.Record, TypeMod: -1, known: &Known{Fields: it.Columns}}
		for i := from; i < to; i++ {
			e.Refs = append(e.Refs, ref{frame, i})
		}
		missing := slices.Clone(it.missing)
		e.Refs = append(e.Refs, missing...)
		e.compute = func(x *Exec) (datum.Value, error) {
			if slices.ContainsFunc(missing, func(r ref) bool { return x.Frames[r.frame][r.index].Valid }) {
				return datum.Null(datum.Record), nil
			}
			elems := make([]datum.Value, to-from)
			for i, v := range x.Frames[frame][from:to] {
				if elems[i] = v; !v.Valid { // a NULL of an outer join has no type
					elems[i] = datum.Null(it.Columns[i].Type)
				}
			}
			return datum.MakeArray(datum.Record, elems), nil
		}
		return e
	}
	return nil
}
