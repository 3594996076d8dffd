package datum

import (
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// Units of the time types, and the limits of PostgreSQL's datatype/timestamp.h.
const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
	secondsPerDay   = 24 * 60 * 60

	// unixToEpoch is 2000-01-01 00:00 UTC, the epoch of dates and
	// timestamps, in Unix seconds.
	unixToEpoch = 946_684_800

	minDays = -730_119      // 0001-01-01
	endDays = 2_145_031_949 // 5874898-01-01
)

// The range of timestamps: the year 1 to before 294277-01-01. PostgreSQL's
// begins in 4714 BC, and has infinities beyond both ends.
const (
	minTimestamp = minDays * int64(microsPerDay)
	endTimestamp = 9_223_371_331_200_000_000
)

// civil is a date of the proleptic Gregorian calendar.
type civil struct{ year, month, day int }

// days counts from 2000-01-01, with the usual arithmetic on years that begin
// in March and eras of 400 years.
func (c civil) days() int64 {
	y, m := int64(c.year), int64(c.month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + int64(c.day) - 1
	const daysPerEra, toEpoch = 146_097, 730_425 // 0000-03-01 to 2000-01-01
	return era*daysPerEra + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - toEpoch
}

// civilFromDays is the inverse of civil.days.
func civilFromDays(days int64) civil {
	const daysPerEra, toEpoch = 146_097, 730_425
	days += toEpoch
	era := floorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*dayOfYear + 2) / 153
	c := civil{year: int(era*400 + yearOfEra), month: int(m + 3), day: int(dayOfYear - (153*m+2)/5 + 1)}
	if c.month > 12 {
		c.month -= 12
		c.year++
	}
	return c
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if isLeap(year) {
			return 29
		}
		return 28
	}
	return 31
}

// splitTimestamp returns the day and the time of day of a timestamp.
func splitTimestamp(ts int64) (days, micros int64) {
	days = floorDiv(ts, microsPerDay)
	return days, ts - days*microsPerDay
}

func validTimestamp(ts int64) bool { return ts >= minTimestamp && ts < endTimestamp }

func validDate(days int64) bool { return days >= minDays && days < endDays }

func timestampOutOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "timestamp out of range")
}

// joinTimestamp returns the timestamp of a time on a day.
func joinTimestamp(days, micros int64) (int64, error) {
	ts, err := joinLocal(days, micros)
	if err == nil && !validTimestamp(ts) {
		err = timestampOutOfRange()
	}
	return ts, err
}

// joinLocal is joinTimestamp for the clock of a time zone: what it shows may
// lie a day outside of the range when the instant does not.
func joinLocal(days, micros int64) (int64, error) {
	if days < minDays-1 || days > endTimestamp/microsPerDay || micros < 0 || micros > microsPerDay {
		return 0, timestampOutOfRange()
	}
	return days*microsPerDay + micros, nil
}

// location is the session's time zone.
func (e *Env) location() *time.Location {
	if e == nil || e.Location == nil {
		return time.UTC
	}
	return e.Location
}

// offsetAt returns the offset of a zone east of UTC at an instant, in seconds.
func offsetAt(ts int64, loc *time.Location) int {
	_, seconds := timeOf(ts).In(loc).Zone()
	return seconds
}

// timeOf converts a finite timestamp in UTC.
func timeOf(ts int64) time.Time {
	seconds := floorDiv(ts, microsPerSecond)
	return time.Unix(seconds+unixToEpoch, (ts-seconds*microsPerSecond)*1000).UTC()
}

// localToUTC finds the instant at which clocks in loc show local (a timestamp
// without zone). A time that is skipped is taken with the offset before the
// gap, a time that is shown twice as the second one, as PostgreSQL does.
func localToUTC(local int64, loc *time.Location) int64 {
	if loc == time.UTC {
		return local
	}
	dayBefore := timeOf(local - microsPerDay).In(loc)
	_, before := dayBefore.Zone()
	_, end := dayBefore.ZoneBounds()
	early := local - int64(before)*microsPerSecond
	if end.IsZero() {
		return early
	}
	change := microsOf(end)
	_, after := end.Zone()
	late := local - int64(after)*microsPerSecond
	switch {
	case early < change && late < change:
		return early
	case early > change && late >= change:
		return late
	case early > late:
		return early
	}
	return late
}

// utcToLocal returns what clocks in loc show at an instant.
func utcToLocal(ts int64, loc *time.Location) int64 {
	return ts + int64(offsetAt(ts, loc))*microsPerSecond
}

// microsOf returns t in microseconds since 2000-01-01, cut to whole ones.
func microsOf(t time.Time) int64 {
	return (t.Unix()-unixToEpoch)*microsPerSecond + int64(t.Nanosecond()/1000)
}

// TimestampTZFromTime returns t as a timestamptz, cut to microseconds. Beyond
// the years 1 to 294276 it is the first or last moment of them.
func TimestampTZFromTime(t time.Time) Value {
	v := Value{Type: TimestampTZ, Valid: true}
	switch seconds := t.Unix() - unixToEpoch; {
	case seconds < minTimestamp/microsPerSecond:
		v.Int = minTimestamp
	case seconds >= endTimestamp/microsPerSecond:
		v.Int = endTimestamp - 1
	default:
		v.Int = microsOf(t)
	}
	return v
}

// GoTime returns a timestamptz, timestamp or date in UTC. It is the zero
// time for NULL and other types.
func (v Value) GoTime() time.Time {
	switch {
	case !v.Valid:
	case v.Type == TimestampTZ || v.Type == Timestamp:
		return timeOf(v.Int)
	case v.Type == Date:
		return time.Unix(v.Int*secondsPerDay+unixToEpoch, 0).UTC()
	}
	return time.Time{}
}
