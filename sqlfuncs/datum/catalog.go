package datum

import (
	"strconv"
	"strings"
)

// The array types that no function of nextid returns by itself. Clients name
// them in casts and as parameter types.
const (
	JSONArray         OID = 199
	ByteaArray        OID = 1001
	PgLSNArray        OID = 3221
	Int2VectorArray   OID = 1006
	RegProcArray      OID = 1008
	XidArray          OID = 1011
	OidVectorArray    OID = 1013
	BPCharArray       OID = 1014
	Float4Array       OID = 1021
	TimestampArray    OID = 1115
	DateArray         OID = 1182
	TimeArray         OID = 1183
	IntervalArray     OID = 1187
	CStringArray      OID = 1263
	RegClassArray     OID = 2210
	RegTypeArray      OID = 2211
	RecordArray       OID = 2287
	JSONBArray        OID = 3807
	RegNamespaceArray OID = 4090
	RegRoleArray      OID = 4097
	RegProcedureArray OID = 2207
	RegOperatorArray  OID = 2209
)

// Info describes a type as pg_catalog.pg_type does.
type Info struct {
	OID       OID
	Name      string // typname: int8
	Display   string // format_type: bigint
	Len       int16  // typlen: -1 is variable, -2 a C string
	Category  byte   // typcategory: N numeric, S string, A array, …
	Preferred bool   // typispreferred
	Elem      OID    // of an array or vector; 0: not one (pg_type also says that a name consists of "char")
	Array     OID    // the type of arrays of it; 0: none
}

// TypeInfo returns what is known of a type; false for an OID that is none of ours.
func TypeInfo(oid OID) (Info, bool) {
	if t := lookup(oid); t != nil {
		return *t, true
	}
	return Info{}, false
}

// lookup finds a type's entry, nil when there is none.
func lookup(oid OID) *Info {
	low, high := 0, len(catalog)
	for low < high {
		mid := (low + high) / 2
		if catalog[mid].OID < oid {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(catalog) && catalog[low].OID == oid {
		return &catalog[low]
	}
	return nil
}

// Types returns all types by OID.
func Types() []Info { return append([]Info(nil), catalog[:]...) }

// category returns pg_type.typcategory, 0 for unknown OIDs.
func category(oid OID) byte {
	if t := lookup(oid); t != nil {
		return t.Category
	}
	return 0
}

// display returns the name of a type in messages.
func display(oid OID) string { return FormatType(oid, -1) }

// spellings are the names of types in SQL that differ from pg_type.typname.
// "char" stays the one-byte type: SQL's CHAR is character.
var spellings = map[string]OID{
	"bigint": Int8, "int": Int4, "integer": Int4, "smallint": Int2,
	"bit varying": VarBit, "real": Float4, "float": Float8, "double precision": Float8,
	"decimal": Numeric, "dec": Numeric, "boolean": Bool,
	"character": BPChar, "character varying": Varchar, "char varying": Varchar,
	"timestamp without time zone": Timestamp, "timestamp with time zone": TimestampTZ,
	"time without time zone": Time, `"char"`: Char,
}

var typnames = func() map[string]OID {
	m := make(map[string]OID, len(catalog))
	for i := range catalog {
		m[catalog[i].Name] = catalog[i].OID
	}
	return m
}()

// TypeByName finds a type by pg_type.typname or by a spelling of SQL, in
// lower case: int8, bigint, _text, text[].
func TypeByName(name string) (OID, bool) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "pg_catalog.")
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		oid, _ := TypeByName(elem)
		info, _ := TypeInfo(oid)
		return info.Array, info.Array != Invalid
	}
	if oid, ok := typnames[name]; ok {
		return oid, true
	}
	oid, ok := spellings[name]
	return oid, ok
}

// FormatType is PostgreSQL's format_type: the SQL name of a type with its
// modifier. typmod -1 means none.
func FormatType(oid OID, typmod int32) string {
	t := lookup(oid)
	switch {
	case oid == Invalid:
		return "-"
	case t == nil:
		return "???"
	case t.Category == 'A' && t.Len == -1 && t.Name[0] == '_' && typmod >= 0:
		return FormatType(t.Elem, typmod) + "[]"
	case typmod < 0:
		return t.Display
	}
	switch oid {
	case Varchar, BPChar:
		if typmod < varlenaHeader {
			return t.Display
		}
		return t.Display + parenthesised(int(typmod-varlenaHeader))
	case Time, Timestamp, TimestampTZ:
		word, rest, _ := strings.Cut(t.Display, " ")
		return word + parenthesised(int(typmod)) + " " + rest
	case Bit, VarBit:
		return t.Display + parenthesised(int(typmod))
	}
	return t.Display
}

func parenthesised(n int) string { return "(" + strconv.Itoa(n) + ")" }

// varlenaHeader holds what PostgreSQL adds to the length or precision in a
// type modifier (VARHDRSZ).
const varlenaHeader = 4
