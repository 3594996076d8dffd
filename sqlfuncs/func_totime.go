package sqlfuncs

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

var toTimeFunctions = []function{
	{name: "to_timestamp", args: args(datum.Text, datum.Text), result: datum.TimestampTZ, volatile: stable, eval: toTimestamp, help: "an instant from text, by a format such as YYYY-MM-DD HH24:MI:SS"},
	{name: "to_date", args: args(datum.Text, datum.Text), result: datum.Date, volatile: stable, eval: toDate, help: "a date from text, by a format such as YYYY-MM-DD"},
}

// timeReader reads a text by a format (9.8, usage notes on to_timestamp).
type timeReader struct {
	source string
	rest   string
	items  []pictureItem
	i      int  // of items
	exact  bool // FX: no freedom about spaces
	// skipped counts the spaces and separators that were skipped beyond what
	// the format has; its literals need not match again then.
	skipped int

	values     map[string]int64 // by field: "year", "month", …
	yearDigits int
	half       string // am, pm
	bc         bool
}

func newTimeReader(source, format string) *timeReader {
	r := &timeReader{source: source, rest: source, values: map[string]int64{}}
	for _, it := range parsePicture(format, timePatterns, true) {
		if it.pattern != "" {
			r.items = append(r.items, it)
			continue
		}
		for _, c := range it.text { // literals are matched one by one
			r.items = append(r.items, pictureItem{text: string(c), quoted: it.quoted})
		}
	}
	r.exact = hasPattern(r.items, "FX", "fx")
	return r
}

func isSeparator(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
}

// read fills r.values.
func (r *timeReader) read() error {
	for ; r.i < len(r.items) && r.rest != ""; r.i++ {
		it := r.items[r.i]
		if !r.exact && it.pattern != "" {
			r.skipSpaces()
		}
		if it.pattern == "" {
			r.literal(it)
			continue
		}
		if err := r.field(it, strings.ToUpper(it.pattern)); err != nil {
			return err
		}
		if !r.exact {
			r.skipped = 0
			r.skipSpaces()
		}
	}
	return nil
}

func (r *timeReader) skipSpaces() {
	for r.rest != "" && (isSpace(r.rest[0]) || r.rest[0] == '\v' || r.rest[0] == '\f') {
		r.rest = r.rest[1:]
		r.skipped++
	}
}

// literal skips what a space, a separator or another character stands for.
func (r *timeReader) literal(it pictureItem) {
	c := it.text[0]
	_, size := utf8.DecodeRuneInString(r.rest)
	switch {
	case r.exact:
		r.rest = r.rest[size:]
	case !it.quoted && (isSpace(c) || isSeparator(c)):
		if r.skipped--; isSpace(r.rest[0]) || isSeparator(r.rest[0]) {
			r.rest = r.rest[1:]
			r.skipped++
		}
	case r.skipped > 0:
		r.skipped--
	default:
		r.rest = r.rest[size:]
	}
}

// intFields are the fields that are plain numbers: name and digits.
var intFields = map[string]struct {
	name   string
	digits int
}{
	"HH": {"hour", 2}, "HH12": {"hour", 2}, "HH24": {"hour", 2}, "MI": {"minute", 2}, "SS": {"second", 2},
	"SSSS": {"seconds", 5}, "SSSSS": {"seconds", 5}, "MM": {"month", 2}, "DD": {"day", 2}, "DDD": {"doy", 3},
	"J": {"julian", 7}, "CC": {"century", 2}, "WW": {"week", 2}, "W": {"monthweek", 1}, "Q": {"", 1}, "D": {"", 1},
	"IW": {"isoweek", 2}, "ID": {"isodow", 1}, "TZM": {"zoneminute", 2},
}

