package mysql

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// MySQL's implicit conversions (manual, "Type Conversion in Expression
// Evaluation"): every value has a text, a number and a truth; what does not
// fit is cut, with a warning.

// numberKind orders the types in which MySQL computes.
type numberKind uint8

const (
	kindInt numberKind = iota
	kindDecimal
	kindDouble
)

// kindOf is the type in which a value of type t takes part in arithmetic.
func kindOf(t datum.OID) numberKind {
	switch {
	case t == datum.Bool || engine.IsInteger(t):
		return kindInt
	case t == datum.Numeric:
		return kindDecimal
	case isTemporal(t):
		return kindInt // 20261121172300
	}
	return kindDouble
}

var kindTypes = [...]datum.OID{kindInt: datum.Int8, kindDecimal: datum.Numeric, kindDouble: datum.Float8}

func isTemporal(t datum.OID) bool {
	switch t {
	case datum.Date, datum.Time, datum.Timestamp, datum.TimestampTZ:
		return true
	}
	return false
}

// isNumber reports whether t is a number, truth values included.
func isNumber(t datum.OID) bool {
	return t == datum.Bool || engine.IsInteger(t) || engine.IsNumber(t)
}

func truncated(what, text string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidText, "Truncated incorrect %s value: '%s'", what, sqlstate.Cut(text, 64))
}

// cast converts a value to type t.
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
		return datum.MakeString(t, decimalOfValue(x, v)), nil
	case t == datum.Float8, t == datum.Float4:
		return datum.Value{Type: t, Valid: true, Float: floatOf(x, v)}, nil
	case engine.IsString(t), t == datum.Bytea, t == datum.Unknown:
		return datum.MakeString(t, TextOf(x, v)), nil
	case isTemporal(t):
		return timeOf(x, v, t)
	case t == datum.JSON || t == datum.JSONB:
		if isNumber(v.Type) {
			return datum.MakeString(t, TextOf(x, v)), nil
		}
		if v.Type == datum.JSON || v.Type == datum.JSONB {
			return datum.MakeString(t, v.Str), nil
		}
		out, err := datum.ParseText(t, TextOf(x, v), x.Env())
		if err != nil {
			return out, sqlstate.New(sqlstate.InvalidText, "Invalid JSON text: %q", sqlstate.Cut(v.Str, 64)).WithMySQL(3140, "22032")
		}
		return out, nil
	case t == datum.UUID:
		return datum.ParseText(t, TextOf(x, v), nil)
	}
	return v, sqlstate.New(sqlstate.CannotCoerce, "cannot convert %s to %s", datum.FormatType(v.Type, -1), datum.FormatType(t, -1))
}

