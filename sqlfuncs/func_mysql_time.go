package sqlfuncs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// mysqlTimeFunctions are MySQL's date and time functions (manual, 12.7).
var mysqlTimeFunctions = families(
	alias(nowFunction("now", datum.Timestamp, localNow), "current_timestamp", "localtime", "localtimestamp", "sysdate"),
	alias(nowFunction("curtime", datum.Time, localNow), "current_time"),
	alias(todayFunction("curdate", localNow), "current_date"),
	[]function{
		nowFunction("utc_timestamp", datum.Timestamp, utcNow), nowFunction("utc_time", datum.Time, utcNow), todayFunction("utc_date", utcNow),
		{name: "unix_timestamp", args: []argument{{typ: anyElement, optional: true}}, result: datum.Int8, volatile: stable, typed: unixTimestampMySQL},
		{name: "from_unixtime", args: []argument{{typ: datum.Numeric}, {typ: datum.Text, optional: true}}, result: datum.Timestamp, volatile: stable, typed: fromUnixtime},
		{name: "date_format", args: args(datum.Timestamp, datum.Text), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(dateFormat(civilTime(a[0]), a[1].Str)), nil
		}},
		{name: "time_format", args: args(datum.Time, datum.Text), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(dateFormat(time.Unix(0, a[0].Int*1000).UTC(), a[1].Str)), nil
		}},
		{name: "date", args: args(datum.Date), result: datum.Date, eval: first},
		{name: "time", args: args(datum.Time), result: datum.Time, eval: first},
		{
			name: "timestamp", args: []argument{{typ: datum.Timestamp}, {typ: datum.Time, optional: true}}, result: datum.Timestamp,
			eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
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
			name: "week", args: []argument{{typ: datum.Timestamp}, {typ: datum.Int8, optional: true}}, result: datum.Int4,
			eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
				mode := int64(0)
				if len(a) > 1 {
					mode = a[1].Int
				}
				_, w := weekMySQL(civilTime(a[0]), mode)
				return datum.MakeInt4(int64(w)), nil
			},
		},
		{
			name: "yearweek", args: []argument{{typ: datum.Timestamp}, {typ: datum.Int8, optional: true}}, result: datum.Int4,
			eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
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
		{name: "last_day", args: args(datum.Timestamp), result: datum.Date, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			t := civilTime(a[0])
			return dateOf(time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC)), nil
		}},
		{name: "datediff", args: args(datum.Date, datum.Date), result: datum.Int4, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(a[0].Int - a[1].Int), nil
		}},
		{name: "timediff", args: args(anyElement, anyElement), result: datum.Time, typed: timeDiff},
		{name: "to_days", args: args(datum.Date), result: datum.Int4, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(a[0].Int + daysTo2000), nil
		}},
		{name: "from_days", args: args(datum.Int8), result: datum.Date, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.Value{Type: datum.Date, Valid: true, Int: a[0].Int - daysTo2000}, nil
		}},
		{name: "to_seconds", args: args(datum.Timestamp), result: datum.Int8, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(civilTime(a[0]).Unix() - time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() + daysTo2000*86400), nil
		}},
		{name: "makedate", args: args(datum.Int8, datum.Int8), result: datum.Date, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			if a[1].Int < 1 || a[0].Int < 0 || a[0].Int > 9999 || a[1].Int > 366*9999 {
				return datum.Null(datum.Date), nil
			}
			return dateOf(time.Date(int(a[0].Int), 1, int(a[1].Int), 0, 0, 0, 0, time.UTC)), nil
		}},
		{name: "maketime", args: args(datum.Int8, datum.Int8, datum.Int8), result: datum.Time, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			if a[1].Int < 0 || a[1].Int > 59 || a[2].Int < 0 || a[2].Int > 59 {
				return datum.Null(datum.Time), nil
			}
			return timeOfMicros((a[0].Int*3600 + a[1].Int*60 + a[2].Int) * 1e6), nil
		}},
		{name: "sec_to_time", args: args(datum.Float8), result: datum.Time, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return timeOfMicros(int64(a[0].Float * 1e6)), nil
		}},
		{name: "convert_tz", args: args(datum.Timestamp, datum.Text, datum.Text), result: datum.Timestamp, eval: convertTZ},
		{name: "str_to_date", args: args(datum.Text, datum.Text), result: datum.Timestamp, eval: strToDate},
		{name: "addtime", args: args(anyElement, datum.Time), result: anyElement, typed: addTime(1)},
		{name: "subtime", args: args(anyElement, datum.Time), result: anyElement, typed: addTime(-1)},
	},
	alias(partOfDate("dayofmonth", time.Time.Day), "day"),
)

