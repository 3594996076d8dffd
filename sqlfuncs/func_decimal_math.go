package sqlfuncs

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The functions here compute with fixed-point numbers: a big.Int that stands
// for itself ÷ 2^bits. Their error is a few units of the last bit.

// guardBits are computed beyond what a result needs.
const guardBits = 64

// bitsFor is how many bits hold n decimal digits.
func bitsFor(digits int) uint { return uint(digits)*10/3 + guardBits }

// atanhInverse is the inverse hyperbolic tangent of 1/n by its series.
func atanhInverse(n int64, bits uint) *big.Int {
	square := big.NewInt(n * n)
	power := new(big.Int).Lsh(big.NewInt(1), bits)
	power.Quo(power, big.NewInt(n))
	sum, term := new(big.Int), new(big.Int)
	for k := int64(1); power.Sign() != 0; k += 2 {
		sum.Add(sum, term.Quo(power, big.NewInt(k)))
		power.Quo(power, square)
	}
	return sum
}

// ln2 is the logarithm of 2.
func ln2(bits uint) *big.Int {
	if bits <= ln2Bits {
		return new(big.Int).Rsh(floatLn2(), ln2Bits-bits)
	}
	return computeLn2(bits)
}

// ln2Bits is the precision that functions on float8 need.
const ln2Bits = floatBits + 2*halvings

var floatLn2 = sync.OnceValue(func() *big.Int { return computeLn2(ln2Bits) })

// computeLn2 uses a formula of Machin's kind.
func computeLn2(bits uint) *big.Int {
	sum := new(big.Int).Mul(atanhInverse(26, bits), big.NewInt(18))
	sum.Sub(sum, new(big.Int).Mul(atanhInverse(4801, bits), big.NewInt(2)))
	return sum.Add(sum, new(big.Int).Mul(atanhInverse(8749, bits), big.NewInt(8)))
}

// fixedOf cuts x to a fixed-point number.
func fixedOf(x *big.Float, bits uint) *big.Int {
	scaled := new(big.Float).SetMantExp(x, int(bits))
	n, _ := scaled.Int(nil)
	return n
}

// lnFixed is the natural logarithm of x > 0: with x = m·2^e and m around 1,
// ln m = 2·atanh((m-1)/(m+1)).
func lnFixed(x *big.Float, bits uint) *big.Int {
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(math.Sqrt2/2)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	f := fixedOf(m, bits)
	z := new(big.Int).Sub(f, one)
	z.Lsh(z, bits)
	z.Quo(z, f.Add(f, one))
	square := new(big.Int).Mul(z, z)
	square.Rsh(square, bits)
	sum, term := new(big.Int), new(big.Int)
	for k := int64(1); z.CmpAbs(big.NewInt(1)) > 0; k += 2 { // Rsh of a negative number ends at -1
		sum.Add(sum, term.Quo(z, big.NewInt(k)))
		z.Mul(z, square)
		z.Rsh(z, bits)
	}
	sum.Lsh(sum, 1)
	if e != 0 {
		sum.Add(sum, term.Mul(ln2(bits), big.NewInt(int64(e))))
	}
	return sum
}

// halvings is how often expFixed halves its argument before the series.
const halvings = 16

