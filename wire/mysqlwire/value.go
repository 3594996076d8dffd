package mysqlwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// null is NULL in a row of texts.
const null = 0xfb

// appendTextRow appends a row of texts ("Text Resultset Row") to the packet
// that has begun.
func appendTextRow(dst []byte, row []datum.Value, columns []sqlfuncs.Column, env *datum.Env) []byte {
	for i, v := range row {
		if !v.Valid {
			dst = append(dst, null)
			continue
		}
		at := len(dst)
		dst = appendText(append(dst, 0), v, env)
		dst = cutFraction(dst, v.Type, columns[i].TypeMod)
		dst = prefixLength(dst, at)
	}
	return dst
}

// appendText appends the text form of a value in MySQL's format.
func appendText(dst []byte, v datum.Value, env *datum.Env) []byte {
	switch v.Type {
	case datum.Bool:
		return append(dst, '0'+byte(v.Int&1))
	case datum.Bytea:
		return append(dst, v.Str...)
	case datum.Float4:
		return appendFloat(dst, v.Float, 32)
	case datum.Float8:
		return appendFloat(dst, v.Float, 64)
	case datum.Date, datum.Timestamp, datum.TimestampTZ:
		return appendTime(dst, v, env)
	}
	return datum.AppendText(dst, v, env)
}

// cutFraction cuts the six decimals of a time to the digits of its column. A column
// without a fixed number of digits (digits < 0) shows six if one is not zero.
func cutFraction(dst []byte, t datum.OID, digits int32) []byte {
	switch t {
	case datum.Timestamp, datum.TimestampTZ:
	default:
		return dst
	}
	switch n := len(dst); {
	case digits == 0, digits < 0 && string(dst[n-7:]) == ".000000":
		return dst[:n-7]
	case digits > 0 && digits < 6:
		return dst[:n-6+int(digits)]
	}
	return dst
}

// appendFloat appends a number with the fewest digits that identify it. It has an
// exponent only below 1e-15 and from 1e15 on, as in MySQL.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-15 && abs < 1e15 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	dst = append(dst, strings.TrimPrefix(mantissa, "+")...)
	if !finite {
		return dst
	}
	n, _ := strconv.Atoi(exponent) // Go's has a sign, and two digits at least
	return strconv.AppendInt(append(dst, 'e'), int64(n), 10)
}

// MySQL has no infinity. A time after the year 9999 becomes lastTime, and one before
// the year 0 zeroTime.
const (
	timeLayout = "2006-01-02 15:04:05.000000"
	zeroTime   = "0000-00-00 00:00:00.000000"
	dateLength = len("2006-01-02")
)

var lastTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// timeOf returns a date or timestamp, a timestamptz in the session's time zone. ok is
// false for zeroTime.
func timeOf(v datum.Value, env *datum.Env) (t time.Time, ok bool) {
	t = v.GoTime()
	if v.Type == datum.TimestampTZ && env != nil && env.Location != nil {
		t = t.In(env.Location)
	}
	if t.Year() > lastTime.Year() {
		t = lastTime
	}
	return t, t.Year() >= 0
}

// appendTime appends a date or timestamp: YYYY-MM-DD hh:mm:ss.ffffff.
func appendTime(dst []byte, v datum.Value, env *datum.Env) []byte {
	length := len(timeLayout)
	if v.Type == datum.Date {
		length = dateLength
	}
	t, ok := timeOf(v, env)
	if !ok {
		return append(dst, zeroTime[:length]...)
	}
	return t.AppendFormat(dst, timeLayout[:length])
}

// appendBinaryTime appends the binary form of a date or timestamp: a length, and the
// fields up to the last that is not zero (date; seconds; microseconds).
func appendBinaryTime(dst []byte, v datum.Value, env *datum.Env) []byte {
	t, ok := timeOf(v, env)
	hour, minute, second := t.Clock()
	micro := t.Nanosecond() / int(time.Microsecond)
	n := byte(11)
	switch {
	case !ok:
		return append(dst, 0)
	case v.Type == datum.Date, hour|minute|second|micro == 0:
		n = 4
	case micro == 0:
		n = 7
	}
	dst = appendUint16(append(dst, n), uint16(t.Year()))
	dst = append(dst, byte(t.Month()), byte(t.Day()))
	if n > 4 {
		dst = append(dst, byte(hour), byte(minute), byte(second))
	}
	if n > 7 {
		dst = appendUint32(dst, uint32(micro))
	}
	return dst
}

