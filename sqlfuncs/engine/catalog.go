package engine

import (
	"cmp"
	"maps"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// Catalog holds what statements can name: functions, and tables that are always
// there. A server makes it once; it does not change.
type Catalog struct {
	Functions map[string][]*Function
	Tables    map[string]*Table    // by SCHEMA.NAME
	Domains   map[string]datum.OID // types that are found with their schema only, and what is under them
	OIDs      RelationOIDs         // of the sequence and the table NAME_id of each generator
	byOID     map[uint32]*Table
	list      []*Table
}

// NewCatalog makes a catalog of families of functions and tables. The tables are
// its own from then on.
func NewCatalog(functions [][]Function, tables [][]Table, domains map[string]datum.OID) *Catalog {
	c := &Catalog{Functions: IndexFunctions(functions...), Tables: indexTables(tables), Domains: domains, byOID: map[uint32]*Table{}}
	for _, t := range c.Tables {
		c.byOID[t.OID] = t
	}
	c.list = slices.SortedFunc(maps.Values(c.Tables), func(a, b *Table) int { return cmp.Compare(a.OID, b.OID) })
	return c
}

// NoRelation is the error of a name that no table has.
func NoRelation(name string) *sqlstate.Error {
	return sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", sqlstate.Cut(name, 128))
}

// NoSchema is the error of a name that no schema has.
func NoSchema(name string) error {
	return sqlstate.New(sqlstate.InvalidSchema, "schema %q does not exist", sqlstate.Cut(name, 64))
}

// AllFunctions lists the functions by name.
func (c *Catalog) AllFunctions() []*Function {
	var out []*Function
	for _, name := range slices.Sorted(maps.Keys(c.Functions)) {
		out = append(out, c.Functions[name]...)
	}
	return out
}

// AllTables lists the tables by OID.
func (c *Catalog) AllTables() []*Table { return c.list }

// TableByOID finds a table, nil if there is none.
func (c *Catalog) TableByOID(oid uint32) *Table { return c.byOID[oid] }

// Table finds a table by its name, with or without a schema, nil if there is
// none.
func (c *Catalog) Table(name []string) *Table {
	schemas := SearchPath
	if len(name) > 1 {
		schemas = name[len(name)-2 : len(name)-1]
	}
	for _, schema := range schemas {
		if t := c.Tables[schema+"."+name[len(name)-1]]; t != nil {
			return t
		}
	}
	return nil
}
