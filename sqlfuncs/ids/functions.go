package ids

import (
	"slices"

	"nextid/sqlfuncs/engine"
)

// drawing declares a volatile function, see engine.Func.
func drawing(signature, help string, eval engine.Eval) engine.Function {
	return engine.Func(signature, engine.Volatile, help, eval)
}

// reading declares a stable function.
func reading(signature, help string, eval engine.Eval) engine.Function {
	return engine.Func(signature, engine.Stable, help, eval)
}

// administering declares a volatile function for administrators.
func administering(signature, help string, eval engine.Eval) engine.Function {
	f := drawing(signature, help, eval)
	f.Admin = true
	return f
}

// Functions returns nextid's own functions. New ones are entries in these lists and
// belong to the schema nextid. Functions that PostgreSQL has under the same name
// are in pg_catalog.
func Functions() []engine.Function {
	own := slices.Concat(idFunctions, codeFunctions, formFunctions, holdFunctions, parseFunctions, uuidFunctions, serviceFunctions, adminFunctions, importFunctions,
		leaseFunctions, templateFunctions)
	for i := range own {
		own[i].Schema = engine.NextidSchema
	}
	return slices.Concat(own, pgUUIDFunctions, sequenceFunctions)
}

// Tables returns nextid's fixed tables. Each generator adds NAME_id and itself as a
// sequence; see Table and SequenceTable.
func Tables() []engine.Table { return slices.Concat(idTables, operatorTables) }
