package mysql

import (
	"slices"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// timeFunctions lists MySQL's date and time functions (manual, 12.7) that clients
// use.
var timeFunctions = slices.Concat(
	alias(engine.Function{Name: "now", Args: []engine.Argument{{Type: datum.Int8, Optional: true}}, Result: datum.Timestamp, Volatile: engine.Stable, Does: engine.Typed(now)},
		"current_timestamp"),
	[]engine.Function{
		{Name: "unix_timestamp", Result: datum.Int8, Volatile: engine.Stable, Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(x.Started.Unix()), nil
		})},
		{Name: "convert_tz", Args: engine.Args(datum.Timestamp, datum.Text, datum.Text), Result: datum.Timestamp, Does: engine.Eval(convertTZ)},
	},
)

// now implements NOW and its synonyms, with a precision of 0 to 6 digits.
func now(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	digits, unit := int64(0), time.Second
	if len(es) > 0 {
		v, ok := p.ConstantValue(es[0])
		if !ok || !v.Valid || v.Int < 0 || v.Int > 6 {
			return nil, sqlstate.New(sqlstate.SyntaxError, "Too big precision specified for 'now'. Maximum is 6").WithMySQL(1426, "42000")
		}
		digits = v.Int
	}
	for range digits {
		unit /= 10
	}
	e := engine.Derive(datum.Timestamp, func(x *engine.Exec) (datum.Value, error) {
		return datum.Cast(datum.TimestampTZFromTime(x.Started.Truncate(unit)), datum.Timestamp, x.Env())
	})
	e.TypeMod = int32(digits)
	return e, nil
}

// convertTZ implements CONVERT_TZ. An unknown time zone gives NULL.
func convertTZ(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, err1 := setting.MySQLZone(a[1].Str)
	to, err2 := setting.MySQLZone(a[2].Str)
	if err1 != nil || err2 != nil {
		return datum.Null(datum.Timestamp), nil
	}
	civil := a[0]
	civil.Type = datum.TimestampTZ
	t := civil.GoTime().UTC()
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), from) // of two, the first
	v, err := datum.Cast(datum.TimestampTZFromTime(at), datum.Timestamp, &datum.Env{Location: to})
	if err != nil || at.In(to).Year() > 9999 { // out of range: as it was
		return a[0], nil
	}
	return v, nil
}

// datetimeOf makes a DATETIME of a time in UTC.
func datetimeOf(t time.Time) datum.Value {
	v := datum.TimestampTZFromTime(t)
	v.Type = datum.Timestamp
	return v
}
