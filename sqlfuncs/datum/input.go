package datum

import (
	"strconv"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// ParseText reads a value as PostgreSQL's input function of the type does.
// env gives the session's time zone, the transaction's time and the names of
// objects; nil stands for UTC, the clock and no names. The value may share
// memory with s. Errors: 22P02 for bad syntax, 22003, 22007, 22008 for
// numbers and times out of range, 42846 for types without text input.
func ParseText(t OID, s string, env *Env) (Value, error) {
	switch t {
	case Bool:
		return parseBool(s)
	case Int2:
		return parseInt(t, s, 16)
	case Int4:
		return parseInt(t, s, 32)
	case Int8:
		return parseInt(t, s, 64)
	case Oid, Xid:
		v, err := parseOid(s)
		v.Type = t
		return v, err
	case Float4, Float8:
		return parseFloat(t, s)
	case Numeric:
		return parseNumeric(s)
	case Text, Varchar, BPChar, Name, Char, Unknown, CString:
		return parseString(t, s)
	case Bytea:
		return parseBytea(s)
	case UUID:
		return parseUUID(s)
	case Bit, VarBit:
		return parseBits(t, s)
	case JSON:
		return parseJSON(s, env)
	case JSONB:
		return parseJSONB(s, env)
	}
	if isReg(t) {
		return parseReg(t, s, env)
	}
	return parseCompound(t, s, env)
}

// parseCompound reads times and arrays.
func parseCompound(t OID, s string, env *Env) (Value, error) {
	switch t {
	case Date:
		return parseDate(s)
	case Time:
		return parseTimeOfDay(s)
	case Timestamp, TimestampTZ:
		return parseTimestamp(t, s, env)
	case Interval:
		return parseInterval(s)
	case Int2Vector:
		return parseVector(t, Int2, s)
	case OidVector:
		return parseVector(t, Oid, s)
	case Record:
		return Value{}, anonymousRecord()
	case Void:
		return MakeString(Void, ""), nil
	case ACLItem, PgNodeTree:
		return parseString(t, s)
	}
	if info := lookup(t); info != nil && info.Elem != Invalid {
		if err := sqlstate.BrokenText(s); err != nil {
			return Value{}, err
		}
		return parseArray(t, info.Elem, s, env)
	}
	return Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "cannot accept a value of type %s", display(t))
}

// AppendText appends the text form of a value: PostgreSQL's output function
// of the type under the settings of env (nil: the defaults). NULL appends
// nothing; what stands for it is the protocol's business.
func AppendText(dst []byte, v Value, env *Env) []byte {
	if !v.Valid {
		return dst
	}
	switch v.Type {
	case Int8, Int4, Int2, Oid, Xid:
		return strconv.AppendInt(dst, v.Int, 10)
	case Text, Varchar, Name, Numeric, JSON, JSONB, Bit, VarBit:
		return append(dst, v.Str...)
	case Bool:
		if v.Int != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Float4:
		return appendFloat(dst, v.Float, 32, env.floatDigits())
	case Float8:
		return appendFloat(dst, v.Float, 64, env.floatDigits())
	case Date:
		return appendDate(dst, v)
	case Time:
		return appendClock(dst, uint64(v.Int))
	case Timestamp, TimestampTZ:
		return appendTimestamp(dst, v, env)
	case Interval:
		return appendInterval(dst, parseIntervalValue(v))
	case Char:
		if v.Str != "" && v.Str[0] >= utf8.RuneSelf {
			c := v.Str[0]
			return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
		return append(dst, v.Str...)
	case Bytea:
		return appendBytea(dst, v.Str, env)
	case UUID:
		return appendUUID(dst, v.Str)
	case Record:
		return appendRecord(dst, v, env)
	case Int2Vector, OidVector:
		return appendVector(dst, v)
	case RegClass, RegType, RegProc, RegNamespace, RegRole,
		RegProcedure, RegOper, RegOperator, RegCollation, RegConfig, RegDictionary:
		return appendReg(dst, v, env)
	}
	if v.Elems != nil || category(v.Type) == 'A' {
		return appendArray(dst, v, env)
	}
	return append(dst, v.Str...)
}

// floatDigits is extra_float_digits.
func (e *Env) floatDigits() int {
	if e == nil {
		return 1
	}
	return e.ExtraFloatDigits
}
