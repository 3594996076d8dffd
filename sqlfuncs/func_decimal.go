package sqlfuncs

import (
	"math/big"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
)

// decimal is a finite numeric value: coef ÷ 10^scale. Decimals are not
// changed once made.
type decimal struct {
	coef  *big.Int
	scale int
}

// Limits of PostgreSQL's numeric (8.1.2 and numeric.h): what functions choose
// as the scale of an inexact result, and digits before the decimal point.
const (
	minSignificant = 16
	maxResultScale = 1000
	maxWholeDigits = 131072
)

// parseDecimal reads numeric's canonical text; false for NaN and infinities.
func parseDecimal(s string) (decimal, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	coef, ok := new(big.Int).SetString(whole+fraction, 10)
	return decimal{coef, len(fraction)}, ok
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func (d decimal) sign() int { return d.coef.Sign() }

func (d decimal) String() string {
	digits := new(big.Int).Abs(d.coef).String()
	if d.scale > 0 {
		if missing := d.scale + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - d.scale
		digits = digits[:point] + "." + digits[point:]
	}
	if d.sign() < 0 {
		return "-" + digits
	}
	return digits
}

// value is d as numeric.
func (d decimal) value() (datum.Value, error) {
	s := d.String()
	if whole, _, _ := strings.Cut(s, "."); len(whole) > maxWholeDigits+1 {
		return datum.Value{}, errNumericOverflow
	}
	return datum.MakeString(datum.Numeric, s), nil
}

// int64 returns d if it is a whole number of that range.
func (d decimal) int64() (int64, bool) {
	t := d.rescale(0)
	return t.coef.Int64(), t.coef.IsInt64() && t.cmp(d) == 0
}

// rescale cuts digits off or appends zeros.
func (d decimal) rescale(scale int) decimal {
	switch {
	case scale > d.scale:
		return decimal{new(big.Int).Mul(d.coef, pow10(scale-d.scale)), scale}
	case scale < d.scale:
		return decimal{new(big.Int).Quo(d.coef, pow10(d.scale-scale)), scale}
	}
	return d
}

// round rounds half away from zero. A negative scale rounds before the
// decimal point.
func (d decimal) round(scale int) decimal {
	if scale >= d.scale {
		return d.rescale(scale)
	}
	unit := pow10(d.scale - scale)
	half := new(big.Int).Quo(unit, big.NewInt(2))
	if d.sign() < 0 {
		half.Neg(half)
	}
	r := half.Add(half, d.coef)
	return decimal{r.Quo(r, unit), scale}.whole()
}

// trunc drops the digits behind scale.
func (d decimal) trunc(scale int) decimal {
	return d.rescale(scale).whole()
}

// whole turns a negative scale into zeros before the decimal point.
func (d decimal) whole() decimal {
	if d.scale < 0 {
		return d.rescale(0)
	}
	return d
}

// towards rounds to a whole number: up (direction 1) or down (-1).
func (d decimal) towards(direction int) decimal {
	t := d.rescale(0)
	if d.sign() == direction && t.cmp(d) != 0 {
		return decimal{new(big.Int).Add(t.coef, big.NewInt(int64(direction))), 0}
	}
	return t
}

// align brings two decimals to one scale. The numbers may be those of the
// decimals themselves.
func align(a, b decimal) (x, y *big.Int, scale int) {
	scale = max(a.scale, b.scale)
	return a.rescale(scale).coef, b.rescale(scale).coef, scale
}

func (d decimal) cmp(e decimal) int {
	x, y, _ := align(d, e)
	return x.Cmp(y)
}

// shift multiplies by 10^n, n ≥ 0.
func (d decimal) shift(n int) decimal {
	return decimal{new(big.Int).Mul(d.coef, pow10(n)), d.scale}
}

// trimmed drops trailing zeros behind the decimal point.
func (d decimal) trimmed() decimal {
	s := d.String()
	if d.scale == 0 {
		return d
	}
	s = strings.TrimRight(s, "0")
	_, fraction, _ := strings.Cut(s, ".")
	return d.rescale(len(fraction))
}

// weight is the exponent of the first digit in scientific notation.
func (d decimal) weight() int {
	if d.sign() == 0 {
		return 0
	}
	return len(new(big.Int).Abs(d.coef).String()) - 1 - d.scale
}

// scientific prints d with post digits behind the point, as 1.50e+03. Like
// PostgreSQL up to 15 it lets 9.99 become 10.0e+00.
func (d decimal) scientific(post int) string {
	exponent := d.weight()
	m := decimal{d.coef, d.scale + exponent}.round(post)
	sign, digits := "+", strconv.Itoa(exponent)
	if exponent < 0 {
		sign, digits = "-", digits[1:]
	}
	if len(digits) < 2 {
		digits = "0" + digits
	}
	return m.String() + "e" + sign + digits
}

// sqrt returns the root at a scale, rounded.
func (d decimal) sqrt(scale int) decimal {
	// One digit more than asked for, then rounded: a root is never exactly
	// between two decimals of one more digit.
	x := d.rescale(2 * (scale + 1))
	return decimal{new(big.Int).Sqrt(x.coef), scale + 1}.round(scale)
}

// quo returns the quotient at a scale, rounded half away from zero.
func (d decimal) quo(e decimal, scale int) decimal {
	x, y, _ := align(d, e)
	x = new(big.Int).Mul(x, pow10(scale+1))
	return decimal{x.Quo(x, y), scale + 1}.round(scale)
}

func (d decimal) plus(e decimal) decimal {
	x, y, scale := align(d, e)
	return decimal{new(big.Int).Add(x, y), scale}
}
