package sqlfuncs

import (
	"math"
	"slices"
	"strconv"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

var timeMakeFunctions = slices.Concat(justifyFunctions, []function{
	{name: "make_date", args: named("year month day", datum.Int4, datum.Int4, datum.Int4), result: datum.Date, eval: makeDate, help: "a date of its parts"},
	{name: "make_time", args: named("hour min sec", datum.Int4, datum.Int4, datum.Float8), result: datum.Time, eval: makeTime, help: "a time of day of its parts"},
	{name: "make_timestamp", args: named("year month mday hour min sec", timestampParts...), result: datum.Timestamp, eval: makeTimestamp, help: "a timestamp of its parts"},
	{name: "make_timestamptz", args: named("year month mday hour min sec", timestampParts...), result: datum.TimestampTZ, volatile: stable, eval: makeTimestampTZ, help: "an instant of its parts in the session's time zone"},
	{name: "make_timestamptz", args: append(named("year month mday hour min sec", timestampParts...), argument{name: "timezone", typ: datum.Text}), result: datum.TimestampTZ, volatile: stable, eval: makeTimestampTZ, help: "an instant of its parts in a time zone"},
	{name: "to_timestamp", args: args(datum.Float8), result: datum.TimestampTZ, eval: unixTimestamp, help: "the instant some seconds after 1970-01-01 00:00 UTC"},
})

var timestampParts = []datum.OID{datum.Int4, datum.Int4, datum.Int4, datum.Int4, datum.Int4, datum.Float8}

// calendarDay checks a day of the proleptic Gregorian calendar. Negative
// years are BC; there is no year 0.
func calendarDay(year, month, day int64) (time.Time, bool) {
	if year == 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	if year < 0 {
		year++
	}
	t := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	n := (t.Unix() - unixToPostgres) / secondsPerDay
	return t, t.Day() == int(day) && n >= firstDate && n <= lastDate
}

func dayOf(a []datum.Value) (time.Time, error) {
	t, ok := calendarDay(a[0].Int, a[1].Int, a[2].Int)
	if !ok {
		return t, sqlstate.New(sqlstate.DatetimeOverflow, "date field value out of range: %d-%02d-%02d", a[0].Int, a[1].Int, a[2].Int)
	}
	return t, nil
}

func makeDate(_ *exec, a []datum.Value) (datum.Value, error) {
	t, err := dayOf(a)
	if err != nil {
		return a[0], err
	}
	days, _ := floorDiv(t.Unix()-unixToPostgres, secondsPerDay)
	return datum.Value{Type: datum.Date, Valid: true, Int: days}, nil
}

// clockOf is hours, minutes and seconds in microseconds; 24:00:00 is allowed.
func clockOf(a []datum.Value) (int64, error) {
	hour, minute, second := a[0].Int, a[1].Int, a[2].Float
	micros := hour*microsPerHour + minute*microsPerMinute + int64(math.RoundToEven(min(max(second, -1), 61)*microsPerSecond))
	if hour < 0 || minute < 0 || minute > 59 || !(second >= 0 && second <= 60) || micros > microsPerDay {
		return 0, sqlstate.New(sqlstate.DatetimeOverflow, "time field value out of range: %d:%02d:%s", hour, minute, twoDigits(second))
	}
	return micros, nil
}

// twoDigits prints seconds as C's %02g does.
func twoDigits(f float64) string {
	s := strconv.FormatFloat(f, 'g', 6, 64)
	if len(s) < 2 {
		return "0" + s
	}
	return s
}

func makeTime(_ *exec, a []datum.Value) (datum.Value, error) {
	micros, err := clockOf(a)
	return datum.Value{Type: datum.Time, Valid: true, Int: micros}, err
}

func makeTimestamp(_ *exec, a []datum.Value) (datum.Value, error) {
	day, err := dayOf(a)
	if err != nil {
		return a[0], err
	}
	micros, err := clockOf(a[3:])
	if err != nil {
		return a[0], err
	}
	return timestampOf(day.Add(time.Duration(micros) * time.Microsecond))
}

func makeTimestampTZ(x *exec, a []datum.Value) (datum.Value, error) {
	local, err := makeTimestamp(x, a)
	if err != nil {
		return local, err
	}
	zone := location(x)
	if len(a) > len(timestampParts) {
		if zone, err = zoneOf(a[len(timestampParts)].Str); err != nil {
			return local, err
		}
	}
	return datum.AtTimeZone(local, zone)
}

func unixTimestamp(_ *exec, a []datum.Value) (datum.Value, error) {
	seconds := a[0].Float
	v := datum.Value{Type: datum.TimestampTZ, Valid: true}
	switch {
	case math.IsNaN(seconds):
		return v, sqlstate.New(sqlstate.DatetimeOverflow, "timestamp cannot be NaN")
	case math.IsInf(seconds, 1):
		v.Int = timestampInfinity
		return v, nil
	case math.IsInf(seconds, -1):
		v.Int = timestampMinusInf
		return v, nil
	}
	micros := math.RoundToEven((seconds - unixToPostgres) * microsPerSecond)
	if micros < firstTimestamp || micros >= timestampEnd {
		return v, sqlstate.New(sqlstate.DatetimeOverflow, "timestamp out of range: \"%s\"", strconv.FormatFloat(seconds, 'g', 6, 64))
	}
	v.Int = int64(micros)
	return v, nil
}
