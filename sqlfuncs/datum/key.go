package datum

import (
	"encoding/binary"
	"math"
	"strings"
)

// AppendKey appends a key for DISTINCT, GROUP BY and hash joins: the keys of
// two values are equal exactly when Compare finds them equal. That holds
// within a type; among integers and numeric; among the floating point types;
// among the string types; and among date and timestamps. Convert values of
// other types first. A key says where it ends, so that the keys of several
// columns may follow each other.
func AppendKey(dst []byte, v Value) []byte {
	c := classOf(v.Type)
	if !v.Valid {
		return append(dst, nullKey)
	}
	switch c {
	case intClass:
		return appendNumberKey(dst, formatInt(v.Int))
	case numericClass:
		return appendNumberKey(dst, v.Str)
	case floatClass:
		return binary.BigEndian.AppendUint64(append(dst, byte(c)), floatKey(v.Float))
	case boolClass, clockClass:
		return binary.BigEndian.AppendUint64(append(dst, byte(c)), uint64(v.Int))
	case timeClass, intervalClass:
		days, micros := dayAndTime(v)
		dst = binary.BigEndian.AppendUint64(append(dst, byte(c)), uint64(days))
		return binary.BigEndian.AppendUint64(dst, uint64(micros))
	case arrayClass, recordClass:
		dst = binary.AppendUvarint(append(dst, byte(c)), uint64(len(v.Elems)))
		for _, e := range v.Elems {
			dst = AppendKey(dst, e)
		}
		return dst
	case bpcharClass:
		c = textClass
		fallthrough
	default:
		return appendSizedKey(dst, c, comparedText(v))
	}
}

// nullKey is the key of NULL, which is no class.
const nullKey = 0xff

func appendSizedKey(dst []byte, c class, s string) []byte {
	dst = binary.AppendUvarint(append(dst, byte(c)), uint64(len(s)))
	return append(dst, s...)
}

// appendNumberKey appends a numeric without the zeros at its end.
func appendNumberKey(dst []byte, s string) []byte {
	return appendSizedKey(dst, numericClass, trimNumeric(s))
}

func trimNumeric(s string) string {
	if strings.IndexByte(s, '.') < 0 {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// floatKey makes one pattern of the two zeros.
func floatKey(f float64) uint64 { return math.Float64bits(f + 0) }
