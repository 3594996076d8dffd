package ids

import (
	"slices"

	"nextid/sqlfuncs/engine"
)

// Functions are the functions of the product. A new one is an entry in one of
// these lists: it is in the schema nextid. Those that PostgreSQL has under the
// same name are in pg_catalog.
func Functions() []engine.Function {
	own := slices.Concat(idFunctions, codeFunctions, formFunctions, holdFunctions, parseFunctions, uuidFunctions, serviceFunctions, adminFunctions, importFunctions,
		leaseFunctions, templateFunctions)
	for i := range own {
		own[i].Schema = engine.NextidSchema
	}
	return slices.Concat(own, pgUUIDFunctions, sequenceFunctions)
}

// Tables are the tables of the product that are always there. Each
// generator brings NAME_id and itself as a sequence, see Table and SequenceTable.
func Tables() []engine.Table { return slices.Concat(idTables, operatorTables) }
