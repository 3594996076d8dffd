package mysqlwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

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

// clock reads a time: its sign, days, hour, minute, second and microseconds. Its
// length is 0, 8 or 12 (microseconds). A negative time, and one of a day or more,
// becomes a text: SQL's type time has neither.
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
	t, sign := datum.Time, ""
	if b[0] == 1 {
		t, sign = datum.Text, "-"
	}
	if days > 0 {
		t = datum.Text
	}
	return c.keep(t, fmt.Appendf(c.texts(), "%s%02d:%02d:%02d.%06d", sign, days*24+uint32(b[5]), b[6], b[7], micros)), nil
}
