package datum

import (
	"strings"
	"sync"
	"time"
	"unicode"

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

// daysOf returns the days from 2000-01-01 to a date of the proleptic Gregorian
// calendar.
func daysOf(year int, month time.Month, day int) int64 {
	return floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()-unixToEpoch, secondsPerDay)
}

// dayTime returns the midnight of a day.
func dayTime(days int64) time.Time { return time.Unix(days*secondsPerDay+unixToEpoch, 0).UTC() }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func daysInMonth(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
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
		return dayTime(v.Int)
	}
	return time.Time{}
}

// castTime converts a date, timestamp or timestamptz to another of them.
func castTime(v Value, to OID, env *Env) (Value, error) {
	out := Value{Type: to, Valid: true}
	ts := v.Int
	switch v.Type {
	case Date:
		var err error
		if ts, err = joinTimestamp(v.Int, 0); err != nil {
			return Value{}, timestampOutOfRange()
		}
	case TimestampTZ:
		ts = utcToLocal(v.Int, env.location())
	}
	switch to {
	case Date:
		out.Int, _ = splitTimestamp(ts)
	case Timestamp:
		if out.Int = ts; !validTimestamp(ts) {
			return Value{}, timestampOutOfRange()
		}
	case TimestampTZ:
		if out.Int = localToUTC(ts, env.location()); !validTimestamp(out.Int) {
			return Value{}, timestampOutOfRange()
		}
	}
	return out, nil
}

func dateOutOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "date out of range")
}

func addDays(op byte, a Value, n int64) (Value, error) {
	if op == '-' {
		n = -n
	}
	if a.Int += n; !validDate(a.Int) {
		return Value{}, dateOutOfRange()
	}
	return a, nil
}

// subtractTimestamps gives days and time, never months.
func subtractTimestamps(a, b Value) (Value, error) {
	micros := a.Int - b.Int
	if (a.Int < 0) != (b.Int < 0) && (micros < 0) != (a.Int < 0) {
		return Value{}, intervalOutOfRange()
	}
	return interval{days: int32(micros / microsPerDay), micros: micros % microsPerDay}.value(), nil
}

// addInterval adds months, then days, then microseconds to a date or
// timestamp. Of a timestamptz, months and days are those of the session's
// time zone. A date becomes a timestamp.
func addInterval(op byte, a Value, span interval, env *Env) (Value, error) {
	var err error
	if a.Type == Date {
		if a, err = castTime(a, Timestamp, nil); err != nil {
			return Value{}, err
		}
	}
	if op == '-' {
		if span, err = span.times(-1); err != nil {
			return Value{}, err
		}
	}
	if span.months != 0 {
		a.Int, err = onCalendar(a, env, func(day int64) int64 { return addMonths(day, span.months) })
	}
	if err == nil && span.days != 0 {
		a.Int, err = onCalendar(a, env, func(day int64) int64 { return day + int64(span.days) })
	}
	if err != nil {
		return Value{}, err
	}
	ts := a.Int + span.micros
	if (span.micros > 0) != (ts > a.Int) && span.micros != 0 || !validTimestamp(ts) {
		return Value{}, timestampOutOfRange()
	}
	a.Int = ts
	return a, nil
}

// onCalendar moves a timestamp to another day at the same time of the
// clock, in the session's time zone if it has one. Each move ends in an
// instant, so a time that the zone skips is moved before the next one.
func onCalendar(v Value, env *Env, move func(day int64) int64) (int64, error) {
	local := v.Int
	if v.Type == TimestampTZ {
		local = utcToLocal(local, env.location())
	}
	day, micros := splitTimestamp(local)
	ts, err := joinLocal(move(day), micros)
	if err == nil && v.Type == TimestampTZ {
		ts = localToUTC(ts, env.location())
	}
	if err == nil && !validTimestamp(ts) {
		err = timestampOutOfRange()
	}
	return ts, err
}

// addMonths adds months to a day; a day that the month does not have becomes
// its last.
func addMonths(day int64, months int32) int64 {
	year, month, d := dayTime(day).Date()
	first := daysOf(year, month+time.Month(months), 1)
	year, month, _ = dayTime(first).Date()
	return first + int64(min(d, daysInMonth(year, int(month)))) - 1
}

// zones caches loaded time zones by name; there are a few hundred.
var zones sync.Map

// LoadZone finds a time zone by its IANA name (Europe/Paris), of which the case may
// differ. Errors: 22023.
func LoadZone(name string) (*time.Location, error) {
	switch strings.ToLower(name) {
	case "utc", "gmt", "ut", "uct", "z", "zulu":
		return time.UTC, nil
	}
	forms := []string{name, strings.ToUpper(name), capitalized(name)}
	const longestName = 40
	if name == "" || len(name) > longestName || strings.EqualFold(name, "local") {
		forms = nil
	}
	for _, form := range forms {
		if loc, ok := zones.Load(form); ok {
			return loc.(*time.Location), nil
		}
		if loc, err := time.LoadLocation(form); err == nil {
			zones.Store(form, loc)
			return loc, nil
		}
	}
	return nil, sqlstate.New(sqlstate.InvalidParameterValue, `time zone "%s" not recognized`, clip(name))
}

// capitalized returns a name as most zones have it: Europe/Paris for europe/PARIS.
func capitalized(name string) string {
	b := []byte(strings.ToLower(name))
	for i := range b {
		if i == 0 || strings.IndexByte("/_-", b[i-1]) >= 0 {
			b[i] = byte(unicode.ToUpper(rune(b[i])))
		}
	}
	return string(b)
}
