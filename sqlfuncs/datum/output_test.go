package datum

import (
	"strings"
	"testing"
	"time"
)

// text is the text form under an environment.
func text(v Value, env *Env) string { return string(AppendText(nil, v, env)) }

func TestAppendTextAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 256)
	for _, v := range []Value{
		MakeInt8(-1 << 63), MakeInt4(7),
		{Type: Int2, Valid: true, Int: 3},
		MakeBool(true), MakeText("orders"), makeUint32(Oid, 1<<31),
		{Type: Float8, Valid: true, Float: 1.25},
		{Type: TimestampTZ, Valid: true, Int: 1},
		MakeUUID([16]byte{1}), MakeString(JSONB, "{}"), MakeString(Numeric, "1.50"),
	} {
		if n := testing.AllocsPerRun(100, func() { buf = AppendText(buf[:0], v, nil) }); n != 0 {
			t.Errorf("AppendText of %s allocates %v times", display(v.Type), n)
		}
	}
}

func TestAppendBinaryAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 256)
	for _, v := range []Value{MakeInt8(5), MakeInt4(7), MakeBool(true), MakeText("orders"), {Type: TimestampTZ, Valid: true, Int: 1}, MakeUUID([16]byte{1})} {
		if n := testing.AllocsPerRun(100, func() { buf, _ = AppendBinary(buf[:0], v) }); n != 0 {
			t.Errorf("AppendBinary of %s allocates %v times", display(v.Type), n)
		}
	}
}

func TestNullHasNoForm(t *testing.T) {
	for _, i := range catalog {
		if got := text(Null(i.OID), nil); got != "" {
			t.Errorf("NULL of %s prints %q", i.Name, got)
		}
		if b, err := AppendBinary(nil, Null(i.OID)); len(b) != 0 || err != nil {
			t.Errorf("NULL of %s is %x, %v in binary", i.Name, b, err)
		}
	}
}

func TestByteaOutputFollowsTheSetting(t *testing.T) {
	v := MakeString(Bytea, "a\\\x00\xff~\x7f")
	if got, want := text(v, nil), `\x615c00ff7e7f`; got != want {
		t.Errorf("hex: %s, want %s", got, want)
	}
	if got, want := text(v, &Env{ByteaEscape: true}), `a\\\000\377~\177`; got != want {
		t.Errorf("escape: %s, want %s", got, want)
	}
}

