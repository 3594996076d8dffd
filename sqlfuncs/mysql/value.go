package mysql

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// This file has MySQL's implicit conversions (manual, "Type Conversion in Expression
// Evaluation"). Each value has a text, a number and a truth value. A value that does
// not fit is truncated with a warning. Unlike in MySQL, dates and times have no
// number.

// numberKind orders the types in which MySQL computes.
type numberKind uint8

const (
	kindInt numberKind = iota
	kindDecimal
	kindDouble
)

// kindOf returns the kind of number as which a value of type t is computed.
func kindOf(t datum.OID) numberKind {
	switch {
	case t == datum.Bool || engine.IsInteger(t):
		return kindInt
	case t == datum.Numeric:
		return kindDecimal
	}
	return kindDouble
}

// kindTypes holds the type of each kind of number.
var kindTypes = [...]datum.OID{kindInt: datum.Int8, kindDecimal: datum.Numeric, kindDouble: datum.Float8}

// isTemporal reports whether t is a date or a time.
func isTemporal(t datum.OID) bool {
	switch t {
	case datum.Date, datum.Timestamp, datum.TimestampTZ:
		return true
	}
	return false
}

// isNumber reports whether t is a number, truth values included.
func isNumber(t datum.OID) bool {
	return t == datum.Bool || engine.IsInteger(t) || engine.IsNumber(t)
}

// truncated returns the warning for a text with more than a number in it.
func truncated(what, text string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidText, "Truncated incorrect %s value: '%s'", what, sqlstate.Cut(text, 64))
}

// cast converts a value to type t. An integer that does not fit into int4 becomes an
// int8.
func cast(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	if !v.Valid || v.Type == t {
		return datum.Value{Type: t, Valid: v.Valid, Int: v.Int, Float: v.Float, Str: v.Str, Elems: v.Elems}, nil
	}
	switch {
	case t == datum.Bool:
		return datum.MakeBool(truth(x, v)), nil
	case engine.IsInteger(t):
		n, err := intOf(x, v)
		if err == nil && t == datum.Int4 && n != int64(int32(n)) {
			t = datum.Int8
		}
		return datum.Value{Type: t, Valid: true, Int: n}, err
	case t == datum.Numeric:
		return datum.MakeString(t, decimalTextOf(x, v)), nil
	case t == datum.Float8, t == datum.Float4:
		return datum.Value{Type: t, Valid: true, Float: floatOf(x, v)}, nil
	case engine.IsString(t), t == datum.Bytea, t == datum.Unknown:
		return datum.MakeString(t, TextOf(x, v)), nil
	case isTemporal(t) && isTemporal(v.Type):
		return x.Cast(v, t)
	case isTemporal(t):
		return timeOf(x, TextOf(x, v), t), nil
	case (t == datum.JSON || t == datum.JSONB) && (isNumber(v.Type) || v.Type == datum.JSON || v.Type == datum.JSONB):
		return datum.MakeString(t, TextOf(x, v)), nil
	case t == datum.JSON || t == datum.JSONB:
		out, err := datum.ParseText(t, TextOf(x, v), x.Env())
		if err != nil {
			return out, sqlstate.New(sqlstate.InvalidText, "Invalid JSON text: %q", sqlstate.Cut(v.Str, 64)).WithMySQL(3140, "22032")
		}
		return out, nil
	case t == datum.UUID:
		return datum.ParseText(t, TextOf(x, v), nil)
	}
	return v, cannotConvert(v.Type, t)
}

// cannotConvert returns the error for a conversion that nextid lacks.
func cannotConvert(from, to datum.OID) error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "a conversion of %s to %s is not supported by nextid", datum.FormatType(from, -1), datum.FormatType(to, -1))
}

// TextOf returns the text form of a value.
func TextOf(x *engine.Exec, v datum.Value) string {
	switch v.Type {
	case datum.Bool:
		return strconv.FormatInt(v.Int, 10)
	case datum.Bytea:
		return v.Str
	case datum.Float4, datum.Float8:
		return floatText(v.Float)
	case datum.TimestampTZ:
		if local, err := datum.Cast(v, datum.Timestamp, x.Env()); err == nil {
			v = local
		}
	}
	if engine.IsString(v.Type) || v.Type == datum.Unknown || v.Type == datum.Numeric || v.Type == datum.JSON || v.Type == datum.JSONB {
		return v.Str
	}
	return string(datum.AppendText(nil, v, x.Env()))
}

