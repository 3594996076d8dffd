package datum

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// The limits of numeric: PostgreSQL's digits before and after the point.
// maxZeros bounds the zeros that an exponent or a scale may add, so that a
// few bytes of input cannot become a text of 128 KiB.
const (
	maxIntegerDigits = 131072
	maxScale         = 16383
	maxZeros         = 2000
)

// The numerics that are no numbers, in canonical form.
const (
	numericNaN      = "NaN"
	numericInf      = "Infinity"
	numericMinusInf = "-Infinity"
)

func isSpecialNumeric(s string) bool {
	return s == numericNaN || s == numericInf || s == numericMinusInf
}

func makeNumeric(s string) Value { return MakeString(Numeric, s) }

func numericOverflow() error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "value overflows numeric format")
}

// parseNumeric reads a numeric into its canonical text: no exponent, no
// needless zeros in front, all digits of the scale.
func parseNumeric(s string) (Value, error) {
	if isCanonicalNumeric(s) {
		return makeNumeric(s), nil
	}
	text := trimSpace(s)
	switch strings.ToLower(text) {
	case "nan":
		return makeNumeric(numericNaN), nil
	case "infinity", "+infinity", "inf", "+inf":
		return makeNumeric(numericInf), nil
	case "-infinity", "-inf":
		return makeNumeric(numericMinusInf), nil
	}
	canonical, ok, err := canonicalNumeric(text)
	if err != nil {
		return Value{}, err
	}
	if !ok {
		return Value{}, badSyntax(Numeric, s)
	}
	return makeNumeric(canonical), nil
}

// isCanonicalNumeric reports whether s can stay as it is: at most 300
// bytes, -, digits without a needless zero, point and digits.
func isCanonicalNumeric(s string) bool {
	if len(s) > 300 {
		return false
	}
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if len(digits) < len(s) && strings.Trim(digits, "0.") == "" {
		return false // -0
	}
	return onlyDigits(whole) && onlyDigits(fraction)
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// canonicalNumeric turns a finite number into canonical form; ok is false
// for what is no number.
func canonicalNumeric(s string) (canonical string, ok bool, err error) {
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	mantissa, exponent := s, 0
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa = s[:e]
		exponent, err = strconv.Atoi(s[e+1:])
		if errors.Is(err, strconv.ErrSyntax) {
			return "", false, nil
		}
		if err != nil || exponent > math.MaxInt32/2 || exponent < -math.MaxInt32/2 {
			return "", false, numericOverflow()
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !onlyDigits(whole+fraction) || whole+fraction == "" {
		return "", false, nil
	}
	canonical, err = placePoint(sign, whole+fraction, len(fraction)-exponent)
	return canonical, err == nil, err
}

// placePoint writes digits × 10^-scale in canonical form. A negative scale
// adds zeros.
func placePoint(sign, digits string, scale int) (string, error) {
	digits = strings.TrimLeft(digits, "0")
	zero := digits == ""
	if scale < 0 && zero {
		scale = 0
	}
	if -scale > maxZeros || scale-len(digits) > maxZeros {
		return "", numericOverflow()
	}
	if scale < 0 {
		digits += strings.Repeat("0", -scale)
		scale = 0
	}
	if len(digits)-scale > maxIntegerDigits || scale > maxScale {
		return "", numericOverflow()
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	if zero {
		sign = ""
	}
	whole, fraction := digits[:len(digits)-scale], digits[len(digits)-scale:]
	if scale == 0 {
		return sign + whole, nil
	}
	return sign + whole + "." + fraction, nil
}

// numericParts splits a canonical finite number.
func numericParts(s string) (negative bool, whole, fraction string) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ = strings.Cut(digits, ".")
	return negative, whole, fraction
}

// applyNumericMod rounds to the scale of numeric(p, s) and checks the precision.
func applyNumericMod(v Value, typmod int32) (Value, error) {
	if typmod < varlenaHeader || v.Str == numericNaN {
		return v, nil
	}
	precision, scale := numericMod(typmod)
	if isSpecialNumeric(v.Str) {
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	d := parseDecimal(v.Str).Round(scale)
	if d.Sign() != 0 && d.Weight() >= precision-scale {
		bound := "1"
		if precision != scale {
			bound = "10^" + strconv.Itoa(precision-scale)
		}
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", precision, scale, bound)
	}
	s, err := decimalText(d)
	return makeNumeric(s), err
}

// numericFromFloat converts as PostgreSQL does: with the digits that the
// format surely keeps.
func numericFromFloat(f float64, bits int) (Value, error) {
	switch {
	case math.IsNaN(f):
		return makeNumeric(numericNaN), nil
	case math.IsInf(f, 1):
		return makeNumeric(numericInf), nil
	case math.IsInf(f, -1):
		return makeNumeric(numericMinusInf), nil
	}
	precision := doubleDigits
	if bits == 32 {
		precision = realDigits
	}
	return parseNumeric(strconv.FormatFloat(f, 'g', precision, 64))
}

// numericToInt rounds half away from zero and checks the range of t.
func numericToInt(s string, t OID) (int64, error) {
	switch s {
	case numericNaN:
		return 0, sqlstate.New(sqlstate.FeatureNotSupported, "cannot convert NaN to %s", display(t))
	case numericInf, numericMinusInf:
		return 0, sqlstate.New(sqlstate.FeatureNotSupported, "cannot convert infinity to %s", display(t))
	}
	negative, whole, fraction := numericParts(s)
	n, err := strconv.ParseUint(whole, 10, 64)
	up := fraction != "" && fraction[0] >= '5'
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if err != nil || n > limit || up && n == limit {
		return 0, outOfRange(t)
	}
	if up {
		n++
	}
	if negative {
		n = -n
	}
	return checkInt(t, int64(n))
}

// numericFloat is the nearest floating point number, infinite when too large.
func numericFloat(s string) float64 {
	if s == numericNaN {
		return quietNaN
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}
