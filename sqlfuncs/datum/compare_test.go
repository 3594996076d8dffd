package datum

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// orderedOperands are groups of values that compare with each other.
var orderedOperands = [][]operand{
	operands("bool", "f", "t"),
	concat(
		operands("int2", "-1", "0", "2"), operands("int4", "0", "2", "2147483647"), operands("int8", "0", "2", "9007199254740993"),
		operands("numeric", "0", "0.00", "2.0", "2.00", "-1", "1.99", "10", "9", "100.01", "1e30", "9007199254740993", "0.1"),
		operands("float4", "0", "-0", "2", "0.1"), operands("float8", "0", "-0", "2", "0.1", "1e30", "9007199254740992"),
	),
	concat(operands("text", "", "a", "A", "a ", "ab", "ä", "b", "Z"), operands("varchar", "a", "b"), operands("bpchar", "a", "a  ", "ab"), operands("name", "a", "b")),
	operands(`"char"`, "", "a", "b"),
	operands("bytea", `\x`, `\x00`, `\x0001`, `\xff`),
	operands("uuid", "00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
	concat(
		operands("date", "2026-11-21", "2026-11-22", "5874897-12-31"),
		operands("timestamp", "2026-11-21", "2026-11-21 00:00:00.000001", "1999-12-31 23:59:59"),
		operands("timestamptz", "2026-11-21", "2026-11-21 00:00:00.000001", "1999-12-31 23:59:59"),
	),
	operands("interval", "1 mon", "30 days", "720:00:00", "1 day", "24:00", "-1 mon 30 days", "0", "178000000 years", "-178000000 years", "1 year", "360 days", "365 days"),
	operands("int4[]", "{}", "{1}", "{1,2}", "{2}", "{NULL}", "{1,NULL}"),
	operands("text[]", "{}", "{a}", "{b}", "{a,NULL}", "{NULL}"),
	operands("oid", "0", "23", "4294967295"),
}

func compareComparisons(t *testing.T, o *oracle) {
	for _, group := range orderedOperands {
		for _, left := range group {
			for _, right := range group {
				query := fmt.Sprintf("SELECT CASE WHEN a < b THEN -1 WHEN a = b THEN 0 WHEN a > b THEN 1 END FROM (SELECT $1::text::%s AS a, $2::text::%s AS b) AS t", left.typ, right.typ)
				want, _, wantErr := o.value(0, query, left.text, right.text)
				a, b := left.value(t, nil), right.value(t, nil)
				c, err := Compare(a, b)
				got := show(fmt.Append(nil, c), false, err)
				if w := show(want, want == nil, wantErr); !agrees(got, w) {
					t.Errorf("Compare(%v, %v) = %s, PostgreSQL: %s", left, right, got, w)
				}
				sameKey := bytes.Equal(AppendKey(nil, a), AppendKey(nil, b))
				if keysComparable(a.Type, b.Type) && sameKey != (c == 0) {
					t.Errorf("keys of %v and %v: equal is %v, but Compare is %d", left, right, sameKey, c)
				}
			}
		}
	}
}

// keysComparable reports whether AppendKey promises anything for two types.
func keysComparable(a, b OID) bool {
	return (classOf(a) == floatClass) == (classOf(b) == floatClass)
}

func TestCompareRefusesTypesWithoutOrder(t *testing.T) {
	for _, c := range []struct {
		a, b Value
		want string
	}{
		{MakeString(JSON, "1"), MakeString(JSON, "1"), "42883 could not identify a comparison function for type json"},
		{MakeString(JSONB, "1"), MakeString(JSONB, "1"), "42883 could not identify a comparison function for type jsonb"},
		{MakeInt4(1), MakeText("1"), "42883 operator does not exist: integer = text"},
		{MakeBool(true), MakeInt4(1), "42883 operator does not exist: boolean = integer"},
		{MakeArray(Record, []Value{MakeInt4(1)}), MakeArray(Record, nil), "42804 cannot compare record types with different numbers of columns"},
	} {
		if _, err := Compare(c.a, c.b); fault(err) != c.want {
			t.Errorf("Compare(%v, %v): %s, want %s", c.a, c.b, fault(err), c.want)
		}
	}
}

func TestCompareOrdersNullsLastAndEqual(t *testing.T) {
	null, one := Null(Int4), MakeInt4(1)
	for _, c := range []struct {
		a, b Value
		want int
	}{{null, null, 0}, {null, one, 1}, {one, null, -1}} {
		if got, err := Compare(c.a, c.b); got != c.want || err != nil {
			t.Errorf("Compare(%v, %v) = %d, %v, want %d", c.a, c.b, got, err, c.want)
		}
	}
}

// randomRow draws a row of values of comparable columns.
func randomRow(t *rapid.T, label string) []Value {
	return []Value{
		rapid.SampledFrom([]Value{Null(Text), MakeText(""), MakeText("a"), MakeText("a\x00"), MakeText("ab"), MakeString(BPChar, "a ")}).Draw(t, label+" text"),
		rapid.SampledFrom([]Value{Null(Int4), MakeInt4(0), MakeInt8(1), MakeString(Numeric, "1.0"), MakeString(Numeric, "1.00"), MakeString(Numeric, "0.00")}).Draw(t, label+" number"),
		rapid.SampledFrom([]Value{MakeArray(TextArray, nil), MakeArray(TextArray, []Value{Null(Text)}), MakeArray(TextArray, []Value{MakeText("a")}), MakeArray(TextArray, []Value{MakeText("a"), MakeText("")})}).Draw(t, label+" array"),
	}
}

func TestKeysOfRowsAreEqualExactlyWhenTheRowsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := randomRow(t, "a"), randomRow(t, "b")
		equal := true
		var ka, kb []byte
		for i := range a {
			order, err := Compare(a[i], b[i])
			if err != nil {
				t.Fatal(err)
			}
			equal = equal && order == 0
			ka, kb = AppendKey(ka, a[i]), AppendKey(kb, b[i])
		}
		if bytes.Equal(ka, kb) != equal {
			t.Errorf("rows %v and %v: equal is %v, keys %x and %x", a, b, equal, ka, kb)
		}
	})
}

