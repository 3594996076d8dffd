package pgfunc

import (
	"math/big"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// extractFunctions are extract for each type.
func extractFunctions(types ...datum.OID) []engine.Function {
	var out []engine.Function
	for _, t := range types {
		v := engine.Immutable
		if t == datum.TimestampTZ {
			v = engine.Stable
		}
		out = append(out,
			engine.Function{Name: "extract", Args: engine.Args(datum.Text, t), Result: datum.Numeric, Volatile: v, Does: engine.Eval(extract), Help: "one field of a date or time: epoch, year, month, day, hour, minute"})
	}
	return out
}

// extract takes one field of a time. An interval has its length in seconds only.
func extract(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	unit, v := strings.ToLower(a[0].Str), a[1]
	if v.Type == datum.Interval && unit == "epoch" {
		return datum.Decimal{Coef: intervalMicros(v), Scale: 6}.Value()
	}
	if v.Type == datum.TimestampTZ && unit != "epoch" {
		var err error
		if v, err = datum.Cast(v, datum.Timestamp, x.Env()); err != nil { // as the session's clocks show it
			return v, err
		}
	}
	t := v.GoTime()
	fields := map[string]int{"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "minute": t.Minute()}
	field, ok := fields[unit]
	switch {
	case v.Type == datum.Date && unit == "epoch":
		return datum.DecimalOf(t.Unix()).Value()
	case unit == "epoch":
		micros := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(time.Second.Microseconds()))
		return datum.Decimal{Coef: micros.Add(micros, big.NewInt(int64(t.Nanosecond()/1000))), Scale: 6}.Value()
	case ok && v.Type != datum.Interval && (v.Type != datum.Date || unit != "hour" && unit != "minute"):
		return datum.DecimalOf(int64(field)).Value()
	}
	return a[0], sqlstate.New(sqlstate.FeatureNotSupported, "unit \"%s\" not supported for type %s", sqlstate.Cut(unit, 64), datum.FormatType(v.Type, -1)).
		WithHint("EXTRACT knows epoch, year, month, day, hour and minute of times, and epoch of intervals.")
}

// truncate is date_trunc of an interval.
func truncate(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	unit := strings.ToLower(a[0].Str)
	length, ok := map[string]time.Duration{
		"hour": time.Hour, "minute": time.Minute, "second": time.Second, "milliseconds": time.Millisecond,
	}[unit]
	if !ok {
		return a[0], sqlstate.New(sqlstate.FeatureNotSupported, "unit \"%s\" not supported for type interval", sqlstate.Cut(unit, 64)).
			WithHint("date_trunc knows hour, minute, second and milliseconds of intervals.")
	}
	return datum.CutInterval(a[1], length.Microseconds()), nil
}

// intervalMicros is the length of an interval, with years of 365.25 days and
// months of 30.
func intervalMicros(v datum.Value) *big.Int {
	months, days, micros := v.Span()
	quarterDays := int64(months/12)*1461 + int64(months%12)*30*4 + int64(days)*4
	length := new(big.Int).Mul(big.NewInt(quarterDays), big.NewInt((6 * time.Hour).Microseconds()))
	return length.Add(length, big.NewInt(micros))
}
