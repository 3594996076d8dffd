package decimal

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The functions here compute with fixed-point numbers: a big.Int that stands
// for itself ÷ 2^bits. Their error is a few units of the last bit.

// FloatBits is a precision that is enough for any float8.
const FloatBits = 192

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
const ln2Bits = FloatBits + 2*halvings

var floatLn2 = sync.OnceValue(func() *big.Int { return computeLn2(ln2Bits) })

// computeLn2 uses a formula of Machin's kind.
func computeLn2(bits uint) *big.Int {
	sum := new(big.Int).Mul(atanhInverse(26, bits), big.NewInt(18))
	sum.Sub(sum, new(big.Int).Mul(atanhInverse(4801, bits), big.NewInt(2)))
	return sum.Add(sum, new(big.Int).Mul(atanhInverse(8749, bits), big.NewInt(8)))
}

// FixedOf cuts x to a fixed-point number.
func FixedOf(x *big.Float, bits uint) *big.Int {
	scaled := new(big.Float).SetMantExp(x, int(bits))
	n, _ := scaled.Int(nil)
	return n
}

// LnFixed is the natural logarithm of x > 0: with x = m·2^e and m around 1,
// Ln m = 2·atanh((m-1)/(m+1)).
func LnFixed(x *big.Float, bits uint) *big.Int {
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(big.NewFloat(math.Sqrt2/2)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	f := FixedOf(m, bits)
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

// halvings is how often ExpFixed halves its argument before the series.
const halvings = 16

// ExpFixed returns m and e with exp(v) = m·2^e, 1 ≤ m < 2 fixed-point.
func ExpFixed(v *big.Int, bits uint) (m *big.Int, e int64) {
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
func decimalOfFixed(v *big.Int, bits uint, e int64, scale int) Number {
	x := new(big.Int).Mul(v, Pow10(scale+1))
	if shift := int64(bits) - e; shift >= 0 {
		x.Quo(x, new(big.Int).Lsh(big.NewInt(1), uint(shift)))
	} else {
		x.Lsh(x, uint(-shift))
	}
	return Number{x, scale + 1}.Round(scale)
}

func (d Number) bigFloat(prec uint) *big.Float {
	f, _, _ := big.ParseFloat(d.String(), 10, prec, big.ToNearestEven)
	return f
}

// Float64 is the nearest float64; beyond its range ±Inf or 0.
func (d Number) Float64() float64 {
	f, _ := d.bigFloat(64).Float64()
	return f
}

// ResultScale is the scale that gives a result of about 10^weight the least
// number of significant digits, and never fewer than the arguments have.
func ResultScale(weight int, scales ...int) int {
	scale := max(minSignificant-weight, 0)
	for _, s := range scales {
		scale = max(scale, s)
	}
	return min(scale, maxResultScale)
}

// LnWeight estimates the weight of ln d as PostgreSQL does, since the scale
// of results follows from it.
func (d Number) LnWeight() int {
	x, y, scale := Align(d.Rescale(max(d.Scale, 1)), Of(1))
	off := Number{new(big.Int).Sub(x, y), scale}
	if off.Coef.CmpAbs(Pow10(scale-1)) <= 0 { // 0.9 ≤ d ≤ 1.1
		return off.Weight()
	}
	return int(math.Log10(math.Abs(d.lnFloat())))
}

// Ln is the natural logarithm at a scale; d > 0.
func (d Number) Ln(scale int) Number {
	bits := bitsFor(scale + 8)
	return decimalOfFixed(LnFixed(d.bigFloat(bits+guardBits), bits), bits, 0, scale)
}

// Log is the logarithm to a base, at PostgreSQL's scale.
func (d Number) Log(base Number) (Number, error) {
	weight := d.LnWeight() - base.LnWeight()
	scale := ResultScale(weight, d.Scale, base.Scale)
	bits := bitsFor(scale + 16 + max(-base.LnWeight(), 0)*2)
	num, den := LnFixed(d.bigFloat(bits+guardBits), bits), LnFixed(base.bigFloat(bits+guardBits), bits)
	if den.Sign() == 0 {
		return d, ErrDivisionByZero
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

// Exp is e to the power of d, at PostgreSQL's scale.
func (d Number) Exp() (Number, error) {
	x := d.Float64()
	weight := int(min(max(x*log10e, -2*maxResultScale), 2*maxResultScale))
	scale := ResultScale(weight, d.Scale)
	switch {
	case x >= maxExponent:
		return d, ErrOverflow
	case x <= -maxExponent:
		return Number{new(big.Int), scale}, nil
	}
	bits := bitsFor(max(int(x*log10e), 0) + scale + 8)
	m, e := ExpFixed(FixedOf(d.bigFloat(bits+guardBits), bits), bits)
	return decimalOfFixed(m, bits, e, scale), nil
}

// Pow is d to the power of e; d > 0 when e is no whole number.
func (d Number) Pow(e Number) (Number, error) {
	if n, ok := e.Int64(); ok && n == int64(int32(n)) {
		return d.powInt(n)
	}
	if d.Sign() == 0 {
		return Number{new(big.Int), minSignificant}, nil
	}
	negative := d.Sign() < 0 && e.Rescale(0).Coef.Bit(0) == 1
	d = Number{new(big.Int).Abs(d.Coef), d.Scale}
	estimate := d.lnFloat() * e.Float64()
	if math.Abs(estimate) > maxPowerExponent {
		if estimate > 0 {
			return d, ErrOverflow
		}
		return Number{new(big.Int), maxResultScale}, nil
	}
	weight := int(estimate * log10e)
	scale := ResultScale(weight, d.Scale, e.Scale)
	bits := bitsFor(max(weight, 0) + scale + 8)
	wide := bits + uint(e.Coef.BitLen()) + guardBits
	v := LnFixed(d.bigFloat(wide+guardBits), wide)
	v.Mul(v, e.Coef)
	v.Quo(v, Pow10(e.Scale))
	m, k := ExpFixed(v.Rsh(v, wide-bits), bits)
	r := decimalOfFixed(m, bits, k, scale)
	if negative {
		r.Coef.Neg(r.Coef)
	}
	return r, nil
}

// lnFloat is about ln |d|, also where d is beyond the range of float64.
func (d Number) lnFloat() float64 {
	m := new(big.Float)
	e := d.bigFloat(64).MantExp(m)
	f, _ := m.Float64()
	return math.Log(math.Abs(f)) + float64(e)*math.Ln2
}

// exactDigits is up to where powInt multiplies exactly.
const exactDigits = 10000

// powInt is d to a whole power, at PostgreSQL's scale.
func (d Number) powInt(n int64) (Number, error) {
	scale := ResultScale(0, d.Scale)
	if d.Sign() == 0 {
		if n == 0 {
			return Of(1).Rescale(scale), nil
		}
		return Number{new(big.Int), scale}, nil
	}
	weight := float64(n) * d.lnFloat() * log10e
	switch {
	case weight > MaxWholeDigits:
		return d, ErrOverflow
	case weight+1 < float64(-scale):
		return Number{new(big.Int), scale}, nil
	}
	size := uint64(max(n, -n))
	if uint64(len(d.Coef.String()))*size <= exactDigits {
		r := Number{new(big.Int).Exp(d.Coef, new(big.Int).SetUint64(size), nil), d.Scale * int(size)}
		if n < 0 {
			return Of(1).Quo(r, scale), nil
		}
		return r.Round(scale), nil
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
	return decimalOfFixed(FixedOf(r, prec), prec, 0, scale), nil
}
