package datum

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// isSpace is C's isspace, which PostgreSQL's input functions skip.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isLetter(c byte) bool { return c|0x20-'a' < 26 }

// scan returns the first index from i on whose byte is not accepted.
func scan(s string, i int, accept func(byte) bool) int {
	for i < len(s) && accept(s[i]) {
		i++
	}
	return i
}

func trimSpace(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " \t\n\v\f\r"), " \t\n\v\f\r")
}

// parseInt reads a signed decimal number of a width in bits (pg_strtoint64).
func parseInt(t OID, s string, bits int) (Value, error) {
	n, err := strconv.ParseInt(trimSpace(s), 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Value{}, valueOutOfRange(t, s)
	case err != nil:
		return Value{}, badSyntax(t, s)
	}
	return Value{Type: t, Valid: true, Int: n}, nil
}

// parseOid reads an oid as PostgreSQL does, with C's strtoul: a sign is
// allowed, and -1 is the largest oid.
func parseOid(s string) (Value, error) {
	n, err := strconv.ParseInt(trimSpace(s), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return Value{}, badSyntax(Oid, s)
	case err != nil || n < math.MinInt32 || n > math.MaxUint32:
		return Value{}, valueOutOfRange(Oid, s)
	}
	return makeUint32(Oid, uint32(n)), nil
}

func makeUint32(t OID, n uint32) Value { return Value{Type: t, Valid: true, Int: int64(n)} }

// parseBool takes unique prefixes of true, false, yes, no, on, off, and 1, 0.
func parseBool(s string) (Value, error) {
	word := strings.ToLower(trimSpace(s))
	switch word {
	case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
		return MakeBool(true), nil
	case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
		return MakeBool(false), nil
	}
	return Value{}, badSyntax(Bool, s)
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
