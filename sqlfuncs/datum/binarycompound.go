package datum

import (
	"encoding/binary"
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
// element type, length and lower bound of each dimension, the elements. Lower
// bounds are dropped.
func decodeArray(t, elem OID, b []byte) (Value, error) {
	r := &binaryReader{b: b}
	dimensions, flags, got := r.int32(), r.int32(), OID(r.int32())
	switch {
	case r.failed:
		return Value{}, insufficientData()
	case dimensions < 0:
		return Value{}, badBinary("invalid number of dimensions: %d", dimensions)
	case dimensions > maxArrayDimensions:
		return Value{}, sqlstate.New(sqlstate.LimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", dimensions, maxArrayDimensions)
	case flags != 0 && flags != 1:
		return Value{}, badBinary("invalid array flags")
	case got != elem:
		return Value{}, sqlstate.New(sqlstate.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			got, display(got), elem, display(elem))
	}
	lengths := make([]int, dimensions)
	total := 1
	for i := range lengths {
		lengths[i] = int(r.int32())
		r.int32() // lower bound
		if lengths[i] < 0 || r.failed {
			return Value{}, badBinary("invalid array size")
		}
		if total *= lengths[i]; total > len(b)/4 { // an element has at least its length
			return Value{}, insufficientData()
		}
	}
	v := MakeArray(t, nil)
	if dimensions == 0 || total == 0 {
		return v, r.end(t)
	}
	if isVector(t) && dimensions != 1 {
		return v, badBinary("invalid %s data", display(t))
	}
	v, err := r.dimension(t, elem, lengths)
	if err == nil {
		err = r.end(t)
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// dimension reads the elements of the outermost dimension left.
func (r *binaryReader) dimension(t, elem OID, lengths []int) (Value, error) {
	v := MakeArray(t, make([]Value, lengths[0]))
	for i := range v.Elems {
		var err error
		if len(lengths) > 1 {
			v.Elems[i], err = r.dimension(t, elem, lengths[1:])
		} else {
			v.Elems[i], err = r.sized(elem, DecodeBinary)
		}
		if err == nil && isVector(t) && !v.Elems[i].Valid {
			err = badBinary("invalid %s data", display(t))
		}
		if err != nil {
			return Value{}, err
		}
	}
	return v, nil
}

func isVector(t OID) bool { return t == Int2Vector || t == OidVector }

// appendArrayBinary is the inverse of decodeArray.
func appendArrayBinary(dst []byte, v Value, elem OID) ([]byte, error) {
	var lengths []int
	if isVector(v.Type) && len(v.Elems) == 0 {
		lengths = []int{0} // a vector always has one dimension
	}
	for level := v; len(level.Elems) > 0; level = level.Elems[0] {
		lengths = append(lengths, len(level.Elems))
		if level.Elems[0].Type != v.Type {
			break
		}
	}
	put := func(n int) { dst = binary.BigEndian.AppendUint32(dst, uint32(n)) }
	put(len(lengths))
	start := len(dst)
	put(0) // set below when there is a NULL
	put(int(elem))
	for _, n := range lengths {
		put(n)
		if isVector(v.Type) {
			put(0)
		} else {
			put(1)
		}
	}
	dst, hasNull, err := appendElements(dst, v)
	if hasNull {
		dst[start+3] = 1
	}
	return dst, err
}

func appendElements(dst []byte, v Value) (out []byte, hasNull bool, err error) {
	for _, e := range v.Elems {
		var nested bool
		if e.Type == v.Type {
			dst, nested, err = appendElements(dst, e)
		} else {
			dst, err = appendSized(dst, e)
			nested = !e.Valid
		}
		if err != nil {
			return nil, false, err
		}
		hasNull = hasNull || nested
	}
	return dst, hasNull, nil
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
	numericSignNaN  = 0xc000
	numericSignPInf = 0xd000
	numericSignNInf = 0xf000
	infinityScale   = 0x20 // what PostgreSQL sends as the scale of infinities
)

// decodeNumeric reads numeric_recv's form: number of digits, weight of the
// first, sign, scale, then digits of base 10000.
func decodeNumeric(b []byte) (Value, error) {
	r := &binaryReader{b: b}
	count, weight, sign, scale := int(uint16(r.int16())), int(r.int16()), uint16(r.int16()), int(uint16(r.int16()))
	if r.failed || len(r.b) < 2*count {
		return Value{}, insufficientData()
	}
	switch sign {
	case numericPositive, numericNegative:
	case numericSignNaN:
		return makeNumeric(numericNaN), nil
	case numericSignPInf:
		return makeNumeric(numericInf), nil
	case numericSignNInf:
		return makeNumeric(numericMinusInf), nil
	default:
		return Value{}, badBinary(`invalid sign in external "numeric" value`)
	}
	if scale > maxScale {
		return Value{}, badBinary(`invalid scale in external "numeric" value`)
	}
	digits := make([]byte, 0, 4*count+8)
	for range count {
		d := int(r.int16())
		if d < 0 || d > 9999 {
			return Value{}, badBinary(`invalid digit in external "numeric" value`)
		}
		digits = appendPadded(digits, d, 4)
	}
	if err := r.end(Numeric); err != nil {
		return Value{}, err
	}
	s, err := numericFromDigits(string(digits), weight, scale, sign == numericNegative)
	return makeNumeric(s), err
}

// numericFromDigits writes decimal digits, the first four of which weigh
// 10000^weight, at a scale; what the scale does not hold is cut off.
func numericFromDigits(digits string, weight, scale int, negative bool) (string, error) {
	have := len(digits) - 4*(weight+1) // digits after the point
	switch {
	case strings.Trim(digits, "0") == "":
		digits = ""
		have = scale
	case have > scale:
		digits = digits[:max(len(digits)-(have-scale), 0)]
		have = scale
	case have < scale:
		if scale-max(have, 0) > maxZeros || -have > maxZeros {
			return "", numericOverflow()
		}
		digits += strings.Repeat("0", scale-have)
		have = scale
	}
	sign := ""
	if negative && strings.Trim(digits, "0") != "" {
		sign = "-"
	}
	return placePoint(sign, digits, have)
}

// appendNumericBinary is the inverse of decodeNumeric, with no needless digits.
func appendNumericBinary(dst []byte, s string) []byte {
	put := func(n int) { dst = binary.BigEndian.AppendUint16(dst, uint16(n)) }
	switch s {
	case numericNaN:
		return binary.BigEndian.AppendUint64(dst, numericSignNaN<<16)
	case numericInf:
		return binary.BigEndian.AppendUint64(dst, numericSignPInf<<16|infinityScale)
	case numericMinusInf:
		return binary.BigEndian.AppendUint64(dst, numericSignNInf<<16|infinityScale)
	}
	negative, whole, fraction := numericParts(s)
	scale := len(fraction)
	if pad := len(whole) % 4; pad != 0 {
		whole = "000"[pad-1:] + whole
	}
	if pad := len(fraction) % 4; pad != 0 {
		fraction += "000"[pad-1:]
	}
	weight := len(whole)/4 - 1
	digits := whole + fraction
	for strings.HasPrefix(digits, "0000") {
		digits = digits[4:]
		weight--
	}
	for strings.HasSuffix(digits, "0000") {
		digits = digits[:len(digits)-4]
	}
	sign := numericPositive
	if negative {
		sign = numericNegative
	}
	if digits == "" {
		weight, sign = 0, numericPositive
	}
	put(len(digits) / 4)
	put(weight)
	put(sign)
	put(scale)
	for ; digits != ""; digits = digits[4:] {
		n, _ := strconv.Atoi(digits[:4])
		put(n)
	}
	return dst
}
