package sqlfuncs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// functions maps a name to its overloads.
var functions = indexFunctions(
	idFunctions, codeFunctions, parseFunctions, uuidFunctions, sequenceFunctions, serviceFunctions, adminFunctions,
	importFunctions,
	sessionFunctions, textFunctions, numberFunctions, timeFunctions,
	setFunctions, jsonBuildFunctions, aggregateFunctions, windowFunctions, catalogFunctions,
)

// allFunctions lists the functions by name.
func allFunctions() []*function {
	var out []*function
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		out = append(out, functions[name]...)
	}
	return out
}

// publicTables are found without a schema.
var tables = indexTables(idTables, operatorTables, catalogTables)

// fixedTables are the tables that are always there, by OID.
var fixedTables = slices.SortedFunc(maps.Values(tables), func(a, b *table) int { return cmp.Compare(a.oid, b.oid) })

// fixedTablesByOID is fixedTables by OID.
var fixedTablesByOID = sync.OnceValue(func() map[uint32]*table {
	m := map[uint32]*table{}
	for _, t := range fixedTables {
		m[t.oid] = t
	}
	return m
})

// fixedTable finds one of the tables that are always there, nil if none has that name.
func fixedTable(name []string) *table {
	schemas := searchPath
	if len(name) > 1 {
		schemas = name[len(name)-2 : len(name)-1]
	}
	for _, schema := range schemas {
		if t := tables[schema+"."+name[len(name)-1]]; t != nil {
			return t
		}
	}
	return nil
}

// lookupTable finds a table by name. NAME_id is a table of one row for every
// generator name.
func (s *Server) lookupTable(name syntax.Name) (*table, error) {
	if t := fixedTable(name); t != nil {
		return t, nil
	}
	last := name.Last()
	public := len(name) == 1 || name[len(name)-2] == "public" || name[len(name)-2] == nextidSchema
	if generatorName, ok := strings.CutSuffix(last, idTableSuffix); ok && public && generator.CheckName(generatorName) == nil {
		return s.singleIDTable(last, generatorName), nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", sqlstate.Cut(strings.Join(name, "."), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_parts, and NAME_id for a generator NAME.")
}
