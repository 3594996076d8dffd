// Package pgfunc has the functions and aggregates of PostgreSQL that clients and
// tools use. They compute the same results as PostgreSQL 15;
// TestFunctionsAnswerAsPostgreSQL compares both on random calls. COALESCE and window
// functions are in package engine, functions on the catalogs in pgcatalog, nextid's
// own functions in ids.
//
// The files, with the sections of PostgreSQL's manual:
//
//	text.go        9.4: text
//	type.go        9.26: pg_typeof
//	time.go        9.9: clocks, pg_sleep
//	json.go        9.16: JSON made of values
//	array.go       9.19, 9.25: arrays, series
//	aggregate.go   9.21: aggregates
//
// A function is one row of its family's table, an engine.Function: arguments,
// result, and the Go function that computes the result. Arguments are never NULL,
// unless the row has Nullable. A text result must pass boundedText, which limits its
// length. A new function also needs a line in sqlfuncs/asked.tsv that names the
// clients which use it.
package pgfunc

import "slices"

// Functions returns all functions of the package. Several may have one name.
var Functions = slices.Concat(
	textFunctions, typeFunctions, clockFunctions, setFunctions, jsonBuildFunctions, aggregateFunctions,
)
