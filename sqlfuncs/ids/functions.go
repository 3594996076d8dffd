package ids

import (
	"slices"

	"nextid/sqlfuncs/engine"
)

// Functions are the functions of the product. A new one is an entry in one of
// these lists.
func Functions() []engine.Function {
	return slices.Concat(idFunctions, codeFunctions, parseFunctions, uuidFunctions, sequenceFunctions, serviceFunctions,
		adminFunctions, importFunctions)
}

// Tables are the tables of the product that are always there. Each
// generator brings NAME_id and itself as a sequence, see Table and SequenceTable.
func Tables() []engine.Table { return slices.Concat(idTables, operatorTables) }
