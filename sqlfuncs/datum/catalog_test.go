package datum

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// compareCatalog holds the table of types to pg_type.
func compareCatalog(t *testing.T, o *oracle) {
	rows := map[string][]string{}
	for _, r := range o.rows(`SELECT oid::text, typname, format_type(oid, NULL), typlen, typcategory, typispreferred,
		CASE typname WHEN 'name' THEN '0' ELSE typelem::oid::text END, typarray::oid::text FROM pg_type`) {
		rows[r[0]] = r
	}
	for _, i := range catalog {
		got := []string{
			fmt.Sprint(i.OID), i.Name, i.Display, strconv.Itoa(int(i.Len)), string(i.Category),
			string(AppendText(nil, MakeBool(i.Preferred), nil)), fmt.Sprint(i.Elem), fmt.Sprint(i.Array),
		}
		if want := rows[fmt.Sprint(i.OID)]; !slices.Equal(got, want) {
			t.Errorf("type %s = %q\n   PostgreSQL: %q", i.Name, got, want)
		}
	}
}

func TestTypesAreSortedAndConsistent(t *testing.T) {
	types := catalog[:]
	if !slices.IsSortedFunc(types, func(a, b Info) int { return int(a.OID) - int(b.OID) }) {
		t.Error("types are not sorted by OID, so lookups miss some")
	}
	for _, i := range types {
		if got, ok := TypeInfo(i.OID); !ok || got != i {
			t.Errorf("TypeInfo(%d) = %v, %v", i.OID, got, ok)
		}
		if oid, ok := TypeByName(i.Name); !ok || oid != i.OID {
			t.Errorf("TypeByName(%q) = %d, %v, want %d", i.Name, oid, ok, i.OID)
		}
		if oid, ok := TypeByName(i.Display); i.OID != Char && (!ok || oid != i.OID) {
			t.Errorf("TypeByName(%q) = %d, %v, want %d", i.Display, oid, ok, i.OID)
		}
		if i.Array != 0 {
			if array, ok := TypeInfo(i.Array); !ok || array.Elem != i.OID {
				t.Errorf("array type %d of %s has element %d", i.Array, i.Name, array.Elem)
			}
		}
	}
	if _, ok := TypeInfo(4242); ok {
		t.Error("TypeInfo knows a type that does not exist")
	}
}

func TestTypeByNameKnowsSQLSpellings(t *testing.T) {
	for name, want := range map[string]OID{
		"bigint": Int8, "int": Int4, "integer": Int4, "smallint": Int2, "real": Float4, "float": Float8, "double precision": Float8,
		"decimal": Numeric, "boolean": Bool, "character varying": Varchar, "character": BPChar, `"char"`: Char, "char": Char,
		"timestamp with time zone": TimestampTZ, "timestamp": Timestamp, "time without time zone": Time,
		"int4[]": Int4Array, "bigint[]": Int8Array,
		"_text": TextArray, "pg_catalog.int4": Int4, " text ": Text,
		"timestamp with time zone[]": TimestampTZArray, "int2vector": Int2Vector,
	} {
		if got, ok := TypeByName(name); !ok || got != want {
			t.Errorf("TypeByName(%q) = %d, %v, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "nosuch", "int4]", "[]", "int4[", "nosuch[]", "numeric)(", "numeric(", "numeric(10,2)", "void[]", "text[][]", "()", "unknown[]"} {
		if got, ok := TypeByName(name); ok {
			t.Errorf("TypeByName(%q) = %d, want none", name, got)
		}
	}
}

func TestFormatTypeOfOddInput(t *testing.T) {
	for _, c := range []struct {
		oid  OID
		mod  int32
		want string
	}{
		{0, -1, "-"},
		{4242, -1, "???"},
		{Int8, -1, "bigint"},
		{Varchar, 24, "character varying(20)"},
		{VarcharArray, 24, "character varying(20)[]"},
		{BPChar, 5, "character(1)"},
		{Numeric, 2, "numeric"},
		{Char, -1, `"char"`},
		{Int8, 7, "bigint"},
		{Varchar, 0, "character varying"},
	} {
		if got := FormatType(c.oid, c.mod); got != c.want {
			t.Errorf("FormatType(%d, %d) = %q, want %q", c.oid, c.mod, got, c.want)
		}
	}
}
