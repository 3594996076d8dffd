package datum

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func number(t *rapid.T, name string) Decimal {
	return Decimal{big.NewInt(rapid.Int64().Draw(t, name)), rapid.IntRange(0, 30).Draw(t, name+"'s scale")}
}

func rat(d Decimal) *big.Rat { return new(big.Rat).SetFrac(d.Coef, pow10(d.Scale)) }

func TestTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := number(t, "d")
		back, err := ParseDecimal(d.String())
		if err != nil || back.Scale != d.Scale || back.Coef.Cmp(d.Coef) != 0 {
			t.Fatalf("%s became %s", d, back)
		}
	})
	for _, s := range []string{"NaN", "Infinity", "-Infinity", ""} {
		if d, err := ParseDecimal(s); err == nil {
			t.Errorf("%q is %s", s, d)
		}
	}
}

// nearest reports whether d is the number of its scale nearest to x, the one
// farther from zero of two.
func nearest(d Decimal, x *big.Rat) bool {
	off := new(big.Rat).Sub(rat(d), x)
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), pow10(d.Scale)))
	switch new(big.Rat).Abs(off).Cmp(half) {
	case -1:
		return true
	case 0:
		return off.Sign() == x.Sign()
	}
	return false
}

func TestResultsAreRoundedHalfAwayFromZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e, scale := number(t, "d"), number(t, "e"), rapid.IntRange(0, 40).Draw(t, "scale")
		if r := d.Round(scale); r.Scale != scale || !nearest(r, rat(d)) {
			t.Fatalf("%s rounded to %d is %s", d, scale, r)
		}
		if e.Sign() != 0 {
			if q := d.Quo(e, scale); q.Scale != scale || !nearest(q, new(big.Rat).Quo(rat(d), rat(e))) {
				t.Fatalf("%s / %s = %s", d, e, q)
			}
		}
		if sum := d.Plus(e); rat(sum).Cmp(new(big.Rat).Add(rat(d), rat(e))) != 0 {
			t.Fatalf("%s + %s = %s", d, e, sum)
		}
	})
}

func TestRoundingBeforeThePoint(t *testing.T) {
	for _, c := range []struct {
		in    string
		scale int
		want  string
	}{{"1250", -2, "1300"}, {"-1250", -2, "-1300"}, {"1249.99", -2, "1200"}, {"49", -2, "0"}, {"50", -2, "100"}, {"1.005", 2, "1.01"}} {
		d, _ := ParseDecimal(c.in)
		if got := d.Round(c.scale).String(); got != c.want {
			t.Errorf("%s rounded to %d: %s, want %s", c.in, c.scale, got, c.want)
		}
	}
}
