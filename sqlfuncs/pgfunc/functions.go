// Package pgfunc has the functions and aggregates of PostgreSQL that clients
// and tools ask for: what they compute, PostgreSQL 15 computes, and a test
// compares the two on random calls (sqlfuncs/func_differential_test.go). What
// the engine knows by itself (COALESCE, window functions), the catalogs, and
// nextid's own functions are elsewhere.
//
//	text.go, quote.go, split.go, regexp.go   9.4, 9.7: text
//	bytes.go                                 9.5: bytea, encode and decode
//	number.go, cast.go                       9.3: numbers; types called as functions
//	time*.go                                 9.9: clocks, fields of times, time zones, pg_sleep
//	json.go, aggregate_json.go               9.16: JSON made of values
//	array.go, set.go                         9.19, 9.25: arrays, series
//	aggregate*.go                            9.21
//
// A function is one row of its family's table, an engine.Function: its
// arguments, its result, what it computes. The arguments are never NULL unless
// the row says Nullable. A text it makes passes boundedText. A new one also
// needs a line in sqlfuncs/asked.tsv that says who asks for it.
package pgfunc

import "slices"

// Functions returns all functions of the package. Several may have one name.
var Functions = slices.Concat(
	textFunctions, castFunctions, clockFunctions, setFunctions, jsonBuildFunctions, aggregateFunctions,
)