func TestRecordsPrintAsRowLiterals(t *testing.T) {
	for _, c := range []struct {
		elems []Value
		want  string
	}{
		{nil, "()"},
		{[]Value{MakeInt4(1), Null(Text), MakeText("")}, `(1,,"")`},
		{[]Value{MakeText("a b"), MakeText(`q"\`), MakeText("x,y"), MakeText("(p)"), MakeText("plain")}, `("a b","q""\\","x,y","(p)",plain)`},
		{[]Value{MakeArray(TextArray, []Value{MakeText("a"), MakeText("b c")})}, `("{a,""b c""}")`},
		{[]Value{MakeArray(Record, []Value{MakeInt4(1), MakeText("x y")})}, `("(1,""x y"")")`},
	} {
		if got := text(MakeArray(Record, c.elems), nil); got != c.want {
			t.Errorf("record of %v = %s, want %s", c.elems, got, c.want)
		}
	}
	if _, err := ParseText(Record, "(1)", nil); code(err) != "0A000" {
		t.Errorf("a record as text: %v, want 0A000", err)
	}
}

func TestArrayElementsAreQuotedWhenTheyMust(t *testing.T) {
	elems := []Value{MakeText("null"), MakeText("nullx"), MakeText(""), MakeText(`a"b`), MakeText(`a\b`), MakeText("a{"), MakeText("a,b"), MakeText("\n"), Null(Text)}
	const want = `{"null",nullx,"","a\"b","a\\b","a{","a,b",` + "\"\n\"" + `,NULL}`
	if got := text(MakeArray(TextArray, elems), nil); got != want {
		t.Errorf("array = %s, want %s", got, want)
	}
}

// names resolves one object of each kind.
type names struct{}

func (names) ObjectOID(t OID, name string) (uint32, bool) {
	return 77, (t == RegClass && name == "public.orders") || (t == RegRole && name == "admin")
}

func (names) ObjectName(t OID, oid uint32) (string, bool) {
	return "orders", t == RegClass && oid == 77
}

func TestNamedOidsUseTheResolver(t *testing.T) {
	env := &Env{Names: names{}}
	v, err := ParseText(RegClass, "public.orders", env)
	if err != nil || v.Int != 77 || text(v, env) != "orders" || text(v, nil) != "77" {
		t.Errorf("public.orders = %v, %v, prints %q and %q", v, err, text(v, env), text(v, nil))
	}
	if v, err := Cast(MakeText("public.orders"), RegClass, env); err != nil || v.Int != 77 {
		t.Errorf("cast of the name = %v, %v", v, err)
	}
	if v, err := ParseText(RegType, "INT8", env); err != nil || v.Int != int64(Int8) || text(v, env) != "bigint" {
		t.Errorf("regtype INT8 = %v, %v, prints %q", v, err, text(v, env))
	}
	for _, c := range []struct {
		typ        OID
		text, want string
	}{
		{RegClass, "nosuch", `42P01 relation "nosuch" does not exist`},
		{RegClass, `Public."No Such"`, `42P01 relation "Public."No Such"" does not exist`},
		{RegClass, "a b", `42P01 relation "a b" does not exist`},
		{RegClass, "", `42P01 relation "" does not exist`},
		{RegClass, "4294967296", `22003 value "4294967296" is out of range for type oid`},
		{RegType, "nosuch", `42704 type "nosuch" does not exist`},
		{RegProc, "nosuch", `42883 function "nosuch" does not exist`},
		{RegNamespace, "nosuch", `3F000 schema "nosuch" does not exist`},
		{RegRole, "nosuch", `42704 role "nosuch" does not exist`},
	} {
		if _, err := ParseText(c.typ, c.text, env); fault(err) != c.want {
			t.Errorf("%s %q: %s, want %s", display(c.typ), c.text, fault(err), c.want)
		}
	}
}

func TestInvalidUTF8IsRefusedEverywhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\xffb", "0xff"}, {"\xe2\x82", "0xe2 0x82"}, {"\xc0\x80", "0xc0 0x80"}, {"a\x00", "0x00"}, {"\xf0\x9f\x98", "0xf0 0x9f 0x98"}, {"é\xed\xa0\x80", "0xed 0xa0 0x80"}, {"\xf8\x80", "0xf8"},
	} {
		want := `22021 invalid byte sequence for encoding "UTF8": ` + c.want
		for _, oid := range []OID{Text, Varchar, BPChar, Name, JSON, JSONB, TextArray} {
			input := c.text
			if _, err := ParseText(oid, input, nil); fault(err) != want {
				t.Errorf("%s %q: %s, want %s", display(oid), input, fault(err), want)
			}
		}
		if _, err := DecodeBinary(Text, []byte(c.text)); fault(err) != want {
			t.Errorf("binary %q: %s, want %s", c.text, fault(err), want)
		}
	}
}

func TestMessagesRepeatOnlyTheBeginningOfLongInput(t *testing.T) {
	_, err := ParseText(Int8, strings.Repeat("ä", 5000), nil)
	if f := fault(err); len(f) > 2*maxQuotedInput || !strings.HasSuffix(f, "ä…\"") {
		t.Errorf("the message has %d bytes and ends in %q", len(f), f[len(f)-8:])
	}
}

func TestGoTimesComeBack(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	v := TimestampTZFromTime(at)
	if got, want := v.GoTime(), at.Truncate(time.Microsecond); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("came back as %v, want %v", got, want)
	}
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC), "294276-12-31 23:59:59.999999+00"},
		{time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01 00:00:00+00"},
		{time.Date(294276, 12, 31, 23, 59, 59, 0, time.UTC), "294276-12-31 23:59:59+00"},
		{time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC), "1969-12-31 23:59:59.999999+00"},
	} {
		if got := text(TimestampTZFromTime(c.at), nil); got != c.want {
			t.Errorf("%v = %s, want %s", c.at, got, c.want)
		}
	}
	date, _ := ParseText(Date, "2026-11-21", nil)
	if got := date.GoTime(); !got.Equal(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("date = %v", got)
	}
	for _, v := range []Value{Null(TimestampTZ), MakeInt8(5)} {
		if got := v.GoTime(); !got.IsZero() {
			t.Errorf("GoTime of %v = %v, want the zero time", v, got)
		}
	}
}

func TestLoadZoneRefusesPathsAndUnknownNames(t *testing.T) {
	for _, name := range []string{"", "Local", "../../etc/passwd", "/etc/localtime", "Mars/Olympus", strings.Repeat("a", 100), "EST+", "UTC+3", "GMT+3", "A B"} {
		if loc, err := LoadZone(name); code(err) != "22023" {
			t.Errorf("LoadZone(%q) = %v, %v, want 22023", name, loc, err)
		}
	}
	for name, offset := range map[string]int{"EST": -5 * 3600, "utc": 0, "Z": 0, "asia/TOKYO": 9 * 3600} {
		loc, err := LoadZone(name)
		if err != nil {
			t.Errorf("LoadZone(%q): %v", name, err)
			continue
		}
		if _, got := time.Unix(0, 0).In(loc).Zone(); got != offset {
			t.Errorf("LoadZone(%q) is %d s east, want %d", name, got, offset)
		}
	}
}

func TestIntervalText(t *testing.T) {
	v := interval{5_000_000, -3, 14}.value()
	if got := text(v, nil); got != "1 year 2 mons -3 days +00:00:05" {
		t.Errorf("prints %s", got)
	}
}
