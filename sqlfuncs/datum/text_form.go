package datum

import (
	"slices"
	"strconv"
	"strings"
	"time"
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
	case JSON:
		return parseJSON(s, env)
	case JSONB:
		return parseJSONB(s, env)
	}
	if IsReg(t) {
		return parseReg(t, s, env)
	}
	return parseCompound(t, s, env)
}

// parseCompound reads times and arrays.
func parseCompound(t OID, s string, env *Env) (Value, error) {
	switch t {
	case Date:
		return parseDate(s)
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
		return appendFloat(dst, v.Float, 32)
	case Float8:
		return appendFloat(dst, v.Float, 64)
	case Date:
		return dayTime(v.Int).AppendFormat(dst, "2006-01-02")
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
	}
	switch {
	case IsReg(v.Type):
		return appendReg(dst, v, env)
	case v.Elems != nil || category(v.Type) == 'A':
		return appendArray(dst, v, env)
	}
	return append(dst, v.Str...)
}

// Env holds the session's settings on which text forms depend.
type Env struct {
	Location    *time.Location // TimeZone; nil: UTC
	ByteaEscape bool
	Names       Names  // resolves reg* types; nil: only numbers
	Worker      Worker // ends long conversions; nil: nothing does
}

// Worker counts work, in bytes read. An error of it ends the operation.
type Worker interface{ Work(n int) error }

// work counts work at the environment's Worker.
func (e *Env) work(n int) error {
	if e == nil || e.Worker == nil {
		return nil
	}
	return e.Worker.Work(n)
}

// Names resolves the names behind regclass, regtype, regproc, regnamespace
// and regrole values. ok is false when there is no such object.
type Names interface {
	ObjectOID(t OID, name string) (oid uint32, ok bool)
	ObjectName(t OID, oid uint32) (name string, ok bool)
}

// SQLSTATEs of PostgreSQL's appendix A that only values raise.
const (
	codeIntervalOverflow sqlstate.Code = "22015" // interval_field_overflow
	codeUntranslatable   sqlstate.Code = "22P05" // untranslatable_character
	maxQuotedInput                     = 1024    // bytes of the input that a message repeats
	maxNesting                         = 1000    // of JSON, records: deeper is 54001
)

// badSyntax returns the error of most input functions.
func badSyntax(t OID, s string) error { return badSyntaxFor(display(t), s) }

func badSyntaxFor(name, s string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidText, `invalid input syntax for type %s: "%s"`, name, clip(s))
}

// valueOutOfRange returns the error for an integer in text form that its type
// cannot hold.
func valueOutOfRange(t OID, s string) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, `value "%s" is out of range for type %s`, clip(s), display(t))
}

// outOfRange returns the error for a computed number that its type cannot hold.
func outOfRange(t OID) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "%s out of range", display(t))
}

// tooDeep returns the error for nesting beyond maxNesting.
func tooDeep() *sqlstate.Error {
	return sqlstate.New(sqlstate.TooComplex, "value is nested more than %d levels deep", maxNesting)
}

// clip shortens an input for a message.
func clip(s string) string {
	return strings.ToValidUTF8(sqlstate.Cut(s, maxQuotedInput), "?")
}

// anonymousRecord is the error of a record as input: nothing tells its columns.
func anonymousRecord() error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "a record is not supported as an input").
		WithHint("Send its columns as values of their own.")
}

// IsReg reports whether t is an oid that prints as a name.
func IsReg(t OID) bool { return slices.Contains(regTypes, t) }

// parseReg reads a reg* value: a number, "-" for none, or the name of an
// object that env resolves.
func parseReg(t OID, s string, env *Env) (Value, error) {
	if s == "-" {
		return makeUint32(t, 0), nil
	}
	if s != "" && onlyDigits(s) {
		v, err := parseOid(s)
		v.Type = t
		return v, err
	}
	return parseRegName(t, s, env)
}

// parseRegName finds an object by its name alone.
func parseRegName(t OID, s string, env *Env) (Value, error) {
	if env != nil && env.Names != nil {
		if oid, ok := env.Names.ObjectOID(t, s); ok {
			return makeUint32(t, oid), nil
		}
	}
	if t == RegType {
		if oid, ok := TypeByName(strings.ToLower(strings.ReplaceAll(s, `"`, ""))); ok {
			return makeUint32(t, uint32(oid)), nil
		}
	}
	return Value{}, noObject(t, clip(s))
}

// noObject returns the error for a name that no object has.
func noObject(t OID, name string) error {
	switch t {
	case RegClass:
		return sqlstate.New(sqlstate.UndefinedTable, `relation "%s" does not exist`, name)
	case RegProc, RegProcedure:
		return sqlstate.New(sqlstate.UndefinedFunction, `function "%s" does not exist`, name)
	case RegOperator:
		return sqlstate.New(sqlstate.UndefinedFunction, `operator does not exist: %s`, name)
	case RegNamespace:
		return sqlstate.New(sqlstate.InvalidSchema, `schema "%s" does not exist`, name)
	}
	return sqlstate.New(sqlstate.UndefinedObject, `%s "%s" does not exist`, map[OID]string{RegType: "type", RegRole: "role"}[t], name)
}

// appendReg prints the name of the object, else its number.
func appendReg(dst []byte, v Value, env *Env) []byte {
	oid := uint32(v.Int)
	if oid == 0 {
		return append(dst, '-')
	}
	if env != nil && env.Names != nil {
		if name, ok := env.Names.ObjectName(v.Type, oid); ok {
			return append(dst, name...)
		}
	}
	if t := lookup(OID(oid)); t != nil && v.Type == RegType {
		return append(dst, t.Display...)
	}
	return strconv.AppendUint(dst, uint64(oid), 10)
}
