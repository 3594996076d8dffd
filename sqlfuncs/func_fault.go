package sqlfuncs

import (
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/sqlstate"
)

// SQLSTATEs of PostgreSQL's appendix A that only functions raise.
const (
	codeSubstring      sqlstate.Code = "22011" // substring_error
	codeLogArgument    sqlstate.Code = "2201E" // invalid_argument_for_logarithm
	codePowerArgument  sqlstate.Code = "2201F" // invalid_argument_for_power_function
	codeUntranslatable sqlstate.Code = "22P05" // untranslatable_character
	codeArraySubscript sqlstate.Code = "2202E" // array_subscript_error
)

var (
	errNegativeLength  = sqlstate.New(codeSubstring, "negative substring length not allowed")
	errNumericOverflow = decimal.ErrOverflow
	errIntegerRange    = sqlstate.New(sqlstate.NumericOutOfRange, "integer out of range")
	errBigintRange     = sqlstate.New(sqlstate.NumericOutOfRange, "bigint out of range")
	errFloatOverflow   = sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: overflow")
	errFloatUnderflow  = sqlstate.New(sqlstate.NumericOutOfRange, "value out of range: underflow")
	errDivisionByZero  = decimal.ErrDivisionByZero
)
