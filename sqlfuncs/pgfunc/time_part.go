package pgfunc

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var timePartFunctions = slices.Concat(
	partFunctions(datum.Timestamp, datum.TimestampTZ, datum.Date, datum.Time, datum.Interval),
	[]engine.Function{})

// partFunctions are extract for each type.
func partFunctions(types ...datum.OID) []engine.Function {
	var out []engine.Function
	for _, t := range types {
		v := engine.Immutable
		if t == datum.TimestampTZ {
			v = engine.Stable
		}
		out = append(out,
			engine.Function{Name: "extract", Args: engine.Args(datum.Text, t), Result: datum.Numeric, Volatile: v, Eval: extract, Help: "one field of a date or time"})
	}
	return out
}

// timeUnitNames maps the names of units, cut to ten letters as PostgreSQL
// does, to the one we use.
var timeUnitNames = map[string]string{
	"microsecon": "microseconds", "us": "microseconds", "usec": "microseconds", "usecond": "microseconds", "useconds": "microseconds", "usecs": "microseconds",
	"millisecon": "milliseconds", "ms": "milliseconds", "msec": "milliseconds", "msecond": "milliseconds", "mseconds": "milliseconds", "msecs": "milliseconds",
	"second": "second", "seconds": "second", "sec": "second", "secs": "second", "s": "second",
	"minute": "minute", "minutes": "minute", "min": "minute", "mins": "minute", "m": "minute",
	"hour": "hour", "hours": "hour", "hr": "hour", "hrs": "hour", "h": "hour",
	"day": "day", "days": "day", "d": "day", "week": "week", "weeks": "week", "w": "week",
	"month": "month", "months": "month", "mon": "month", "mons": "month", "quarter": "quarter", "qtr": "quarter",
	"year": "year", "years": "year", "yr": "year", "yrs": "year", "y": "year",
	"decade": "decade", "decades": "decade", "dec": "decade", "decs": "decade",
	"century": "century", "centuries": "century", "cent": "century", "c": "century",
	"millennium": "millennium", "millennia": "millennium", "mil": "millennium", "mils": "millennium",
	"dow": "dow", "isodow": "isodow", "doy": "doy", "isoyear": "isoyear", "epoch": "epoch",
	"julian": "julian", "jd": "julian", "j": "julian",
	"timezone": "timezone", "timezone_h": "timezone_hour", "timezone_m": "timezone_minute",
}

// timeUnit returns our name of a unit, "" for an unknown one.
func timeUnit(name string) string {
	name = strings.ToLower(name)
	return timeUnitNames[name[:min(len(name), 10)]]
}

// badUnit is the refusal of a unit: known says whether other types have it.
func badUnit(name string, known bool, t datum.OID) *sqlstate.Error {
	if known {
		return sqlstate.New(sqlstate.FeatureNotSupported, "unit \"%s\" not supported for type %s", sqlstate.Cut(name, 64), datum.FormatType(t, -1))
	}
	return sqlstate.New(sqlstate.InvalidParameterValue, "unit \"%s\" not recognized for type %s", sqlstate.Cut(name, 64), datum.FormatType(t, -1))
}

// wall is what clocks show some microseconds after 2000-01-01 00:00.
func wall(micros int64) time.Time {
	seconds, rest := floorDiv(micros, microsPerSecond)
	return time.Unix(seconds+unixToPostgres, rest*int64(time.Microsecond)).UTC()
}

// floorDiv divides with a remainder that is not negative.
func floorDiv(n, unit int64) (quotient, rest int64) {
	quotient, rest = n/unit, n%unit
	if rest < 0 {
		quotient, rest = quotient-1, rest+unit
	}
	return quotient, rest
}

// localTime is a date or timestamp as clocks show it, and how many seconds
// they are ahead of UTC.
func localTime(x *engine.Exec, v datum.Value) (t time.Time, offset int64, err error) {
	switch v.Type {
	case datum.Date:
		return time.Unix(v.Int*secondsPerDay+unixToPostgres, 0).UTC(), 0, nil
	case datum.Timestamp:
		return wall(v.Int), 0, nil
	}
	local, err := datum.Cast(v, datum.Timestamp, x.Env())
	return wall(local.Int), (local.Int - v.Int) / microsPerSecond, err
}

func extract(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	unit := timeUnit(a[0].Str)
	if sign := infiniteTime(a[1]); sign != 0 && unit != "" {
		return infiniteField(unit, sign), nil
	}
	d, ok, err := fieldOf(x, unit, a[1])
	switch {
	case err != nil:
		return a[0], err
	case !ok:
		return a[0], badUnit(a[0].Str, unit != "", a[1].Type)
	case unit == "julian" && a[1].Type != datum.Date:
		return julian(d)
	}
	return numericOf(d)
}

// infiniteField is a field of infinity: infinite if it grows with time.
func infiniteField(unit string, sign int) datum.Value {
	if slices.Contains([]string{"year", "decade", "century", "millennium", "julian", "isoyear", "epoch"}, unit) {
		return specialNumeric(math.Inf(sign))
	}
	return datum.Null(datum.Numeric)
}

