package datum

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"
)

// fuzzEnv is an environment with a zone with changes.
var fuzzEnv = func() *Env {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		loc = time.UTC
	}
	return &Env{Location: loc}
}()

// anyType picks a type for a fuzzed byte.
func anyType(n byte) OID { return catalog[int(n)%len(catalog)].OID }

// typeNumber is the byte for which anyType returns a type.
func typeNumber(oid OID) byte {
	for i := range catalog {
		if catalog[i].OID == oid {
			return byte(i)
		}
	}
	return 0
}

// weight is a bound for the bytes that a value holds, for the rule that a
// decoder allocates no more than a multiple of its input.
func weight(v Value) int {
	n := len(v.Str) + 64
	for _, e := range v.Elems {
		n += weight(e)
	}
	return n
}

// maxWeight allows 64 bytes for an element of two bytes, and the zeros that
// an exponent may stand for.
func maxWeight(input int) int { return 128 + 64*input + input/2*maxDigits }

func FuzzDecodeBinary(f *testing.F) {
	for _, c := range binaryForms {
		for name := range strings.FieldsSeq(c.types) {
			oid, _ := TypeByName(name)
			for _, form := range c.forms {
				b, _ := hex.DecodeString(form[:len(form)/2*2])
				f.Add(typeNumber(oid), b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, n byte, b []byte) {
		oid := anyType(n)
		v, err := DecodeBinary(oid, b)
		if err != nil {
			if !validFault(err) {
				t.Fatalf("%s %x: %v", display(oid), b, err)
			}
			return
		}
		if v.Type != oid || !v.Valid {
			t.Fatalf("%s %x gives %v", display(oid), b, v)
		}
		if weight(v) > maxWeight(len(b)) {
			t.Fatalf("%s: %d bytes became %d", display(oid), len(b), weight(v))
		}
		once, err := AppendBinary(nil, v)
		if err != nil {
			t.Fatalf("%s %x does not encode: %v", display(oid), b, err)
		}
		again, err := DecodeBinary(oid, once)
		if err != nil {
			t.Fatalf("%s %x became %x, which does not decode: %v", display(oid), b, once, err)
		}
		twice, err := AppendBinary(nil, again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s %x became %x, then %x, %v", display(oid), b, once, twice, err)
		}
		AppendText(nil, v, fuzzEnv)
		compareWithItself(t, v)
	})
}

// compareWithItself holds every value to being equal to itself, with one key.
func compareWithItself(t *testing.T, v Value) {
	t.Helper()
	if c, err := Compare(v, v); c != 0 && err == nil {
		t.Fatalf("%v is not equal to itself: %d", v, c)
	}
	if !bytes.Equal(AppendKey(nil, v), AppendKey(nil, v)) {
		t.Fatalf("%v has two keys", v)
	}
}

func validFault(err error) bool {
	f := fault(err)
	return len(f) > 6 && f[5] == ' ' && !strings.HasPrefix(f, "XX")
}

func FuzzParseText(f *testing.F) {
	for _, c := range literals {
		for name := range strings.FieldsSeq(c.types) {
			oid, _ := TypeByName(name)
			for _, literal := range c.values {
				f.Add(typeNumber(oid), literal)
			}
		}
	}
	f.Fuzz(func(t *testing.T, n byte, s string) {
		oid := anyType(n)
		v, err := ParseText(oid, s, fuzzEnv)
		if err != nil {
			if !validFault(err) {
				t.Fatalf("%s %q: %v", display(oid), s, err)
			}
			return
		}
		if v.Type != oid || !v.Valid {
			t.Fatalf("%s %q gives %v", display(oid), s, v)
		}
		if weight(v) > maxWeight(len(s)) {
			t.Fatalf("%s: %d bytes became %d", display(oid), len(s), weight(v))
		}
		once := AppendText(nil, v, fuzzEnv)
		again, err := ParseText(oid, string(once), fuzzEnv)
		if err != nil {
			t.Fatalf("%s %q became %q, which does not parse: %v", display(oid), s, once, err)
		}
		if twice := AppendText(nil, again, fuzzEnv); !bytes.Equal(once, twice) {
			t.Fatalf("%s %q became %q, then %q", display(oid), s, once, twice)
		}
		compareWithItself(t, v)
		checkBinaryOf(t, v)
		castEverywhere(t, v)
	})
}

// checkBinaryOf sends a value through its binary form.
func checkBinaryOf(t *testing.T, v Value) {
	t.Helper()
	b, err := AppendBinary(nil, v)
	if err != nil {
		return // aclitem and the like
	}
	back, err := DecodeBinary(v.Type, b)
	if err != nil {
		if v.Type == Record || v.Type == PgNodeTree || code(err) == "0A000" { // a numeric
			return
		}
		t.Fatalf("%s %v became %x, which does not decode: %v", display(v.Type), v, b, err)
	}
	want, got := AppendText(nil, v, fuzzEnv), AppendText(nil, back, fuzzEnv)
	if !bytes.Equal(want, got) {
		t.Fatalf("%s %q came back from binary as %q", display(v.Type), want, got)
	}
}

// castEverywhere casts to all types: no panic, and errors of our kind.
func castEverywhere(t *testing.T, v Value) {
	t.Helper()
	for i := range catalog {
		out, err := Cast(v, catalog[i].OID, fuzzEnv)
		switch {
		case err != nil && !validFault(err):
			t.Fatalf("%v to %s: %v", v, catalog[i].Name, err)
		case err == nil && out.Type != catalog[i].OID && catalog[i].OID != AnyArray:
			t.Fatalf("%v to %s gives type %s", v, catalog[i].Name, display(out.Type))
		}
	}
}

func FuzzArithmetic(f *testing.F) {
	for _, o := range timeOperands {
		oid, _ := TypeByName(o.typ)
		f.Add(typeNumber(oid), o.text, typeNumber(Interval), "1 mon -1 day 00:00:01")
	}
	for _, o := range numberOperands {
		oid, _ := TypeByName(o.typ)
		f.Add(typeNumber(oid), o.text, typeNumber(Numeric), "-0.7")
	}
	f.Fuzz(func(t *testing.T, n byte, s string, m byte, r string) {
		a, err := ParseText(anyType(n), s, fuzzEnv)
		if err != nil {
			return
		}
		b, err := ParseText(anyType(m), r, fuzzEnv)
		if err != nil {
			return
		}
		for _, op := range []byte("+-*/%") {
			x, y, ok := planned(op, a, b)
			if !ok {
				continue
			}
			v, err := Compute(op, x, y, fuzzEnv)
			if err != nil {
				if !validFault(err) {
					t.Fatalf("%v %c %v: %v", a, op, b, err)
				}
				continue
			}
			checkResult(t, v)
		}
		if NumberRank[a.Type] == 0 {
			return
		}
		if v, err := Neg(a); err == nil {
			checkResult(t, v)
		}
	})
}

// checkResult holds computed values to the ranges of their types: their
// binary form must decode.
func checkResult(t *testing.T, v Value) {
	t.Helper()
	b, err := AppendBinary(nil, v)
	if err == nil {
		_, err = DecodeBinary(v.Type, b)
	}
	if err != nil && code(err) != "0A000" {
		t.Fatalf("%s result %v is no value of its type: %v", display(v.Type), v, err)
	}
	if v.Type == Float4 && v.Float != float64(float32(v.Float)) && !math.IsNaN(v.Float) {
		t.Fatalf("%v is no float4", v.Float)
	}
}
