package datum

import (
	"math/big"
	"strconv"

	"nextid/sqlfuncs/sqlstate"
)

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

// applyNumericMod rounds to the scale of numeric(p, s) and checks the precision.
func applyNumericMod(v Value, typmod int32) (Value, error) {
	if typmod < varlenaHeader {
		return v, nil
	}
	precision, scale := numericMod(typmod)
	d := decimalOf(v).Round(scale)
	if d.Sign() != 0 && len(new(big.Int).Abs(d.Coef).String())-d.Scale > precision-scale {
		bound := "1"
		if precision != scale {
			bound = "10^" + strconv.Itoa(precision-scale)
		}
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", precision, scale, bound)
	}
	return d.Value()
}

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
