// Package decimal computes with decimal numbers of any size as PostgreSQL's
// numeric does: the same digits, the same scales.
package decimal

import (
	"math/big"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// Number is Coef ÷ 10^Scale. Numbers are not changed once made.
type Number struct {
	Coef  *big.Int
	Scale int
}

// What the functions answer where a result cannot be.
var (
	ErrOverflow = sqlstate.New(sqlstate.NumericOutOfRange, "value overflows numeric format")
)

// Limits of PostgreSQL's numeric (8.1.2 and numeric.h): what functions choose
// as the scale of an inexact result, and digits before the decimal point.
const (
	MaxWholeDigits = 131072
)

// Parse reads numeric's canonical text; false for NaN and infinities.
func Parse(s string) (Number, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	digits, negative := strings.CutPrefix(whole+fraction, "-")
	coef, ok := parseDigits(digits)
	if ok && negative {
		coef.Neg(coef)
	}
	return Number{coef, len(fraction)}, ok
}

// parseDigits reads digits in halves: package big takes time that grows with
// the square of their number.
func parseDigits(s string) (*big.Int, bool) {
	if len(s) < 2000 {
		return new(big.Int).SetString(s, 10)
	}
	low := len(s) / 2
	high, ok := parseDigits(s[:len(s)-low])
	if !ok {
		return nil, false
	}
	rest, ok := parseDigits(s[len(s)-low:])
	if !ok || rest.Sign() < 0 {
		return nil, false
	}
	high.Mul(high, Pow10(low))
	return high.Add(high, rest), true
}

// Pow10 is 10^n.
func Pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// Sign is -1, 0 or 1.
func (d Number) Sign() int { return d.Coef.Sign() }

// String is numeric's text form.
func (d Number) String() string {
	digits := new(big.Int).Abs(d.Coef).String()
	if d.Scale > 0 {
		if missing := d.Scale + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - d.Scale
		digits = digits[:point] + "." + digits[point:]
	}
	if d.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// Rescale cuts digits off or appends zeros.
func (d Number) Rescale(scale int) Number {
	switch {
	case scale > d.Scale:
		return Number{new(big.Int).Mul(d.Coef, Pow10(scale-d.Scale)), scale}
	case scale < d.Scale:
		return Number{new(big.Int).Quo(d.Coef, Pow10(d.Scale-scale)), scale}
	}
	return d
}

// Round rounds half away from zero. A negative scale rounds before the
// decimal point.
func (d Number) Round(scale int) Number {
	if scale >= d.Scale {
		return d.Rescale(scale)
	}
	unit := Pow10(d.Scale - scale)
	half := new(big.Int).Quo(unit, big.NewInt(2))
	if d.Sign() < 0 {
		half.Neg(half)
	}
	r := half.Add(half, d.Coef)
	return Number{r.Quo(r, unit), scale}.whole()
}

// whole turns a negative scale into zeros before the decimal point.
func (d Number) whole() Number {
	if d.Scale < 0 {
		return d.Rescale(0)
	}
	return d
}

// Align brings two decimals to one scale. The numbers may be those of the
// decimals themselves.
func Align(a, b Number) (x, y *big.Int, scale int) {
	scale = max(a.Scale, b.Scale)
	return a.Rescale(scale).Coef, b.Rescale(scale).Coef, scale
}

// Weight is the exponent of the first digit in scientific notation.
func (d Number) Weight() int {
	if d.Sign() == 0 {
		return 0
	}
	return len(new(big.Int).Abs(d.Coef).String()) - 1 - d.Scale
}

// Quo returns the quotient at a scale, rounded half away from zero.
func (d Number) Quo(e Number, scale int) Number {
	x, y, _ := Align(d, e)
	x = new(big.Int).Mul(x, Pow10(scale+1))
	return Number{x.Quo(x, y), scale + 1}.Round(scale)
}

// Plus is d + e, exactly.
func (d Number) Plus(e Number) Number {
	x, y, scale := Align(d, e)
	return Number{new(big.Int).Add(x, y), scale}
}

// New is coef ÷ 10^scale. It keeps coef.
func New(coef *big.Int, scale int) Number { return Number{coef, scale} }

// Of makes a number of an integer.
func Of(n int64) Number { return Number{big.NewInt(n), 0} }
