package datum

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// Decimal is Coef ÷ 10^Scale: what a numeric, and MySQL's DECIMAL, is computed
// with. The digits and scales of results are those of PostgreSQL's numeric.
// Decimals are not changed once made.
type Decimal struct {
	Coef  *big.Int
	Scale int
}

// maxDigits bounds the digits of a numeric before the point, and those behind
// it. PostgreSQL's limits are larger; ids need fewer digits.
const maxDigits = 1000

// quotientScale is the least number of digits after the point of a quotient.
const quotientScale = 20

// DecimalOf converts an integer to a decimal.
func DecimalOf(n int64) Decimal { return Decimal{big.NewInt(n), 0} }

// ParseDecimal reads digits, with a point, a sign and an exponent or without.
// Errors: 22P02; 22003 beyond the limits; 0A000 for NaN and infinities, which
// PostgreSQL's numeric has.
func ParseDecimal(s string) (Decimal, error) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(trimSpace(s)), "e")
	shift := 0
	if scientific {
		var err error
		if shift, err = strconv.Atoi(exponent); errors.Is(err, strconv.ErrSyntax) {
			return Decimal{}, badNumber(Numeric, s)
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(mantissa) > 2*maxDigits || shift > 2*maxDigits || shift < -2*maxDigits {
		return Decimal{}, numericOverflow()
	}
	coef, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || !onlyDigits(fraction) {
		return Decimal{}, badNumber(Numeric, s)
	}
	d := Decimal{coef, len(fraction) - shift}.whole()
	return d, d.check()
}

// check refuses a decimal beyond the limits.
func (d Decimal) check() error {
	if d.Scale > maxDigits || len(d.Coef.String())-d.Scale > maxDigits {
		return numericOverflow()
	}
	return nil
}

func numericOverflow() error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "value overflows numeric format")
}

// Value returns d as a numeric. Beyond the limits it returns an error (22003).
func (d Decimal) Value() (Value, error) { return MakeString(Numeric, d.String()), d.check() }

// decimalOf is an integer or a numeric as a decimal.
func decimalOf(v Value) Decimal {
	if v.Type != Numeric {
		return DecimalOf(v.Int)
	}
	d, err := ParseDecimal(v.Str)
	if err != nil {
		panic("datum: numeric is not canonical: " + clip(v.Str))
	}
	return d
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int { return d.Coef.Sign() }

// String returns numeric's text form.
func (d Decimal) String() string {
	digits := new(big.Int).Abs(d.Coef).String()
	if d.Scale > 0 {
		digits = strings.Repeat("0", max(d.Scale+1-len(digits), 0)) + digits
		point := len(digits) - d.Scale
		digits = digits[:point] + "." + digits[point:]
	}
	if d.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// Rescale cuts digits off or appends zeros.
func (d Decimal) Rescale(scale int) Decimal {
	switch {
	case scale > d.Scale:
		return Decimal{new(big.Int).Mul(d.Coef, pow10(scale-d.Scale)), scale}
	case scale < d.Scale:
		return Decimal{new(big.Int).Quo(d.Coef, pow10(d.Scale-scale)), scale}
	}
	return d
}

// Round rounds half away from zero. A negative scale rounds before the
// decimal point.
func (d Decimal) Round(scale int) Decimal {
	if scale >= d.Scale {
		return d.Rescale(scale)
	}
	unit := pow10(d.Scale - scale)
	half := new(big.Int).Quo(unit, big.NewInt(2))
	if d.Sign() < 0 {
		half.Neg(half)
	}
	r := half.Add(half, d.Coef)
	return Decimal{r.Quo(r, unit), scale}.whole()
}

// whole turns a negative scale into zeros before the decimal point.
func (d Decimal) whole() Decimal {
	if d.Scale < 0 {
		return d.Rescale(0)
	}
	return d
}

// aligned brings two decimals to one scale. The numbers may be those of the
// decimals themselves.
func aligned(a, b Decimal) (x, y *big.Int, scale int) {
	scale = max(a.Scale, b.Scale)
	return a.Rescale(scale).Coef, b.Rescale(scale).Coef, scale
}

// Cmp returns -1, 0 or 1.
func (d Decimal) Cmp(e Decimal) int {
	x, y, _ := aligned(d, e)
	return x.Cmp(y)
}

// Plus returns d + e exactly.
func (d Decimal) Plus(e Decimal) Decimal {
	x, y, scale := aligned(d, e)
	return Decimal{new(big.Int).Add(x, y), scale}
}

// Quo returns the quotient at a scale, rounded half away from zero.
func (d Decimal) Quo(e Decimal, scale int) Decimal {
	x, y, _ := aligned(d, e)
	x = new(big.Int).Mul(x, pow10(scale+1))
	return Decimal{x.Quo(x, y), scale + 1}.Round(scale)
}

// neg returns -d.
func (d Decimal) neg() Decimal { return Decimal{new(big.Int).Neg(d.Coef), d.Scale} }

// decimalArithmetic computes x op y.
func decimalArithmetic(op byte, x, y Decimal) (Value, error) {
	switch {
	case op == '+':
		x = x.Plus(y)
	case op == '-':
		x = x.Plus(y.neg())
	case op == '*':
		x = Decimal{new(big.Int).Mul(x.Coef, y.Coef), x.Scale + y.Scale}
	case y.Sign() == 0:
		return Value{}, divisionByZero()
	case op == '/':
		x = x.Quo(y, min(max(quotientScale, x.Scale, y.Scale), maxDigits))
	default:
		l, r, scale := aligned(x, y)
		x = Decimal{new(big.Int).Rem(l, r), scale}
	}
	return x.Value()
}

func divisionByZero() error { return sqlstate.New(sqlstate.DivisionByZero, "division by zero") }

// parseNumeric reads a numeric into its canonical text: no exponent, no
// needless zeros in front, all digits of the scale.
func parseNumeric(s string) (Value, error) {
	d, err := ParseDecimal(s)
	if err != nil {
		return Value{}, err
	}
	return d.Value()
}

func onlyDigits(s string) bool { return scan(s, 0, isDigit) == len(s) }

// numericFromFloat converts as PostgreSQL does: with the digits that the
// format surely keeps.
func numericFromFloat(f float64, from OID) (Value, error) {
	precision := doubleDigits
	if from == Float4 {
		precision = realDigits
	}
	return parseNumeric(strconv.FormatFloat(f, 'g', precision, 64))
}

// numericToInt rounds half away from zero and checks the range of t.
func numericToInt(v Value, t OID) (int64, error) {
	n := decimalOf(v).Round(0).Coef
	if !n.IsInt64() {
		return 0, outOfRange(t)
	}
	return checkInt(t, n.Int64())
}
