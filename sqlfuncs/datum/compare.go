package datum

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// class groups the types whose values compare with each other.
type class byte

const (
	noClass class = iota
	boolClass
	intClass // int2, int4, int8, oid, xid, reg*
	numericClass
	floatClass
	textClass
	byteaClass
	uuidClass
	timeClass // date, timestamp, timestamptz
	intervalClass
	arrayClass
	recordClass
)

func classOf(t OID) class {
	switch t {
	case Bool:
		return boolClass
	case Int2, Int4, Int8, Oid, Xid:
		return intClass
	case Numeric:
		return numericClass
	case Float4, Float8:
		return floatClass
	case Text, Varchar, BPChar, Name, Char, Unknown, CString:
		return textClass
	case Bytea:
		return byteaClass
	case UUID:
		return uuidClass
	case Date, Timestamp, TimestampTZ:
		return timeClass
	case Interval:
		return intervalClass
	case Record:
		return recordClass
	}
	switch {
	case IsReg(t):
		return intClass
	case category(t) == 'A':
		return arrayClass
	}
	return noClass
}

// Compare orders two values of one class of types: -1, 0 or 1. Numbers of
// different types compare as PostgreSQL converts them, a date as its
// midnight, texts by bytes (collation C). NULL is greater than everything and
// equal to NULL, as in ORDER BY and inside arrays. Errors: 42883 when the
// types do not compare, e.g. json.
func Compare(a, b Value) (int, error) {
	if !a.Valid || !b.Valid {
		return compareNulls(a, b), nil
	}
	ca, cb := classOf(a.Type), classOf(b.Type)
	switch {
	case ca == noClass:
		return 0, notComparable(a.Type)
	case cb == noClass:
		return 0, notComparable(b.Type)
	case ca == cb:
		return compareClass(ca, a, b)
	case isNumeric(ca) && isNumeric(cb):
		if ca == floatClass || cb == floatClass {
			return cmp.Compare(floatOf(a), floatOf(b)), nil
		}
		return decimalOf(a).Cmp(decimalOf(b)), nil
	}
	return 0, sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s = %s", display(a.Type), display(b.Type)).
		WithHint("Cast one side to the type of the other, or both to a type that has this operator.")
}

func notComparable(t OID) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "could not identify a comparison function for type %s", display(t))
}

func isNumeric(c class) bool { return c == intClass || c == numericClass || c == floatClass }

func compareNulls(a, b Value) int {
	switch {
	case a.Valid == b.Valid:
		return 0
	case a.Valid:
		return -1
	}
	return 1
}

func compareClass(c class, a, b Value) (int, error) {
	switch c {
	case boolClass, intClass:
		return cmp.Compare(a.Int, b.Int), nil
	case numericClass:
		return decimalOf(a).Cmp(decimalOf(b)), nil
	case floatClass:
		return cmp.Compare(a.Float, b.Float), nil
	case timeClass, intervalClass: // time zones do not matter: values were converted before
		ad, am := dayAndTime(a)
		bd, bm := dayAndTime(b)
		return cmp.Or(cmp.Compare(ad, bd), cmp.Compare(am, bm)), nil
	case arrayClass, recordClass:
		return compareElements(c, a, b)
	default: // texts and bytes
		return strings.Compare(a.Str, b.Str), nil
	}
}

// dayAndTime splits a date, a timestamp or an interval.
func dayAndTime(v Value) (days, micros int64) {
	switch v.Type {
	case Date:
		return v.Int, 0
	case Interval:
		return parseIntervalValue(v).linear()
	}
	return splitTimestamp(v.Int)
}

// compareElements compares arrays and records element by element; a longer
// array is greater than its beginning.
func compareElements(c class, a, b Value) (int, error) {
	if c == recordClass && len(a.Elems) != len(b.Elems) {
		return 0, sqlstate.New(sqlstate.DatatypeMismatch, "cannot compare record types with different numbers of columns")
	}
	for i := range min(len(a.Elems), len(b.Elems)) {
		order, err := Compare(a.Elems[i], b.Elems[i])
		if err != nil || order != 0 {
			return order, err
		}
	}
	return cmp.Compare(len(a.Elems), len(b.Elems)), nil
}

// AppendKey appends a key for DISTINCT, GROUP BY and hash joins: the keys of
// two values are equal exactly when Compare finds them equal. That holds
// within a type; among integers and numeric; among the floating point types;
// among the string types; and among date and timestamps. Convert values of
// other types first. A key says where it ends, so that the keys of several
// columns may follow each other.
func AppendKey(dst []byte, v Value) []byte {
	if !v.Valid {
		return append(dst, nullKey)
	}
	c, text := classOf(v.Type), v.Str
	switch c {
	case intClass:
		c, text = numericClass, formatInt(v.Int)
	case numericClass:
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
	case floatClass:
		text = strconv.FormatFloat(v.Float+0, 'g', -1, 64) // the two zeros are one
	case boolClass:
		text = formatInt(v.Int)
	case timeClass, intervalClass:
		days, micros := dayAndTime(v)
		text = formatInt(days) + " " + formatInt(micros)
	case arrayClass, recordClass:
		dst = binary.AppendUvarint(append(dst, byte(c)), uint64(len(v.Elems)))
		for _, e := range v.Elems {
			dst = AppendKey(dst, e)
		}
		return dst
	}
	dst = binary.AppendUvarint(append(dst, byte(c)), uint64(len(text)))
	return append(dst, text...)
}

// nullKey is the key of NULL, which is no class.
const nullKey = 0xff
