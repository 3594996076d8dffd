package sqlfuncs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlTimeFunctions are MySQL's date and time functions (manual, 12.7).
var mysqlTimeFunctions = families(
	alias(nowFunction("now", datum.Timestamp, localNow), "current_timestamp", "localtime", "localtimestamp", "sysdate"),
	alias(nowFunction("curtime", datum.Time, localNow), "current_time"),
	alias(todayFunction("curdate", localNow), "current_date"),
	[]engine.Function{
		nowFunction("utc_timestamp", datum.Timestamp, utcNow), nowFunction("utc_time", datum.Time, utcNow), todayFunction("utc_date", utcNow),
		{Name: "unix_timestamp", Args: []engine.Argument{{Type: engine.AnyElement, Optional: true}}, Result: datum.Int8, Volatile: engine.Stable, Typed: unixTimestampMySQL},
		{Name: "from_unixtime", Args: []engine.Argument{{Type: datum.Numeric}, {Type: datum.Text, Optional: true}}, Result: datum.Timestamp, Volatile: engine.Stable, Typed: fromUnixtime},
		{Name: "date_format", Args: engine.Args(datum.Timestamp, datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(dateFormat(civilTime(a[0]), a[1].Str)), nil
		}},
		{Name: "time_format", Args: engine.Args(datum.Time, datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(dateFormat(time.Unix(0, a[0].Int*1000).UTC(), a[1].Str)), nil
		}},
		{Name: "date", Args: engine.Args(datum.Date), Result: datum.Date, Eval: first},
		{Name: "time", Args: engine.Args(datum.Time), Result: datum.Time, Eval: first},
		{
			Name: "timestamp", Args: []engine.Argument{{Type: datum.Timestamp}, {Type: datum.Time, Optional: true}}, Result: datum.Timestamp,
			Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				if len(a) > 1 {
					a[0].Int += a[1].Int
				}
				return a[0], nil
			},
		},
		partOfDate("year", func(t time.Time) int { return t.Year() }), partOfDate("month", func(t time.Time) int { return int(t.Month()) }),
		partOfDate("quarter", func(t time.Time) int { return (int(t.Month()) + 2) / 3 }),
		partOfDate("dayofyear", time.Time.YearDay), partOfDate("dayofweek", func(t time.Time) int { return int(t.Weekday()) + 1 }),
		partOfDate("weekday", func(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }),
		partOfDate("weekofyear", func(t time.Time) int { _, w := t.ISOWeek(); return w }),
		clockPart("hour", func(us int64) int64 { return us / 3_600_000_000 }), clockPart("minute", func(us int64) int64 { return us / 60_000_000 % 60 }),
		clockPart("second", func(us int64) int64 { return us / 1_000_000 % 60 }), clockPart("microsecond", func(us int64) int64 { return us % 1_000_000 }),
		clockPart("time_to_sec", func(us int64) int64 { return us / 1_000_000 }),
		{
			Name: "week", Args: []engine.Argument{{Type: datum.Timestamp}, {Type: datum.Int8, Optional: true}}, Result: datum.Int4,
			Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				mode := int64(0)
				if len(a) > 1 {
					mode = a[1].Int
				}
				_, w := weekMySQL(civilTime(a[0]), mode)
				return datum.MakeInt4(int64(w)), nil
			},
		},
		{
			Name: "yearweek", Args: []engine.Argument{{Type: datum.Timestamp}, {Type: datum.Int8, Optional: true}}, Result: datum.Int4,
			Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				mode := int64(0)
				if len(a) > 1 {
					mode = a[1].Int
				}
				y, w := weekMySQL(civilTime(a[0]), mode|2)
				return datum.MakeInt4(int64(y*100 + w)), nil
			},
		},
		dateText("dayname", func(t time.Time) string { return t.Weekday().String() }),
		dateText("monthname", func(t time.Time) string { return t.Month().String() }),
		{Name: "last_day", Args: engine.Args(datum.Timestamp), Result: datum.Date, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			t := civilTime(a[0])
			return dateOf(time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC)), nil
		}},
		{Name: "datediff", Args: engine.Args(datum.Date, datum.Date), Result: datum.Int4, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(a[0].Int - a[1].Int), nil
		}},
		{Name: "timediff", Args: engine.Args(engine.AnyElement, engine.AnyElement), Result: datum.Time, Typed: timeDiff},
		{Name: "to_days", Args: engine.Args(datum.Date), Result: datum.Int4, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(a[0].Int + daysTo2000), nil
		}},
		{Name: "from_days", Args: engine.Args(datum.Int8), Result: datum.Date, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.Value{Type: datum.Date, Valid: true, Int: a[0].Int - daysTo2000}, nil
		}},
		{Name: "to_seconds", Args: engine.Args(datum.Timestamp), Result: datum.Int8, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(civilTime(a[0]).Unix() - time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + daysTo2000*86400), nil
		}},
		{Name: "makedate", Args: engine.Args(datum.Int8, datum.Int8), Result: datum.Date, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			if a[1].Int < 1 || a[0].Int < 0 || a[0].Int > 9999 || a[1].Int > 366*9999 {
				return datum.Null(datum.Date), nil
			}
			return dateOf(time.Date(int(a[0].Int), 1, int(a[1].Int), 0, 0, 0, 0, time.UTC)), nil
		}},
		{Name: "maketime", Args: engine.Args(datum.Int8, datum.Int8, datum.Int8), Result: datum.Time, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			if a[1].Int < 0 || a[1].Int > 59 || a[2].Int < 0 || a[2].Int > 59 {
				return datum.Null(datum.Time), nil
			}
			return timeOfMicros((a[0].Int*3600 + a[1].Int*60 + a[2].Int) * 1e6), nil
		}},
		{Name: "sec_to_time", Args: engine.Args(datum.Float8), Result: datum.Time, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return timeOfMicros(int64(a[0].Float * 1e6)), nil
		}},
		{Name: "convert_tz", Args: engine.Args(datum.Timestamp, datum.Text, datum.Text), Result: datum.Timestamp, Eval: convertTZ},
		{Name: "str_to_date", Args: engine.Args(datum.Text, datum.Text), Result: datum.Timestamp, Typed: strToDateTyped},
		{Name: "addtime", Args: engine.Args(engine.AnyElement, datum.Time), Result: engine.AnyElement, Typed: addTime(1)},
		{Name: "subtime", Args: engine.Args(engine.AnyElement, datum.Time), Result: engine.AnyElement, Typed: addTime(-1)},
	},
	alias(partOfDate("dayofmonth", time.Time.Day), "day"),
)