// daysTo2000 is TO_DAYS('2000-01-01').
const daysTo2000 = 730485

func first(_ *exec, a []datum.Value) (datum.Value, error) { return a[0], nil }

func utcNow(x *exec) time.Time { return x.started.UTC() }

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
func nowFunction(name string, t datum.OID, now func(x *exec) time.Time) function {
	return function{
		name: name, args: []argument{{typ: datum.Int8, optional: true}}, result: t, volatile: stable,
		typed: func(p *planner, es []*expr) (*expr, error) {
			digits := int64(0)
			if len(es) > 0 {
				v, ok := p.constantValue(es[0])
				if !ok || !v.Valid || v.Int < 0 || v.Int > 6 {
					return nil, sqlstate.New(sqlstate.SyntaxError, "Too big precision specified for '%s'. Maximum is 6", name).WithMySQL(1426, "42000")
				}
				digits = v.Int
			}
			e := derive(t, func(x *exec) (datum.Value, error) {
				at := now(x).Truncate(time.Second / time.Duration(pow10Int(digits)))
				if t == datum.Time {
					return timeOfMicros(int64(at.Sub(at.Truncate(24*time.Hour)) / time.Microsecond)), nil
				}
				return datetimeOf(at), nil
			})
			e.mod = int32(digits)
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

func todayFunction(name string, now func(x *exec) time.Time) function {
	return function{
		name: name, result: datum.Date, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) { return dateOf(now(x)), nil },
	}
}

func partOfDate(name string, f func(time.Time) int) function {
	return function{
		name: name, args: args(datum.Timestamp), result: datum.Int4,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(f(civilTime(a[0])))), nil
		},
	}
}

func dateText(name string, f func(time.Time) string) function {
	return function{
		name: name, args: args(datum.Timestamp), result: datum.Text,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return datum.MakeText(f(civilTime(a[0]))), nil },
	}
}

func clockPart(name string, f func(micros int64) int64) function {
	return function{
		name: name, args: args(datum.Time), result: datum.Int4,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(f(max(a[0].Int, -a[0].Int))), nil
		},
	}
}

