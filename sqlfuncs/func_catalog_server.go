package sqlfuncs

import (
	"fmt"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// encodingNames are the numbers of PostgreSQL's server encodings that are of use here.
var encodingNames = map[int64]string{0: "SQL_ASCII", encodingUTF8: "UTF8", 8: "LATIN1"}

var encodingFunctions = []function{
	catalogFunc("pg_encoding_to_char", datum.Name, []datum.OID{datum.Int4}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeString(datum.Name, encodingNames[a[0].Int]), nil
	}),
	catalogFunc("pg_char_to_encoding", datum.Int4, []datum.OID{datum.Name}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		for n, name := range encodingNames {
			if strings.EqualFold(strings.ReplaceAll(a[0].Str, "-", ""), name) {
				return datum.MakeInt4(n), nil
			}
		}
		return datum.MakeInt4(-1), nil
	}),
	catalogFunc("pg_encoding_max_length", datum.Int4, []datum.OID{datum.Int4}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeInt4(map[int64]int64{0: 1, encodingUTF8: 4, 8: 1}[a[0].Int]), nil
	}),
	always("getdatabaseencoding", datum.MakeString(datum.Name, "UTF8")),
	catalogFunc("pg_get_userbyid", datum.Name, []datum.OID{datum.Oid}, func(x *exec, a []datum.Value) (datum.Value, error) {
		name, ok := x.server.roleName(uint32(a[0].Int))
		if !ok {
			name = fmt.Sprintf("unknown (OID=%d)", a[0].Int)
		}
		return datum.MakeString(datum.Name, name), nil
	}),
}

// roleName is the name behind a role's OID.
func (s *Server) roleName(oid uint32) (string, bool) {
	for _, r := range s.roles() {
		if r.oid == oid {
			return r.name, true
		}
	}
	return nameOfRow("pg_authid", "rolname", oid)
}

// size makes a function about the size of something on disk. Our tables have
// none: their rows are made when they are read.
func size(name string, types ...datum.OID) function {
	return always(name, datum.MakeInt8(0), types...)
}

var sizeFunctions = []function{
	size("pg_relation_size", datum.RegClass), size("pg_relation_size", datum.RegClass, datum.Text),
	size("pg_total_relation_size", datum.RegClass), size("pg_table_size", datum.RegClass), size("pg_indexes_size", datum.RegClass),
	size("pg_database_size", datum.Oid), size("pg_database_size", datum.Name),
	size("pg_tablespace_size", datum.Oid), size("pg_tablespace_size", datum.Name),
	nothing("pg_relation_filenode", datum.Oid, datum.RegClass), nothing("pg_relation_filepath", datum.Text, datum.RegClass),
	always("pg_tablespace_location", datum.MakeText(""), datum.Oid),
	catalogFunc("pg_size_pretty", datum.Text, []datum.OID{datum.Int8}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeText(sizePretty(a[0].Int)), nil
	}),
	catalogFunc("pg_size_pretty", datum.Text, []datum.OID{datum.Numeric}, func(x *exec, a []datum.Value) (datum.Value, error) {
		n, err := datum.Cast(a[0], datum.Int8, x.env())
		return datum.MakeText(sizePretty(n.Int)), err
	}),
}

// sizePretty prints a size as PostgreSQL's pg_size_pretty: a larger unit from
// 10 times its size on, rounded half up.
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

// schemaFunctions are those that the views of information_schema call.
var schemaFunctions = []function{
	always("pg_is_other_temp_schema", datum.MakeBool(false), datum.Oid),
	always("pg_my_temp_schema", datum.Value{Type: datum.Oid, Valid: true}),
	catalogFunc("nameconcatoid", datum.Name, []datum.OID{datum.Name, datum.Oid}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		suffix := fmt.Sprintf("_%d", a[1].Int)
		return datum.MakeString(datum.Name, a[0].Str[:min(len(a[0].Str), maxIdentifier-len(suffix))]+suffix), nil
	}),
	rowFields("_pg_truetypid", datum.Oid, "typtype", "typbasetype", "atttypid"),
	rowFields("_pg_truetypmod", datum.Int4, "typtype", "typtypmod", "atttypmod"),
	typeFact("_pg_char_max_length", charMaxLength), typeFact("_pg_char_octet_length", charOctetLength),
	typeFact("_pg_numeric_precision", precisionOf), typeFact("_pg_numeric_precision_radix", radixOf),
	typeFact("_pg_numeric_scale", scaleOf), typeFact("_pg_datetime_precision", datetimePrecision),
	{
		name: "_pg_interval_type", schema: "information_schema", args: args(datum.Oid, datum.Int4), result: datum.Text,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			name := strings.ToUpper(formatType(datum.OID(a[0].Int), int32(a[1].Int)))
			fields := strings.TrimPrefix(name, "INTERVAL")
			if i := strings.IndexByte(fields, '('); i >= 0 {
				fields = fields[:i]
			}
			if datum.OID(a[0].Int) != datum.Interval || strings.TrimSpace(fields) == "" {
				return datum.Null(datum.Text), nil
			}
			return datum.MakeText(strings.TrimSpace(fields)), nil
		},
	},
	{
		name: "_pg_index_position", schema: "information_schema", args: args(datum.Oid, datum.Int2), result: datum.Int4,
		eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Int4), nil },
	},
}