// julian divides microseconds by the length of a day, as numeric does.
func julian(d decimal.Number) (datum.Value, error) {
	days, micros := new(big.Int).QuoRem(d.Coef, big.NewInt(microsPerDay), new(big.Int))
	fraction, err := datum.Div(datum.MakeString(datum.Numeric, micros.String()), datum.MakeString(datum.Numeric, big.NewInt(microsPerDay).String()))
	if err != nil {
		return fraction, err
	}
	return datum.Add(datum.MakeString(datum.Numeric, days.String()), fraction)
}

// fieldOf computes a field; ok is false where the type lacks it. The julian
// day of a timestamp comes in microseconds.
func fieldOf(x *engine.Exec, unit string, v datum.Value) (d decimal.Number, ok bool, err error) {
	switch v.Type {
	case datum.Interval:
		d, ok = intervalOf(v).field(unit)
		return d, ok, nil
	case datum.Time:
		if unit == "epoch" {
			return decimal.New(big.NewInt(v.Int), 6), true, nil
		}
		d, ok = clockField(unit, v.Int)
		return d, ok, nil
	}
	t, offset, err := localTime(x, v)
	if err != nil {
		return d, false, err
	}
	days, seconds := floorDiv(t.Unix()-unixToPostgres, secondsPerDay)
	micros := seconds*microsPerSecond + int64(t.Nanosecond()/1000)
	switch {
	case unit == "julian" && v.Type == datum.Date:
		return decimal.Of(days + julianOf2000), true, nil
	case unit == "julian":
		whole := new(big.Int).Mul(big.NewInt(days+julianOf2000), big.NewInt(microsPerDay))
		return decimal.New(whole.Add(whole, big.NewInt(micros)), 0), true, nil
	case unit == "epoch" && v.Type == datum.Date:
		return decimal.Of(t.Unix()), true, nil
	case unit == "epoch":
		whole := new(big.Int).Mul(big.NewInt(t.Unix()-offset), big.NewInt(microsPerSecond))
		return decimal.New(whole.Add(whole, big.NewInt(micros%microsPerSecond)), 6), true, nil
	}
	if n, ok := calendarField(unit, t); ok {
		return decimal.Of(n), true, nil
	}
	if v.Type == datum.TimestampTZ {
		if n, ok := zoneField(unit, offset); ok {
			return decimal.Of(n), true, nil
		}
	}
	if v.Type != datum.Date {
		d, ok = clockField(unit, micros)
	}
	return d, ok, nil
}

// clockField is a field of some microseconds of a day, or of an interval.
func clockField(unit string, micros int64) (decimal.Number, bool) {
	seconds := big.NewInt(micros % microsPerMinute)
	switch unit {
	case "microseconds":
		return decimal.New(seconds, 0), true
	case "milliseconds":
		return decimal.New(seconds, 3), true
	case "second":
		return decimal.New(seconds, 6), true
	case "minute":
		return decimal.Of(micros % microsPerHour / microsPerMinute), true
	case "hour":
		return decimal.Of(micros / microsPerHour), true
	}
	return decimal.Number{}, false
}

func zoneField(unit string, offset int64) (int64, bool) {
	switch unit {
	case "timezone":
		return offset, true
	case "timezone_hour":
		return offset / 3600, true
	case "timezone_minute":
		return offset / 60 % 60, true
	}
	return 0, false
}

// calendarField is a field of a day. Year 0 is 1 BC, which is shown as -1.
func calendarField(unit string, t time.Time) (int64, bool) {
	year := int64(t.Year())
	switch unit {
	case "day":
		return int64(t.Day()), true
	case "month":
		return int64(t.Month()), true
	case "quarter":
		return int64(t.Month()-1)/3 + 1, true
	case "week":
		_, week := t.ISOWeek()
		return int64(week), true
	case "year":
		return shownYear(year), true
	case "isoyear":
		iso, _ := t.ISOWeek()
		return shownYear(int64(iso)), true
	case "decade":
		decade, _ := floorDiv(year, 10)
		return decade, true
	case "century":
		return shownEra(year, 100), true
	case "millennium":
		return shownEra(year, 1000), true
	case "dow":
		return int64(t.Weekday()), true
	case "isodow":
		return int64(t.Weekday()+6)%7 + 1, true
	case "doy":
		return int64(t.YearDay()), true
	}
	return 0, false
}

func shownYear(year int64) int64 {
	if year <= 0 {
		return year - 1
	}
	return year
}

// shownEra counts centuries or millennia: 1 to 100 AD are the first one,
// 100 to 1 BC are -1.
func shownEra(year, length int64) int64 {
	if year > 0 {
		return (year + length - 1) / length
	}
	return -((length - 1 - (year - 1)) / length)
}

func (i interval) field(unit string) (decimal.Number, bool) {
	year := i.months / monthsPerYear
	switch unit {
	case "day":
		return decimal.Of(i.days), true
	case "month":
		return decimal.Of(i.months % monthsPerYear), true
	case "quarter":
		return decimal.Of(i.months%monthsPerYear/3 + 1), true
	case "year":
		return decimal.Of(year), true
	case "decade":
		return decimal.Of(year / 10), true
	case "century":
		return decimal.Of(year / 100), true
	case "millennium":
		return decimal.Of(year / 1000), true
	case "epoch": // see seconds
		days4 := big.NewInt(year*1461 + i.months%monthsPerYear*4*daysPerMonth + i.days*4)
		micros := days4.Mul(days4, big.NewInt(microsPerDay/4))
		return decimal.New(micros.Add(micros, big.NewInt(i.micros)), 6), true
	}
	return clockField(unit, i.micros)
}