const microsPerSecond = 1_000_000

// appendBinaryRow appends a row of binary values ("Binary Protocol Resultset Row")
// to the packet that has begun. The bitmap of NULLs has an offset of two bits.
func appendBinaryRow(dst []byte, row []datum.Value, columns []sqlfuncs.Column, env *datum.Env) []byte {
	dst = append(dst, 0)
	nulls := len(dst)
	for range (len(row) + 7 + 2) / 8 {
		dst = append(dst, 0)
	}
	for i, v := range row {
		if !v.Valid {
			dst[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		dst = appendBinary(dst, v, columns[i].Type, env)
	}
	return dst
}

// appendBinary appends the binary form of a value in a column of type t. The client
// has the type from the column's definition (shapeOf).
func appendBinary(dst []byte, v datum.Value, t datum.OID, env *datum.Env) []byte {
	switch shapeOf(t).typ {
	case typeTiny:
		return append(dst, byte(v.Int))
	case typeShort:
		return appendUint16(dst, uint16(v.Int))
	case typeLong:
		return appendUint32(dst, uint32(v.Int))
	case typeLongLong:
		return appendUint64(dst, uint64(v.Int))
	case typeFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float)))
	case typeDouble:
		return appendUint64(dst, math.Float64bits(v.Float))
	case typeDate, typeDatetime, typeTimestamp:
		return appendBinaryTime(dst, v, env)
	}
	at := len(dst)
	dst = appendText(append(dst, 0), v, env)
	return prefixLength(dst, at)
}

// paramType is the type of a parameter: an enum_field_types in the low byte, and the
// flag paramUnsigned.
type paramType uint16

const paramUnsigned paramType = 0x8000

// parameters reads the types and values of a message ("COM_STMT_EXECUTE").
type parameters struct {
	reader
	count int
	types []paramType // of the last execution; new ones overwrite them
}

var (
	errTooManyParameters = sqlstate.New(sqlstate.LimitExceeded, "Prepared statement contains too many placeholders").
				WithHint("Use fewer, or raise limits.parameters in the configuration.").WithMySQL(1390, "HY000")
	errNoTypes = sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to mysqld_stmt_execute: no types were bound")
)

// readTypes reads the types, none if they have not arrived whole.
func (p *parameters) readTypes() {
	p.types = p.types[:0]
	for range p.count {
		p.types = append(p.types, paramType(p.uint16()))
	}
	if p.Bad {
		p.types = nil
	}
}

// null returns NULL with the SQL type that a value of a type has: the statement is
// planned for the types of its arguments. A NULL that would be a text has no type.
func (c *conn) null(t paramType) sqlfuncs.Arg {
	var zeros [8]byte
	r := read(zeros[:])
	arg, _ := c.value(&r, t) // no type: of an unknown type
	if arg.Type == datum.Text {
		arg.Type = 0
	}
	return sqlfuncs.Arg{Null: true, Type: arg.Type}
}

// value reads a value of a type ("Binary Protocol Value"). Numbers and times become
// texts behind c.texts. Other values are parts of the message. The caller checks the
// reader.
func (c *conn) value(r *reader, t paramType) (sqlfuncs.Arg, error) {
	unsigned := t&paramUnsigned != 0
	switch byte(t) {
	case typeNull:
		return sqlfuncs.Arg{Null: true}, nil
	case typeTiny:
		n := r.Byte()
		return c.integer(uint64(n), int64(int8(n)), unsigned), nil
	case typeShort, typeYear:
		n := r.uint16()
		return c.integer(uint64(n), int64(int16(n)), unsigned), nil
	case typeLong, typeInt24:
		n := r.uint32()
		return c.integer(uint64(n), int64(int32(n)), unsigned), nil
	case typeLongLong:
		n := r.uint64()
		return c.integer(n, int64(n), unsigned), nil
	case typeFloat:
		return c.keep(datum.Float8, strconv.AppendFloat(c.texts(), float64(math.Float32frombits(r.uint32())), 'g', -1, 32)), nil
	case typeDouble:
		return c.keep(datum.Float8, strconv.AppendFloat(c.texts(), math.Float64frombits(r.uint64()), 'g', -1, 64)), nil
	case typeDate, typeDatetime, typeTimestamp:
		return c.datetime(r, byte(t) == typeDate)
	case typeTime:
		return c.clock(r)
	case typeDecimal, typeNewDecimal:
		return sqlfuncs.Arg{Type: datum.Numeric, Data: r.lenencBytes()}, nil
	case typeVarchar, typeVarString, typeString, typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob,
		typeJSON, typeEnum, typeSet, typeBit, typeGeometry:
		return textOrBytes(r.lenencBytes()), nil
	}
	return sqlfuncs.Arg{}, sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to mysqld_stmt_execute: unknown parameter type %d", byte(t))
}

