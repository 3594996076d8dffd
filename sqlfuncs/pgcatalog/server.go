package pgcatalog

import (
	"fmt"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// encodingNames maps numbers of PostgreSQL's server encodings to their names.
var encodingNames = map[int64]string{0: "SQL_ASCII", encodingUTF8: "UTF8", 8: "LATIN1"}

// encodingFunctions lists the functions on encodings, and pg_get_userbyid.
var encodingFunctions = []engine.Function{
	function("pg_encoding_to_char", datum.Name, []datum.OID{datum.Int4}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeString(datum.Name, encodingNames[a[0].Int]), nil
	}),
	function("pg_char_to_encoding", datum.Int4, []datum.OID{datum.Name}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		for n, name := range encodingNames {
			if strings.EqualFold(strings.ReplaceAll(a[0].Str, "-", ""), name) {
				return datum.MakeInt4(n), nil
			}
		}
		return datum.MakeInt4(-1), nil
	}),
	always("getdatabaseencoding", datum.MakeString(datum.Name, "UTF8")),
	function("pg_get_userbyid", datum.Name, []datum.OID{datum.Oid}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		name, ok := systemOf(x).roleName(uint32(a[0].Int))
		if !ok {
			name = fmt.Sprintf("unknown (OID=%d)", a[0].Int)
		}
		return datum.MakeString(datum.Name, name), nil
	}),
}

// roleName returns the name of the role with an OID.
func (s *System) roleName(oid uint32) (string, bool) {
	for _, r := range s.roles() {
		if r.oid == oid {
			return r.name, true
		}
	}
	return s.nameOfRow("pg_authid", "rolname", oid)
}

// size makes a function about the size of an object on disk. It is 0: the rows of
// nextid's tables are made when they are read.
func size(name string, types ...datum.OID) engine.Function {
	return always(name, datum.MakeInt8(0), types...)
}

// sizeFunctions lists the functions on sizes on disk.
var sizeFunctions = []engine.Function{
	size("pg_relation_size", datum.RegClass), size("pg_relation_size", datum.RegClass, datum.Text),
	size("pg_total_relation_size", datum.RegClass), size("pg_table_size", datum.RegClass),
	size("pg_database_size", datum.Oid), size("pg_database_size", datum.Name),
	size("pg_tablespace_size", datum.Oid), size("pg_tablespace_size", datum.Name),
	always("pg_tablespace_location", datum.MakeText(""), datum.Oid),
	function("pg_size_pretty", datum.Text, []datum.OID{datum.Int8}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeText(sizePretty(a[0].Int)), nil
	}),
	function("pg_size_pretty", datum.Text, []datum.OID{datum.Numeric}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		n, err := datum.Cast(a[0], datum.Int8, x.Env())
		return datum.MakeText(sizePretty(n.Int)), err
	}),
}

// sizePretty prints a size as pg_size_pretty does. It uses a larger unit from 10
// times its size on, and rounds half up.
func sizePretty(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	sign := int64(1)
	if n < 0 {
		sign, n = -1, -n
	}
	half := int64(0) // the last bit that was shifted out
	u := 0
	for ; u < len(units)-1 && n+half >= 10*1024; u++ {
		half = n >> 9 & 1
		n >>= 10
	}
	return fmt.Sprintf("%d %s", sign*(n+half), units[u])
}

// schemaFunctions lists the functions on schemas.
var schemaFunctions = []engine.Function{
	always("pg_is_other_temp_schema", datum.MakeBool(false), datum.Oid),
	always("pg_my_temp_schema", datum.Value{Type: datum.Oid, Valid: true}),
}
