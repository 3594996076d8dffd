package datum

import (
	"encoding/hex"
	"strings"
	"testing"
)

// binaryForms are binary forms, good and bad, in hexadecimal.
var binaryForms = []struct {
	types string
	forms []string
}{
	{"bool", []string{"00", "01", "02", "", "0001"}},
	{"int2", []string{"0001", "ffff", "00", "000001", ""}},
	{"int4 oid xid date float4 regtype", []string{"00000001", "000000", "0000000001", ""}},
	{"date", []string{"7ffffffe", "80000001", "ffda979c", "ffda9797", "7fdaca0c", "7fdaca0d"}},
	{"int8 float8 timestamp timestamptz", []string{"0000000000000001", "00000000000001", "000000000000000001", ""}},
	{"timestamp timestamptz", []string{"7ffffffffffffffe", "8000000000000001"}},
	{"float4", []string{"7fc00000", "ffc00001", "7f800000", "00000001"}},
	{"float8", []string{"7ff8000000000000", "fff0000000000000", "0000000000000001"}},
	{"uuid interval", []string{"000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e", ""}},
	{"text varchar name", []string{"", "61", "e282ac", "ff", "e282", "610062", "c080", "eda080", "f4908080"}},
	{"bytea", []string{"", "00ff"}},
	{"json", []string{"31", "7b7d", "7b", "", "ff"}},
	{"jsonb", []string{"0131", "31", "", "01", "0231", "017b2262223a312c2261223a327d", "01ff"}},
	{"numeric", []string{"00010000000000000001"}},
	{"int4[]", []string{
		"000000000000000000000017", "00000001000000000000001700000001000000010000000400000007", "00000001000000010000001700000001000000" + "01ffffffff", "0000000100000000000000170000000100000001ffffffff",
		"00000002000000000000001700000002000000010000000100000001000000040000000100000004" + "00000002", "000000010000000000000019000000010000000100000001" + "61", "00000001000000000000001700000001000000010000000400000007ff", "000000010000000000000017000000010000000100000004000000", "0000000700000000000000170000000100000001",
		"ffffffff0000000000000017", "000000010000000200000017", "00000001000000000000001700000000000000010", "", "00000001", "00000001000000000000001700000001000000010000000300000007", "0000000100000000000000170000000100000001fffffffe",
		"00000002000000000000001700000000000000010000000500000001",
	}},
	{"int2vector", []string{"00000001000000000000001500000001000000000000000200" + "07", "00000001000000010000001500000001" + "00000000ffffffff"}},
	{`"char"`, []string{"00", "41", "ff", "", "4142"}},
}

func compareBinaryInput(t *testing.T, o *oracle) {
	for _, c := range binaryForms {
		for name := range strings.FieldsSeq(c.types) {
			for _, form := range c.forms {
				b, err := hex.DecodeString(form[:len(form)/2*2])
				if err != nil {
					t.Fatal(err)
				}
				oid, _ := TypeByName(name)
				want, wantBinary, wantErr := o.binaryParam(oid, b)
				v, err := DecodeBinary(oid, b)
				// Ours is one code for what PostgreSQL calls protocol violation,
				// internal error or invalid representation.
				w := strings.NewReplacer("08P01", "22P03", "XX000", "22P03").Replace(code(wantErr))
				if code(err) != w && code(err) != "0A000" {
					t.Errorf("%s %s: %v\n   PostgreSQL: %v", name, form, err, wantErr)
					continue
				}
				if err != nil {
					continue
				}
				if got := AppendText(nil, v, nil); string(got) != string(want) {
					t.Errorf("%s %s = %q, PostgreSQL: %q", name, form, got, want)
				}
				if got, err := AppendBinary(nil, v); string(got) != string(wantBinary) || err != nil {
					t.Errorf("%s %s goes back as %x, %v, PostgreSQL: %x", name, form, got, err, wantBinary)
				}
			}
		}
	}
}

// code is the SQLSTATE of an error.
func code(err error) string {
	f, _, _ := strings.Cut(fault(err), " ")
	return f
}

// binaryParam sends a binary parameter and returns it as text and as binary.
func (o *oracle) binaryParam(typ OID, b []byte) (text, binary []byte, err error) {
	o.t.Helper()
	// Twice the parameter, since a result column has one format.
	r := o.conn.ExecParams(o.t.Context(), "SELECT $1, $1", [][]byte{b}, []uint32{uint32(typ)}, []int16{1}, []int16{0, 1}).Read()
	if r.Err != nil {
		return nil, nil, r.Err
	}
	return r.Rows[0][0], r.Rows[0][1], nil
}

func TestBinaryFormOfRecords(t *testing.T) {
	v := MakeArray(Record, []Value{MakeInt4(1), Null(Text), MakeText("a")})
	b, err := AppendBinary(nil, v)
	const want = "00000003" + "00000017" + "00000004" + "00000001" + "00000019" + "ffffffff" + "00000019" + "00000001" + "61"
	if got := hex.EncodeToString(b); got != want || err != nil {
		t.Errorf("record in binary = %s, %v, want %s", got, err, want)
	}
	if _, err := DecodeBinary(Record, b); code(err) != "0A000" {
		t.Errorf("a record as input: %v, want 0A000", err)
	}
}

// An array ends within its dimension.
func TestBinaryArrayThatIsCutOff(t *testing.T) {
	const head = "00000001" + "00000000" + "00000017"
	for _, rest := range []string{"", "0000", "00000000"} {
		b, err := hex.DecodeString(head + rest)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := DecodeBinary(Int4Array, b); code(err) != "22P03" {
			t.Errorf("%s: %v, %v, want 22P03", rest, v, err)
		}
	}
}

func TestTypesWithoutBinaryForm(t *testing.T) {
	if _, err := AppendBinary(nil, MakeString(ACLItem, "a=r/b")); code(err) != "42883" {
		t.Errorf("aclitem: %v, want 42883", err)
	}
	if _, err := DecodeBinary(ACLItem, []byte("a=r/b")); code(err) != "42883" {
		t.Errorf("aclitem: %v, want 42883", err)
	}
	if _, err := AppendBinary(nil, MakeArray(ACLItemArray, []Value{MakeString(ACLItem, "a=r/b")})); code(err) != "42883" {
		t.Errorf("aclitem[]: %v, want 42883", err)
	}
}

func TestHugeBinaryCountsAreRefusedBeforeAllocation(t *testing.T) {
	forms := map[OID]string{
		Int4Array: "000000010000000000000017" + "7fffffff" + "00000001",
		TextArray: "000000060000000000000019" + strings.Repeat("0000ffff00000001", 6),
	}
	for oid, form := range forms {
		b, err := hex.DecodeString(form)
		if err != nil {
			t.Fatal(err)
		}
		allocated := testing.AllocsPerRun(10, func() { _, err = DecodeBinary(oid, b) })
		if code(err) != "22P03" && code(err) != "0A000" && code(err) != "22003" || allocated > 40 {
			t.Errorf("%s %s: %v after %v allocations", display(oid), form, err, allocated)
		}
	}
}
