package datum

import (
	"math/big"
	"strings"

	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/sqlstate"
)

// parseDecimal reads a canonical finite numeric.
func parseDecimal(s string) decimal.Number {
	d, ok := decimal.Parse(s)
	if !ok {
		panic("datum: numeric is not canonical: " + clip(s))
	}
	return d
}

// decimalText returns the canonical form. A negative scale stands for zeros.
func decimalText(d decimal.Number) (string, error) {
	sign, digits := "", ""
	switch d.Sign() {
	case -1:
		sign, digits = "-", d.Coef.String()[1:]
	case 1:
		digits = d.Coef.String()
	}
	return placePoint(sign, digits, d.Scale)
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
	if y.Sign() == 0 && (op == opDiv || op == opMod) {
		return "", divisionByZero()
	}
	switch op {
	case opAdd:
		x = x.Plus(y)
	case opSub:
		l, r, scale := decimal.Align(x, y)
		x = decimal.New(new(big.Int).Sub(l, r), scale)
	case opMul:
		x = decimal.New(new(big.Int).Mul(x.Coef, y.Coef), x.Scale+y.Scale)
		if x.Scale > maxScale {
			x = x.Round(maxScale)
		}
	case opDiv:
		x = x.Quo(y, quotientScale(a, b))
	case opMod:
		l, r, scale := decimal.Align(x, y)
		x = decimal.New(new(big.Int).Rem(l, r), scale)
	}
	return decimalText(x)
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