// daysTo2000 is TO_DAYS('2000-01-01').
const daysTo2000 = 730485

func first(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return a[0], nil }

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
				v, ok := constantValue(p, es[0])
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

func partOfDate(name string, f func(time.Time) int) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Timestamp), Result: datum.Int4,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(f(civilTime(a[0])))), nil
		},
	}
}

func dateText(name string, f func(time.Time) string) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Timestamp), Result: datum.Text,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(f(civilTime(a[0]))), nil
		},
	}
}

func clockPart(name string, f func(micros int64) int64) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Time), Result: datum.Int4,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(f(max(a[0].Int, -a[0].Int))), nil
		},
	}
}

// unixTimestampMySQL is UNIX_TIMESTAMP([datetime]), with a fraction where the
// argument has one.
func unixTimestampMySQL(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	if len(es) == 0 {
		e := engine.Derive(datum.Int8, func(x *engine.Exec) (datum.Value, error) { return datum.MakeInt8(x.Started.Unix()), nil })
		return e, nil
	}
	t := datum.Int8
	if engine.IsString(es[0].Type) || es[0].TypeMod > 0 {
		if v, ok := constantValue(p, es[0]); !ok || strings.Contains(v.Str, ".") {
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

func fromUnixtime(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	exact := engine.IsInteger(es[0].Type)
	n, err := p.Coerce(es[0], datum.Numeric, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	e := engine.Derive(datum.Timestamp, func(x *engine.Exec) (datum.Value, error) {
		v, err := n.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Timestamp), err
		}
		f, err := decimalInt(roundDecimal(mustMillion(v.Str), 0, false).Str)
		if err != nil || f < 0 || f > 1e6*(1<<38) {
			return datum.Null(datum.Timestamp), nil
		}
		return datum.Cast(datum.TimestampTZFromTime(time.UnixMicro(f)), datum.Timestamp, x.Env())
	}, n)
	if e.TypeMod = 0; !exact {
		e.TypeMod = 6
	}
	if len(es) == 1 {
		return e, nil
	}
	format, err := p.Coerce(es[1], datum.Text, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return engine.Strict2(datum.Text, e, format, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
		return datum.MakeText(dateFormat(civilTime(a), b.Str)), nil
	}), nil
}

// mustMillion multiplies a decimal by a million.
func mustMillion(text string) string {
	n, scale := splitDecimal(text)
	return joinDecimal(n.Mul(n, powerOf10(6)), scale).Str
}

// weekMySQL is the number of the week and its year (manual, WEEK): bit 0 of
// the mode begins weeks on Monday, bit 1 counts from 1, bit 2 wants four days
// of the year in week 1 – for Sunday's weeks; with Monday's it is the reverse.
func weekMySQL(t time.Time, mode int64) (year, week int) {
	monday, fromOne, firstWeekday := mode&1 != 0, mode&2 != 0, mode&4 != 0
	if !monday {
		firstWeekday = !firstWeekday
	}
	year = t.Year()
	weekday := func(t time.Time) int {
		if monday {
			return (int(t.Weekday()) + 6) % 7
		}
		return int(t.Weekday())
	}
	jan1 := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	offset := weekday(jan1)
	day := t.YearDay() - 1
	if t.Month() == 1 && t.Day() <= 7-offset {
		if !fromOne && (firstWeekday && offset != 0 || !firstWeekday && offset >= 4) {
			return year, 0
		}
		if firstWeekday && offset != 0 || !firstWeekday && offset >= 4 {
			year--
			days := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
			day += days
			offset = weekday(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		}
	}
	var d int
	if firstWeekday && offset != 0 || !firstWeekday && offset >= 4 {
		d = day - (7 - offset)
	} else {
		d = day + offset
	}
	if fromOne && d >= 52*7 {
		next := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
		o := weekday(next)
		if !firstWeekday && o < 4 || firstWeekday && o == 0 {
			return year + 1, 1
		}
	}
	return year, d/7 + 1
}

func convertTZ(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, err1 := mysqlZone(a[1].Str)
	to, err2 := mysqlZone(a[2].Str)
	if err1 != nil || err2 != nil {
		return datum.Null(datum.Timestamp), nil
	}
	t := civilTime(a[0])
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), from).In(to)
	return datetimeOf(time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)), nil
}

