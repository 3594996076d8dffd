package datum

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// operand is a value as type and text.
type operand struct{ typ, text string }

func (o operand) String() string { return fmt.Sprintf("%s '%s'", o.typ, o.text) }

func (o operand) value(t *testing.T, env *Env) Value {
	t.Helper()
	oid, ok := TypeByName(o.typ)
	if !ok {
		t.Fatalf("no type %s", o.typ)
	}
	v, err := ParseText(oid, o.text, env)
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	return v
}

// operands makes every text a value of every type.
func operands(types string, texts ...string) []operand {
	var out []operand
	for typ := range strings.SplitSeq(types, ",") {
		for _, text := range texts {
			out = append(out, operand{typ, text})
		}
	}
	return out
}

var numberOperands = concat(
	operands("int2", "0", "1", "-1", "7", "-7", "32767", "-32768"),
	operands("int4", "0", "2", "-3", "2147483647", "-2147483648"),
	operands("int8", "0", "1", "-1", "3", "9223372036854775807", "-9223372036854775808", "3037000500"),
	operands("float4", "0", "1.5", "-2.25", "3e38", "1e-40"),
	operands("float8", "0", "0.1", "-3", "1e308", "1e-308"),
	operands("numeric", "0", "0.00", "1", "-1.5", "3", "0.1", "10000", "9999", "99999999", "0.0001", "0.00000123", "123456789.987654321", "1e30", "1e-20", "12345678901234567890.12345"),
)

