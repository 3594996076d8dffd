package counter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// field is a part of a date. Finer parts have greater values.
type field int

const (
	year field = iota
	month
	day
	hour
	fields // the number of fields
)

// periods are the values of the option period.
var periods = [fields]string{year: "year", month: "month", day: "day", hour: "hour"}

// tokens are the fields in the option pattern.
var tokens = map[string]field{"yyyy": year, "yy": year, "MM": month, "dd": day, "HH": hour}

// piece is a field in a pattern, or the text between two of them.
type piece struct {
	literal string // "" for a field
	field   field
	width   int // digits of a field
}

// pattern is the form of a date: yyyyMMdd, yyMM, dd/MM/yyyy HH …
type pattern struct {
	pieces []piece
	finest field
	short  bool // years have two digits
}

const patternHint = "A pattern is made of yyyy or yy, MM, dd and HH, with signs between them: yyyyMMdd, yy-MM. Letters go into prefix and suffix."

// parsePattern parses a pattern. It must contain every field from the year to its
// finest one, so that two dates never have the same text.
func parsePattern(text string) (pattern, error) {
	var p pattern
	var seen [fields]bool
	for rest := text; rest != ""; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		token := rest[:n]
		rest = rest[n:]
		f, isField := tokens[token]
		switch {
		case !isField && strings.Trim(token, "-_./: ,") != "":
			return p, generator.OptionError(patternHint, "pattern %q has %q, which is no part of a date", text, token)
		case !isField:
			p.pieces = append(p.pieces, piece{literal: token})
			continue
		case seen[f]:
			return p, generator.OptionError(patternHint, "pattern %q has the %s twice", text, periods[f])
		}
		seen[f] = true
		p.finest, p.short = max(p.finest, f), p.short || token == "yy"
		p.pieces = append(p.pieces, piece{field: f, width: len(token)})
	}
	if f := slices.Index(seen[:p.finest+1], false); f >= 0 {
		return p, generator.OptionError(patternHint, "pattern %q has no %s", text, periods[f])
	}
	return p, nil
}

// calendar is a date: its year, month, day and hour.
type calendar [fields]int

// partsOf returns the date of t in its zone.
func partsOf(t time.Time) calendar { return calendar{t.Year(), int(t.Month()), t.Day(), t.Hour()} }

// parts splits the digits of a date whose finest field is to.
func parts(n int64, to field) (c calendar) {
	for f := to; f > year; f-- {
		c[f] = int(n % 100)
		n /= 100
	}
	c[year] = int(n)
	return c
}

// number returns a date down to a field as digits: 20261121.
func (c calendar) number(to field) int64 {
	n := int64(c[year])
	for f := month; f <= to; f++ {
		n = 100*n + int64(c[f])
	}
	return n
}

// first returns the beginning of a date down to a field.
func (c calendar) first(to field) calendar {
	first := calendar{month: 1, day: 1}
	copy(c[to+1:], first[to+1:])
	return c
}

// time returns the instant of first.
func (c calendar) time(to field, zone *time.Location) time.Time {
	c = c.first(to)
	return time.Date(c[year], time.Month(c[month]), c[day], c[hour], 0, 0, 0, zone)
}

// begin returns the same as time, and reports whether the date exists. That is
// checked in UTC: in other zones midnight and hours can be missing.
func (c calendar) begin(to field, zone *time.Location) (time.Time, bool) {
	ok := c[year] >= firstYear && c[year] <= lastYear && partsOf(c.time(to, time.UTC)).number(to) == c.number(to)
	t := c.time(to, zone)
	for range 3 { // if midnight is missing, the day begins at one o'clock
		if partsOf(t).number(to) < c.number(to) {
			t = t.Add(30 * time.Minute)
		}
	}
	return t, ok
}

// Years that dates can have: four digits. Two digits mean this century.
const (
	firstYear = 1000
	lastYear  = 9999
	century   = 2000
)

// appendTo writes a date.
func (p *pattern) appendTo(b []byte, date calendar) []byte {
	for _, piece := range p.pieces {
		if piece.literal != "" {
			b = append(b, piece.literal...)
			continue
		}
		n := date[piece.field]
		if piece.width == 2 {
			n %= 100
		}
		b = fmt.Appendf(b, "%0*d", piece.width, n)
	}
	return b
}

// cut reads a date from the beginning of a text.
func (p *pattern) cut(text string) (date calendar, rest string, ok bool) {
	for _, piece := range p.pieces {
		if piece.literal != "" {
			if text, ok = strings.CutPrefix(text, piece.literal); !ok {
				return date, text, false
			}
			continue
		}
		n, tail, ok := cutNumber(text, piece.width)
		if !ok {
			return date, text, false
		}
		date[piece.field], text = int(n), tail
	}
	if p.short {
		date[year] += century
	}
	return date, text, true
}

// cutNumber reads width digits from the beginning of a text.
func cutNumber(text string, width int) (n int64, rest string, ok bool) {
	if len(text) < width {
		return 0, text, false
	}
	digits, err := strconv.ParseUint(text[:width], 10, 63)
	return int64(digits), text[width:], err == nil
}