// floatText prints a double: without an exponent up to 15 digits, otherwise like
// 1e20.
func floatText(f float64) string {
	if f == 0 {
		return "0"
	}
	if a := math.Abs(f); a >= 1e-15 && a < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}

// leadingNumber matches the number at the start of a text.
var leadingNumber = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?`)

// numberIn returns the text of a value's number. Of a text it is the number at its start:
// numberIn warns if more text follows; kind is the type's name in the warning.
func numberIn(x *engine.Exec, v datum.Value, kind string) string {
	switch {
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return strconv.FormatInt(v.Int, 10)
	case v.Type == datum.Numeric:
		return v.Str
	case v.Type == datum.Float4 || v.Type == datum.Float8:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	text := TextOf(x, v)
	s := strings.Trim(text, " \t\n\r\v\f")
	number := leadingNumber.FindString(s)
	if number != s || s == "" {
		x.Host.Warn(truncated(kind, text))
	}
	return cmp.Or(number, "0")
}

// floatOf returns a value as a double.
func floatOf(x *engine.Exec, v datum.Value) float64 {
	f, _ := strconv.ParseFloat(numberIn(x, v, "DOUBLE"), 64)
	return f
}

// decimalTextOf returns a value as the text of a DECIMAL.
func decimalTextOf(x *engine.Exec, v datum.Value) string {
	number := numberIn(x, v, "DECIMAL")
	if !strings.ContainsAny(number, "eEIN") {
		return decimalOf(number).String()
	}
	f, _ := strconv.ParseFloat(number, 64)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "0"
	}
	if math.Abs(f) >= 1e65 { // MySQL's largest DECIMAL has 65 digits
		f = math.Copysign(math.Nextafter(1e65, 0), f)
	}
	return decimalOf(strconv.FormatFloat(f, 'f', -1, 64)).String()
}

// decimalOf parses a DECIMAL's text; an invalid one counts as 0.
func decimalOf(text string) datum.Decimal {
	n, err := datum.ParseDecimal(text)
	if err != nil {
		return datum.DecimalOf(0)
	}
	return n
}

// outOfRange returns the error for a result beyond int64.
func outOfRange(text string) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "BIGINT value is out of range in '%s'", sqlstate.Cut(text, 64))
}

// intOf returns a value as an integer. It rounds decimals half away from zero and
// doubles half to even, and cuts off the fraction of a number in a text.
func intOf(x *engine.Exec, v datum.Value) (int64, error) {
	switch {
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return v.Int, nil
	case isNumber(v.Type):
		if v.Type == datum.Float8 || v.Type == datum.Float4 {
			v.Float = math.RoundToEven(v.Float)
		}
		text := decimalTextOf(x, v)
		n := decimalOf(text).Round(0).Coef
		if !n.IsInt64() {
			return 0, outOfRange(text)
		}
		return n.Int64(), nil
	}
	whole, rest, _ := strings.Cut(numberIn(x, v, "INTEGER"), ".")
	whole, exponent, _ := strings.Cut(strings.ToLower(whole), "e")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil && whole != "" || rest != "" || exponent != "" {
		x.Host.Warn(truncated("INTEGER", TextOf(x, v)))
	}
	return n, nil
}

// truth reports whether a value is true as a condition.
func truth(x *engine.Exec, v datum.Value) bool { return floatOf(x, v) != 0 }

// datePrefix matches the start of a date or datetime.
var datePrefix = regexp.MustCompile(`^\s*\d{4}-\d`)

// timeOf parses a date or datetime. An invalid one becomes NULL with a warning.
func timeOf(x *engine.Exec, text string, t datum.OID) datum.Value {
	if datePrefix.MatchString(text) {
		if v, err := datum.ParseText(t, text, x.Env()); err == nil {
			return v
		}
	}
	what := "datetime"
	if t == datum.Date {
		what = "date"
	}
	x.Host.Warn(sqlstate.New(sqlstate.InvalidDatetime, "Incorrect %s value: '%s'", what, sqlstate.Cut(text, 64)))
	return datum.Null(t)
}
