package sqlfuncs

import (
	"math"
	"math/big"

	"nextid/sqlfuncs/decimal"
)

// The functions here are correctly rounded, as those of glibc nearly always
// are. Package math's differ in the last digit for up to half of all
// arguments, and PostgreSQL shows all digits.

// floatBits is the precision of the intermediate results.
const floatBits = decimal.FloatBits

// floatOfFixed rounds v·2^e to a float64.
func floatOfFixed(v *big.Int, e int64) float64 {
	x := new(big.Float).SetInt(v)
	f, _ := x.SetMantExp(x, int(e)-floatBits).Float64()
	return f
}

// maxFloatExponent is beyond what e may be raised to.
const maxFloatExponent = 1000

func expE(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) > maxFloatExponent {
		return math.Exp(x)
	}
	m, e := decimal.ExpFixed(decimal.FixedOf(big.NewFloat(x), floatBits), floatBits)
	return floatOfFixed(m, e)
}

// logE is the natural logarithm of x > 0.
func logE(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	return floatOfFixed(decimal.LnFixed(big.NewFloat(x), floatBits), 0)
}

// Parts of log10, as C libraries have them (fdlibm, e_log10.c).
const (
	log10of2High = 3.01029995663611771306e-01
	log10of2Low  = 3.69423907715893078616e-13
)

// log10 takes the whole powers of 2 apart, so that log10(1000) is 3. The
// conversions keep the compiler from fusing operations.
func log10(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	m, e := math.Frexp(x)
	if m, e = m*2, e-1; e < 0 {
		m, e = m/2, e+1
	}
	low := float64(float64(e)*log10of2Low) + float64(math.Log10E*logE(m))
	return low + float64(float64(e)*log10of2High)
}

func cubeRoot(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	v := decimal.LnFixed(big.NewFloat(math.Abs(x)), floatBits)
	m, e := decimal.ExpFixed(v.Quo(v, big.NewInt(3)), floatBits)
	return math.Copysign(floatOfFixed(m, e), x)
}

// maxExactFloat is up to where float64 holds every whole number.
const maxExactFloat = 1 << 53

// powFloat is x to the power of y, where that is real.
func powFloat(x, y float64) float64 {
	rough := math.Pow(x, y)
	switch {
	case x == 0, y == 0, y == 1, math.IsInf(x, 0), math.IsInf(y, 0), math.IsInf(rough, 0):
		return rough
	case x == math.Trunc(x) && y == math.Trunc(y) && y > 0 && math.Abs(rough) < maxExactFloat:
		return rough // package math multiplies whole numbers exactly
	}
	v := decimal.LnFixed(big.NewFloat(math.Abs(x)), floatBits)
	product := new(big.Float).SetInt(v)
	product.Mul(product, big.NewFloat(y))
	product.SetMantExp(product, -floatBits)
	if f, _ := product.Float64(); math.Abs(f) > maxFloatExponent {
		return rough
	}
	m, e := decimal.ExpFixed(decimal.FixedOf(product, floatBits), floatBits)
	return math.Copysign(floatOfFixed(m, e), rough)
}