// field reads one field.
func (r *timeReader) field(it pictureItem, p string) error {
	if f, ok := intFields[p]; ok {
		n, _, err := r.integer(it, f.digits)
		if err != nil {
			return err
		}
		if strings.HasPrefix(p, "HH") && p != "HH24" && r.half == "" {
			r.half = "12"
		}
		return r.set(it, f.name, n)
	}
	switch p {
	case "FX":
		return nil
	case "Y,YYY":
		return r.groupedYear(it)
	case "YYYY", "YYY", "YY", "Y":
		return r.year(it, "year", len(p))
	case "IYYY", "IYY", "IY", "I":
		return r.year(it, "isoyear", len(p))
	case "MS", "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return r.fraction(it, p)
	case "AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C.":
		return r.mark(it)
	case "MONTH", "MON", "RM":
		return r.monthName(it, p)
	case "DAY", "DY":
		_, err := r.word(it, dayNames(p))
		return err
	case "TZH":
		return r.zoneHours(it)
	case "TZ", "OF":
		return sqlstate.New(sqlstate.FeatureNotSupported, "formatting field \"%s\" is only supported in to_char", it.pattern)
	}
	return sqlstate.New(sqlstate.FeatureNotSupported, "formatting field \"%s\" is not supported by nextid in to_timestamp", it.pattern)
}

func (r *timeReader) set(it pictureItem, name string, n int64) error {
	if name == "" {
		return nil
	}
	if old, ok := r.values[name]; ok && old != 0 && old != n {
		return sqlstate.New(sqlstate.InvalidDatetime, "conflicting values for \"%s\" field in formatting string", it.pattern).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	r.values[name] = n
	return nil
}

// open reports whether a number may be longer than its field: under FM, and
// where no digit can follow.
func (r *timeReader) open(it pictureItem) bool {
	if it.fill || it.ordinal != "" || r.i+1 >= len(r.items) {
		return true
	}
	next := r.items[r.i+1]
	if next.pattern == "" {
		return next.text[0] < '0' || next.text[0] > '9'
	}
	switch strings.ToUpper(next.pattern) {
	case "AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C.", "MONTH", "MON", "RM", "DAY", "DY", "FX", "TZ", "OF", "TZH":
		return true
	}
	return false
}

// integer reads a number; used is how many characters it took.
func (r *timeReader) integer(it pictureItem, digits int) (n int64, used int, err error) {
	r.rest = strings.TrimLeft(r.rest, " \t\n\v\f\r")
	text := r.rest
	open := r.open(it)
	if !open {
		if utf8.RuneCountInString(text) < digits {
			return 0, 0, badField("source string too short for \"%s\" formatting field", it.pattern).
				WithDetail("Field requires %d characters, but only %d remain.", digits, utf8.RuneCountInString(text)).
				WithHint(fillHint)
		}
		text = text[:min(digits, len(text))]
	}
	for used < len(text) && (text[used] >= '0' && text[used] <= '9' || used == 0 && (text[0] == '-' || text[0] == '+')) {
		used++
	}
	number := text[:used]
	if strings.Trim(number, "+-") == "" {
		return 0, 0, badField("invalid value \"%s\" for \"%s\"", cut(text, 64), it.pattern).WithDetail("Value must be an integer.")
	}
	if !open && used < digits {
		return 0, 0, badField("invalid value \"%s\" for \"%s\"", text, it.pattern).
			WithDetail("Field requires %d characters, but only %d could be parsed.", digits, used).WithHint(fillHint)
	}
	n, err = strconv.ParseInt(number, 10, 32)
	if err != nil {
		return 0, 0, sqlstate.New(sqlstate.DatetimeOverflow, "value for \"%s\" in source string is out of range", it.pattern).
			WithDetail("Value must be in the range -2147483648 to 2147483647.")
	}
	r.rest = r.rest[used:]
	if it.ordinal != "" {
		r.rest = r.rest[min(len(r.rest), 2):]
	}
	return n, used, nil
}

const fillHint = `If your source string is not fixed-width, try using the "FM" modifier.`

func badField(format string, args ...any) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidDatetime, format, args...)
}

// year completes years of fewer than four digits to 1970 … 2069.
func (r *timeReader) year(it pictureItem, name string, digits int) error {
	n, used, err := r.integer(it, digits)
	if err != nil {
		return err
	}
	if used < 4 && digits < 4 {
		switch {
		case n < 70:
			n += 2000
		case n < 100:
			n += 1900
		case n < 520:
			n += 2000
		case n < 1000:
			n += 1000
		}
	}
	r.yearDigits = digits
	return r.set(it, name, n)
}

