package datum

import "strings"

// fieldKind classifies the words of a date or interval text.
type fieldKind byte

const (
	numberField  fieldKind = iota // 2026, 100000, 3.5
	dateField                     // 2026-11-21, 21-Nov-2026, America/New_York
	timeField                     // 10:00:00.5
	zoneField                     // +02:00
	stringField                   // nov, am, bc, utc
	specialField                  // -infinity, +infinity
)

// field is one word, in lower case.
type field struct {
	kind fieldKind
	text string
}

// Limits of PostgreSQL's MAXDATELEN and MAXDATEFIELDS.
const (
	maxTimeText   = 128 + 25
	maxTimeFields = 25
)

// splitTime cuts a date, time or interval text into fields as PostgreSQL's
// ParseDateTime does. ok is false when a character fits nowhere.
func splitTime(s string) (fields []field, ok bool) {
	if len(s) > maxTimeText {
		return nil, false
	}
	s = strings.ToLower(s)
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		var kind fieldKind
		switch {
		case isSpace(c):
			i++
			continue
		case isDigit(c):
			kind, i = scanDigits(s, i)
		case c == '.':
			kind, i = numberField, scan(s, i+1, isDigit)
		case isLetter(c):
			kind, i = scanWord(s, i)
		case c == '+' || c == '-':
			i = scan(s, i+1, isSpace)
			sign, rest := s[start:start+1], i
			switch {
			case i < len(s) && isDigit(s[i]):
				kind, i = zoneField, scan(s, i, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || c == '-' })
			case i < len(s) && isLetter(s[i]):
				kind, i = specialField, scan(s, i, isLetter)
			default:
				return nil, false
			}
			fields = append(fields, field{kind, sign + s[rest:i]})
			if len(fields) > maxTimeFields {
				return nil, false
			}
			continue
		case c > ' ' && c < 0x7f: // other punctuation only separates
			i++
			continue
		default:
			return nil, false
		}
		if len(fields) == maxTimeFields {
			return nil, false
		}
		fields = append(fields, field{kind, s[start:i]})
	}
	return fields, true
}

func isLetter(c byte) bool { return c-'a' < 26 || c-'A' < 26 }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

// scan returns the first index from i on whose byte is not accepted.
func scan(s string, i int, accept func(byte) bool) int {
	for i < len(s) && accept(s[i]) {
		i++
	}
	return i
}

// scanDigits reads a field that begins with a digit: a number, a time with
// colons, or a date with -, / or .
func scanDigits(s string, i int) (fieldKind, int) {
	i = scan(s, i, isDigit)
	if i == len(s) {
		return numberField, i
	}
	delimiter := s[i]
	switch delimiter {
	case ':':
		return timeField, scan(s, i, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' })
	case '-', '/', '.':
	default:
		return numberField, i
	}
	i++
	if i < len(s) && isDigit(s[i]) {
		kind := dateField
		if delimiter == '.' {
			kind = numberField
		}
		i = scan(s, i, isDigit)
		if i < len(s) && s[i] == delimiter { // a third part
			return dateField, scan(s, i, func(c byte) bool { return isDigit(c) || c == delimiter })
		}
		return kind, i
	}
	return dateField, scan(s, i, func(c byte) bool { return isAlnum(c) || c == delimiter })
}

// scanWord reads a field that begins with a letter: a word, a date that
// begins with a month, or the name of a time zone.
func scanWord(s string, i int) (fieldKind, int) {
	start := i
	i = scan(s, i, isLetter)
	if i == len(s) {
		return stringField, i
	}
	c := s[i]
	joined := c == '-' || c == '/' || c == '.'
	if c == '+' || isDigit(c) {
		_, known := timeWords[shortWord(s[start:i])]
		joined = !known
	}
	if !joined {
		return stringField, i
	}
	return dateField, scan(s, i, func(c byte) bool {
		return isAlnum(c) || c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':'
	})
}

// wordKind is what a word in a date means.
type wordKind byte

const (
	monthWord   wordKind = iota + 1
	weekdayWord          // says nothing
	meridiem             // value 0 am, 12 pm
	eraWord              // value 1 BC
	reserved             // now, today, …: value is a reservedWord
	timeMarker           // T before a time
	julianDay            // J before a day number
	ignoredWord          // at, on
	unitWord             // of an interval; in a date it fits nowhere
)

type timeWord struct {
	kind  wordKind
	value int
}

// The reserved words.
const (
	wordNow = iota
	wordToday
	wordTomorrow
	wordYesterday
	wordMidnightUTC
	wordEpoch
	wordInfinity
	wordMinusInfinity
)

// significantLetters is how much of a word counts (TOKMAXLEN).
const significantLetters = 10

// shortWord cuts a word to the letters that count.
func shortWord(s string) string { return s[:min(len(s), significantLetters)] }

var timeWords = map[string]timeWord{
	"jan": {monthWord, 1}, "january": {monthWord, 1}, "feb": {monthWord, 2}, "february": {monthWord, 2},
	"mar": {monthWord, 3}, "march": {monthWord, 3}, "apr": {monthWord, 4}, "april": {monthWord, 4},
	"may": {monthWord, 5}, "jun": {monthWord, 6}, "june": {monthWord, 6}, "jul": {monthWord, 7}, "july": {monthWord, 7},
	"aug": {monthWord, 8}, "august": {monthWord, 8}, "sep": {monthWord, 9}, "sept": {monthWord, 9}, "september": {monthWord, 9},
	"oct": {monthWord, 10}, "october": {monthWord, 10}, "nov": {monthWord, 11}, "november": {monthWord, 11},
	"dec": {monthWord, 12}, "december": {monthWord, 12},
	"sun": {weekdayWord, 0}, "sunday": {weekdayWord, 0}, "mon": {weekdayWord, 1}, "monday": {weekdayWord, 1},
	"tue": {weekdayWord, 2}, "tues": {weekdayWord, 2}, "tuesday": {weekdayWord, 2},
	"wed": {weekdayWord, 3}, "weds": {weekdayWord, 3}, "wednesday": {weekdayWord, 3},
	"thu": {weekdayWord, 4}, "thur": {weekdayWord, 4}, "thurs": {weekdayWord, 4}, "thursday": {weekdayWord, 4},
	"fri": {weekdayWord, 5}, "friday": {weekdayWord, 5}, "sat": {weekdayWord, 6}, "saturday": {weekdayWord, 6},
	"am": {meridiem, 0}, "pm": {meridiem, 12}, "ad": {eraWord, 0}, "bc": {eraWord, 1},
	"now": {reserved, wordNow}, "today": {reserved, wordToday}, "tomorrow": {reserved, wordTomorrow},
	"yesterday": {reserved, wordYesterday}, "allballs": {reserved, wordMidnightUTC}, "epoch": {reserved, wordEpoch},
	"infinity": {reserved, wordInfinity}, "-infinity": {reserved, wordMinusInfinity},
	"t": {timeMarker, 0}, "j": {julianDay, 0}, "jd": {julianDay, 0}, "julian": {julianDay, 0},
	"at": {ignoredWord, 0}, "on": {ignoredWord, 0},
	"d": {unitWord, 0}, "h": {unitWord, 0}, "m": {unitWord, 0}, "mm": {unitWord, 0}, "s": {unitWord, 0}, "y": {unitWord, 0},
}