// unixTimestampMySQL is UNIX_TIMESTAMP([datetime]), with a fraction where the
// argument has one.
func unixTimestampMySQL(p *planner, es []*expr) (*expr, error) {
	if len(es) == 0 {
		e := derive(datum.Int8, func(x *exec) (datum.Value, error) { return datum.MakeInt8(x.started.Unix()), nil })
		return e, nil
	}
	t := datum.Int8
	if isString(es[0].typ) || es[0].mod > 0 {
		if v, ok := p.constantValue(es[0]); !ok || strings.Contains(v.Str, ".") {
			t = datum.Numeric
		}
	}
	e, err := p.coerce(es[0], datum.Timestamp, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return derive(t, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		if err != nil || !v.Valid {
			return datum.Null(t), err
		}
		at, err := datum.Cast(v, datum.TimestampTZ, x.env())
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

func fromUnixtime(p *planner, es []*expr) (*expr, error) {
	exact := isInteger(es[0].typ)
	n, err := p.coerce(es[0], datum.Numeric, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	e := derive(datum.Timestamp, func(x *exec) (datum.Value, error) {
		v, err := n.eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Timestamp), err
		}
		f, err := decimalInt(roundDecimal(mustMillion(v.Str), 0, false).Str)
		if err != nil || f < 0 || f > 1e6*(1<<38) {
			return datum.Null(datum.Timestamp), nil
		}
		return datum.Cast(datum.TimestampTZFromTime(time.UnixMicro(f)), datum.Timestamp, x.env())
	}, n)
	if e.mod = 0; !exact {
		e.mod = 6
	}
	if len(es) == 1 {
		return e, nil
	}
	format, err := p.coerce(es[1], datum.Text, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return strict2(datum.Text, e, format, func(_ *exec, a, b datum.Value) (datum.Value, error) {
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

// dateFormat is DATE_FORMAT.
func dateFormat(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			b.WriteByte(c)
			continue
		}
		i++
		hour12 := (t.Hour()+11)%12 + 1
		switch format[i] {
		case 'a':
			b.WriteString(t.Weekday().String()[:3])
		case 'b':
			b.WriteString(t.Month().String()[:3])
		case 'c':
			b.WriteString(itoa(int(t.Month())))
		case 'D':
			b.WriteString(itoa(t.Day()) + ordinal(t.Day()))
		case 'd':
			fmt.Fprintf(&b, "%02d", t.Day())
		case 'e':
			b.WriteString(itoa(t.Day()))
		case 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		case 'H':
			fmt.Fprintf(&b, "%02d", t.Hour())
		case 'h', 'I':
			fmt.Fprintf(&b, "%02d", hour12)
		case 'i':
			fmt.Fprintf(&b, "%02d", t.Minute())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'k':
			b.WriteString(itoa(t.Hour()))
		case 'l':
			b.WriteString(itoa(hour12))
		case 'M':
			b.WriteString(t.Month().String())
		case 'm':
			fmt.Fprintf(&b, "%02d", t.Month())
		case 'p':
			b.WriteString(t.Format("PM"))
		case 'r':
			b.WriteString(t.Format("03:04:05 PM"))
		case 'S', 's':
			fmt.Fprintf(&b, "%02d", t.Second())
		case 'T':
			b.WriteString(t.Format("15:04:05"))
		case 'U', 'u', 'V', 'v':
			mode := map[byte]int64{'U': 0, 'u': 1, 'V': 2, 'v': 3}[format[i]]
			_, w := weekMySQL(t, mode)
			fmt.Fprintf(&b, "%02d", w)
		case 'W':
			b.WriteString(t.Weekday().String())
		case 'w':
			b.WriteString(itoa(int(t.Weekday())))
		case 'X', 'x':
			y, _ := weekMySQL(t, map[byte]int64{'X': 2, 'x': 3}[format[i]])
			fmt.Fprintf(&b, "%04d", y)
		case 'Y':
			fmt.Fprintf(&b, "%04d", t.Year())
		case 'y':
			fmt.Fprintf(&b, "%02d", t.Year()%100)
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String()
}

func ordinal(n int) string {
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}

// strToDate reads a text by a format; what does not fit is NULL.
func strToDate(x *exec, a []datum.Value) (datum.Value, error) {
	s := a[0].Str
	year, month, day, hour, minute, second, micros := 0, 1, 1, 0, 0, 0, 0
	pm, twelve, ok := false, false, true
	number := func(most int) int {
		n := 0
		for n < most && n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(s[:n])
		ok = ok && err == nil
		s = s[n:]
		return v
	}
	word := func(words []string) int {
		for i, w := range words {
			for _, try := range []string{w, w[:3]} {
				if len(s) >= len(try) && strings.EqualFold(s[:len(try)], try) {
					s = s[len(try):]
					return i
				}
			}
		}
		ok = false
		return 0
	}
	format := strings.NewReplacer("%T", "%H:%i:%s", "%r", "%h:%i:%s %p").Replace(a[1].Str)
	for i := 0; i < len(format) && ok; i++ {
		c := format[i]
		if c == ' ' {
			s = strings.TrimLeft(s, " ")
			continue
		}
		if c != '%' || i+1 == len(format) {
			ok = s != "" && s[0] == c
			if ok {
				s = s[1:]
			}
			continue
		}
		i++
		switch format[i] {
		case 'Y':
			year = number(4)
		case 'y':
			year = century(number(2))
		case 'm', 'c':
			month = number(2)
		case 'M', 'b':
			month = word(monthWords) + 1
		case 'd', 'e':
			day = number(2)
		case 'H', 'k':
			hour = number(2)
		case 'h', 'I', 'l':
			hour, twelve = number(2), true
		case 'i':
			minute = number(2)
		case 's', 'S':
			second = number(2)
		case 'f':
			n := len(s)
			micros = number(6)
			for digits := n - len(s); digits < 6; digits++ {
				micros *= 10
			}
		case 'p':
			pm = word([]string{"AM ", "PM "}) == 1
		case 'W', 'a':
			word(weekdayWords)
		default:
			ok = false
		}
	}
	if twelve {
		hour %= 12
		if pm {
			hour += 12
		}
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, micros*1000, time.UTC)
	if !ok || hour > 23 || minute > 59 || second > 59 || t.Day() != day || int(t.Month()) != month {
		x.warnMySQL(sqlstate.New(sqlstate.InvalidDatetime, "Incorrect datetime value: '%s' for function str_to_date", cut(a[0].Str, 64)).WithMySQL(1411, "HY000"))
		return datum.Null(datum.Timestamp), nil
	}
	return datetimeOf(t), nil
}

var (
	monthWords   = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdayWords = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

func convertTZ(_ *exec, a []datum.Value) (datum.Value, error) {
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
func timeDiff(p *planner, es []*expr) (*expr, error) {
	if es[0].typ != datum.Time && es[1].typ != datum.Time {
		es = slices.Clone(es)
		text := isString(es[0].typ) || isString(es[1].typ)
		if err := p.coerceAll(es, datum.Text); text && err != nil {
			return nil, err
		}
	}
	return strict2(datum.Time, es[0], es[1], func(x *exec, a, b datum.Value) (datum.Value, error) {
		t := datum.Time
		if isString(a.Type) && strings.Contains(a.Str, "-") && !strings.HasPrefix(a.Str, "-") || a.Type == datum.Timestamp {
			t = datum.Timestamp
		}
		l, err := x.mysqlTime(a, t)
		if err != nil || !l.Valid {
			return datum.Null(datum.Time), err
		}
		r, err := x.mysqlTime(b, t)
		if err != nil || !r.Valid {
			return datum.Null(datum.Time), err
		}
		return timeOfMicros(l.Int - r.Int), nil
	}), nil
}

func addTime(sign int64) func(*planner, []*expr) (*expr, error) {
	return func(p *planner, es []*expr) (*expr, error) {
		t := datum.Timestamp
		if es[0].typ == datum.Time {
			t = datum.Time
		}
		l, err := p.coerce(es[0], t, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		r, err := p.coerce(es[1], datum.Time, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		return strict2(t, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
			a.Int += sign * b.Int
			return a, nil
		}), nil
	}
}

// ---- intervals ----

// intervalCast finds INTERVAL x unit, which the parser leaves as a cast.
func intervalCast(e syntax.Expr) (*syntax.Cast, bool) {
	c, ok := unparen(e).(*syntax.Cast)
	if !ok || !strings.HasPrefix(c.Type.Name.Last(), "interval ") {
		return nil, false
	}
	return c, true
}

// addInterval is date ± INTERVAL x unit.
func (p *planner) addInterval(s *scope, pos syntax.Pos, date syntax.Expr, c *syntax.Cast, subtract bool) (*expr, error) {
	d, err := p.expr(s, date)
	if err != nil {
		return nil, err
	}
	n, err := p.expr(s, c.X)
	if err != nil {
		return nil, err
	}
	x, err := p.shiftDate(d, n, strings.TrimPrefix(c.Type.Name.Last(), "interval "), subtract)
	return x, at(pos, err)
}

// shiftDate moves a date by n units. A date moved by days stays a date.
func (p *planner) shiftDate(d, n *expr, unit string, subtract bool) (*expr, error) {
	t := d.typ
	switch {
	case t == datum.Date && unitIsDays(unit), t == datum.Time && !unitIsDays(unit), t == datum.Timestamp:
	case isString(t):
		t = datum.Text
	default:
		t = datum.Timestamp
	}
	n, err := p.coerce(n, datum.Text, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	if d, err = p.resolveUnknown(d); err != nil {
		return nil, err
	}
	e := strict2(t, d, n, func(x *exec, a, b datum.Value) (datum.Value, error) {
		if t == datum.Time {
			months, days, micros := unitsOf(b.Str, unit)
			_ = months
			if subtract {
				micros, days = -micros, -days
			}
			return timeOfMicros(a.Int + micros + days*86_400_000_000), nil
		}
		at, err := x.mysqlTime(a, datum.Timestamp)
		if err != nil || !at.Valid {
			return datum.Null(t), err
		}
		months, days, micros := unitsOf(b.Str, unit)
		if subtract {
			months, days, micros = -months, -days, -micros
		}
		moved, ok := moveTime(civilTime(at), months, days, micros)
		if !ok {
			x.warnMySQL(sqlstate.New(sqlstate.DatetimeOverflow, "Datetime function: datetime field overflow"))
			return datum.Null(t), nil
		}
		switch {
		case t == datum.Date:
			return dateOf(moved), nil
		case t == datum.Text:
			v := datetimeOf(moved)
			if parsed, ok := parseMySQLTime(a.Str, false); ok && parsed.Type == datum.Date && unitIsDays(unit) {
				v = dateOf(moved)
			} else if moved.Nanosecond() != 0 {
				return datum.MakeText(moved.Format("2006-01-02 15:04:05.999999")), nil
			}
			return datum.MakeText(x.mysqlText(v)), nil
		}
		return datetimeOf(moved), nil
	})
	if e.mod = d.mod; t != datum.Timestamp {
		e.mod = -1
	}
	return e, nil
}

func unitIsDays(unit string) bool {
	switch unit {
	case "day", "week", "month", "quarter", "year", "year to month":
		return true
	}
	return false
}

func moveTime(t time.Time, months, days, micros int64) (time.Time, bool) {
	const most = 12 * 10_000
	if months > most || months < -most || days > most*31 || days < -most*31 {
		return t, false
	}
	total := int64(t.Year())*12 + int64(t.Month()) - 1 + months
	year, month := int(total/12), time.Month(total%12+1)
	day := min(t.Day(), time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day())
	out := time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).AddDate(0, 0, int(days))
	if seconds := micros / 1e6; seconds > 1<<38 || seconds < -1<<38 {
		return t, false
	}
	out = out.Add(time.Duration(micros/1e6) * time.Second).Add(time.Duration(micros%1e6) * time.Microsecond)
	return out, out.Year() >= 1 && out.Year() <= 9999
}

// unitMicros are the units that are a fixed time, and unitOrder the order in
// which a compound interval such as DAY_SECOND lists them.
var (
	unitMicros = map[string]int64{"microsecond": 1, "second": 1e6, "minute": 60e6, "hour": 3600e6, "day": 86_400e6, "week": 7 * 86_400e6}
	unitOrder  = []string{"year", "month", "day", "hour", "minute", "second", "microsecond"}
)

// unitsOf reads the value of an interval.
func unitsOf(text, unit string) (months, days, micros int64) {
	firstUnit, lastUnit, compound := strings.Cut(unit, " to ")
	if !compound {
		number, _ := numberPrefix(text)
		n, _ := decimalInt(decimalText(number))
		switch unit {
		case "year":
			return n * 12, 0, 0
		case "quarter":
			return n * 3, 0, 0
		case "month":
			return n, 0, 0
		case "day":
			return 0, n, 0
		case "week":
			return 0, n * 7, 0
		case "second":
			us, _ := decimalInt(roundDecimal(mustMillion(decimalText(number)), 0, false).Str)
			return 0, 0, us
		}
		if n > 1<<62/unitMicros[unit] || n < -(1<<62)/unitMicros[unit] {
			return 0, 0, 1 << 62
		}
		return 0, 0, n * unitMicros[unit]
	}
	sign := int64(1)
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "-") {
		sign = -1
	}
	var numbers []int64
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.ParseInt(f, 10, 64)
		numbers = append(numbers, min(n, 1<<32))
	}
	from, to := slices.Index(unitOrder, firstUnit), slices.Index(unitOrder, lastUnit)
	units := unitOrder[from : to+1]
	for len(numbers) < len(units) { // missing ones are those at the left
		numbers = append([]int64{0}, numbers...)
	}
	for i, u := range units {
		n := sign * numbers[i]
		switch u {
		case "year":
			months += 12 * n
		case "month":
			months += n
		case "day":
			days += n
		default:
			micros += n * unitMicros[u]
		}
	}
	return months, days, micros
}

// decimalText is the plain form of a number that may have an exponent.
func decimalText(number string) string {
	if strings.ContainsAny(number, "eE") {
		f, _ := strconv.ParseFloat(number, 64)
		return floatDecimal(f)
	}
	return strings.TrimPrefix(number, "+")
}

// dateAddCall is DATE_ADD(d, INTERVAL x unit), ADDDATE(d, days) and their
// opposites.
func dateAddCall(p *planner, s *scope, e *syntax.FuncCall) (*expr, error) {
	name := e.Name.Last()
	if len(e.Args) != 2 {
		return nil, parameterCount(name)
	}
	subtract := strings.HasSuffix(name, "sub") || strings.HasPrefix(name, "sub")
	c, ok := intervalCast(e.Args[1].Value)
	if !ok {
		if !strings.HasSuffix(name, "date") {
			return nil, sqlstate.New(sqlstate.SyntaxError, "%s needs an INTERVAL", name)
		}
		c = &syntax.Cast{X: e.Args[1].Value, Type: syntax.TypeName{Name: syntax.Name{"interval day"}}}
	}
	return p.addInterval(s, e.Pos, e.Args[0].Value, c, subtract)
}

// unitArgument reads the unit of TIMESTAMPADD and TIMESTAMPDIFF.
func unitArgument(e syntax.Expr) (string, bool) {
	c, ok := e.(*syntax.Column)
	if !ok || len(c.Name) != 1 {
		return "", false
	}
	unit := strings.TrimPrefix(strings.ToLower(c.Name[0]), "sql_tsi_")
	return unit, unitMicros[unit] != 0 || unit == "month" || unit == "quarter" || unit == "year"
}

func timestampAddCall(p *planner, s *scope, e *syntax.FuncCall) (*expr, error) {
	if len(e.Args) != 3 {
		return nil, parameterCount("timestampadd")
	}
	unit, ok := unitArgument(e.Args[0].Value)
	if !ok {
		return nil, sqlstate.New(sqlstate.SyntaxError, "TIMESTAMPADD needs a unit")
	}
	c := &syntax.Cast{X: e.Args[1].Value, Type: syntax.TypeName{Name: syntax.Name{"interval " + unit}}}
	return p.addInterval(s, e.Pos, e.Args[2].Value, c, false)
}

func timestampDiffCall(p *planner, s *scope, e *syntax.FuncCall) (*expr, error) {
	if len(e.Args) != 3 {
		return nil, parameterCount("timestampdiff")
	}
	unit, ok := unitArgument(e.Args[0].Value)
	if !ok {
		return nil, sqlstate.New(sqlstate.SyntaxError, "TIMESTAMPDIFF needs a unit")
	}
	es, err := p.exprs(s, []syntax.Expr{e.Args[1].Value, e.Args[2].Value})
	if err == nil {
		err = p.coerceAll(es, datum.Timestamp)
	}
	if err != nil {
		return nil, err
	}
	return strict2(datum.Int8, es[0], es[1], func(_ *exec, a, b datum.Value) (datum.Value, error) {
		if us := unitMicros[unit]; us != 0 {
			return datum.MakeInt8((b.Int - a.Int) / us), nil
		}
		n := monthsBetween(civilTime(a), civilTime(b))
		return datum.MakeInt8(n / map[string]int64{"month": 1, "quarter": 3, "year": 12}[unit]), nil
	}), nil
}

// monthsBetween counts whole months from a to b.
func monthsBetween(a, b time.Time) int64 {
	if b.Before(a) {
		return -monthsBetween(b, a)
	}
	n := int64(b.Year()-a.Year())*12 + int64(b.Month()) - int64(a.Month())
	rest := func(t time.Time) time.Duration {
		return time.Duration(t.Day())*24*time.Hour + t.Sub(t.Truncate(24*time.Hour))
	}
	if rest(b) < rest(a) {
		n--
	}
	return n
}

// extractCall is EXTRACT(unit FROM x).
func extractCall(p *planner, s *scope, e *syntax.FuncCall) (*expr, error) {
	lit, ok := e.Args[0].Value.(*syntax.Literal)
	if !ok || len(e.Args) != 2 {
		return nil, sqlstate.New(sqlstate.SyntaxError, "EXTRACT needs a unit")
	}
	unit := strings.ToLower(lit.Text)
	format := map[string]string{
		"year": "%Y", "quarter": "", "month": "%m", "week": "%U", "day": "%d", "hour": "%H", "minute": "%i", "second": "%s",
		"microsecond": "%f", "year_month": "%Y%m", "day_hour": "%d%H", "day_minute": "%d%H%i", "day_second": "%d%H%i%s",
		"hour_minute": "%H%i", "hour_second": "%H%i%s", "minute_second": "%i%s", "second_microsecond": "%s%f", "day_microsecond": "%d%H%i%s%f",
		"hour_microsecond": "%H%i%s%f", "minute_microsecond": "%i%s%f",
	}
	f, ok := format[unit]
	if !ok {
		return nil, sqlstate.New(sqlstate.SyntaxError, "EXTRACT does not know the unit %s", cut(unit, 32))
	}
	x, err := p.expr(s, e.Args[1].Value)
	if err == nil && x.typ != datum.Time {
		x, err = p.coerce(x, datum.Timestamp, datum.ImplicitCast)
	} else if err == nil {
		x, err = p.coerce(x, datum.Timestamp, datum.ImplicitCast)
	}
	if err != nil {
		return nil, err
	}
	return derive(datum.Int8, func(ex *exec) (datum.Value, error) {
		v, err := x.eval(ex)
		if err != nil || !v.Valid {
			return datum.Null(datum.Int8), err
		}
		t := civilTime(v)
		if unit == "quarter" {
			return datum.MakeInt8(int64(t.Month()+2) / 3), nil
		}
		n, _ := strconv.ParseInt(dateFormat(t, f), 10, 64)
		return datum.MakeInt8(n), nil
	}, x), nil
}
