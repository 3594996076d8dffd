package counter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// periods are the values of the option period: the parts of a date. Finer parts come
// later.
var periods = [...]string{"year", "month", "day", "hour"}

// tokens are the parts in the option pattern, by index in periods, and their forms in
// package time.
var tokens = map[string]struct {
	part   int
	layout string
}{"yyyy": {0, "2006"}, "yy": {0, "06"}, "MM": {1, "01"}, "dd": {2, "02"}, "HH": {3, "15"}}

// pattern is the form of a date: yyyyMMdd, yyMM, dd/MM/yyyy HH …
type pattern struct {
	layout string // of package time
	digits string // layout of the date as digits, from the year down: 20060102
	finest int    // index in periods
	short  bool   // years have two digits
}

const patternHint = "A pattern is made of yyyy or yy, MM, dd and HH, with signs between them: yyyyMMdd, yy-MM. Letters go into prefix and suffix."

// parsePattern parses a pattern. It must contain every part from the year to its
// finest one, so that two dates never have the same text.
func parsePattern(text string) (pattern, error) {
	var p pattern
	var seen [len(periods)]bool
	for rest := text; rest != ""; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		token := rest[:n]
		rest = rest[n:]
		t, known := tokens[token]
		switch {
		case !known && (strings.Trim(token, "-_./: ,") != "" || strings.HasPrefix(token, "__")): // in package time __2 is a day of the year
			return p, generator.OptionError(patternHint, "pattern %q has %q, which is no part of a date", text, token)
		case !known:
			p.layout += token
			continue
		case seen[t.part]:
			return p, generator.OptionError(patternHint, "pattern %q has the %s twice", text, periods[t.part])
		}
		seen[t.part] = true
		p.finest, p.short, p.layout = max(p.finest, t.part), p.short || token == "yy", p.layout+t.layout
	}
	if f := slices.Index(seen[:p.finest+1], false); f >= 0 {
		return p, generator.OptionError(patternHint, "pattern %q has no %s", text, periods[f])
	}
	p.digits = "2006010215"[:4+2*p.finest]
	return p, nil
}

// Years that dates can have: four digits. Two digits mean this century.
const (
	firstYear = 1000
	lastYear  = 9999
	century   = 2000
)

// number returns the date of t in its zone as digits: 20261121.
func (p *pattern) number(t time.Time) int64 {
	n, _ := strconv.ParseInt(t.Format(p.digits), 10, 64) // digits
	return n
}

// date returns the date of digits, in UTC. It reports false if it does not exist.
func (p *pattern) date(n int64) (time.Time, bool) {
	t, err := time.Parse(p.digits, fmt.Sprintf("%0*d", len(p.digits), n))
	return t, err == nil && t.Year() >= firstYear
}

// cut reads a date from the beginning of a text. It returns its digits.
func (p *pattern) cut(text string) (n int64, rest string, ok bool) {
	width := min(len(p.layout), len(text))
	t, err := time.Parse(p.layout, text[:width])
	ok = err == nil && t.Format(p.layout) == text[:width] // Parse accepts signs, and one digit
	if p.short && t.Year() < century {                    // it takes 69 to 99 for years of 1900
		t = t.AddDate(100, 0, 0)
	}
	return p.number(t), text[width:], ok && t.Year() >= firstYear
}

// cutNumber reads width digits from the beginning of a text.
func cutNumber(text string, width int) (n int64, rest string, ok bool) {
	if len(text) < width {
		return 0, text, false
	}
	digits, err := strconv.ParseUint(text[:width], 10, 63)
	return int64(digits), text[width:], err == nil
}
