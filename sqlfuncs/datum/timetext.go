package datum

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// isoTime is the text of a date, or of a date and a time of day, taken apart. It has
// ISO 8601's extended form, which is what clients write:
// 2026-11-22 08:00:00.5+01, with a blank or a T in between, an offset or the
// name of a zone.
type isoTime struct {
	rest                 string
	year, month, day     int
	hour, minute, second int
	micros               int
	zone                 *time.Location // nil: none is said
}

// maxTimeText bounds the text of a date, a time or an interval.
const maxTimeText = 128

// readTime takes a text for type t apart. Errors: 22007 for what has another
// form, 22008 for parts out of range, 22023 for a zone that is not known.
func readTime(t OID, s string) (isoTime, error) {
	p := isoTime{rest: trimSpace(s)}
	if len(s) > maxTimeText {
		return p, badTime(t, s)
	}
	if scan(p.rest, 0, isDigit) < len("YYYY") || p.numbers('-', &p.year, &p.month, &p.day) != 3 {
		return p, badTime(t, s)
	}
	if len(p.rest) > 1 && p.rest[0]|0x20 == 't' {
		p.rest = p.rest[1:]
	}
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest != "" && isDigit(p.rest[0]) {
		if p.numbers(':', &p.hour, &p.minute, &p.second) < 2 {
			return p, badTime(t, s)
		}
		if strings.HasPrefix(p.rest, ".") {
			n := scan(p.rest, 1, isDigit)
			p.micros, p.rest = fractionMicros(p.rest[:n]), p.rest[n:]
		}
	}
	switch zone := strings.TrimLeft(p.rest, " "); {
	case zone == "":
	case zone[0] == '+' || zone[0] == '-':
		seconds, ok := parseOffset(zone)
		if !ok {
			return p, badTime(t, s)
		}
		p.zone = time.FixedZone("", seconds)
	case !isLetter(zone[0]):
		return p, badTime(t, s)
	default:
		var err error
		if p.zone, err = LoadZone(zone); err != nil {
			return p, err
		}
	}
	if !p.inRange() {
		return p, sqlstate.New(sqlstate.DatetimeOverflow, `date/time field value out of range: "%s"`, clip(s))
	}
	return p, nil
}

// numbers reads up to as many numbers as there are parts, with a separator
// between them, and returns how many it read.
func (p *isoTime) numbers(separator byte, parts ...*int) int {
	for i, part := range parts {
		n := scan(p.rest, 0, isDigit)
		if n == 0 || n > len("5874897") {
			return i
		}
		*part, _ = strconv.Atoi(p.rest[:n])
		p.rest = p.rest[n:]
		if i+1 == len(parts) || p.rest == "" || p.rest[0] != separator {
			return i + 1
		}
		p.rest = p.rest[1:]
	}
	return len(parts)
}

func (p *isoTime) inRange() bool {
	if p.year < 1 || p.month < 1 || p.month > 12 || p.day < 1 || p.day > daysInMonth(p.year, p.month) {
		return false
	}
	return p.minute <= 59 && p.second <= 60 && p.clock() <= microsPerDay
}

// clock is the time of day in microseconds.
func (p *isoTime) clock() int64 {
	return int64(p.hour)*microsPerHour + int64(p.minute)*microsPerMinute + int64(p.second)*microsPerSecond + int64(p.micros)
}

// days is the date in days since 2000-01-01.
func (p *isoTime) days() int64 { return daysOf(p.year, time.Month(p.month), p.day) }

// fractionMicros is the fraction of a second, .5, in microseconds.
func fractionMicros(s string) int {
	f, _ := strconv.ParseFloat("0"+s, 64)
	return int(math.RoundToEven(f * microsPerSecond))
}

// parseOffset reads ±HH, ±HHMM, ±HH:MM and ±HH:MM:SS as seconds east of UTC.
func parseOffset(s string) (seconds int, ok bool) {
	p := isoTime{rest: s[1:]}
	digits := scan(p.rest, 0, isDigit)
	if p.numbers(':', &p.hour, &p.minute, &p.second) == 1 && digits > 2 {
		p.hour, p.minute = p.hour/100, p.hour%100
	}
	const maxHours = 15 // PostgreSQL's MAX_TZDISP_HOUR
	if digits == 0 || p.rest != "" || p.hour > maxHours || p.minute > 59 || p.second > 59 {
		return 0, false
	}
	seconds = p.hour*3600 + p.minute*60 + p.second
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

func badTime(t OID, s string) error {
	if strings.Trim(strings.ToLower(trimSpace(s)), "+-") == "infinity" {
		return notFinite(t, s)
	}
	return sqlstate.New(sqlstate.InvalidDatetime, `invalid input syntax for type %s: "%s"`, display(t), clip(s)).
		WithHint("Dates and times are written as ISO 8601 does: 2026-11-22 08:00:00+01.")
}

// parseTimestamp reads a timestamp or timestamptz. A zone in the text of a
// timestamp is ignored.
func parseTimestamp(t OID, s string, env *Env) (Value, error) {
	v := Value{Type: t, Valid: true}
	p, err := readTime(t, s)
	if err != nil {
		return Value{}, err
	}
	if v.Int, err = joinLocal(p.days(), p.clock()); err == nil && t == TimestampTZ {
		zone := p.zone
		if zone == nil {
			zone = env.location()
		}
		v.Int = localToUTC(v.Int, zone)
	}
	if err != nil || !validTimestamp(v.Int) {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, `timestamp out of range: "%s"`, clip(s))
	}
	return v, nil
}

// parseDate reads a date; a time in the text is ignored.
func parseDate(s string) (Value, error) {
	p, err := readTime(Date, s)
	if err == nil && !validDate(p.days()) {
		err = dateOutOfRange()
	}
	return Value{Type: Date, Valid: true, Int: p.days()}, err
}

// appendClock prints HH:MM:SS, of any number of hours, and the fraction
// without needless zeros.
func appendClock(dst []byte, micros uint64) []byte {
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", micros/microsPerHour, micros/microsPerMinute%60, micros/microsPerSecond%60)
	if fraction := micros % microsPerSecond; fraction != 0 {
		dst = bytes.TrimRight(fmt.Appendf(dst, ".%06d", fraction), "0")
	}
	return dst
}

// appendTimestamp prints a timestamp or timestamptz.
func appendTimestamp(dst []byte, v Value, env *Env) []byte {
	const local = "2006-01-02 15:04:05.999999"
	t, layout := timeOf(v.Int), local
	if v.Type == TimestampTZ {
		t = t.In(env.location())
		switch _, offset := t.Zone(); {
		case offset%60 != 0:
			layout = local + "-07:00:00"
		case offset%3600 != 0:
			layout = local + "-07:00"
		default:
			layout = local + "-07"
		}
	}
	return t.AppendFormat(dst, layout)
}