// textOrBytes returns a text if b is UTF-8, and bytes otherwise. Clients bind both
// with the same types.
func textOrBytes(b []byte) sqlfuncs.Arg {
	if utf8.Valid(b) {
		return sqlfuncs.Arg{Type: datum.Text, Data: b}
	}
	return sqlfuncs.Arg{Type: datum.Bytea, Binary: true, Data: b}
}

// texts returns the texts of the arguments that have been read.
func (c *conn) texts() []byte { return c.Conn.Scratch().Texts }

// keep returns the text that b has behind c.texts, and keeps b in its place.
func (c *conn) keep(t datum.OID, b []byte) sqlfuncs.Arg {
	s := c.Conn.Scratch()
	at := len(s.Texts)
	s.Texts = b
	return sqlfuncs.Arg{Type: t, Data: b[at:len(b):len(b)]}
}

// integer returns a bigint, or a numeric for an unsigned value above its range.
func (c *conn) integer(u uint64, s int64, unsigned bool) sqlfuncs.Arg {
	switch {
	case !unsigned:
		return c.keep(datum.Int8, strconv.AppendInt(c.texts(), s, 10))
	case u > math.MaxInt64:
		return c.keep(datum.Numeric, strconv.AppendUint(c.texts(), u, 10))
	}
	return c.keep(datum.Int8, strconv.AppendUint(c.texts(), u, 10))
}

// errBadTime is returned for a date or time that does not exist.
var errBadTime = sqlstate.New(sqlstate.InvalidDatetime, "Incorrect datetime value in a parameter")

// datetime reads a date, perhaps with a time. Its length is 0, 4 (date), 7 (seconds)
// or 11 (microseconds). The fields that are left out are zero.
func (c *conn) datetime(r *reader, dateOnly bool) (sqlfuncs.Arg, error) {
	var b [11]byte
	switch n := r.Byte(); n {
	case 0, 4, 7, 11:
		copy(b[:], r.Bytes(int(n)))
	default:
		return sqlfuncs.Arg{}, errMalformed
	}
	year, micros := binary.LittleEndian.Uint16(b[:]), binary.LittleEndian.Uint32(b[7:])
	if year > 9999 || b[2] > 12 || b[3] > 31 || b[4] > 23 || b[5] > 59 || b[6] > 59 || micros >= microsPerSecond {
		return sqlfuncs.Arg{}, errBadTime
	}
	if dateOnly {
		return c.keep(datum.Date, fmt.Appendf(c.texts(), "%04d-%02d-%02d", year, b[2], b[3])), nil
	}
	text := fmt.Appendf(c.texts(), "%04d-%02d-%02d %02d:%02d:%02d.%06d", year, b[2], b[3], b[4], b[5], b[6], micros)
	return c.keep(datum.Timestamp, text), nil
}

// maxDays bounds the days of MySQL's TIME, which ends at 838:59:59.
const maxDays = 34

// clock reads a time as a text: its sign, days, hour, minute, second and microseconds.
// Its length is 0, 8 or 12 (microseconds).
func (c *conn) clock(r *reader) (sqlfuncs.Arg, error) {
	var b [12]byte
	switch n := r.Byte(); n {
	case 0, 8, 12:
		copy(b[:], r.Bytes(int(n)))
	default:
		return sqlfuncs.Arg{}, errMalformed
	}
	days, micros := binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint32(b[8:])
	if days > maxDays || b[5] > 23 || b[6] > 59 || b[7] > 59 || micros >= microsPerSecond {
		return sqlfuncs.Arg{}, errBadTime
	}
	sign := ""
	if b[0] == 1 {
		sign = "-"
	}
	return c.keep(datum.Text, fmt.Appendf(c.texts(), "%s%02d:%02d:%02d.%06d", sign, days*24+uint32(b[5]), b[6], b[7], micros)), nil
}
