package datum

import (
	"cmp"
	"slices"
)

// baseTypes is PostgreSQL 15's pg_type for the types of this package that are
// no arrays.
var baseTypes = [...]Info{
	{Bool, "bool", "boolean", 1, true, 'b', 'B', true, 0, BoolArray, ',', 'c', 'p', "boolin", "boolout", "boolrecv", "boolsend", "", "", "", 0},
	{Bytea, "bytea", "bytea", -1, false, 'b', 'U', false, 0, ByteaArray, ',', 'i', 'x', "byteain", "byteaout", "bytearecv", "byteasend", "", "", "", 0},
	{Char, "char", "\"char\"", 1, true, 'b', 'Z', false, 0, CharArray, ',', 'c', 'p', "charin", "charout", "charrecv", "charsend", "", "", "", 0},
	{Name, "name", "name", 64, false, 'b', 'S', false, 0, NameArray, ',', 'c', 'p', "namein", "nameout", "namerecv", "namesend", "", "", "raw_array_subscript_handler", 950},
	{Int8, "int8", "bigint", 8, true, 'b', 'N', false, 0, Int8Array, ',', 'd', 'p', "int8in", "int8out", "int8recv", "int8send", "", "", "", 0},
	{Int2, "int2", "smallint", 2, true, 'b', 'N', false, 0, Int2Array, ',', 's', 'p', "int2in", "int2out", "int2recv", "int2send", "", "", "", 0},
	{Int2Vector, "int2vector", "int2vector", -1, false, 'b', 'A', false, Int2, Int2VectorArray, ',', 'i', 'p', "int2vectorin", "int2vectorout", "int2vectorrecv", "int2vectorsend", "", "", "array_subscript_handler", 0},
	{Int4, "int4", "integer", 4, true, 'b', 'N', false, 0, Int4Array, ',', 'i', 'p', "int4in", "int4out", "int4recv", "int4send", "", "", "", 0},
	{RegProc, "regproc", "regproc", 4, true, 'b', 'N', false, 0, RegProcArray, ',', 'i', 'p', "regprocin", "regprocout", "regprocrecv", "regprocsend", "", "", "", 0},
	{Text, "text", "text", -1, false, 'b', 'S', true, 0, TextArray, ',', 'i', 'x', "textin", "textout", "textrecv", "textsend", "", "", "", 100},
	{Oid, "oid", "oid", 4, true, 'b', 'N', true, 0, OidArray, ',', 'i', 'p', "oidin", "oidout", "oidrecv", "oidsend", "", "", "", 0},
	{Xid, "xid", "xid", 4, true, 'b', 'U', false, 0, XidArray, ',', 'i', 'p', "xidin", "xidout", "xidrecv", "xidsend", "", "", "", 0},
	{OidVector, "oidvector", "oidvector", -1, false, 'b', 'A', false, Oid, OidVectorArray, ',', 'i', 'p', "oidvectorin", "oidvectorout", "oidvectorrecv", "oidvectorsend", "", "", "array_subscript_handler", 0},
	{JSON, "json", "json", -1, false, 'b', 'U', false, 0, JSONArray, ',', 'i', 'x', "json_in", "json_out", "json_recv", "json_send", "", "", "", 0},
	{PgNodeTree, "pg_node_tree", "pg_node_tree", -1, false, 'b', 'Z', false, 0, 0, ',', 'i', 'x', "pg_node_tree_in", "pg_node_tree_out", "pg_node_tree_recv", "pg_node_tree_send", "", "", "", 100},
	{Float4, "float4", "real", 4, true, 'b', 'N', false, 0, Float4Array, ',', 'i', 'p', "float4in", "float4out", "float4recv", "float4send", "", "", "", 0},
	{Float8, "float8", "double precision", 8, true, 'b', 'N', true, 0, Float8Array, ',', 'd', 'p', "float8in", "float8out", "float8recv", "float8send", "", "", "", 0},
	{Unknown, "unknown", "unknown", -2, false, 'p', 'X', false, 0, 0, ',', 'c', 'p', "unknownin", "unknownout", "unknownrecv", "unknownsend", "", "", "", 0},
	{ACLItem, "aclitem", "aclitem", 12, false, 'b', 'U', false, 0, ACLItemArray, ',', 'i', 'p', "aclitemin", "aclitemout", "", "", "", "", "", 0},
	{BPChar, "bpchar", "character", -1, false, 'b', 'S', false, 0, BPCharArray, ',', 'i', 'x', "bpcharin", "bpcharout", "bpcharrecv", "bpcharsend", "bpchartypmodin", "bpchartypmodout", "", 100},
	{Varchar, "varchar", "character varying", -1, false, 'b', 'S', false, 0, VarcharArray, ',', 'i', 'x', "varcharin", "varcharout", "varcharrecv", "varcharsend", "varchartypmodin", "varchartypmodout", "", 100},
	{Date, "date", "date", 4, true, 'b', 'D', false, 0, DateArray, ',', 'i', 'p', "date_in", "date_out", "date_recv", "date_send", "", "", "", 0},
	{Time, "time", "time without time zone", 8, true, 'b', 'D', false, 0, TimeArray, ',', 'd', 'p', "time_in", "time_out", "time_recv", "time_send", "timetypmodin", "timetypmodout", "", 0},
	{Timestamp, "timestamp", "timestamp without time zone", 8, true, 'b', 'D', false, 0, TimestampArray, ',', 'd', 'p', "timestamp_in", "timestamp_out", "timestamp_recv", "timestamp_send", "timestamptypmodin", "timestamptypmodout", "", 0},
	{TimestampTZ, "timestamptz", "timestamp with time zone", 8, true, 'b', 'D', true, 0, TimestampTZArray, ',', 'd', 'p', "timestamptz_in", "timestamptz_out", "timestamptz_recv", "timestamptz_send", "timestamptztypmodin", "timestamptztypmodout", "", 0},
	{Interval, "interval", "interval", 16, false, 'b', 'T', true, 0, IntervalArray, ',', 'd', 'p', "interval_in", "interval_out", "interval_recv", "interval_send", "intervaltypmodin", "intervaltypmodout", "", 0},
	{Bit, "bit", "bit", -1, false, 'b', 'V', false, 0, BitArray, ',', 'i', 'x', "bit_in", "bit_out", "bit_recv", "bit_send", "bittypmodin", "bittypmodout", "", 0},
	{VarBit, "varbit", "bit varying", -1, false, 'b', 'V', true, 0, VarBitArray, ',', 'i', 'x', "varbit_in", "varbit_out", "varbit_recv", "varbit_send", "varbittypmodin", "varbittypmodout", "", 0},
	{Numeric, "numeric", "numeric", -1, false, 'b', 'N', false, 0, NumericArray, ',', 'i', 'm', "numeric_in", "numeric_out", "numeric_recv", "numeric_send", "numerictypmodin", "numerictypmodout", "", 0},
	{RegProcedure, "regprocedure", "regprocedure", 4, true, 'b', 'N', false, 0, RegProcedureArray, ',', 'i', 'p', "regprocedurein", "regprocedureout", "regprocedurerecv", "regproceduresend", "", "", "", 0},
	{RegOper, "regoper", "regoper", 4, true, 'b', 'N', false, 0, RegOperArray, ',', 'i', 'p', "regoperin", "regoperout", "regoperrecv", "regopersend", "", "", "", 0},
	{RegOperator, "regoperator", "regoperator", 4, true, 'b', 'N', false, 0, RegOperatorArray, ',', 'i', 'p', "regoperatorin", "regoperatorout", "regoperatorrecv", "regoperatorsend", "", "", "", 0},
	{RegClass, "regclass", "regclass", 4, true, 'b', 'N', false, 0, RegClassArray, ',', 'i', 'p', "regclassin", "regclassout", "regclassrecv", "regclasssend", "", "", "", 0},
	{RegType, "regtype", "regtype", 4, true, 'b', 'N', false, 0, RegTypeArray, ',', 'i', 'p', "regtypein", "regtypeout", "regtyperecv", "regtypesend", "", "", "", 0},
	{Record, "record", "record", -1, false, 'p', 'P', false, 0, RecordArray, ',', 'd', 'x', "record_in", "record_out", "record_recv", "record_send", "", "", "", 0},
	{CString, "cstring", "cstring", -2, false, 'p', 'P', false, 0, CStringArray, ',', 'c', 'p', "cstring_in", "cstring_out", "cstring_recv", "cstring_send", "", "", "", 0},
	{AnyArray, "anyarray", "anyarray", -1, false, 'p', 'P', false, 0, 0, ',', 'd', 'x', "anyarray_in", "anyarray_out", "anyarray_recv", "anyarray_send", "", "", "", 0},
	{Void, "void", "void", 4, true, 'p', 'P', false, 0, 0, ',', 'i', 'p', "void_in", "void_out", "void_recv", "void_send", "", "", "", 0},
	{UUID, "uuid", "uuid", 16, false, 'b', 'U', false, 0, UUIDArray, ',', 'c', 'p', "uuid_in", "uuid_out", "uuid_recv", "uuid_send", "", "", "", 0},
	{PgLSN, "pg_lsn", "pg_lsn", 8, true, 'b', 'U', false, 0, PgLSNArray, ',', 'd', 'p', "pg_lsn_in", "pg_lsn_out", "pg_lsn_recv", "pg_lsn_send", "", "", "", 0},
	{RegConfig, "regconfig", "regconfig", 4, true, 'b', 'N', false, 0, RegConfigArray, ',', 'i', 'p', "regconfigin", "regconfigout", "regconfigrecv", "regconfigsend", "", "", "", 0},
	{RegDictionary, "regdictionary", "regdictionary", 4, true, 'b', 'N', false, 0, RegDictionaryArray, ',', 'i', 'p', "regdictionaryin", "regdictionaryout", "regdictionaryrecv", "regdictionarysend", "", "", "", 0},
	{JSONB, "jsonb", "jsonb", -1, false, 'b', 'U', false, 0, JSONBArray, ',', 'i', 'x', "jsonb_in", "jsonb_out", "jsonb_recv", "jsonb_send", "", "", "jsonb_subscript_handler", 0},
	{RegNamespace, "regnamespace", "regnamespace", 4, true, 'b', 'N', false, 0, RegNamespaceArray, ',', 'i', 'p', "regnamespacein", "regnamespaceout", "regnamespacerecv", "regnamespacesend", "", "", "", 0},
	{RegRole, "regrole", "regrole", 4, true, 'b', 'N', false, 0, RegRoleArray, ',', 'i', 'p', "regrolein", "regroleout", "regrolerecv", "regrolesend", "", "", "", 0},
	{RegCollation, "regcollation", "regcollation", 4, true, 'b', 'N', false, 0, RegCollationArray, ',', 'i', 'p', "regcollationin", "regcollationout", "regcollationrecv", "regcollationsend", "", "", "", 0},
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
	a := Info{
		OID: e.Array, Name: "_" + e.Name, Display: e.Display + "[]", Len: -1, Kind: 'b', Category: 'A', Elem: e.OID, Delim: delimiter, Align: 'i', Storage: 'x',
		InputFunc: "array_in", OutputFunc: "array_out", ReceiveFunc: "array_recv", SendFunc: "array_send",
		ModInFunc: e.ModInFunc, ModOutFunc: e.ModOutFunc, SubscriptFunc: "array_subscript_handler", Collation: e.Collation,
	}
	if e.Align == 'd' {
		a.Align = 'd'
	}
	if e.OID == Record {
		a.Kind, a.Category = 'p', 'P'
	}
	return a
}
