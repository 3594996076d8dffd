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

// FitLength cuts a varchar or char to the length of its type's modifier, as an explicit
// cast does.
func FitLength(v Value, typmod int32) Value {
	n := typmod - varlenaHeader
	for i := range v.Str {
		if n == 0 {
			v.Str = v.Str[:i]
			break
		}
		n--
	}
	v.Str = fitString(v.Type, v.Str)
	return v
}
