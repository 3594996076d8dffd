package mysql

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// intervalCast finds INTERVAL x unit, which the parser leaves as a cast.
func intervalCast(e syntax.Expr) (*syntax.Cast, bool) {
	c, ok := engine.Unparen(e).(*syntax.Cast)
	if !ok || !strings.HasPrefix(c.Type.Name.Last(), "interval ") {
		return nil, false
	}
	return c, true
}

// addInterval is date ± INTERVAL x unit.
func addInterval(p *engine.Planner, s *engine.Scope, pos syntax.Pos, date syntax.Expr, c *syntax.Cast, subtract bool) (*engine.Expr, error) {
	d, err := p.Expr(s, date)
	if err != nil {
		return nil, err
	}
	n, err := p.Expr(s, c.X)
	if err != nil {
		return nil, err
	}
	x, err := shiftDate(p, d, n, strings.TrimPrefix(c.Type.Name.Last(), "interval "), subtract)
	return x, engine.At(pos, err)
}

// shiftDate moves a date by n units. A date moved by days stays a date.
func shiftDate(p *engine.Planner, d, n *engine.Expr, unit string, subtract bool) (*engine.Expr, error) {
	t := d.Type
	switch {
	case t == datum.Date && unitIsDays(unit), t == datum.Time && !unitIsDays(unit), t == datum.Timestamp:
	case engine.IsString(t):
		t = datum.Text
	default:
		t = datum.Timestamp
	}
	n, err := p.Coerce(n, datum.Text, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	if d, err = p.ResolveUnknown(d); err != nil {
		return nil, err
	}
	e := engine.Strict2(t, d, n, func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		if t == datum.Time {
			months, days, micros := unitsOf(b.Str, unit)
			_ = months
			if subtract {
				micros, days = -micros, -days
			}
			return timeOfMicros(a.Int + micros + days*86_400_000_000), nil
		}
		at, err := timeOf(x, a, datum.Timestamp)
		if err != nil || !at.Valid {
			return datum.Null(t), err
		}
		months, days, micros := unitsOf(b.Str, unit)
		if subtract {
			months, days, micros = -months, -days, -micros
		}
		moved, ok := moveTime(civilTime(at), months, days, micros)
		if !ok {
			Warn(x, sqlstate.New(sqlstate.DatetimeOverflow, "Datetime function: datetime field overflow"))
			return datum.Null(t), nil
		}
		switch {
		case t == datum.Date:
			return dateOf(moved), nil
		case t == datum.Text:
			v := datetimeOf(moved)
			if parsed, ok := parseTime(a.Str, false); ok && parsed.Type == datum.Date && unitIsDays(unit) {
				v = dateOf(moved)
			} else if moved.Nanosecond() != 0 {
				return datum.MakeText(moved.Format("2006-01-02 15:04:05.999999")), nil
			}
			return datum.MakeText(TextOf(x, v)), nil
		}
		return datetimeOf(moved), nil
	})
	if e.TypeMod = d.TypeMod; t != datum.Timestamp {
		e.TypeMod = -1
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
			us, _ := decimalInt(roundDecimal(mustMillion(decimalText(number)), 0).Str)
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
func dateAddCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
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
	return addInterval(p, s, e.Pos, e.Args[0].Value, c, subtract)
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

func timestampAddCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) != 3 {
		return nil, parameterCount("timestampadd")
	}
	unit, ok := unitArgument(e.Args[0].Value)
	if !ok {
		return nil, sqlstate.New(sqlstate.SyntaxError, "TIMESTAMPADD needs a unit")
	}
	c := &syntax.Cast{X: e.Args[1].Value, Type: syntax.TypeName{Name: syntax.Name{"interval " + unit}}}
	return addInterval(p, s, e.Pos, e.Args[2].Value, c, false)
}

func timestampDiffCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) != 3 {
		return nil, parameterCount("timestampdiff")
	}
	unit, ok := unitArgument(e.Args[0].Value)
	if !ok {
		return nil, sqlstate.New(sqlstate.SyntaxError, "TIMESTAMPDIFF needs a unit")
	}
	es, err := p.Exprs(s, []syntax.Expr{e.Args[1].Value, e.Args[2].Value})
	if err == nil {
		err = p.CoerceAll(es, datum.Timestamp)
	}
	if err != nil {
		return nil, err
	}
	return engine.Strict2(datum.Int8, es[0], es[1], func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
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