// rowFields makes _pg_truetypid and _pg_truetypmod: of a row of pg_attribute
// and one of pg_type, the domain's field if it is a domain, else the attribute's.
func rowFields(name string, result datum.OID, kind, ofDomain, ofAttribute string) function {
	return function{
		name: name, schema: "information_schema", args: args(datum.Record, datum.Record), result: result,
		typed: func(_ *planner, args []*expr) (*expr, error) {
			at := func(e *expr, field string) int {
				for i, f := range e.fields {
					if f.name == field {
						return i
					}
				}
				return -1
			}
			k, d, o := at(args[1], kind), at(args[1], ofDomain), at(args[0], ofAttribute)
			if k < 0 || d < 0 || o < 0 {
				return nil, sqlstate.New(sqlstate.UndefinedFunction, "function %s(record, record) does not exist", name)
			}
			if len(args[0].refs) != len(args[0].fields) || len(args[1].refs) != len(args[1].fields) {
				return nil, sqlstate.New(sqlstate.FeatureNotSupported, "%s needs the rows of tables", name)
			}
			read := func(x *exec, r ref) datum.Value { return x.frames[r.frame][r.index] }
			isDomain, domain, attribute := args[1].refs[k], args[1].refs[d], args[0].refs[o]
			return derive(result, func(x *exec) (datum.Value, error) {
				if read(x, isDomain).Str == "d" {
					return read(x, domain), nil
				}
				return read(x, attribute), nil
			}, args...), nil
		},
	}
}

// typeFact makes a function of a type and its modifier; ok is false for NULL.
func typeFact(name string, fact func(t datum.OID, mod int64) (n int64, ok bool)) function {
	return function{
		name: name, schema: "information_schema", args: args(datum.Oid, datum.Int4), result: datum.Int4,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			n, ok := fact(datum.OID(a[0].Int), a[1].Int)
			return datum.Value{Type: datum.Int4, Valid: ok, Int: n}, nil
		},
	}
}

func charMaxLength(t datum.OID, mod int64) (int64, bool) {
	return mod - 4, mod != -1 && (t == datum.BPChar || t == datum.Varchar)
}

func charOctetLength(t datum.OID, mod int64) (int64, bool) {
	switch t {
	case datum.Text, datum.BPChar, datum.Varchar:
		if mod == -1 {
			return 1 << 30, true
		}
		return (mod - 4) * 4, true // UTF8
	}
	return 0, false
}

func precisionOf(t datum.OID, mod int64) (int64, bool) {
	switch t {
	case datum.Int2:
		return 16, true
	case datum.Int4:
		return 32, true
	case datum.Int8:
		return 64, true
	case datum.Float4:
		return 24, true
	case datum.Float8:
		return 53, true
	case datum.Numeric:
		return (mod - 4) >> 16 & 0xffff, mod != -1
	}
	return 0, false
}

func radixOf(t datum.OID, _ int64) (int64, bool) {
	switch t {
	case datum.Int2, datum.Int4, datum.Int8, datum.Float4, datum.Float8:
		return 2, true
	case datum.Numeric:
		return 10, true
	}
	return 0, false
}

func scaleOf(t datum.OID, mod int64) (int64, bool) {
	switch t {
	case datum.Int2, datum.Int4, datum.Int8:
		return 0, true
	case datum.Numeric:
		return (mod - 4) & 0xffff, mod != -1
	}
	return 0, false
}

func datetimePrecision(t datum.OID, mod int64) (int64, bool) {
	switch t {
	case datum.Date:
		return 0, true
	case datum.Time, datum.Timestamp, datum.TimestampTZ:
		if mod < 0 {
			return 6, true
		}
		return mod, true
	case datum.Interval:
		if mod < 0 || mod&0xffff == 0xffff {
			return 6, true
		}
		return mod & 0xffff, true
	}
	return 0, false
}
