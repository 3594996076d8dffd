package sqlfuncs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"nextid/sqlfuncs/pgfunc"

	"nextid/generator"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// functions maps a name to its overloads.
var functions = engine.IndexFunctions(
	idFunctions, codeFunctions, parseFunctions, uuidFunctions, sequenceFunctions, serviceFunctions, adminFunctions,
	importFunctions,
	pgfunc.Functions, engine.ConditionalFunctions, engine.WindowFunctions, sessionFunctions, catalogFunctions,
)

// allFunctions lists the functions by name.
func allFunctions() []*engine.Function {
	var out []*engine.Function
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		out = append(out, functions[name]...)
	}
	return out
}

// publicTables are found without a schema.
var tables = engine.IndexTables(idTables, operatorTables, catalogTables)

// fixedTables are the tables that are always there, by OID.
var fixedTables = slices.SortedFunc(maps.Values(tables), func(a, b *engine.Table) int { return cmp.Compare(a.OID, b.OID) })

// fixedTablesByOID is fixedTables by OID.
var fixedTablesByOID = sync.OnceValue(func() map[uint32]*engine.Table {
	m := map[uint32]*engine.Table{}
	for _, t := range fixedTables {
		m[t.OID] = t
	}
	return m
})

// fixedTable finds one of the tables that are always there, nil if none has that name.
func fixedTable(name []string) *engine.Table {
	schemas := engine.SearchPath
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
func (s *Server) lookupTable(name syntax.Name) (*engine.Table, error) {
	if t := fixedTable(name); t != nil {
		return t, nil
	}
	last := name.Last()
	public := len(name) == 1 || name[len(name)-2] == "public" || name[len(name)-2] == engine.NextidSchema
	if generatorName, ok := strings.CutSuffix(last, engine.IDTableSuffix); ok && public && generator.CheckName(generatorName) == nil {
		return s.singleIDTable(last, generatorName), nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", sqlstate.Cut(strings.Join(name, "."), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_parts, and NAME_id for a generator NAME.")
}
