package sqlfuncs

import (
	"math"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// interval is an interval taken apart, with room to compute.
type interval struct{ months, days, micros int64 }

func intervalOf(v datum.Value) interval {
	months, days, micros := v.Span()
	return interval{int64(months), int64(days), micros}
}

var errIntervalRange = sqlstate.New(sqlstate.DatetimeOverflow, "interval out of range")

// value is i as a datum; days and months beyond int32 are out of range.
func (i interval) value() (datum.Value, error) {
	if i.days != int64(int32(i.days)) || i.months != int64(int32(i.months)) {
		return datum.Value{}, errIntervalRange
	}
	return datum.MakeInterval(int32(i.months), int32(i.days), i.micros), nil
}

var justifyFunctions = []function{
	{name: "justify_days", args: args(datum.Interval), result: datum.Interval, eval: justify(interval.justifyDays), help: "counts 30 days as a month"},
	{name: "justify_hours", args: args(datum.Interval), result: datum.Interval, eval: justify(interval.justifyHours), help: "counts 24 hours as a day"},
	{name: "justify_interval", args: args(datum.Interval), result: datum.Interval, eval: justify(interval.justifyAll), help: "counts 24 hours as a day and 30 days as a month"},
	{name: "make_interval", args: intervalParts("years", "months", "weeks", "days", "hours", "mins", "secs"), result: datum.Interval, eval: makeInterval, help: "an interval of its parts"},
}

// intervalParts are arguments that may be left out, the last one a float8.
func intervalParts(names ...string) []argument {
	out := make([]argument, len(names))
	for i, name := range names {
		out[i] = argument{name: name, typ: datum.Int4, optional: true}
	}
	out[len(out)-1].typ = datum.Float8
	return out
}

func justify(f func(interval) interval) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) { return f(intervalOf(a[0])).value() }
}

// carry moves whole units of small into large, and gives both one sign.
func carry(small, large, unit int64) (int64, int64) {
	large += small / unit
	small %= unit
	switch {
	case large > 0 && small < 0:
		small += unit
		large--
	case large < 0 && small > 0:
		small -= unit
		large++
	}
	return small, large
}

func (i interval) justifyDays() interval {
	i.days, i.months = carry(i.days, i.months, daysPerMonth)
	return i
}

func (i interval) justifyHours() interval {
	i.micros, i.days = carry(i.micros, i.days, microsPerDay)
	return i
}

func (i interval) justifyAll() interval {
	i.days += i.micros / microsPerDay
	i.micros %= microsPerDay
	i.months += i.days / daysPerMonth
	i.days %= daysPerMonth
	switch {
	case i.months > 0 && (i.days < 0 || (i.days == 0 && i.micros < 0)):
		i.days += daysPerMonth
		i.months--
	case i.months < 0 && (i.days > 0 || (i.days == 0 && i.micros > 0)):
		i.days -= daysPerMonth
		i.months++
	}
	i.micros, i.days = carry(i.micros, i.days, microsPerDay)
	return i
}

// makeInterval adds up its arguments; those left out are 0.
func makeInterval(_ *exec, a []datum.Value) (datum.Value, error) {
	part := make([]int64, 6)
	seconds := 0.0
	for n, v := range a {
		if n < len(part) {
			part[n] = v.Int
		} else {
			seconds = v.Float
		}
	}
	clock := part[4]*microsPerHour + part[5]*microsPerMinute
	micros := math.RoundToEven(seconds * microsPerSecond)
	if math.IsNaN(seconds) || math.Abs(micros)+math.Abs(float64(clock)) >= math.MaxInt64 {
		return datum.Value{}, errIntervalRange
	}
	return interval{
		months: part[0]*monthsPerYear + part[1],
		days:   part[2]*7 + part[3],
		micros: clock + int64(micros),
	}.value()
}