// groupedYear reads 2,020.
func (r *timeReader) groupedYear(it pictureItem) error {
	thousands, rest, ok := strings.Cut(r.rest, ",")
	n, err1 := strconv.ParseInt(thousands, 10, 32)
	digits := rest[:min(len(rest), 3)]
	m, err2 := strconv.ParseInt(digits, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		return badField("invalid input string for \"Y,YYY\"")
	}
	r.rest = rest[len(digits):]
	r.yearDigits = 4
	return r.set(it, "year", n*1000+m)
}

// fraction reads digits of the second, the first one being tenths.
func (r *timeReader) fraction(it pictureItem, p string) error {
	digits := map[string]int{"MS": 3, "US": 6}[p]
	if digits == 0 {
		digits = int(p[2] - '0')
	}
	n, used, err := r.integer(it, digits)
	if err != nil {
		return err
	}
	unit := 6
	name := "micros"
	if p == "MS" {
		unit, name = 3, "millis"
	}
	for ; used < unit; used++ {
		n *= 10
	}
	return r.set(it, name, n)
}

// word reads one of some words in any case and returns its index.
func (r *timeReader) word(it pictureItem, words []string) (int, error) {
	for i, w := range words {
		if len(r.rest) >= len(w) && strings.EqualFold(r.rest[:len(w)], w) {
			r.rest = r.rest[len(w):]
			return i, nil
		}
	}
	end := strings.IndexFunc(r.rest, func(c rune) bool { return c < 0x80 && isSpace(byte(c)) })
	if end < 0 {
		end = len(r.rest)
	}
	return 0, badField("invalid value \"%s\" for \"%s\"", cut(r.rest[:end], 64), it.pattern).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

// mark reads am and pm, AD and BC.
func (r *timeReader) mark(it pictureItem) error {
	words := []string{"AM", "PM"}
	if strings.Contains(strings.ToUpper(it.pattern), "D") || strings.Contains(strings.ToUpper(it.pattern), "C") {
		words = []string{"AD", "BC"}
	}
	if strings.Contains(it.pattern, ".") {
		for i, w := range words {
			words[i] = w[:1] + "." + w[1:] + "."
		}
	}
	i, err := r.word(it, words)
	if words[0][0] == 'A' && strings.Contains(words[0], "D") {
		r.bc = i == 1
	} else {
		r.half = strings.ReplaceAll(words[i], ".", "")
	}
	return err
}

var monthNames = []string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December",
}

func dayNames(pattern string) []string {
	names := []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	return abbreviated(names, pattern == "DY")
}

func abbreviated(names []string, short bool) []string {
	out := slices.Clone(names)
	for i := range out {
		if short {
			out[i] = out[i][:3]
		}
	}
	return out
}

func (r *timeReader) monthName(it pictureItem, p string) error {
	names := abbreviated(monthNames, p == "MON")
	if p == "RM" { // longest first: VIII before V
		names = nil
		for m := int64(1); m <= monthsPerYear; m++ {
			names = append(names, romanNumeral(m))
		}
		longest := slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return len(b) - len(a) })
		i, err := r.word(it, longest)
		if err != nil {
			return err
		}
		return r.set(it, "month", int64(slices.Index(names, longest[i]))+1)
	}
	i, err := r.word(it, names)
	if err != nil {
		return err
	}
	return r.set(it, "month", int64(i)+1)
}

// zoneHours reads the sign and the hours of an offset.
func (r *timeReader) zoneHours(it pictureItem) error {
	sign := int64(1)
	if strings.HasPrefix(r.rest, "-") {
		sign = -1
	}
	if strings.HasPrefix(r.rest, "+") || sign < 0 {
		r.rest = r.rest[1:]
	}
	n, _, err := r.integer(it, 2)
	r.values["zonesign"] = sign
	if err != nil {
		return err
	}
	return r.set(it, "zonehour", n)
}