// TextOf is the text form of a value.
func TextOf(x *engine.Exec, v datum.Value) string {
	switch v.Type {
	case datum.Bool:
		return strconv.FormatInt(v.Int, 10)
	case datum.Bytea:
		return v.Str
	case datum.Float4, datum.Float8:
		return floatText(v.Float)
	case datum.Time:
		digits := 0
		if v.Int%1e6 != 0 {
			digits = 6
		}
		return clockText(v.Int, digits)
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

// floatText prints a double: plain up to 15 digits, else 1e20.
func floatText(f float64) string {
	if f == 0 {
		return "0"
	}
	if a := math.Abs(f); a >= 1e-15 && a < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}

// numberPrefix cuts the number that a text begins with; whole reports
// whether nothing else follows.
func numberPrefix(s string) (number string, whole bool) {
	s = strings.Trim(s, " \t\n\r\v\f")
	i, digits := 0, 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for ; j < len(s) && s[j] >= '0' && s[j] <= '9'; j++ {
			digits++
		}
		i = j
	}
	if digits == 0 {
		return "0", false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		from := j
		for ; j < len(s) && s[j] >= '0' && s[j] <= '9'; j++ {
		}
		if j > from {
			i = j
		}
	}
	return s[:i], i == len(s)
}

// bigEndian is the number that a binary string stands for.
func bigEndian(s string) uint64 {
	var n uint64
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return n
}

// temporalNumber is a date or time as a decimal number.
func temporalNumber(x *engine.Exec, v datum.Value) string {
	digits := strings.NewReplacer("-", "", ":", "", " ", "").Replace(TextOf(x, v))
	if v.Type == datum.Time {
		digits = strings.TrimLeft(digits, "0")
		if digits == "" || digits[0] == '.' {
			digits = "0" + digits
		}
	}
	return digits
}

func floatOf(x *engine.Exec, v datum.Value) float64 {
	switch {
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return float64(v.Int)
	case v.Type == datum.Float4 || v.Type == datum.Float8:
		return v.Float
	case isTemporal(v.Type):
		f, _ := strconv.ParseFloat(temporalNumber(x, v), 64)
		return f
	case v.Type == datum.Numeric:
		f, _ := strconv.ParseFloat(v.Str, 64)
		return f
	}
	text := TextOf(x, v)
	number, whole := numberPrefix(text)
	if !whole {
		Warn(x, truncated("DOUBLE", text))
	}
	f, _ := strconv.ParseFloat(number, 64)
	return f
}

func decimalOfValue(x *engine.Exec, v datum.Value) string {
	switch {
	case v.Type == datum.Numeric:
		return v.Str
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return strconv.FormatInt(v.Int, 10)
	case v.Type == datum.Float4 || v.Type == datum.Float8:
		return floatDecimal(v.Float)
	case isTemporal(v.Type):
		return temporalNumber(x, v)
	}
	text := TextOf(x, v)
	number, whole := numberPrefix(text)
	if !whole {
		Warn(x, truncated("DECIMAL", text))
	}
	if strings.ContainsAny(number, "eE") {
		f, _ := strconv.ParseFloat(number, 64)
		return floatDecimal(f)
	}
	n, err := datum.ParseText(datum.Numeric, number, nil)
	if err != nil {
		return "0"
	}
	return n.Str
}

func floatDecimal(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "0"
	}
	if math.Abs(f) >= 1e65 {
		f = math.Copysign(math.Nextafter(1e65, 0), f)
	}
	n, err := datum.ParseText(datum.Numeric, strconv.FormatFloat(f, 'f', -1, 64), nil)
	if err != nil {
		return "0"
	}
	return n.Str
}

func outOfRange(text string) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "BIGINT value is out of range in '%s'", sqlstate.Cut(text, 64))
}

// intOf rounds numbers half away from zero and cuts texts.
func intOf(x *engine.Exec, v datum.Value) (int64, error) {
	switch {
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return v.Int, nil
	case v.Type == datum.Bytea:
		if len(v.Str) <= 8 && !isDigits(v.Str) {
			return int64(bigEndian(v.Str)), nil
		}
	case isNumber(v.Type), isTemporal(v.Type):
		return decimalInt(decimalOfValue(x, v))
	}
	text := TextOf(x, v)
	number, whole := numberPrefix(text)
	if i := strings.IndexAny(number, ".eE"); i >= 0 {
		number, whole = number[:i], false
	}
	if !whole {
		Warn(x, truncated("INTEGER", text))
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil && number != "" && number != "-" && number != "+" {
		Warn(x, truncated("INTEGER", text))
	}
	return n, nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && s[i] != '-' && s[i] != '+' {
			return false
		}
	}
	return s != ""
}

func decimalInt(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(whole, 10)
	if !ok {
		n = new(big.Int)
	}
	if fraction != "" && fraction[0] >= '5' {
		step := int64(1)
		if strings.HasPrefix(whole, "-") {
			step = -1
		}
		n.Add(n, big.NewInt(step))
	}
	if !n.IsInt64() {
		return 0, outOfRange(text)
	}
	return n.Int64(), nil
}