func TestKeysOfColumnsDoNotRunTogether(t *testing.T) {
	tag := string([]byte{byte(textClass)})
	row := func(a, b string) string { return string(AppendKey(AppendKey(nil, MakeText(a)), MakeText(b))) }
	if row("a", "b"+tag) == row("a"+tag+"b", "") {
		t.Error("two rows of texts have one key")
	}
	if string(AppendKey(nil, Null(Text))) == string(AppendKey(nil, MakeText(""))) {
		t.Error("NULL and the empty text have one key")
	}
}

func TestCompareNumericAgreesWithBigArithmetic(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,8})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, err := ParseDecimal(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := ParseDecimal(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := x.Cmp(y), rational(a).Cmp(rational(b)); got != want {
			t.Errorf("%s.Cmp(%s) = %d, want %d", a, b, got, want)
		}
	})
}

func TestNegativeZeroHasTheKeyOfZero(t *testing.T) {
	key := func(f float64) string { return string(AppendKey(nil, Value{Type: Float8, Valid: true, Float: f})) }
	if key(0) != key(math.Copysign(0, -1)) {
		t.Error("0 and -0 have different keys")
	}
}

// compareSettings compares output in several time zones.
func compareSettings(t *testing.T, o *oracle) {
	values := concat(
		operands("timestamptz", "2026-11-21 10:00:00.25+00", "2026-07-01 00:00+00", "1890-01-01 00:00+00", "12026-01-01 00:00+00", "2026-03-29 00:59:59+00", "2026-03-29 01:00+00", "2026-10-25 00:30+00", "2026-10-25 01:30+00", "2100-07-01 00:00+00"),
		operands("timestamp", "2026-11-21 10:00:00.000100", "2026-01-02 03:04:05"),
		operands("date", "2026-11-21", "12026-01-02"),
	)
	{
		for _, zone := range []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "America/St_Johns", "Asia/Tashkent", "Pacific/Kiritimati"} {
			loc, err := LoadZone(zone)
			if err != nil {
				t.Fatal(err)
			}
			env := &Env{Location: loc}
			o.exec(fmt.Sprintf("SET TimeZone = '%s'", zone))
			for _, v := range values {
				want, _, wantErr := o.value(0, "SELECT $1::text::"+v.typ, v.text)
				got := string(AppendText(nil, v.value(t, env), env))
				if got != string(want) || wantErr != nil {
					t.Errorf("%v in %s = %q, PostgreSQL: %q, %v", v, zone, got, want, wantErr)
				}
			}
		}
	}
}

