package datum

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// jsonbVersion is the byte in front of a jsonb's binary form.
const jsonbVersion = 1

// fixedSize returns the length of a type's binary form, 0 if it varies.
func fixedSize(t OID) int {
	switch t {
	case Bool, Char:
		return 1
	case Int2:
		return 2
	case Int4, Oid, Xid, Date, Float4:
		return 4
	case Int8, Float8, Timestamp, TimestampTZ:
		return 8
	case UUID, Interval:
		return 16
	}
	if IsReg(t) {
		return 4
	}
	return 0
}

func badBinary(format string, args ...any) error {
	return sqlstate.New(sqlstate.InvalidBinary, format, args...)
}

// insufficientData returns the error for a compound value that ends too early.
func insufficientData() error { return badBinary("insufficient data left in message") }

// DecodeBinary reads the binary form of a type, as PostgreSQL's receive
// function does. The value does not share memory with b. Errors: 22P03 for a
// wrong length or count, 22021 for invalid text, 22003 and 22008 for
// values out of range, 22P02 for bad JSON,
// 42883 for types without a binary form, 0A000 for records.
func DecodeBinary(t OID, b []byte) (Value, error) {
	if n := fixedSize(t); n != 0 {
		if len(b) != n {
			return Value{}, badBinary("incorrect binary data format: %d bytes for type %s, which has %d", len(b), display(t), n)
		}
		return decodeFixed(t, b)
	}
	switch t {
	case Text, Varchar, BPChar, Name, Unknown, CString:
		return parseString(t, string(b))
	case Bytea:
		return MakeString(t, string(b)), nil
	case JSON:
		return parseJSON(string(b), nil)
	case JSONB:
		if len(b) == 0 {
			return Value{}, insufficientData()
		}
		if b[0] != jsonbVersion {
			return Value{}, badBinary("unsupported jsonb version number %d", b[0])
		}
		return parseJSONB(string(b[1:]), nil)
	case Numeric:
		return Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "a numeric in binary form is not supported as an input").
			WithHint("Send it as a text, or a bigint.")
	case Record:
		return Value{}, anonymousRecord()
	case Void:
		return MakeString(Void, ""), nil
	}
	if info := lookup(t); info != nil && info.Elem != Invalid {
		return decodeArray(t, info.Elem, b)
	}
	return Value{}, sqlstate.New(sqlstate.UndefinedFunction, "no binary input function available for type %s", display(t))
}

// decodeFixed reads a value of one of the fixed sizes, already checked.
func decodeFixed(t OID, b []byte) (Value, error) {
	v := Value{Type: t, Valid: true}
	switch t {
	case Bool:
		return MakeBool(b[0] != 0), nil
	case Char:
		if b[0] != 0 {
			v.Str = string(b)
		}
	case Int2:
		v.Int = int64(int16(binary.BigEndian.Uint16(b)))
	case Int4:
		v.Int = int64(int32(binary.BigEndian.Uint32(b)))
	case Int8:
		v.Int = int64(binary.BigEndian.Uint64(b))
	case Float4:
		v.Float = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
		return v, checkFinite(v)
	case Float8:
		v.Float = math.Float64frombits(binary.BigEndian.Uint64(b))
		return v, checkFinite(v)
	case UUID, Interval:
		v.Str = string(b)
	case Date:
		v.Int = int64(int32(binary.BigEndian.Uint32(b)))
		if !validDate(v.Int) {
			return Value{}, dateOutOfRange()
		}
	case Timestamp, TimestampTZ:
		v.Int = int64(binary.BigEndian.Uint64(b))
		if !validTimestamp(v.Int) {
			return Value{}, timestampOutOfRange()
		}
	default: // oid, xid, reg*
		v.Int = int64(binary.BigEndian.Uint32(b))
	}
	return v, nil
}

// AppendBinary appends the binary form of a value, as PostgreSQL's send
// function does. NULL appends nothing. Errors: 42883 for types without a
// binary form.
func AppendBinary(dst []byte, v Value) ([]byte, error) {
	if !v.Valid {
		return dst, nil
	}
	switch v.Type {
	case Bool:
		return append(dst, byte(v.Int)), nil
	case Char:
		if v.Str == "" {
			return append(dst, 0), nil
		}
		return append(dst, v.Str[0]), nil
	case Int2:
		return binary.BigEndian.AppendUint16(dst, uint16(v.Int)), nil
	case Int8, Timestamp, TimestampTZ:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Int)), nil
	case Float4:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v.Float))), nil
	case Float8:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float)), nil
	case Text, Varchar, BPChar, Name, Unknown, CString, JSON, Bytea, UUID, Interval, Void, PgNodeTree:
		return append(dst, v.Str...), nil
	case JSONB:
		return append(append(dst, jsonbVersion), v.Str...), nil
	case Numeric:
		return appendNumericBinary(dst, decimalOf(v)), nil
	case Record:
		return appendRecordBinary(dst, v)
	}
	if fixedSize(v.Type) == 4 { // int4, oid, xid, date, reg*
		return binary.BigEndian.AppendUint32(dst, uint32(v.Int)), nil
	}
	if info := lookup(v.Type); info != nil && info.Elem != Invalid {
		return appendArrayBinary(dst, v, info.Elem)
	}
	return nil, sqlstate.New(sqlstate.UndefinedFunction, "no binary output function available for type %s", display(v.Type))
}

// appendSized appends a value with its length in front, -1 for NULL.
func appendSized(dst []byte, v Value) ([]byte, error) {
	if !v.Valid {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32), nil
	}
	start := len(dst)
	dst, err := AppendBinary(append(dst, 0, 0, 0, 0), v)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

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

func (r *binaryReader) int32() int32 {
	if b := r.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
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
	}
	n := 0
	if dimensions == 1 {
		n = int(r.int32())
		r.int32() // lower bound
	}
	if n < 0 || n > len(r.b)/4 { // an element has at least its length
		return Value{}, badBinary("invalid array size")
	}
	v := MakeArray(t, make([]Value, n))
	for i := range v.Elems {
		size := r.int32()
		if v.Elems[i] = Null(elem); size == -1 && !isVector(t) {
			continue
		}
		data := r.bytes(int(size))
		if r.failed {
			return Value{}, insufficientData()
		}
		var err error
		if v.Elems[i], err = DecodeBinary(elem, data); err != nil {
			return Value{}, err
		}
	}
	switch {
	case r.failed: // in the dimension of an empty array
		return Value{}, insufficientData()
	case len(r.b) > 0:
		return Value{}, badBinary("incorrect binary data format: %d bytes too many for type %s", len(r.b), display(t))
	}
	return v, nil
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

// appendNumericBinary appends numeric_send's form: number of digits, weight of the
// first, sign, scale, then digits of base 10000.
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