// expFixed returns m and e with exp(v) = m·2^e, 1 ≤ m < 2 fixed-point.
func expFixed(v *big.Int, bits uint) (m *big.Int, e int64) {
	wide := bits + 2*halvings
	r := new(big.Int).Lsh(v, 2*halvings)
	two := ln2(wide)
	k := new(big.Int)
	k.DivMod(r, two, r) // r in [0, ln 2)
	r.Rsh(r, halvings)
	one := new(big.Int).Lsh(big.NewInt(1), wide)
	sum, term := new(big.Int).Set(one), new(big.Int).Set(one)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Mul(term, r)
		term.Rsh(term, wide)
		term.Quo(term, big.NewInt(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
		sum.Rsh(sum, wide)
	}
	return sum.Rsh(sum, 2*halvings), k.Int64()
}

// decimalOfFixed rounds v·2^e to a decimal.
func decimalOfFixed(v *big.Int, bits uint, e int64, scale int) decimal {
	x := new(big.Int).Mul(v, pow10(scale+1))
	if shift := int64(bits) - e; shift >= 0 {
		x.Quo(x, new(big.Int).Lsh(big.NewInt(1), uint(shift)))
	} else {
		x.Lsh(x, uint(-shift))
	}
	return decimal{x, scale + 1}.round(scale)
}

func (d decimal) bigFloat(prec uint) *big.Float {
	f, _, _ := big.ParseFloat(d.String(), 10, prec, big.ToNearestEven)
	return f
}

func (d decimal) float64() float64 {
	f, _ := d.bigFloat(64).Float64()
	return f
}

// resultScale is the scale that gives a result of about 10^weight the least
// number of significant digits, and never fewer than the arguments have.
func resultScale(weight int, scales ...int) int {
	scale := max(minSignificant-weight, 0)
	for _, s := range scales {
		scale = max(scale, s)
	}
	return min(scale, maxResultScale)
}

// lnWeight estimates the weight of ln d as PostgreSQL does, since the scale
// of results follows from it.
func (d decimal) lnWeight() int {
	x, y, scale := align(d.rescale(max(d.scale, 1)), decimalOf(1))
	off := decimal{new(big.Int).Sub(x, y), scale}
	if off.coef.CmpAbs(pow10(scale-1)) <= 0 { // 0.9 ≤ d ≤ 1.1
		return off.weight()
	}
	return int(math.Log10(math.Abs(d.lnFloat())))
}

// ln is the natural logarithm at a scale; d > 0.
func (d decimal) ln(scale int) decimal {
	bits := bitsFor(scale + 8)
	return decimalOfFixed(lnFixed(d.bigFloat(bits+guardBits), bits), bits, 0, scale)
}

// log is the logarithm to a base, at PostgreSQL's scale.
func (d decimal) log(base decimal) (decimal, error) {
	weight := d.lnWeight() - base.lnWeight()
	scale := resultScale(weight, d.scale, base.scale)
	bits := bitsFor(scale + 16 + max(-base.lnWeight(), 0)*2)
	num, den := lnFixed(d.bigFloat(bits+guardBits), bits), lnFixed(base.bigFloat(bits+guardBits), bits)
	if den.Sign() == 0 {
		return d, errDivisionByZero
	}
	num.Lsh(num, bits)
	return decimalOfFixed(num.Quo(num, den), bits, 0, scale), nil
}

// log10e is log10(e), to estimate how many digits a power has.
const log10e = 4.34294481903251816668e-01

// Exponents from which on numeric overflows or underflows in PostgreSQL: of
// exp, and of e in other powers.
const (
	maxExponent      = 6000
	maxPowerExponent = 6020
)

// exp is e to the power of d, at PostgreSQL's scale.
func (d decimal) exp() (decimal, error) {
	x := d.float64()
	weight := int(min(max(x*log10e, -2*maxResultScale), 2*maxResultScale))
	scale := resultScale(weight, d.scale)
	switch {
	case x >= maxExponent:
		return d, errNumericOverflow
	case x <= -maxExponent:
		return decimal{new(big.Int), scale}, nil
	}
	bits := bitsFor(max(int(x*log10e), 0) + scale + 8)
	m, e := expFixed(fixedOf(d.bigFloat(bits+guardBits), bits), bits)
	return decimalOfFixed(m, bits, e, scale), nil
}

// pow is d to the power of e; d > 0 when e is no whole number.
func (d decimal) pow(e decimal) (decimal, error) {
	if n, ok := e.int64(); ok && n == int64(int32(n)) {
		return d.powInt(n)
	}
	if d.sign() == 0 {
		return decimal{new(big.Int), minSignificant}, nil
	}
	negative := d.sign() < 0 && e.rescale(0).coef.Bit(0) == 1
	d = decimal{new(big.Int).Abs(d.coef), d.scale}
	estimate := d.lnFloat() * e.float64()
	if math.Abs(estimate) > maxPowerExponent {
		if estimate > 0 {
			return d, errNumericOverflow
		}
		return decimal{new(big.Int), maxResultScale}, nil
	}
	weight := int(estimate * log10e)
	scale := resultScale(weight, d.scale, e.scale)
	bits := bitsFor(max(weight, 0) + scale + 8)
	wide := bits + uint(e.coef.BitLen()) + guardBits
	v := lnFixed(d.bigFloat(wide+guardBits), wide)
	v.Mul(v, e.coef)
	v.Quo(v, pow10(e.scale))
	m, k := expFixed(v.Rsh(v, wide-bits), bits)
	r := decimalOfFixed(m, bits, k, scale)
	if negative {
		r.coef.Neg(r.coef)
	}
	return r, nil
}

// lnFloat is about ln |d|, also where d is beyond the range of float64.
func (d decimal) lnFloat() float64 {
	m := new(big.Float)
	e := d.bigFloat(64).MantExp(m)
	f, _ := m.Float64()
	return math.Log(math.Abs(f)) + float64(e)*math.Ln2
}

// exactDigits is up to where powInt multiplies exactly.
const exactDigits = 10000

// powInt is d to a whole power, at PostgreSQL's scale.
func (d decimal) powInt(n int64) (decimal, error) {
	scale := resultScale(0, d.scale)
	if d.sign() == 0 {
		if n == 0 {
			return decimalOf(1).rescale(scale), nil
		}
		return decimal{new(big.Int), scale}, nil
	}
	weight := float64(n) * d.lnFloat() * log10e
	switch {
	case weight > maxWholeDigits:
		return d, errNumericOverflow
	case weight+1 < float64(-scale):
		return decimal{new(big.Int), scale}, nil
	}
	size := uint64(max(n, -n))
	if uint64(len(d.coef.String()))*size <= exactDigits {
		r := decimal{new(big.Int).Exp(d.coef, new(big.Int).SetUint64(size), nil), d.scale * int(size)}
		if n < 0 {
			return decimalOf(1).quo(r, scale), nil
		}
		return r.round(scale), nil
	}
	prec := bitsFor(max(int(weight), 0)+scale+8) + uint(bits.Len64(size))
	r, base := big.NewFloat(1).SetPrec(prec), d.bigFloat(prec)
	for ; size > 0; size >>= 1 {
		if size&1 == 1 {
			r.Mul(r, base)
		}
		base.Mul(base, base)
	}
	if n < 0 {
		r.Quo(big.NewFloat(1).SetPrec(prec), r)
	}
	return decimalOfFixed(fixedOf(r, prec), prec, 0, scale), nil
}
