package datum

import (
	"cmp"
	"slices"
)

// baseTypes is PostgreSQL 15's pg_type for the types of this package that are
// no arrays.
var baseTypes = [...]Info{
	{Bool, "bool", "boolean", 1, 'B', true, 0, BoolArray},
	{Bytea, "bytea", "bytea", -1, 'U', false, 0, ByteaArray},
	{Char, "char", "\"char\"", 1, 'Z', false, 0, CharArray},
	{Name, "name", "name", 64, 'S', false, 0, NameArray},
	{Int8, "int8", "bigint", 8, 'N', false, 0, Int8Array},
	{Int2, "int2", "smallint", 2, 'N', false, 0, Int2Array},
	{Int2Vector, "int2vector", "int2vector", -1, 'A', false, Int2, Int2VectorArray},
	{Int4, "int4", "integer", 4, 'N', false, 0, Int4Array},
	{RegProc, "regproc", "regproc", 4, 'N', false, 0, RegProcArray},
	{Text, "text", "text", -1, 'S', true, 0, TextArray},
	{Oid, "oid", "oid", 4, 'N', true, 0, OidArray},
	{Xid, "xid", "xid", 4, 'U', false, 0, XidArray},
	{OidVector, "oidvector", "oidvector", -1, 'A', false, Oid, OidVectorArray},
	{JSON, "json", "json", -1, 'U', false, 0, JSONArray},
	{PgNodeTree, "pg_node_tree", "pg_node_tree", -1, 'Z', false, 0, 0},
	{Float4, "float4", "real", 4, 'N', false, 0, Float4Array},
	{Float8, "float8", "double precision", 8, 'N', true, 0, Float8Array},
	{Unknown, "unknown", "unknown", -2, 'X', false, 0, 0},
	{ACLItem, "aclitem", "aclitem", 12, 'U', false, 0, ACLItemArray},
	{BPChar, "bpchar", "character", -1, 'S', false, 0, BPCharArray},
	{Varchar, "varchar", "character varying", -1, 'S', false, 0, VarcharArray},
	{Date, "date", "date", 4, 'D', false, 0, DateArray},
	{Time, "time", "time without time zone", 8, 'D', false, 0, TimeArray},
	{Timestamp, "timestamp", "timestamp without time zone", 8, 'D', false, 0, TimestampArray},
	{TimestampTZ, "timestamptz", "timestamp with time zone", 8, 'D', true, 0, TimestampTZArray},
	{Interval, "interval", "interval", 16, 'T', true, 0, IntervalArray},
	{Bit, "bit", "bit", -1, 'V', false, 0, BitArray},
	{VarBit, "varbit", "bit varying", -1, 'V', true, 0, VarBitArray},
	{Numeric, "numeric", "numeric", -1, 'N', false, 0, NumericArray},
	{RegProcedure, "regprocedure", "regprocedure", 4, 'N', false, 0, RegProcedureArray},
	{RegOperator, "regoperator", "regoperator", 4, 'N', false, 0, RegOperatorArray},
	{RegClass, "regclass", "regclass", 4, 'N', false, 0, RegClassArray},
	{RegType, "regtype", "regtype", 4, 'N', false, 0, RegTypeArray},
	{Record, "record", "record", -1, 'P', false, 0, RecordArray},
	{CString, "cstring", "cstring", -2, 'P', false, 0, CStringArray},
	{AnyArray, "anyarray", "anyarray", -1, 'P', false, 0, 0},
	{Void, "void", "void", 4, 'P', false, 0, 0},
	{UUID, "uuid", "uuid", 16, 'U', false, 0, UUIDArray},
	{PgLSN, "pg_lsn", "pg_lsn", 8, 'U', false, 0, PgLSNArray},
	{JSONB, "jsonb", "jsonb", -1, 'U', false, 0, JSONBArray},
	{RegNamespace, "regnamespace", "regnamespace", 4, 'N', false, 0, RegNamespaceArray},
	{RegRole, "regrole", "regrole", 4, 'N', false, 0, RegRoleArray},
}

// catalog has all types, by OID.
var catalog = func() []Info {
	all := slices.Clone(baseTypes[:])
	for _, e := range baseTypes {
		if e.Array != Invalid {
			all = append(all, arrayOf(e))
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Compare(a.OID, b.OID) })
	return all
}()

// arrayOf returns the type of arrays of e.
func arrayOf(e Info) Info {
	a := Info{OID: e.Array, Name: "_" + e.Name, Display: e.Display + "[]", Len: -1, Category: 'A', Elem: e.OID}
	if e.OID == Record {
		a.Category = 'P'
	}
	return a
}