// truth is what a value means as a condition.
func truth(x *engine.Exec, v datum.Value) bool {
	switch {
	case v.Type == datum.Bool || engine.IsInteger(v.Type):
		return v.Int != 0
	case v.Type == datum.Numeric:
		return strings.Trim(v.Str, "-0.") != ""
	}
	return floatOf(x, v) != 0
}

// ---- dates and times ----

// timeOf converts to a date or time; what is none becomes NULL with a
// warning.
func timeOf(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	if isTemporal(v.Type) {
		return castTemporal(x, v, t)
	}
	text := TextOf(x, v)
	parsed, ok := parseTime(text, t == datum.Time)
	if !ok {
		what := map[datum.OID]string{datum.Date: "date", datum.Time: "time"}[t]
		if what == "" {
			what = "datetime"
		}
		Warn(x, sqlstate.New(sqlstate.InvalidDatetime, "Incorrect %s value: '%s'", what, sqlstate.Cut(text, 64)))
		return datum.Null(t), nil
	}
	return castTemporal(x, parsed, t)
}

func castTemporal(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	if v.Type == t {
		return v, nil
	}
	if v.Type == datum.Time { // a time is one of today
		now := localNow(x)
		v = datetimeOf(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC).Add(time.Duration(v.Int) * time.Microsecond))
	}
	if v.Type == datum.Date && t == datum.Time {
		return datum.Value{Type: t, Valid: true}, nil
	}
	return x.Cast(v, t)
}

// localNow is the time of the statement in the session's time zone, as if it
// were UTC.
func localNow(x *engine.Exec) time.Time {
	now := x.Started.In(x.Env().Location)
	return time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), time.UTC)
}

// datetimeOf makes a DATETIME of a local time kept as UTC.
func datetimeOf(t time.Time) datum.Value {
	v := datum.TimestampTZFromTime(t)
	v.Type = datum.Timestamp
	return v
}

// civilTime is a DATETIME or DATE as a Go time in UTC.
func civilTime(v datum.Value) time.Time {
	if v.Type == datum.Timestamp {
		v.Type = datum.TimestampTZ
	}
	return v.GoTime().UTC()
}

// parseTime reads a date, a datetime or, where wanted, a time.
func parseTime(s string, wantTime bool) (datum.Value, bool) {
	s = strings.TrimSpace(s)
	if wantTime && !strings.ContainsAny(s, "-T") || wantTime && strings.HasPrefix(s, "-") {
		return parseClock(s)
	}
	var parts [7]int
	n := 0
	digitsOnly, fraction, _ := strings.Cut(s, ".")
	rest := ""
	if len(digitsOnly) >= 6 && strings.Trim(digitsOnly, "0123456789") == "" {
		widths := map[int][]int{6: {2, 2, 2}, 8: {4, 2, 2}, 12: {2, 2, 2, 2, 2, 2}, 14: {4, 2, 2, 2, 2, 2}}[len(digitsOnly)]
		if widths == nil {
			return datum.Value{}, false
		}
		i := 0
		for _, w := range widths {
			parts[n], _ = strconv.Atoi(digitsOnly[i : i+w])
			if n == 0 && w == 2 {
				parts[0] = century(parts[0])
			}
			i += w
			n++
		}
		if fraction != "" && n == 6 {
			rest = "." + fraction
		}
	} else {
		i := 0
		for n < 6 && i < len(s) {
			from := i
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			if i == from || i-from > 4 {
				return datum.Value{}, false
			}
			parts[n], _ = strconv.Atoi(s[from:i])
			if n == 0 && i-from <= 2 {
				parts[0] = century(parts[0])
			}
			n++
			if n == 6 || i == len(s) {
				break
			}
			if s[i] >= 0x80 || unicode.IsLetter(rune(s[i])) && (n != 3 || s[i] != 'T') {
				return datum.Value{}, false
			}
			i++
			for n == 3 && i < len(s) && s[i] == ' ' {
				i++
			}
		}
		rest = s[i:]
	}
	if n < 3 {
		return datum.Value{}, false
	}
	micros, zone, ok := fractionAndZone(rest)
	if !ok || parts[1] < 1 || parts[1] > 12 || parts[2] < 1 || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 {
		return datum.Value{}, false
	}
	t := time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], micros*1000, time.UTC)
	if t.Day() != parts[2] {
		return datum.Value{}, false
	}
	v := datetimeOf(t.Add(-zone))
	if zone != 0 {
		v.Type = datum.TimestampTZ
	}
	if n == 3 {
		if d, err := datum.Cast(v, datum.Date, nil); err == nil {
			return d, true
		}
	}
	return v, true
}