// compareZones compares the zones of inputs, most of all around changes.
func compareZones(t *testing.T, o *oracle) {
	locals := []string{
		"2026-03-29 01:59:59", "2026-03-29 02:00", "2026-03-29 02:30", "2026-03-29 03:00", "2026-10-25 01:59:59", "2026-10-25 02:00", "2026-10-25 02:59:59", "2026-10-25 03:00",
		"2026-03-08 02:30", "2026-11-01 01:30", "2026-11-01 02:00", "1883-11-18 12:02", "1900-01-01 00:00", "1970-01-01", "2099-06-01", "2011-12-30 12:00", "1945-08-14 19:00", "290000-07-01", "294276-12-31 12:00",
	}
	for _, zone := range []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca", "America/St_Johns", "EST5EDT"} {
		loc, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		env := &Env{Location: loc}
		o.exec("SET TimeZone = '" + zone + "'")
		for _, local := range locals {
			want, _, wantErr := o.value(0, "SELECT $1::text::timestamptz", local)
			v, err := ParseText(TimestampTZ, local, env)
			if got, w := show(AppendText(nil, v, env), false, err), show(want, false, wantErr); !agrees(got, w) {
				t.Errorf("%s in %s = %s, PostgreSQL: %s", local, zone, got, w)
			}
		}
	}
}

// compareFloats prints many floating point numbers in all precisions.
func compareFloatOutput(t *testing.T, o *oracle) {
	var bits []uint64
	seed := uint64(1)
	for range 3000 {
		seed = seed*6364136223846793005 + 1442695040888963407
		bits = append(bits, seed)
	}
	for e := uint64(1); e < 2047; e += 5 {
		bits = append(bits, e<<52) // powers of two
	}
	for i := range 23 { // many of these are near midpoints
		for d := range 10 {
			f := float64(d) * math.Pow10(i)
			bits = append(bits, math.Float64bits(f), math.Float64bits(f)+1, math.Float64bits(f)-1)
		}
	}
	var doubles, reals []Value
	for _, b := range bits {
		doubles = append(doubles, Value{Type: Float8, Valid: true, Float: math.Float64frombits(b)})
		reals = append(reals, Value{Type: Float4, Valid: true, Float: float64(math.Float32frombits(uint32(b >> 32)))})
	}
	compareArrayOutput(t, o, MakeArray(Float8Array, doubles))
	compareArrayOutput(t, o, MakeArray(Float4Array, reals))
}

// compareArrayOutput sends an array in binary and compares its text.
func compareArrayOutput(t *testing.T, o *oracle, v Value) {
	t.Helper()
	b, err := AppendBinary(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	r := o.conn.ExecParams(t.Context(), "SELECT $1", [][]byte{b}, []uint32{uint32(v.Type)}, []int16{1}, nil).Read()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	want := strings.Split(string(r.Rows[0][0]), ",")
	got := strings.Split(string(AppendText(nil, v, nil)), ",")
	if len(got) != len(want) {
		t.Fatalf("%d elements, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] && !shorter(got[i], want[i], v.Elems[i].Float) {
			t.Errorf("%s %x = %s, PostgreSQL: %s", display(v.Type), math.Float64bits(v.Elems[i].Float), got[i], want[i])
		}
	}
}

// shorter reports whether a text reads as a number and has fewer digits than
// another: of a number halfway between two others PostgreSQL writes one more.
func shorter(got, want string, f float64) bool {
	back, err := strconv.ParseFloat(got, 64)
	return err == nil && (back == f || float64(float32(back)) == f) && len(got) < len(want)
}

func rational(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}
