package pgfunc

import (
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/sqlstate"
)

// SQLSTATEs of PostgreSQL's appendix A that only functions raise.
const (
	codeSubstring sqlstate.Code = "22011" // substring_error
)

var (
	errNegativeLength  = sqlstate.New(codeSubstring, "negative substring length not allowed")
	errNumericOverflow = decimal.ErrOverflow
	errIntegerRange    = sqlstate.New(sqlstate.NumericOutOfRange, "integer out of range")
	errBigintRange     = sqlstate.New(sqlstate.NumericOutOfRange, "bigint out of range")
	errFloatOverflow   = sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: overflow")
)
