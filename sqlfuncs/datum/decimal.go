package datum

import (
	"math/big"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// decimal is a finite numeric for arithmetic: unscaled × 10^-scale.
type decimal struct {
	unscaled *big.Int
	scale    int
}

// parseDecimal reads a canonical finite numeric.
func parseDecimal(s string) decimal {
	negative, whole, fraction := numericParts(s)
	digits := whole + fraction
	if negative {
		digits = "-" + digits
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic("datum: numeric is not canonical: " + clip(s))
	}
	return decimal{n, len(fraction)}
}

// digits returns the decimal digits of the unscaled number, "" for zero.
func (d decimal) digits() string {
	if d.unscaled.Sign() == 0 {
		return ""
	}
	return strings.TrimPrefix(d.unscaled.String(), "-")
}

// text returns the canonical form. A negative scale stands for zeros.
func (d decimal) text() (string, error) {
	sign := ""
	if d.unscaled.Sign() < 0 {
		sign = "-"
	}
	return placePoint(sign, d.digits(), d.scale)
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// rescale returns d with a scale that is not smaller.
func (d decimal) rescale(scale int) decimal {
	if scale <= d.scale {
		return d
	}
	return decimal{new(big.Int).Mul(d.unscaled, pow10(scale-d.scale)), scale}
}

// round returns d at a scale, rounded half away from zero.
func (d decimal) round(scale int) decimal {
	if scale >= d.scale {
		return d.rescale(scale)
	}
	unit := pow10(d.scale - scale)
	return decimal{quoRound(d.unscaled, unit), scale}
}

// quoRound divides and rounds half away from zero.
func quoRound(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(y) >= 0 {
		step := big.NewInt(1)
		if x.Sign()*y.Sign() < 0 {
			step.Neg(step)
		}
		q.Add(q, step)
	}
	return q
}

// align brings both to the larger scale.
func align(a, b decimal) (decimal, decimal) {
	scale := max(a.scale, b.scale)
	return a.rescale(scale), b.rescale(scale)
}

// compareNumeric orders canonical numerics: -Infinity, numbers, Infinity, NaN.
func compareNumeric(a, b string) int {
	if ra, rb := numericRank(a), numericRank(b); ra != rb || ra != 0 {
		return ra - rb
	}
	an, aw, af := numericParts(a)
	bn, bw, bf := numericParts(b)
	if an != bn {
		if an {
			return -1
		}
		return 1
	}
	c := len(aw) - len(bw)
	if c == 0 {
		c = strings.Compare(aw, bw)
	}
	if c == 0 {
		c = strings.Compare(strings.TrimRight(af, "0"), strings.TrimRight(bf, "0"))
	}
	if an {
		return -c
	}
	return c
}

func numericRank(s string) int {
	switch s {
	case numericMinusInf:
		return -1
	case numericInf:
		return 1
	case numericNaN:
		return 2
	}
	return 0
}

// numericArithmetic computes a op b on canonical numerics.
func numericArithmetic(op operator, a, b string) (string, error) {
	if isSpecialNumeric(a) || isSpecialNumeric(b) {
		return specialArithmetic(op, a, b)
	}
	x, y := parseDecimal(a), parseDecimal(b)
	if y.unscaled.Sign() == 0 && (op == opDiv || op == opMod) {
		return "", divisionByZero()
	}
	switch op {
	case opAdd:
		x, y = align(x, y)
		x.unscaled.Add(x.unscaled, y.unscaled)
	case opSub:
		x, y = align(x, y)
		x.unscaled.Sub(x.unscaled, y.unscaled)
	case opMul:
		x = decimal{x.unscaled.Mul(x.unscaled, y.unscaled), x.scale + y.scale}
		if x.scale > maxScale {
			x = x.round(maxScale)
		}
	case opDiv:
		x = divide(x, y, quotientScale(a, b))
	case opMod:
		x, y = align(x, y)
		x.unscaled.Rem(x.unscaled, y.unscaled)
	}
	return x.text()
}

// divide returns x / y at a scale.
func divide(x, y decimal, scale int) decimal {
	if shift := scale + y.scale - x.scale; shift >= 0 {
		x.unscaled.Mul(x.unscaled, pow10(shift))
	} else {
		y.unscaled.Mul(y.unscaled, pow10(-shift))
	}
	return decimal{quoRound(x.unscaled, y.unscaled), scale}
}

// quotientScale is PostgreSQL's choice (select_div_scale): at least 16
// significant digits, estimated from the first base-10000 digits, and not
// less than either operand's scale.
func quotientScale(a, b string) int {
	const significant, maxDisplayScale = 16, 1000
	aw, af, ascale := leadingDigit(a)
	bw, bf, bscale := leadingDigit(b)
	weight := aw - bw
	if af <= bf {
		weight--
	}
	return min(max(significant-weight*4, ascale, bscale, 0), maxDisplayScale)
}

// leadingDigit returns the weight and value of a number's first base-10000
// digit that is not zero, and its scale.
func leadingDigit(s string) (weight, digit, scale int) {
	_, whole, fraction := numericParts(s)
	scale = len(fraction)
	if whole == "0" {
		zeros := len(fraction) - len(strings.TrimLeft(fraction, "0"))
		if zeros == len(fraction) {
			return 0, 0, scale
		}
		weight = -zeros/4 - 1
		group := fraction[zeros/4*4:]
		for i := range 4 {
			digit *= 10
			if i < len(group) {
				digit += int(group[i] - '0')
			}
		}
		return weight, digit, scale
	}
	weight = (len(whole) - 1) / 4
	for _, c := range whole[:(len(whole)-1)%4+1] {
		digit = digit*10 + int(c-'0')
	}
	return weight, digit, scale
}

// specialArithmetic computes with NaN and infinities.
func specialArithmetic(op operator, a, b string) (string, error) {
	if a == numericNaN || b == numericNaN {
		return numericNaN, nil
	}
	as, bs := numericSign(a), numericSign(b)
	ai, bi := isSpecialNumeric(a), isSpecialNumeric(b)
	switch op {
	case opSub:
		bs = -bs
		fallthrough
	case opAdd:
		switch {
		case ai && bi && as != bs:
			return numericNaN, nil
		case ai:
			return infinity(as), nil
		}
		return infinity(bs), nil
	case opMul:
		return infinity(as * bs), nil // NaN for zero × infinity
	case opDiv:
		switch {
		case bs == 0:
			return "", divisionByZero()
		case ai && bi:
			return numericNaN, nil
		case ai:
			return infinity(as * bs), nil
		}
		return "0", nil
	default:
		switch {
		case bs == 0:
			return "", divisionByZero()
		case ai:
			return numericNaN, nil
		}
		return a, nil
	}
}

func numericSign(s string) int {
	switch {
	case strings.HasPrefix(s, "-"):
		return -1
	case strings.Trim(s, "0.") == "":
		return 0
	}
	return 1
}

func infinity(sign int) string {
	switch sign {
	case 0:
		return numericNaN
	case -1:
		return numericMinusInf
	}
	return numericInf
}

func divisionByZero() error { return sqlstate.New(sqlstate.DivisionByZero, "division by zero") }
