package datum

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJSONStringsEscapeAsPostgreSQLDoes(t *testing.T) {
	if got, want := string(AppendJSONString(nil, "a\"\\/\b\f\n\r\t\x01\x1f\x7fä€")), `"a\"\\/\b\f\n\r\t\u0001\u001f`+"\x7f"+`ä€"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestJSONBAgreesWithEncodingJSON(t *testing.T) {
	var document func(depth int) *rapid.Generator[any]
	document = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(),
			rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 })).AsAny(),
		}
		if depth > 0 {
			key := rapid.StringMatching(`[a-z"\\é]{0,4}`)
			leaves = append(leaves,
				rapid.SliceOfN(document(depth-1), 0, 4).AsAny(), rapid.MapOfN(key, document(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(leaves...)
	}
	rapid.Check(t, func(t *rapid.T) {
		in, err := json.Marshal(document(3).Draw(t, "document"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := ParseText(JSONB, string(in), nil)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if !sameJSON(t, string(in), v.Str) {
			t.Fatalf("%s became %s", in, v.Str)
		}
		if again, err := ParseText(JSONB, v.Str, nil); err != nil || again.Str != v.Str {
			t.Fatalf("%s is not a fixed point: %s, %v", v.Str, again.Str, err)
		}
	})
}

// sameJSON compares two documents as encoding/json reads them.
func sameJSON(t *rapid.T, a, b string) bool {
	canonical := func(s string) string {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var x any
		if err := d.Decode(&x); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		out, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	return canonical(a) == canonical(b)
}

func TestDeepJSONIsRefused(t *testing.T) {
	for _, oid := range []OID{JSON, JSONB} {
		deep := strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting)
		if _, err := ParseText(oid, deep, nil); err != nil {
			t.Errorf("%d levels: %v", maxNesting, err)
		}
		deep = strings.Repeat(`{"a":[`, 1<<18)
		if _, err := ParseText(oid, deep, nil); code(err) != "54001" {
			t.Errorf("%s of 2^19 levels: %v, want 54001", display(oid), err)
		}
	}
}

func TestNumbersOfJSONBCannotGrowWithoutBound(t *testing.T) {
	many := "[" + strings.Repeat("1e900,", 1000) + "1]"
	if v, err := ParseText(JSONB, many, nil); code(err) != "54000" {
		t.Errorf("%d bytes became %d, %v, want 54000", len(many), len(v.Str), err)
	}
	if v, err := ParseText(JSONB, "[1e300, 1e-300]", nil); err != nil || len(v.Str) < 600 {
		t.Errorf("1e300 and 1e-300 became %d bytes, %v", len(v.Str), err)
	}
}

func TestExponentsOfNumericAreBounded(t *testing.T) {
	for _, s := range []string{"1e1000", "1e-1001", "1e100000", "1e-16000", "0.1e-9999"} {
		if v, err := ParseText(Numeric, s, nil); code(err) != "22003" {
			t.Errorf("%s became %d bytes, %v, want 22003", s, len(v.Str), err)
		}
	}
	long := strings.Repeat("9", maxDigits)
	if v, err := ParseText(Numeric, long, nil); err != nil || v.Str != long {
		t.Errorf("%d digits: %v", len(long), err)
	}
	if _, err := ParseText(Numeric, long+"9", nil); code(err) != "22003" {
		t.Errorf("%d digits: %v, want 22003", len(long)+1, err)
	}
	if _, err := ParseText(Numeric, "0."+strings.Repeat("1", maxDigits+1), nil); code(err) != "22003" {
		t.Errorf("scale %d: %v, want 22003", maxDigits+1, err)
	}
}
