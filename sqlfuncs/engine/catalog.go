package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// Catalog holds what statements can name: the functions and the fixed tables.
// NewServer makes one; it does not change afterwards.
type Catalog struct {
	Functions map[string][]*Function
	Tables    map[string]*Table    // by SCHEMA.NAME
	Domains   map[string]datum.OID // types found only with their schema, and their base types
	OIDs      RelationOIDs         // of the sequence and the table NAME_id of each generator
	byOID     map[uint32]*Table
	list      []*Table
}

// NewCatalog makes a catalog of families of functions and tables. It takes over the
// tables.
func NewCatalog(functions [][]Function, tables [][]Table, domains map[string]datum.OID) *Catalog {
	c := &Catalog{Functions: IndexFunctions(functions...), Tables: indexTables(tables), Domains: domains, byOID: map[uint32]*Table{}}
	for _, t := range c.Tables {
		c.byOID[t.OID] = t
	}
	c.list = slices.SortedFunc(maps.Values(c.Tables), func(a, b *Table) int { return cmp.Compare(a.OID, b.OID) })
	return c
}

// NoRelation returns the error for a name that no table has (42P01).
func NoRelation(name string) *sqlstate.Error {
	return sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", sqlstate.Cut(name, 128))
}

// NoSchema returns the error for a name that no schema has (3F000).
func NoSchema(name string) error {
	return sqlstate.New(sqlstate.InvalidSchema, "schema %q does not exist", sqlstate.Cut(name, 64))
}

// AllFunctions returns the functions, sorted by name.
func (c *Catalog) AllFunctions() []*Function {
	var out []*Function
	for _, name := range slices.Sorted(maps.Keys(c.Functions)) {
		out = append(out, c.Functions[name]...)
	}
	return out
}

// AllTables returns the tables, sorted by OID.
func (c *Catalog) AllTables() []*Table { return c.list }

// TableByOID returns the table of an OID, or nil.
func (c *Catalog) TableByOID(oid uint32) *Table { return c.byOID[oid] }

// Table returns the table of a name, with or without a schema, or nil.
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

// RelationOIDs assigns OIDs to generator names for regclass values. An OID is valid
// for the life of the process. Any goroutine may use it.
type RelationOIDs struct {
	mu    sync.Mutex
	byOID map[uint32]string
	oids  map[string]uint32
}

// FirstSequenceOID is the first OID of a generator.
const FirstSequenceOID = 1 << 20

// maxSequenceOIDs limits how many names get an OID.
const maxSequenceOIDs = generator.DefaultMaxNames

// Sequence returns the OID of a generator as a sequence. ok is false if too many
// names have one, or if no generator can have the name.
func (s *RelationOIDs) Sequence(name string) (uint32, bool) {
	if generator.CheckName(name) != nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if oid, ok := s.oids[name]; ok {
		return oid, true
	}
	if len(s.oids) >= maxSequenceOIDs {
		return 0, false
	}
	if s.oids == nil {
		s.oids, s.byOID = map[string]uint32{}, map[uint32]string{}
	}
	oid := uint32(FirstSequenceOID + len(s.oids))
	s.oids[name], s.byOID[oid] = oid, name
	return oid, true
}

// idTableOIDs is the OID of a table NAME_id minus that of its generator.
const idTableOIDs = 1 << 28

// IDTable returns the OID of a generator's table NAME_id, or 0 if there are too
// many.
func (s *RelationOIDs) IDTable(generatorName string) uint32 {
	oid, ok := s.Sequence(generatorName)
	if !ok {
		return 0
	}
	return oid + idTableOIDs
}

// Name returns the name of the sequence or the table NAME_id with the OID.
func (s *RelationOIDs) Name(oid uint32) (string, bool) {
	if oid >= idTableOIDs+FirstSequenceOID {
		name, ok := s.SequenceName(oid - idTableOIDs)
		return name + IDTableSuffix, ok
	}
	return s.SequenceName(oid)
}

// SequenceName returns the name of the sequence with the OID.
func (s *RelationOIDs) SequenceName(oid uint32) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.byOID[oid]
	return name, ok
}
