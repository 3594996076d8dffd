package sqlfuncs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/sqlstate"
)

var toCharFunctions = []function{
	{name: "to_char", args: args(datum.Int4, datum.Text), result: datum.Text, volatile: stable, eval: integerToChar, help: "a number by a format such as 999,990.00"},
	{name: "to_char", args: args(datum.Int8, datum.Text), result: datum.Text, volatile: stable, eval: integerToChar, help: "a number by a format such as 999,990.00"},
	{name: "to_char", args: args(datum.Numeric, datum.Text), result: datum.Text, volatile: stable, eval: numericToChar, help: "a number by a format such as 999,990.00"},
	{name: "to_char", args: args(datum.Float4, datum.Text), result: datum.Text, volatile: stable, eval: floatToChar(6), help: "a number by a format such as 999,990.00"},
	{name: "to_char", args: args(datum.Float8, datum.Text), result: datum.Text, volatile: stable, eval: floatToChar(15), help: "a number by a format such as 999,990.00"},
	{name: "to_char", args: args(datum.Timestamp, datum.Text), result: datum.Text, volatile: stable, eval: timestampToChar, help: "a date and time by a format such as YYYY-MM-DD HH24:MI:SS"},
	{name: "to_char", args: args(datum.TimestampTZ, datum.Text), result: datum.Text, volatile: stable, eval: timestampToChar, help: "a date and time by a format such as YYYY-MM-DD HH24:MI:SS"},
	{name: "to_char", args: args(datum.Interval, datum.Text), result: datum.Text, volatile: stable, eval: intervalToChar, help: "an interval by a format such as DD HH24:MI:SS"},
}

// pictureItem is a part of a format: a pattern, or text to copy.
type pictureItem struct {
	pattern string
	text    string
	quoted  bool // the text stood in double quotes
	fill    bool // FM
	ordinal string
	local   bool // TM
}

// parsePicture splits a format (9.8). affixes tells whether patterns may
// have the prefixes FM and TM and the suffix TH, as those of times do.
func parsePicture(format string, patterns []string, affixes bool) []pictureItem {
	var items []pictureItem
	for format != "" {
		var it pictureItem
		rest := format
		if affixes {
			rest = it.prefixes(rest)
		}
		it.pattern = longestPrefix(rest, patterns)
		if it.pattern != "" {
			format = rest[len(it.pattern):]
			if affixes {
				format = it.suffix(format)
			}
			items = append(items, it)
			continue
		}
		if rest != format { // a prefix without a pattern is dropped
			format = rest
			continue
		}
		it.text, it.quoted, format = pictureText(format)
		if it.text != "" {
			items = append(items, it)
		}
	}
	return items
}

// prefixes reads FM and TM.
func (it *pictureItem) prefixes(s string) string {
	for {
		switch {
		case strings.HasPrefix(s, "FM"), strings.HasPrefix(s, "fm"):
			it.fill = true
		case strings.HasPrefix(s, "TM"), strings.HasPrefix(s, "tm"):
			it.local = true
		default:
			return s
		}
		s = s[2:]
	}
}

// suffix reads TH and th.
func (it *pictureItem) suffix(s string) string {
	for _, th := range []string{"TH", "th"} {
		if strings.HasPrefix(s, th) {
			it.ordinal = th
			return s[2:]
		}
	}
	return s
}

func longestPrefix(s string, patterns []string) string {
	best := ""
	for _, p := range patterns {
		if len(p) > len(best) && strings.HasPrefix(s, p) {
			best = p
		}
	}
	return best
}

// pictureText reads one character, or what stands in double quotes.
func pictureText(s string) (text string, quoted bool, rest string) {
	if s[0] != '"' {
		if strings.HasPrefix(s, `\"`) {
			return `"`, false, s[2:]
		}
		_, size := utf8.DecodeRuneInString(s)
		return s[:size], false, s[size:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), true, s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), true, ""
}

// ordinalSuffix is st, nd, rd or th.
func ordinalSuffix(digits, style string) string {
	suffix := "th"
	last := len(digits) - 1
	if teen := last > 0 && digits[last-1] == '1'; last >= 0 && !teen {
		switch digits[last] {
		case '1':
			suffix = "st"
		case '2':
			suffix = "nd"
		case '3':
			suffix = "rd"
		}
	}
	if style == "TH" {
		return strings.ToUpper(suffix)
	}
	return suffix
}

func integerToChar(_ *exec, a []datum.Value) (datum.Value, error) {
	f, err := newNumberPicture(a[1].Str)
	if err != nil {
		return a[0], err
	}
	return f.decimal(decimal.Of(a[0].Int))
}

func numericToChar(_ *exec, a []datum.Value) (datum.Value, error) {
	f, err := newNumberPicture(a[1].Str)
	if err != nil {
		return a[0], err
	}
	d, ok := decimal.Parse(a[0].Str)
	if !ok {
		return f.special(a[0].Str)
	}
	return f.decimal(d)
}

// floatToChar prints at most the digits that the type holds.
func floatToChar(digits int) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		f, err := newNumberPicture(a[1].Str)
		if err != nil {
			return a[0], err
		}
		v := a[0].Float
		switch {
		case math.IsInf(v, 0) || math.IsNaN(v):
			return f.special(strconv.FormatFloat(v, 'f', 0, 64))
		case f.roman:
			return f.number(romanNumeral(int64(math.RoundToEven(min(max(v, -1), 4000)))), false)
		case f.exponent:
			return f.scientific(strconv.FormatFloat(v, 'e', f.post, 64))
		}
		v *= math.Pow10(f.multi)
		pre := len(strconv.FormatFloat(math.Abs(v), 'f', 0, 64))
		f.post = min(f.post, max(digits-pre, 0))
		text := strconv.FormatFloat(v, 'f', f.post, 64)
		return f.number(strings.TrimPrefix(text, "-"), text[0] == '-')
	}
}

// numberPatterns are the patterns for numbers (table 9.29).
var numberPatterns = withLowerCase(",", ".", "0", "9", "B", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN",
	"SG", "SP", "S", "TH", "V")

func withLowerCase(patterns ...string) []string {
	var out []string
	for _, p := range patterns {
		if out = append(out, p); strings.ToLower(p) != p {
			out = append(out, strings.ToLower(p))
		}
	}
	return out
}

func pictureError(format string, args ...any) error {
	return sqlstate.New(sqlstate.SyntaxError, format, args...)
}

// romanNumeral prints 1 to 3999; other numbers do not fit.
func romanNumeral(n int64) string {
	if n < 1 || n > 3999 {
		return strings.Repeat("#", romanWidth)
	}
	digits := []struct {
		value int64
		text  string
	}{
		{1000, "M"},
		{900, "CM"},
		{500, "D"},
		{400, "CD"},
		{100, "C"},
		{90, "XC"},
		{50, "L"},
		{40, "XL"},
		{10, "X"},
		{9, "IX"},
		{5, "V"},
		{4, "IV"},
		{1, "I"},
	}
	var b strings.Builder
	for _, d := range digits {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.text)
		}
	}
	return b.String()
}

// romanWidth is the length of the longest numeral, MMMDCCCLXXXVIII.
const romanWidth = 15

// hasPattern reports whether a format has one of the patterns.
func hasPattern(items []pictureItem, patterns ...string) bool {
	return slices.ContainsFunc(items, func(it pictureItem) bool { return slices.Contains(patterns, it.pattern) })
}
