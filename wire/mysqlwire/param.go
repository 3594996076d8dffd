package mysqlwire

import (
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

// parameters reads the values of a message ("COM_STMT_EXECUTE", "COM_QUERY"): a
// bitmap of NULLs, a flag for new types, the types if the flag is 1, the values.
type parameters struct {
	reader
	count int
	named bool        // with query attributes: a name follows each type
	nulls []byte      // bitmap; a part of the message
	types []paramType // of the last execution, or new ones
	fresh bool        // types are new
}

var (
	errTooManyParameters = sqlstate.New(sqlstate.LimitExceeded, "Prepared statement contains too many placeholders").WithMySQL(1390, "HY000")
	errNoTypes           = sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to mysqld_stmt_execute: no types were bound")
)

// header reads the bitmap and the types. The caller checks the reader.
func (p *parameters) header() {
	p.nulls = p.bytes((p.count + 7) / 8)
	if p.byte() == 1 {
		p.readTypes()
	}
}

// readTypes reads the types. Each has at least two bytes in the message, which
// bounds the allocation.
func (p *parameters) readTypes() {
	if 2*p.count > len(p.b) {
		p.fail()
		return
	}
	p.fresh, p.types = true, make([]paramType, p.count)
	for i := range p.types {
		p.types[i] = paramType(p.uint16())
		if p.named {
			p.lenencBytes()
		}
	}
}

// keeps reads the header if it has the types of the last execution. Most clients
// repeat them each time; so the message needs no allocation. Otherwise keeps returns
// false and reads nothing.
func (p *parameters) keeps(types []paramType) bool {
	bitmap := (p.count + 7) / 8
	if p.named || len(types) != p.count || len(p.b) < bitmap+1+2*p.count || p.b[bitmap] != 1 {
		return false
	}
	for i, t := range types {
		at := bitmap + 1 + 2*i
		if paramType(p.b[at])|paramType(p.b[at+1])<<8 != t {
			return false
		}
	}
	p.nulls = p.bytes(bitmap)
	p.bytes(1 + 2*p.count)
	p.types = types
	return true
}

// isNull reports whether the i-th value is NULL.
func (p *parameters) isNull(i int) bool { return p.nulls[i/8]&(1<<(i%8)) != 0 }

// parameter reads the i-th value. Numbers and times become texts in c.scratch. Other
// values are parts of the message.
func (c *conn) parameter(p *parameters, i int) (sqlfuncs.Arg, error) {
	if p.bad || len(p.types) <= i || len(p.nulls) <= i/8 {
		return sqlfuncs.Arg{}, errMalformed
	}
	if p.isNull(i) {
		return nullOf(p.types[i]), nil
	}
	arg, err := c.value(&p.reader, p.types[i])
	if p.bad {
		return arg, errMalformed
	}
	return arg, err
}

// nullOf returns NULL with the SQL type of a parameter type. The statement is
// planned for the types of its arguments.
func nullOf(t paramType) sqlfuncs.Arg {
	arg := sqlfuncs.Arg{Null: true}
	switch byte(t) {
	case typeTiny, typeShort, typeYear, typeLong, typeInt24, typeLongLong:
		arg.Type = datum.Int8
	case typeFloat, typeDouble:
		arg.Type = datum.Float8
	case typeDate:
		arg.Type = datum.Date
	case typeDatetime, typeTimestamp:
		arg.Type = datum.Timestamp
	case typeTime:
		arg.Type = datum.Time
	case typeDecimal, typeNewDecimal:
		arg.Type = datum.Numeric
	}
	return arg
}

// value reads a value of a type ("Binary Protocol Value"). The caller checks the
// reader.
func (c *conn) value(r *reader, t paramType) (sqlfuncs.Arg, error) {
	unsigned := t&paramUnsigned != 0
	switch byte(t) {
	case typeNull:
		return sqlfuncs.Arg{Null: true}, nil
	case typeTiny:
		n := r.byte()
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
		return c.float(float64(math.Float32frombits(r.uint32())), 32), nil
	case typeDouble:
		return c.float(math.Float64frombits(r.uint64()), 64), nil
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

// keep returns the text that was appended to c.scratch from at on.
func (c *conn) keep(at int, t datum.OID) sqlfuncs.Arg {
	return sqlfuncs.Arg{Type: t, Data: c.scratch[at:len(c.scratch):len(c.scratch)]}
}

// integer returns a bigint, or a numeric for an unsigned value above its range.
func (c *conn) integer(u uint64, s int64, unsigned bool) sqlfuncs.Arg {
	at := len(c.scratch)
	switch {
	case !unsigned:
		c.scratch = strconv.AppendInt(c.scratch, s, 10)
	case u > math.MaxInt64:
		c.scratch = strconv.AppendUint(c.scratch, u, 10)
		return c.keep(at, datum.Numeric)
	default:
		c.scratch = strconv.AppendUint(c.scratch, u, 10)
	}
	return c.keep(at, datum.Int8)
}

// float returns a double with the shortest text that identifies it.
func (c *conn) float(f float64, bits int) sqlfuncs.Arg {
	at := len(c.scratch)
	c.scratch = strconv.AppendFloat(c.scratch, f, 'g', -1, bits)
	return c.keep(at, datum.Float8)
}

// errBadTime is returned for a date or time that does not exist.
var errBadTime = sqlstate.New(sqlstate.InvalidDatetime, "Incorrect datetime value in a parameter")

// datetime reads a date, perhaps with a time. Its length is 0, 4 (date), 7 (seconds)
// or 11 (microseconds).
func (c *conn) datetime(r *reader, dateOnly bool) (sqlfuncs.Arg, error) {
	m := moment{dateOnly: dateOnly}
	n := r.byte()
	switch n {
	case 0, 4, 7, 11:
	default:
		return sqlfuncs.Arg{}, errMalformed
	}
	if n >= 4 {
		m.year, m.month, m.day = int(r.uint16()), int(r.byte()), int(r.byte())
	}
	if n >= 7 {
		m.hour, m.minute, m.second = int(r.byte()), int(r.byte()), int(r.byte())
	}
	if n == 11 {
		m.micro = int(r.uint32())
	}
	if m.year > 9999 || m.month > 12 || m.day > 31 || m.hour > 23 || m.minute > 59 || m.second > 59 || m.micro >= microsPerSecond {
		return sqlfuncs.Arg{}, errBadTime
	}
	at := len(c.scratch)
	c.scratch = m.appendText(c.scratch)
	if dateOnly {
		return c.keep(at, datum.Date), nil
	}
	return c.keep(at, datum.Timestamp), nil
}

// maxDays bounds the days of MySQL's TIME, which ends at 838:59:59.
const maxDays = 34

// clock reads a time. Its length is 0, 8 or 12 (microseconds). A negative time, and
// one of a day or more, becomes a text: SQL's type time has neither.
func (c *conn) clock(r *reader) (sqlfuncs.Arg, error) {
	n := r.byte()
	negative, days, micros := false, 0, int64(0)
	switch n {
	case 0:
	case 8, 12:
		negative = r.byte() == 1
		d := r.uint32()
		if d > maxDays {
			return sqlfuncs.Arg{}, errBadTime
		}
		days = int(d)
		h, m, s := r.byte(), r.byte(), r.byte()
		if h > 23 || m > 59 || s > 59 {
			return sqlfuncs.Arg{}, errBadTime
		}
		micros = (int64(h)*3600 + int64(m)*60 + int64(s)) * microsPerSecond
		if n == 12 {
			fraction := r.uint32()
			if fraction >= microsPerSecond {
				return sqlfuncs.Arg{}, errBadTime
			}
			micros += int64(fraction)
		}
	default:
		return sqlfuncs.Arg{}, errMalformed
	}
	at := len(c.scratch)
	if negative {
		c.scratch = append(c.scratch, '-')
	}
	c.scratch = appendClock(c.scratch, days, micros)
	if negative || days > 0 {
		return c.keep(at, datum.Text), nil
	}
	return c.keep(at, datum.Time), nil
}
