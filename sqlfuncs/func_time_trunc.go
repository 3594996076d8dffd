package sqlfuncs

import (
	"slices"
	"time"

	"nextid/sqlfuncs/datum"
)

// truncUnits are the units of date_trunc, from small to large.
var truncUnits = []string{
	"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade",
	"century", "millennium",
}

// truncUnit checks a unit for date_trunc.
func truncUnit(name string, t datum.OID) (string, error) {
	unit := timeUnit(name)
	if slices.Contains(truncUnits, unit) {
		return unit, nil
	}
	return "", badUnit(name, len(unit) >= 8 && unit[:8] == "timezone", t)
}

func truncTimestamp(x *exec, a []datum.Value) (datum.Value, error) {
	unit, err := truncUnit(a[0].Str, a[1].Type)
	if err != nil || infiniteTime(a[1]) != 0 {
		return a[1], err
	}
	zone := location(x)
	if len(a) > 2 {
		if zone, err = zoneOf(a[2].Str); err != nil {
			return a[1], err
		}
	}
	local := a[1]
	if a[1].Type == datum.TimestampTZ {
		if local, err = datum.AtTimeZone(a[1], zone); err != nil {
			return a[1], err
		}
	}
	offset := local.Int - a[1].Int
	if local, err = timestampOf(truncTime(wall(local.Int), unit)); err != nil || a[1].Type == datum.Timestamp {
		return local, err
	}
	if slices.Index(truncUnits, unit) >= slices.Index(truncUnits, "day") {
		return datum.AtTimeZone(local, zone) // another day may have another offset
	}
	local.Type, local.Int = datum.TimestampTZ, local.Int-offset
	return local, nil
}

// truncTime sets what is smaller than a unit to its start.
func truncTime(t time.Time, unit string) time.Time {
	year, month, day := t.Date()
	switch unit {
	case "microseconds":
		return t
	case "milliseconds":
		return t.Truncate(time.Millisecond)
	case "second":
		return t.Truncate(time.Second)
	case "minute":
		return t.Truncate(time.Minute)
	case "hour":
		return t.Truncate(time.Hour)
	case "day":
	case "week":
		day -= int(t.Weekday()+6) % 7
	case "month":
		day = 1
	case "quarter":
		day, month = 1, (month-1)/3*3+1
	default:
		day, month, year = 1, time.January, truncYear(year, unit)
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// truncYear is the first year of a decade, century or millennium; the first
// century began in the year 1.
func truncYear(year int, unit string) int {
	since := func(first, length int) int {
		n, _ := floorDiv(int64(year-first), int64(length))
		return int(n)*length + first
	}
	switch unit {
	case "decade":
		return since(0, 10)
	case "century":
		return since(1, 100)
	case "millennium":
		return since(1, 1000)
	}
	return year
}

func truncInterval(_ *exec, a []datum.Value) (datum.Value, error) {
	unit, err := truncUnit(a[0].Str, datum.Interval)
	if err != nil {
		return a[1], err
	}
	i := intervalOf(a[1])
	cutTo := func(n *int64, unit int64) { *n -= *n % unit }
	months := map[string]int64{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
	micros := map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": microsPerSecond, "minute": microsPerMinute, "hour": microsPerHour}
	switch {
	case unit == "week":
		return a[1], badUnit(a[0].Str, true, datum.Interval).WithDetail("Months usually have fractional weeks.")
	case unit == "day":
		i.micros = 0
	case months[unit] > 0:
		i.days, i.micros = 0, 0
		cutTo(&i.months, months[unit])
	default:
		cutTo(&i.micros, micros[unit])
	}
	return i.value()
}

// age is the difference of two times in years, months, days and so on.
func age(x *exec, a []datum.Value) (datum.Value, error) {
	for _, v := range a {
		if infiniteTime(v) != 0 {
			return v, errTimestampRange
		}
	}
	first, _, err := localTime(x, a[0])
	if err != nil {
		return a[0], err
	}
	second, _, err := localTime(x, a[1])
	if err != nil {
		return a[0], err
	}
	if first.Before(second) {
		i := calendarAge(second, first)
		return interval{-i.months, -i.days, -i.micros}.value()
	}
	return calendarAge(first, second).value()
}

// calendarAge subtracts field by field. A month that is borrowed is as long
// as the earlier one.
func calendarAge(later, earlier time.Time) interval {
	clock := func(t time.Time) int64 {
		h, m, s := t.Clock()
		return int64(h)*microsPerHour + int64(m)*microsPerMinute + int64(s)*microsPerSecond + int64(t.Nanosecond()/1000)
	}
	i := interval{
		months: int64(later.Year()-earlier.Year())*monthsPerYear + int64(later.Month()-earlier.Month()),
		days:   int64(later.Day() - earlier.Day()),
		micros: clock(later) - clock(earlier),
	}
	if i.micros < 0 {
		i.micros += microsPerDay
		i.days--
	}
	if i.days < 0 {
		i.days += int64(time.Date(earlier.Year(), earlier.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		i.months--
	}
	return i
}

func ageToday(x *exec, a []datum.Value) (datum.Value, error) {
	today, err := datum.Cast(datum.TimestampTZFromTime(x.now()), datum.Date, x.env())
	if err != nil {
		return today, err
	}
	if today, err = datum.Cast(today, a[0].Type, x.env()); err != nil {
		return today, err
	}
	return age(x, []datum.Value{today, a[0]})
}
