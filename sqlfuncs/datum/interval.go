package datum

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// interval is a span of time: months, days and microseconds stay apart,
// since their lengths differ.
type interval struct {
	micros       int64
	days, months int32
}

// intervalBytes is the size of an interval's binary form.
const intervalBytes = 16

func (i interval) value() Value {
	var b [intervalBytes]byte
	binary.BigEndian.PutUint64(b[:], uint64(i.micros))
	binary.BigEndian.PutUint32(b[8:], uint32(i.days))
	binary.BigEndian.PutUint32(b[12:], uint32(i.months))
	return MakeString(Interval, string(b[:]))
}

// parseIntervalValue unpacks an interval value.
func parseIntervalValue(v Value) interval {
	var b [intervalBytes]byte
	copy(b[:], v.Str)
	return interval{
		micros: int64(binary.BigEndian.Uint64(b[:])),
		days:   int32(binary.BigEndian.Uint32(b[8:])),
		months: int32(binary.BigEndian.Uint32(b[12:])),
	}
}

func intervalOutOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "interval out of range")
}

// plus adds part by part.
func (i interval) plus(j interval) (interval, error) {
	months, days, micros := int64(i.months)+int64(j.months), int64(i.days)+int64(j.days), i.micros+j.micros
	if months != int64(int32(months)) || days != int64(int32(days)) || (i.micros < 0) == (j.micros < 0) && (micros < 0) != (i.micros < 0) {
		return interval{}, intervalOutOfRange()
	}
	return interval{micros, int32(days), int32(months)}, nil
}

// times multiplies every part.
func (i interval) times(n int64) (interval, error) {
	months, err1 := intArithmetic('*', MakeInt4(int64(i.months)), MakeInt8(n))
	days, err2 := intArithmetic('*', MakeInt4(int64(i.days)), MakeInt8(n))
	micros, err3 := intArithmetic('*', MakeInt8(i.micros), MakeInt8(n))
	if cmp.Or(err1, err2, err3) != nil {
		return interval{}, intervalOutOfRange()
	}
	return interval{micros.Int, int32(days.Int), int32(months.Int)}, nil
}

// Lengths that the comparison of intervals assumes.
const (
	daysPerMonth  = 30
	monthsPerYear = 12
)

// linear is the length in days and microseconds of a day, where a month has 30
// days and a day 24 hours: intervals compare by it.
func (i interval) linear() (days, micros int64) {
	days, micros = splitTimestamp(i.micros)
	return days + int64(i.months)*daysPerMonth + int64(i.days), micros
}

// intervalUnits are the units of an interval's text; an s may follow them.
var intervalUnits = map[string]interval{
	"us": {micros: 1}, "microsecond": {micros: 1}, "ms": {micros: 1000}, "millisecond": {micros: 1000},
	"": {micros: microsPerSecond}, "s": {micros: microsPerSecond}, "sec": {micros: microsPerSecond}, "second": {micros: microsPerSecond},
	"m": {micros: microsPerMinute}, "min": {micros: microsPerMinute}, "minute": {micros: microsPerMinute},
	"h": {micros: microsPerHour}, "hr": {micros: microsPerHour}, "hour": {micros: microsPerHour},
	"d": {days: 1}, "day": {days: 1}, "w": {days: 7}, "week": {days: 7},
	"mon": {months: 1}, "month": {months: 1}, "y": {months: monthsPerYear}, "yr": {months: monthsPerYear}, "year": {months: monthsPerYear},
}

// parseInterval reads numbers with their units, and a time without one:
// 1 year 2 mons -3 days 04:05:06.7. A number at the end may lack its unit, and
// counts seconds, if there is no time; only the units up to the hour have fractions.
func parseInterval(s string) (Value, error) {
	var sum interval
	clock := false
	rest := trimSpace(s)
	ok := rest != "" && len(rest) <= maxTimeText
	for ok && rest != "" {
		n := scan(rest, 0, func(c byte) bool { return isDigit(c) || c == '+' || c == '-' || c == '.' || c == ':' })
		number := rest[:n]
		rest = strings.TrimLeft(rest[n:], " ")
		n = scan(rest, 0, isLetter)
		word := strings.ToLower(rest[:n])
		var part interval
		var err error
		if strings.Contains(number, ":") {
			clock = true
			part, ok, err = clockSpan(number)
		} else {
			unit, known := intervalUnits[word]
			if !known {
				unit, known = intervalUnits[strings.TrimSuffix(word, "s")]
			}
			rest = strings.TrimLeft(rest[n:], " ")
			part, ok, err = unit.span(number)
			ok = ok && known && (word != "" || rest == "" && !clock)
		}
		if ok && err == nil {
			sum, err = sum.plus(part)
		}
		if err != nil {
			return Value{}, sqlstate.New(codeIntervalOverflow, `interval field value out of range: "%s"`, clip(s))
		}
	}
	if !ok {
		return Value{}, sqlstate.New(sqlstate.InvalidDatetime, `invalid input syntax for type interval: "%s"`, clip(s)).
			WithHint("Intervals are written as numbers with units and a time: 1 mon 2 days 03:04:05.")
	}
	return sum.value(), nil
}

// span is so many of a unit; ok is false for what is no number.
func (i interval) span(number string) (part interval, ok bool, err error) {
	whole, fraction, _ := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrSyntax) || !onlyDigits(fraction) || fraction != "" && i.micros == 0 {
		return part, false, nil
	}
	if err == nil {
		part, err = i.times(n)
	}
	if err != nil || fraction == "" {
		return part, true, err
	}
	f, _ := strconv.ParseFloat("0."+fraction, 64)
	if whole[0] == '-' {
		f = -f
	}
	part, err = part.plus(interval{micros: int64(math.RoundToEven(f * float64(i.micros)))})
	return part, true, err
}

// clockSpan reads [±]H:M[:S[.fraction]], of any number of hours.
func clockSpan(s string) (part interval, ok bool, err error) {
	hours, rest, _ := strings.Cut(s, ":")
	if part, ok, err = (interval{micros: microsPerHour}).span(hours); !ok || err != nil {
		return part, ok, err
	}
	clock := isoTime{rest: rest}
	ok = clock.numbers(':', &clock.minute, &clock.second) >= 1
	if strings.HasPrefix(clock.rest, ".") && onlyDigits(clock.rest[1:]) {
		clock.micros, clock.rest = fractionMicros(clock.rest), ""
	}
	if strings.Contains(hours, ".") || !ok || clock.rest != "" || clock.minute > 59 || clock.second > 60 {
		return part, false, nil
	}
	minutes := interval{micros: clock.clock()}
	if s[0] == '-' {
		minutes.micros = -minutes.micros
	}
	part, err = part.plus(minutes)
	return part, true, err
}

// appendInterval prints an interval in IntervalStyle postgres:
// 1 year 2 mons 3 days 04:05:06.7.
func appendInterval(dst []byte, i interval) []byte {
	start := len(dst)
	negative := false // the sign of the part before
	part := func(n int32, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
			if negative && n > 0 {
				dst = append(dst, '+')
			}
		}
		negative = n < 0
		dst = append(strconv.AppendInt(dst, int64(n), 10), unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
	}
	part(i.months/monthsPerYear, " year")
	part(i.months%monthsPerYear, " mon")
	part(i.days, " day")
	if i.micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	micros := i.micros
	if micros < 0 {
		dst = append(dst, '-')
	} else if negative {
		dst = append(dst, '+')
	}
	return appendClock(dst, uint64(max(micros, -micros)))
}
