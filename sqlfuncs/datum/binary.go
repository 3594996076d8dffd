package datum

import (
	"encoding/binary"
	"math"

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
	case Int8, Float8, Time, Timestamp, TimestampTZ:
		return 8
	case UUID, Interval:
		return 16
	}
	if isReg(t) {
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
		return decodeNumeric(b)
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
	case Time:
		v.Int = int64(binary.BigEndian.Uint64(b))
		if v.Int < 0 || v.Int > microsPerDay {
			return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, "time out of range")
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
	case Int8, Time, Timestamp, TimestampTZ:
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