// timeDiff subtracts times, or datetimes.
func timeDiff(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	if es[0].Type != datum.Time && es[1].Type != datum.Time {
		es = slices.Clone(es)
		text := engine.IsString(es[0].Type) || engine.IsString(es[1].Type)
		if err := p.CoerceAll(es, datum.Text); text && err != nil {
			return nil, err
		}
	}
	return engine.Strict2(datum.Time, es[0], es[1], func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		t := datum.Time
		if engine.IsString(a.Type) && strings.Contains(a.Str, "-") && !strings.HasPrefix(a.Str, "-") || a.Type == datum.Timestamp {
			t = datum.Timestamp
		}
		l, err := mysqlTime(x, a, t)
		if err != nil || !l.Valid {
			return datum.Null(datum.Time), err
		}
		r, err := mysqlTime(x, b, t)
		if err != nil || !r.Valid {
			return datum.Null(datum.Time), err
		}
		return timeOfMicros(l.Int - r.Int), nil
	}), nil
}

func addTime(sign int64) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		if engine.IsString(es[0].Type) || es[0].Type == datum.Unknown {
			return addTimeToText(p, es, sign)
		}
		t := datum.Timestamp
		if es[0].Type == datum.Time {
			t = datum.Time
		}
		l, err := p.Coerce(es[0], t, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		r, err := p.Coerce(es[1], datum.Time, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		return engine.Strict2(t, l, r, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
			a.Int += sign * b.Int
			return a, nil
		}), nil
	}
}

// addTimeToText is ADDTIME of a text, which holds a time or a datetime.
func addTimeToText(p *engine.Planner, es []*engine.Expr, sign int64) (*engine.Expr, error) {
	l, err := p.Coerce(es[0], datum.Text, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	r, err := p.Coerce(es[1], datum.Time, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return engine.Strict2(datum.Text, l, r, func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		t := datum.Time
		if text := strings.TrimSpace(a.Str); strings.LastIndexByte(text, '-') > 0 {
			t = datum.Timestamp
		}
		v, err := mysqlTime(x, a, t)
		if err != nil || !v.Valid {
			return datum.Null(datum.Text), err
		}
		v.Int += sign * b.Int
		return datum.MakeText(mysqlText(x, v)), nil
	}), nil
}

// strToDateTyped is STR_TO_DATE: a date where the format is a constant that
// has no time in it.
func strToDateTyped(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	if err := p.CoerceAll(es, datum.Text); err != nil {
		return nil, err
	}
	x := engine.Strict2(datum.Timestamp, es[0], es[1], func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		return strToDate(x, []datum.Value{a, b})
	})
	format, ok := constantValue(p, es[1])
	if !ok || !format.Valid {
		return x, nil
	}
	for i := 0; i+1 < len(format.Str); i++ {
		if format.Str[i] == '%' {
			if i++; strings.IndexByte("HhIiklprSsTf", format.Str[i]) >= 0 {
				return x, nil
			}
		}
	}
	return p.Coerce(x, datum.Date, datum.ImplicitCast)
}
