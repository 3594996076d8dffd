// Package datum holds SQL values and types. A Value is one SQL value. The types have
// PostgreSQL's OIDs. The package has their text and binary forms, the casts between
// them, and arithmetic. Rules follow PostgreSQL 15's input and output functions. NaN
// and infinities, years before Christ and arrays of several dimensions are refused: no
// client sends them.
package datum

// OID is PostgreSQL's object identifier of a type (pg_type.oid).
type OID uint32

// The types nextid knows, by PostgreSQL's OID.
const (
	Invalid          OID = 0
	Bool             OID = 16
	Bytea            OID = 17
	Char             OID = 18 // "char", one byte
	Name             OID = 19
	Int8             OID = 20
	Int2             OID = 21
	Int2Vector       OID = 22
	Int4             OID = 23
	RegProc          OID = 24
	Text             OID = 25
	Oid              OID = 26
	Xid              OID = 28
	OidVector        OID = 30
	JSON             OID = 114
	Float4           OID = 700
	Float8           OID = 701
	Unknown          OID = 705
	BPChar           OID = 1042
	Varchar          OID = 1043
	Date             OID = 1082
	Time             OID = 1083
	Timestamp        OID = 1114
	TimestampTZ      OID = 1184
	Interval         OID = 1186
	Numeric          OID = 1700
	RegClass         OID = 2205
	RegType          OID = 2206
	Record           OID = 2249
	CString          OID = 2275
	Void             OID = 2278
	UUID             OID = 2950
	Bit              OID = 1560
	VarBit           OID = 1562
	JSONB            OID = 3802
	RegNamespace     OID = 4089
	RegRole          OID = 4096
	RegProcedure     OID = 2202
	RegOperator      OID = 2204
	BoolArray        OID = 1000
	CharArray        OID = 1002
	NameArray        OID = 1003
	Int2Array        OID = 1005
	Int4Array        OID = 1007
	TextArray        OID = 1009
	VarcharArray     OID = 1015
	Int8Array        OID = 1016
	Float8Array      OID = 1022
	OidArray         OID = 1028
	TimestampTZArray OID = 1185
	NumericArray     OID = 1231
	UUIDArray        OID = 2951
	PgLSN            OID = 3220
	BitArray         OID = 1561
	VarBitArray      OID = 1563
	ACLItem          OID = 1033
	ACLItemArray     OID = 1034
	PgNodeTree       OID = 194
	AnyArray         OID = 2277
)

// Value is one SQL value. The zero Value is NULL of type unknown.
//
// Where a value lives by type:
//
//	bool                                 Int (0 or 1)
//	int2 int4 int8 oid reg* xid          Int
//	date                                 Int, days since 2000-01-01
//	time, timestamp, timestamptz         Int, microseconds (since 2000-01-01 for the last two)
//	float4 float8                        Float
//	text varchar bpchar name "char" json jsonb unknown numeric cstring …   Str (numeric as canonical decimal text)
//	uuid, bytea, pg_lsn                  Str, the raw bytes
//	interval                             Str, as PostgreSQL's binary form (int64 µs, int32 days, int32 months)
//	arrays, int2vector, oidvector, record   Elems
type Value struct {
	Type  OID
	Valid bool // false: NULL
	Int   int64
	Float float64
	Str   string
	Elems []Value
}

// Null returns NULL of type t.
func Null(t OID) Value { return Value{Type: t} }

// MakeInt8 returns a bigint.
func MakeInt8(v int64) Value { return Value{Type: Int8, Valid: true, Int: v} }

// MakeFloat8 returns a double precision number.
func MakeFloat8(v float64) Value { return Value{Type: Float8, Valid: true, Float: v} }

// MakeInt4 returns an integer.
func MakeInt4(v int64) Value { return Value{Type: Int4, Valid: true, Int: v} }

// MakeBool returns a boolean.
func MakeBool(v bool) Value {
	if v {
		return Value{Type: Bool, Valid: true, Int: 1}
	}
	return Value{Type: Bool, Valid: true}
}

// MakeText returns a text.
func MakeText(s string) Value { return Value{Type: Text, Valid: true, Str: s} }

// MakeString returns a value of a type that lives in Str.
func MakeString(t OID, s string) Value { return Value{Type: t, Valid: true, Str: s} }

// MakeArray returns an array of type t, e.g. TextArray.
func MakeArray(t OID, elems []Value) Value { return Value{Type: t, Valid: true, Elems: elems} }

// TextOrNull returns a text, NULL for "".
func TextOrNull(s string) Value {
	if s == "" {
		return Null(Text)
	}
	return MakeText(s)
}
