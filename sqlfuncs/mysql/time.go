package mysql

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"nextid/sqlfuncs/setting"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// timeFunctions are MySQL's date and time functions (manual, 12.7).
var timeFunctions = slices.Concat(
	alias(nowFunction("now", datum.Timestamp, localNow), "current_timestamp", "localtime", "localtimestamp", "sysdate"),
	alias(nowFunction("curtime", datum.Time, localNow), "current_time"),
	alias(todayFunction("curdate", localNow), "current_date"),
	[]engine.Function{
		nowFunction("utc_timestamp", datum.Timestamp, utcNow), nowFunction("utc_time", datum.Time, utcNow), todayFunction("utc_date", utcNow),
		{Name: "unix_timestamp", Args: []engine.Argument{{Type: engine.AnyElement, Optional: true}}, Result: datum.Int8, Volatile: engine.Stable, Typed: unixTimestamp},
		{Name: "convert_tz", Args: engine.Args(datum.Timestamp, datum.Text, datum.Text), Result: datum.Timestamp, Eval: convertTZ},
	},
)

func utcNow(x *engine.Exec) time.Time { return x.Started.UTC() }

func dateOf(t time.Time) datum.Value {
	d, err := datum.Cast(datetimeOf(t), datum.Date, nil)
	if err != nil {
		return datum.Null(datum.Date)
	}
	return d
}

func timeOfMicros(us int64) datum.Value {
	return datum.Value{Type: datum.Time, Valid: true, Int: max(min(us, maxTimeMicros), -maxTimeMicros)}
}

// nowFunction is NOW and the like, with a precision of 0 to 6 digits.
func nowFunction(name string, t datum.OID, now func(x *engine.Exec) time.Time) engine.Function {
	return engine.Function{
		Name: name, Args: []engine.Argument{{Type: datum.Int8, Optional: true}}, Result: t, Volatile: engine.Stable,
		Typed: func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
			digits := int64(0)
			if len(es) > 0 {
				v, ok := p.ConstantValue(es[0])
				if !ok || !v.Valid || v.Int < 0 || v.Int > 6 {
					return nil, sqlstate.New(sqlstate.SyntaxError, "Too big precision specified for '%s'. Maximum is 6", name).WithMySQL(1426, "42000")
				}
				digits = v.Int
			}
			e := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
				at := now(x).Truncate(time.Second / time.Duration(pow10Int(digits)))
				if t == datum.Time {
					return timeOfMicros(int64(at.Sub(at.Truncate(24*time.Hour)) / time.Microsecond)), nil
				}
				return datetimeOf(at), nil
			})
			e.TypeMod = int32(digits)
			return e, nil
		},
	}
}

func pow10Int(n int64) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func todayFunction(name string, now func(x *engine.Exec) time.Time) engine.Function {
	return engine.Function{
		Name: name, Result: datum.Date, Volatile: engine.Stable,
		Eval: func(x *engine.Exec, _ []datum.Value) (datum.Value, error) { return dateOf(now(x)), nil },
	}
}

// unixTimestamp is UNIX_TIMESTAMP([datetime]), with a fraction where the
// argument has one.
func unixTimestamp(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	if len(es) == 0 {
		e := engine.Derive(datum.Int8, func(x *engine.Exec) (datum.Value, error) { return datum.MakeInt8(x.Started.Unix()), nil })
		return e, nil
	}
	t := datum.Int8
	if engine.IsString(es[0].Type) || es[0].TypeMod > 0 {
		if v, ok := p.ConstantValue(es[0]); !ok || strings.Contains(v.Str, ".") {
			t = datum.Numeric
		}
	}
	e, err := p.Coerce(es[0], datum.Timestamp, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(t), err
		}
		at, err := datum.Cast(v, datum.TimestampTZ, x.Env())
		if err != nil {
			return at, err
		}
		us := at.GoTime().UnixMicro()
		if t == datum.Int8 {
			return datum.MakeInt8(us / 1e6), nil
		}
		return datum.MakeString(datum.Numeric, fmt.Sprintf("%d.%06d", us/1e6, us%1e6)), nil
	}, e), nil
}

// mustMillion multiplies a decimal by a million.
func mustMillion(text string) string {
	n := decimalOf(text)
	return decimal.New(new(big.Int).Mul(n.Coef, decimal.Pow10(6)), n.Scale).String()
}

func convertTZ(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, err1 := setting.MySQLZone(a[1].Str)
	to, err2 := setting.MySQLZone(a[2].Str)
	if err1 != nil || err2 != nil {
		return datum.Null(datum.Timestamp), nil
	}
	t := civilTime(a[0])
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), from).In(to)
	return datetimeOf(time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)), nil
}
