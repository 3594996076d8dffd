package datum

import (
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
func parseInt(t OID, s string, bits uint) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	if rest == "" || !isDigit(rest[0]) {
		return Value{}, badSyntax(t, s)
	}
	limit := uint64(1)<<(bits-1) - 1
	if negative {
		limit++
	}
	var n uint64
	for rest != "" && isDigit(rest[0]) {
		d := uint64(rest[0] - '0')
		if n > (limit-d)/10 {
			return Value{}, valueOutOfRange(t, s)
		}
		n = n*10 + d
		rest = rest[1:]
	}
	if trimSpace(rest) != "" {
		return Value{}, badSyntax(t, s)
	}
	if negative {
		n = -n
	}
	return Value{Type: t, Valid: true, Int: int64(n)}, nil
}

// parseOid reads an oid as PostgreSQL does, with C's strtoul: a sign is
// allowed, and -1 is the largest oid.
func parseOid(s string) (Value, error) {
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(rest, "+-")
	negative := strings.HasPrefix(rest, "-")
	if len(rest)-len(digits) > 1 || digits == "" || !isDigit(digits[0]) {
		return Value{}, badSyntax(Oid, s)
	}
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	n, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil {
		return Value{}, valueOutOfRange(Oid, s)
	}
	if trimSpace(digits[end:]) != "" {
		return Value{}, badSyntax(Oid, s)
	}
	if negative {
		n = -n
	}
	if n != uint64(uint32(n)) && n != uint64(int64(int32(n))) {
		return Value{}, valueOutOfRange(Oid, s)
	}
	return makeUint32(Oid, uint32(n)), nil
}

// parseXid reads a transaction id; like PostgreSQL 15 it ignores what
// follows the digits and never fails.
func parseXid(s string) Value {
	digits := trimSpace(s)
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	n, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil && end > 0 {
		n = math.MaxUint64
	}
	return makeUint32(Xid, uint32(n))
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
