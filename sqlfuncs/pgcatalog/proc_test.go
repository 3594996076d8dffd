package pgcatalog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// TestEveryFunctionOfPgProcCanBeCalled does not call the functions that a type or a
// cast names: PostgreSQL calls them itself, most with arguments that SQL cannot
// write.
func TestEveryFunctionOfPgProcCanBeCalled(t *testing.T) {
	s := catalogSession(t)
	const all = `SELECT quote_ident(nspname) || '.' || quote_ident(proname), prokind, proretset, format_type(prorettype, NULL),
			array_to_string(ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) a), ';')
		FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
		WHERE NOT p.oid IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) FROM pg_type)
			AND NOT p.oid IN (SELECT castfunc FROM pg_cast)`
	value := strings.NewReplacer(`"any"`, "integer", "anyelement", "integer", "anynonarray", "integer", "anycompatiblearray", "integer[]", "anycompatible", "integer", "anyarray", "integer[]",
		"inet", "text")
	calls := s.Must(t, all).Rows
	if len(calls) < 250 {
		t.Fatalf("pg_proc has %d functions", len(calls))
	}
	for _, f := range calls {
		name, kind, set, result, types := f[0], f[1], f[2] == "t", value.Replace(f[3]), value.Replace(f[4])
		args := ""
		if types != "" {
			args = "NULL::" + strings.ReplaceAll(types, ";", ", NULL::")
		}
		call := fmt.Sprintf("SELECT %s(%s)", name, args)
		switch {
		case kind == "w":
			call += " OVER ()"
		case set:
			call = strings.Replace(call, "SELECT", "SELECT * FROM", 1)
		}
		r, err := s.Query(t, call)
		if e, ok := errors.AsType[*sqlstate.Error](err); ok && strings.HasPrefix(string(e.Code), "42") {
			t.Errorf("%s: %s %s", call, e.Code, e.Message)
		}
		if err == nil && !set && datum.FormatType(r.Columns[0].Type, -1) != result {
			t.Errorf("%s is %s, and pg_proc says %s", call, datum.FormatType(r.Columns[0].Type, -1), result)
		}
	}
}