// century completes a year of two digits: 70 to 99 are the last century's.
func century(year int) int {
	if year >= 70 {
		return 1900 + year
	}
	return 2000 + year
}

// fractionAndZone reads .ffffff and +hh:mm behind a time.
func fractionAndZone(s string) (micros int, zone time.Duration, ok bool) {
	if strings.HasPrefix(s, ".") {
		i := 1
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		}
		digits := (s[1:i] + "0000000")[:7]
		micros, _ = strconv.Atoi(digits)
		micros = (micros + 5) / 10
		s = s[i:]
	}
	switch {
	case s == "" || s == "Z":
		return micros, 0, true
	case len(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':':
		h, err1 := strconv.Atoi(s[1:3])
		m, err2 := strconv.Atoi(s[4:])
		if err1 != nil || err2 != nil {
			return 0, 0, false
		}
		zone = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
		if s[0] == '-' {
			zone = -zone
		}
		return micros, zone, true
	}
	return 0, 0, false
}

// parseClock reads [-]hh:mm:ss[.ffffff], hhmmss and "d hh:mm".
func parseClock(s string) (datum.Value, bool) {
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	days := 0
	if d, clock, found := strings.Cut(s, " "); found && isDigits(d) {
		days, _ = strconv.Atoi(d)
		s = clock
	}
	whole, fraction, _ := strings.Cut(s, ".")
	var h, m, sec int
	parts := strings.Split(whole, ":")
	for _, p := range parts {
		if !isDigits(p) || len(p) > 7 {
			return datum.Value{}, false
		}
	}
	n := func(i int) int { v, _ := strconv.Atoi(parts[i]); return v }
	switch len(parts) {
	case 1:
		v := n(0)
		h, m, sec = v/10000, v/100%100, v%100
		if days > 0 {
			h, m, sec = v, 0, 0
		}
	case 2:
		h, m = n(0), n(1)
	case 3:
		h, m, sec = n(0), n(1), n(2)
	default:
		return datum.Value{}, false
	}
	if m > 59 || sec > 59 {
		return datum.Value{}, false
	}
	micros, _, ok := fractionAndZone("." + fraction)
	total := (int64(days*24+h)*3600+int64(m)*60+int64(sec))*1e6 + int64(micros)
	if !ok || total > maxTimeMicros {
		total = maxTimeMicros
	}
	if negative {
		total = -total
	}
	return datum.Value{Type: datum.Time, Valid: true, Int: total}, true
}

// maxTimeMicros is MySQL's greatest TIME, 838:59:59.
const maxTimeMicros = (838*3600 + 59*60 + 59) * 1_000_000

// ---- collation ----

func clockText(micros int64, digits int) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	s := micros / 1e6
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, s/3600, s/60%60, s%60)
	if digits > 0 {
		text += "." + fmt.Sprintf("%06d", micros%1e6)[:digits]
	}
	return text
}

// timeText is a time with a number of digits behind the point.
func timeText(x *engine.Exec, v datum.Value, digits int) string {
	whole, fraction, _ := strings.Cut(TextOf(x, v), ".")
	return whole + "." + (fraction + "000000")[:min(digits, 6)]
}
