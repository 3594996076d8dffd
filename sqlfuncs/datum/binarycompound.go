package datum

import (
	"encoding/binary"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// binaryReader reads numbers from a binary form; its first failure sticks.
type binaryReader struct {
	b      []byte
	failed bool
}

func (r *binaryReader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.failed, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *binaryReader) int16() int16 {
	if b := r.bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *binaryReader) int32() int32 {
	if b := r.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// sized reads a value with its length in front.
func (r *binaryReader) sized(t OID, decode func(OID, []byte) (Value, error)) (Value, error) {
	n := r.int32()
	if n == -1 {
		return Null(t), nil
	}
	b := r.bytes(int(n))
	if r.failed {
		return Value{}, insufficientData()
	}
	return decode(t, b)
}

// end checks that all was read.
func (r *binaryReader) end(t OID) error {
	switch {
	case r.failed:
		return insufficientData()
	case len(r.b) > 0:
		return badBinary("incorrect binary data format: %d bytes too many for type %s", len(r.b), display(t))
	}
	return nil
}

// decodeArray reads array_recv's form: dimensions, a flag for NULLs, the
// element type, length and lower bound of the dimension, the elements. Lower
// bounds are dropped; more than one dimension is refused.
func decodeArray(t, elem OID, b []byte) (Value, error) {
	r := &binaryReader{b: b}
	dimensions, flags, got := r.int32(), r.int32(), OID(r.int32())
	switch {
	case r.failed:
		return Value{}, insufficientData()
	case dimensions < 0:
		return Value{}, badBinary("invalid number of dimensions: %d", dimensions)
	case dimensions > 1:
		return Value{}, SeveralDimensions()
	case flags != 0 && flags != 1:
		return Value{}, badBinary("invalid array flags")
	case got != elem:
		return Value{}, sqlstate.New(sqlstate.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			got, display(got), elem, display(elem))
	case dimensions == 0:
		return MakeArray(t, nil), r.end(t)
	}
	n := int(r.int32())
	r.int32()                    // lower bound
	if n < 0 || n > len(r.b)/4 { // an element has at least its length
		return Value{}, badBinary("invalid array size")
	}
	v := MakeArray(t, make([]Value, n))
	for i := range v.Elems {
		var err error
		if v.Elems[i], err = r.sized(elem, DecodeBinary); err != nil {
			return Value{}, err
		}
		if isVector(t) && !v.Elems[i].Valid {
			return Value{}, badBinary("invalid %s data", display(t))
		}
	}
	return v, r.end(t)
}

// SeveralDimensions refuses what PostgreSQL's arrays may have.
func SeveralDimensions() error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "arrays of several dimensions are not supported")
}

func isVector(t OID) bool { return t == Int2Vector || t == OidVector }

// appendArrayBinary is the inverse of decodeArray.
func appendArrayBinary(dst []byte, v Value, elem OID) ([]byte, error) {
	put := func(n int) { dst = binary.BigEndian.AppendUint32(dst, uint32(n)) }
	dimensions, lower, nulls := 1, 1, 0
	if isVector(v.Type) {
		lower = 0
	} else if len(v.Elems) == 0 {
		dimensions = 0
	}
	if slices.ContainsFunc(v.Elems, func(e Value) bool { return !e.Valid }) {
		nulls = 1
	}
	put(dimensions)
	put(nulls)
	put(int(elem))
	if dimensions > 0 {
		put(len(v.Elems))
		put(lower)
	}
	for _, e := range v.Elems {
		var err error
		if dst, err = appendSized(dst, e); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendRecordBinary appends record_send's form: the number of columns, then
// type and value of each.
func appendRecordBinary(dst []byte, v Value) ([]byte, error) {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Elems)))
	for _, e := range v.Elems {
		dst = binary.BigEndian.AppendUint32(dst, uint32(e.Type))
		var err error
		if dst, err = appendSized(dst, e); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// The sign words of a numeric's binary form.
const (
	numericPositive = 0x0000
	numericNegative = 0x4000
)

// decodeNumeric reads numeric_recv's form: number of digits, weight of the
// first, sign, scale, then digits of base 10000. What the scale does not hold
// is cut off.
func decodeNumeric(b []byte) (Value, error) {
	r := &binaryReader{b: b}
	count, weight, sign, scale := int(uint16(r.int16())), int(r.int16()), uint16(r.int16()), int(uint16(r.int16()))
	switch {
	case r.failed || len(r.b) < 2*count:
		return Value{}, insufficientData()
	case sign >= 0xc000: // NaN and infinities
		return Value{}, notFinite(Numeric, "NaN")
	case sign != numericPositive && sign != numericNegative:
		return Value{}, badBinary(`invalid sign in external "numeric" value`)
	case max(4*count, 4*weight, -4*weight, scale) > 2*maxDigits:
		return Value{}, numericOverflow()
	}
	d := Decimal{new(big.Int), 4 * (count - 1 - weight)}
	for range count {
		digit := int64(r.int16())
		if digit < 0 || digit > 9999 {
			return Value{}, badBinary(`invalid digit in external "numeric" value`)
		}
		d.Coef.Add(d.Coef.Mul(d.Coef, big.NewInt(10000)), big.NewInt(digit))
	}
	if sign == numericNegative {
		d.Coef.Neg(d.Coef)
	}
	if err := r.end(Numeric); err != nil {
		return Value{}, err
	}
	return d.Rescale(scale).Value()
}

// appendNumericBinary is the inverse of decodeNumeric, with no needless digits.
func appendNumericBinary(dst []byte, d Decimal) []byte {
	put := func(n int) { dst = binary.BigEndian.AppendUint16(dst, uint16(n)) }
	padded := d.Rescale((d.Scale + 3) / 4 * 4)
	digits := new(big.Int).Abs(padded.Coef).String()
	digits = "000"[:-len(digits)&3] + digits
	weight, sign := (len(digits)-padded.Scale)/4-1, numericPositive
	for strings.HasSuffix(digits, "0000") {
		digits = digits[:len(digits)-4]
	}
	if digits == "" {
		weight = 0
	}
	if d.Sign() < 0 {
		sign = numericNegative
	}
	put(len(digits) / 4)
	put(weight)
	put(sign)
	put(d.Scale)
	for ; digits != ""; digits = digits[4:] {
		n, _ := strconv.Atoi(digits[:4])
		put(n)
	}
	return dst
}
