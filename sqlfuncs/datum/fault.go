package datum

import (
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// SQLSTATEs of PostgreSQL's appendix A that only values raise.
const (
	codeIntervalOverflow sqlstate.Code = "22015" // interval_field_overflow
	codeUntranslatable   sqlstate.Code = "22P05" // untranslatable_character
	maxQuotedInput                     = 1024    // bytes of the input that a message repeats
	maxNesting                         = 1000    // of JSON, records: deeper is 54001
)

// badSyntax returns the error of most input functions.
func badSyntax(t OID, s string) error { return badSyntaxFor(display(t), s) }

func badSyntaxFor(name, s string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidText, `invalid input syntax for type %s: "%s"`, name, clip(s))
}

// valueOutOfRange returns the error for an integer in text form that its type
// cannot hold.
func valueOutOfRange(t OID, s string) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, `value "%s" is out of range for type %s`, clip(s), display(t))
}

// outOfRange returns the error for a computed number that its type cannot hold.
func outOfRange(t OID) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "%s out of range", display(t))
}

// tooDeep returns the error for nesting beyond maxNesting.
func tooDeep() *sqlstate.Error {
	return sqlstate.New(sqlstate.TooComplex, "value is nested more than %d levels deep", maxNesting)
}

// clip shortens an input for a message.
func clip(s string) string {
	if len(s) <= maxQuotedInput {
		return strings.ToValidUTF8(s, "?")
	}
	cut := maxQuotedInput
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "?") + "…"
}

// anonymousRecord is the error of a record as input: nothing tells its columns.
func anonymousRecord() error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "input of anonymous composite types is not implemented")
}
