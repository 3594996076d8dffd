package datum

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// parseFloat reads a decimal number.
func parseFloat(t OID, s string) (Value, error) {
	width := 64
	if t == Float4 {
		width = 32
	}
	text := strings.ToLower(trimSpace(s))
	f, err := strconv.ParseFloat(text, width)
	switch {
	case strings.ContainsAny(text, "_xn") || errors.Is(err, strconv.ErrSyntax): // Go's own notations, NaN and infinities
		return Value{}, badNumber(t, s)
	case err != nil || f == 0 && strings.ContainsAny(strings.SplitN(text, "e", 2)[0], "123456789"):
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, `"%s" is out of range for type %s`, clip(text), display(t))
	}
	return Value{Type: t, Valid: true, Float: f}, nil
}

// badNumber is the error of a text that is no number. PostgreSQL has NaN and
// infinities, nextid has not.
func badNumber(t OID, s string) error {
	switch text := strings.Trim(strings.ToLower(trimSpace(s)), "+-"); text {
	case "nan", "inf", "infinity":
		return notFinite(t, s)
	}
	return badSyntax(t, s)
}

func notFinite(t OID, s string) error {
	return sqlstate.New(sqlstate.FeatureNotSupported, `the value "%s" of type %s is not supported`, clip(s), display(t))
}

// checkFinite refuses NaN and infinities in the binary form.
func checkFinite(v Value) error {
	if v.Float-v.Float != 0 {
		return notFinite(v.Type, strconv.FormatFloat(v.Float, 'g', -1, 64))
	}
	return nil
}

// The digits that a binary format surely keeps (DBL_DIG, FLT_DIG).
const (
	doubleDigits = 15
	realDigits   = 6
)

// appendFloat prints a float8 (width 64) or float4 (32): the shortest text that reads
// back the same.
func appendFloat(dst []byte, f float64, width int) []byte {
	precision := doubleDigits
	if width == 32 {
		precision = realDigits
	}
	if exponent := decimalExponent(f, width); exponent < -4 || exponent >= precision {
		return strconv.AppendFloat(dst, f, 'e', -1, width)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, width)
}

// decimalExponent is the exponent of a number in scientific notation.
func decimalExponent(f float64, width int) int {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, width)
	exponent, _ := strconv.Atoi(string(text[bytes.IndexByte(text, 'e')+1:]))
	return exponent
}