func concat(lists ...[]operand) []operand {
	var out []operand
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var timeOperands = concat(
	operands("date", "2026-11-21", "2024-02-29", "5874897-12-31"),
	operands("timestamp", "2026-11-21 10:00:00.5", "2024-01-31 23:59:59", "2000-01-01", "280000-12-31 23:59:59"),
	operands("timestamptz", "2026-11-21 10:00:00.5+02", "2024-01-31 23:59:59+00", "2026-03-28 02:30:00+01", "2026-10-24 02:30:00+02"),
	operands("interval", "1 day", "1 month", "-1 month -1 day -01:00:00", "1 year 2 mons 3 days 04:05:06.789", "100000 years", "25:00:00", "0", "178956970 years", "2147483647 days", "2562047 hours"),
	operands("int4", "0", "1", "-40", "2147483647"),
	operands("int2", "3"),
	operands("int8", "2"),
)

func compareAllArithmetic(t *testing.T, o *oracle) {
	env := &Env{Location: time.UTC}
	compareArithmetic(t, o, env, numberOperands)
	compareArithmetic(t, o, env, timeOperands)
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	env.Location = paris
	o.exec("SET TimeZone = 'Europe/Paris'")
	compareArithmetic(t, o, env, timeOperands)
}

// compareArithmetic computes all pairs with all operators, here and there.
func compareArithmetic(t *testing.T, o *oracle, env *Env, list []operand) {
	for _, left := range list {
		for _, right := range list {
			for _, op := range "+-*/%" {
				query := fmt.Sprintf("SELECT $1::text::%s %c $2::text::%s", left.typ, op, right.typ)
				want, typ, wantErr := o.value(0, query, left.text, right.text)
				if code(wantErr) == "42883" || code(wantErr) == "42725" || strings.Contains(fmt.Sprint(wantErr), "underflow") {
					continue // the planner's business, the next test has ours; a product that is too small is 0 here
				}
				a, b, ok := planned(byte(op), left.value(t, env), right.value(t, env))
				if !ok || op == '/' && a.Type == Numeric { // a quotient has more digits
					continue
				}
				v, err := Compute(byte(op), a, b, env)
				got := show(AppendText(nil, v, env), !v.Valid, err)
				if w := show(want, want == nil, wantErr); !agrees(got, w) || err == nil && v.Type != typ {
					t.Errorf("%v %c %v = %s (%s)\n   PostgreSQL: %s (%s)", left, op, right, got, display(v.Type), w, display(typ))
				}
			}
		}
	}
}

// planned converts two operands as the planner does: numbers to one type; of
// dates and times it lets through what the engine has operators for.
func planned(op byte, a, b Value) (x, y Value, ok bool) {
	ra, rb := NumberRank[a.Type], NumberRank[b.Type]
	if ra == 0 || rb == 0 {
		if op != '+' && op != '-' {
			return a, b, false
		}
		days := b.Type == Int4 || b.Type == Int2
		return a, b, (a.Type == Date || a.Type == Timestamp || a.Type == TimestampTZ) && b.Type == Interval || a.Type == Date && days || op == '-' && a.Type == b.Type && classOf(a.Type) == timeClass
	}
	to := a.Type
	if rb > ra {
		to = b.Type
	}
	if to == Float4 && a.Type != b.Type {
		to = Float8
	}
	var err error
	if a, err = Cast(a, to, nil); err == nil {
		b, err = Cast(b, to, nil)
	}
	return a, b, err == nil && (op != '%' || to != Float4 && to != Float8)
}

func TestNegOfLimits(t *testing.T) {
	for _, c := range []struct{ typ, text, want string }{
		{"int2", "-32768", "22003 smallint out of range"},
		{"int4", "-2147483648", "22003 integer out of range"},
		{"int8", "-9223372036854775808", "22003 bigint out of range"},
		{"int8", "9223372036854775807", `"-9223372036854775807"`},
		{"numeric", "0.00", `"0.00"`},
		{"numeric", "-1.50", `"1.50"`},
		{"float8", "0", `"-0"`},
	} {
		v, err := Neg(operand{c.typ, c.text}.value(t, nil))
		if got := show(AppendText(nil, v, nil), false, err); got != c.want {
			t.Errorf("- %s '%s' = %s, want %s", c.typ, c.text, got, c.want)
		}
	}
}

// The numbers of these are PostgreSQL's, for machines without it.
func TestArithmeticResults(t *testing.T) {
	for _, c := range []struct {
		left  operand
		op    byte
		right operand
		want  string
	}{
		{operand{"numeric", "1"}, '/', operand{"numeric", "3"}, `"0.33333333333333333333"`},
		{operand{"numeric", "2"}, '/', operand{"numeric", "3"}, `"0.66666666666666666667"`},
		{operand{"numeric", "10000"}, '/', operand{"numeric", "3"}, `"3333.33333333333333333333"`},
		{operand{"numeric", "1.10"}, '*', operand{"numeric", "2.200"}, `"2.42000"`},
		{operand{"numeric", "-7.5"}, '%', operand{"numeric", "2"}, `"-1.5"`},
		{operand{"int4", "-7"}, '/', operand{"int4", "2"}, `"-3"`},
		{operand{"int4", "-7"}, '%', operand{"int4", "2"}, `"-1"`},
		{operand{"int8", "-9223372036854775808"}, '/', operand{"int4", "-1"}, "22003 bigint out of range"},
		{operand{"int8", "-9223372036854775808"}, '%', operand{"int4", "-1"}, `"0"`},
		{operand{"int8", "3037000500"}, '*', operand{"int8", "3037000500"}, "22003 bigint out of range"},
		{operand{"int8", "-4611686018427387904"}, '*', operand{"int8", "2"}, `"-9223372036854775808"`},
		{operand{"int8", "4611686018427387904"}, '*', operand{"int8", "2"}, "22003 bigint out of range"},
		{operand{"int4", "2147483647"}, '+', operand{"int2", "1"}, "22003 integer out of range"},
		{operand{"int4", "1"}, '%', operand{"int4", "0"}, "22012 division by zero"},
		{operand{"float8", "1e308"}, '*', operand{"float8", "10"}, "22003 value out of range: overflow"},
		{operand{"date", "2026-11-21"}, '-', operand{"date", "2024-02-29"}, `"996"`},
		{operand{"timestamp", "2024-01-31 10:00"}, '+', operand{"interval", "1 month"}, `"2024-02-29 10:00:00"`},
		{operand{"timestamp", "2026-11-21 10:00"}, '-', operand{"timestamp", "2026-11-20 11:00"}, `"23:00:00"`},
		{operand{"date", "5874897-12-31"}, '+', operand{"int4", "1"}, "22008 date out of range"},
		{operand{"timestamp", "294276-12-31"}, '+', operand{"interval", "1 mon"}, "22008 timestamp out of range"},
	} {
		a, b, _ := planned(c.op, c.left.value(t, nil), c.right.value(t, nil))
		v, err := Compute(c.op, a, b, nil)
		if got := show(AppendText(nil, v, nil), false, err); got != c.want {
			t.Errorf("%v %c %v = %s, want %s", c.left, c.op, c.right, got, c.want)
		}
	}
}

func TestIntervalsAreAddedInTheSessionsZone(t *testing.T) {
	loc, err := LoadZone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Location: loc}
	before := operand{"timestamptz", "2026-03-07 12:00"}.value(t, env) // the day before clocks change
	day, hours := interval{0, 1, 0}.value(), interval{24 * microsPerHour, 0, 0}.value()
	for _, c := range []struct {
		span Value
		env  *Env
		want string
	}{{day, env, "2026-03-08 12:00:00-04"}, {hours, env, "2026-03-08 13:00:00-04"}, {day, nil, "2026-03-08 13:00:00-04"}} {
		v, err := Compute('+', before, c.span, c.env)
		if got := text(v, env); got != c.want || err != nil {
			t.Errorf("%s later = %s, %v, want %s", text(c.span, nil), got, err, c.want)
		}
		back, err := Compute('-', v, c.span, c.env)
		if back.Int != before.Int || err != nil {
			t.Errorf("and back = %s, %v", text(back, env), err)
		}
	}
}

func TestDaysAndDatesAreInverse(t *testing.T) {
	for day := int64(minDays); day < endDays; day += 9973 {
		if date := dayTime(day); daysOf(date.Date()) != day {
			t.Fatalf("day %d is %v, which is day %d", day, date, daysOf(date.Date()))
		}
	}
	if date := dayTime(0).Format(time.DateOnly); date != "2000-01-01" {
		t.Errorf("day 0 is %s", date)
	}
}
