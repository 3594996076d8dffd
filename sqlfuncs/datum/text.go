package datum

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// maxNameBytes is the longest name (NAMEDATALEN - 1); longer ones are cut.
const maxNameBytes = 63

// parseString reads a value of a string type.
func parseString(t OID, s string) (Value, error) {
	if err := sqlstate.BrokenText(s); err != nil {
		return Value{}, err
	}
	return MakeString(t, fitString(t, s)), nil
}

// fitString cuts a text to what a string type can hold.
func fitString(t OID, s string) string {
	switch t {
	case Char:
		return s[:min(len(s), 1)]
	case Name:
		return strings.ToValidUTF8(s[:min(len(s), maxNameBytes)], "")
	case BPChar: // blanks at its end mean nothing
		return strings.TrimRight(s, " ")
	}
	return s
}

// ApplyTypeMod makes a value fit its type's modifier as an explicit cast
// does: varchar(n) and char(n) are cut to n characters, numeric(p,s) and fractions of
// seconds are rounded. Errors: 22003 for a numeric too large.
func ApplyTypeMod(v Value, typmod int32) (Value, error) {
	if !v.Valid || typmod < 0 {
		return v, nil
	}
	switch v.Type {
	case Varchar, BPChar:
		if typmod >= varlenaHeader {
			v.Str = fitString(v.Type, fitLength(v.Str, int(typmod-varlenaHeader)))
		}
	case Numeric:
		return applyNumericMod(v, typmod)
	case Time, Timestamp, TimestampTZ:
		if typmod < 6 {
			v.Int = roundMicros(v.Int, typmod)
		}
	}
	return v, nil
}

// fitLength cuts a text to n characters.
func fitLength(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
