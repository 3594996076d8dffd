package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// scope is the names that an expression can see: the FROM items of one query
// level, and those of the levels around it.
type scope struct {
	parent  *scope
	frame   int // index of this level's row in exec.frames
	width   int // columns of the row so far
	items   []*fromItem
	shown   []foundColumn // the columns that * stands for, in its order
	ctes    map[string]*ctePlan
	group   *grouping              // set while the select list of a grouped query is analysed
	windows *windowPlan            // collects the window functions of the select list and ORDER BY, nil where they are not allowed
	aliases map[string]syntax.Expr // MySQL: the labels of the select list, where HAVING and ORDER BY may use them
	sets    *setSlots              // collects set-returning functions of the select list, nil where they are not allowed
}

// fromItem is one table of FROM: a stretch of the level's row.
type fromItem struct {
	alias    string
	schema   string
	columns  []fromColumn
	offset   int
	relation uint32 // pg_class OID of a table, 0 for others
	scalar   bool   // a function that returns one plain value: the alias names that value
}

// fromColumn is a column of a fromItem.
type fromColumn struct {
	name   string
	typ    datum.OID
	mod    int32
	table  uint32
	attr   int16
	fields []fromColumn // of a record whose columns are known
	merged bool         // a column of JOIN … USING that is found only with its table's name

	collation collation
	origin    *Origin
}

// add appends an item to the level's row.
func (s *scope) add(it *fromItem) error {
	for _, other := range s.items {
		if other.alias == it.alias && it.alias != "" && other.schema == it.schema {
			return sqlstate.New(sqlstate.DuplicateAlias, "table name %q specified more than once", it.alias)
		}
	}
	it.offset = s.width
	s.width += len(it.columns)
	s.items = append(s.items, it)
	for i := range it.columns {
		s.shown = append(s.shown, foundColumn{it, i})
	}
	return nil
}

func (s *scope) cte(name string) *ctePlan {
	for ; s != nil; s = s.parent {
		if c := s.ctes[name]; c != nil {
			return c
		}
	}
	return nil
}

// resolveColumn finds a column reference and returns an expression for it.
func (p *planner) resolveColumn(s *scope, c *syntax.Column) (*expr, error) {
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
		var found *expr
		for _, it := range level.items {
			if table != "" && (!p.same(it.alias, table) || !p.sameSchema(it.schema, schema)) {
				continue
			}
			tableSeen = tableSeen || table != ""
			for i := range it.columns {
				fc := &it.columns[i]
				if !p.same(fc.name, column) || (fc.merged && table == "") {
					continue
				}
				if found != nil {
					return nil, at(c.Pos, sqlstate.New(sqlstate.AmbiguousColumn, "column reference %q is ambiguous", column))
				}
				found = columnExpr(level.frame, it.offset+i, fc)
			}
		}
		if found == nil && table == "" {
			if p.mysql {
				if e, err := p.dialect.aliased(p, level, column); e != nil || err != nil {
					return e, err
				}
			} else {
				found = p.wholeRow(level, column)
			}
		}
		if found == nil {
			found = systemColumn(level, table, column)
		}
		if found != nil {
			e, err := p.grouped(level, c, found)
			return p.outer(e), err
		}
	}
	return nil, at(c.Pos, p.columnMissing(c, table, column, tableSeen))
}

// same compares identifiers: in MySQL their case does not count.
func (p *planner) same(a, b string) bool { return a == b || p.mysql && strings.EqualFold(a, b) }

// sameSchema reports whether a qualified column can mean a table of schema
// have. In MySQL our tables are in every database.
func (p *planner) sameSchema(have, want string) bool {
	if want == "" || have == "" || p.mysql && !strings.EqualFold(want, informationSchema) {
		return true
	}
	return p.same(have, want)
}

func (p *planner) columnMissing(c *syntax.Column, table, column string, tableSeen bool) error {
	if p.mysql {
		return sqlstate.New(sqlstate.UndefinedColumn, "Unknown column '%s' in 'SELECT'", sqlstate.Cut(strings.Join(c.Name, "."), 128))
	}
	switch {
	case table == "":
		return sqlstate.New(sqlstate.UndefinedColumn, "column %q does not exist", sqlstate.Cut(column, 64))
	case tableSeen:
		return sqlstate.New(sqlstate.UndefinedColumn, "column %s does not exist", sqlstate.Cut(strings.Join(c.Name, "."), 128))
	}
	return sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %q", sqlstate.Cut(table, 64))
}

// columnExpr reads a column of the level's current row.
func columnExpr(frame, index int, fc *fromColumn) *expr {
	return &expr{
		typ: fc.typ, mod: fc.mod, table: fc.table, attr: fc.attr, fields: fc.fields, collation: fc.collation, origin: fc.origin,
		refs: []ref{{frame, index}}, column: true,
		eval: func(x *exec) (datum.Value, error) { return x.frames[frame][index], nil },
	}
}

// systemColumns are what every row of a table has (PostgreSQL 5.5). Ours have
// no versions, so that these values say: written once, by the bootstrap.
var systemColumns = map[string]datum.Value{
	"xmin": {Type: datum.Xid, Valid: true, Int: 1}, "xmax": {Type: datum.Xid, Valid: true}, "tableoid": {Type: datum.Oid, Valid: true},
}

// systemColumn finds a system column; nil when there is none of that name,
// or in more than one table.
func systemColumn(level *scope, table, column string) *expr {
	value, ok := systemColumns[column]
	if !ok {
		return nil
	}
	var found *expr
	for _, it := range level.items {
		if (table != "" && it.alias != table) || len(it.columns) == 0 || it.relation == 0 {
			continue
		}
		if found != nil {
			return nil
		}
		v, first := value, columnExpr(level.frame, it.offset, &it.columns[0])
		if column == "tableoid" {
			v.Int = int64(it.relation)
		}
		found = derive(v.Type, func(x *exec) (datum.Value, error) {
			if c, err := first.eval(x); err != nil || !c.Valid { // the missing side of an outer join
				return datum.Null(v.Type), err
			}
			return v, nil
		}, first)
	}
	return found
}

// wholeRow is a reference to a table as one value: t in SELECT t FROM … t.
func (p *planner) wholeRow(level *scope, alias string) *expr {
	for _, it := range level.items {
		if it.alias != alias {
			continue
		}
		if it.scalar && len(it.columns) >= 1 {
			return columnExpr(level.frame, it.offset, &it.columns[0])
		}
		frame, from, to := level.frame, it.offset, it.offset+len(it.columns)
		e := &expr{typ: datum.Record, mod: -1, fields: it.columns}
		for i := from; i < to; i++ {
			e.refs = append(e.refs, ref{frame, i})
		}
		e.eval = func(x *exec) (datum.Value, error) {
			elems := make([]datum.Value, to-from)
			copy(elems, x.frames[frame][from:to])
			return datum.MakeArray(datum.Record, elems), nil
		}
		return e
	}
	return nil
}
