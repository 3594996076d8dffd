package ids_test

import (
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// A client that asks for the parameter's type gets bigint; one that sends
// text without asking may send any id.
func TestParseIDOfAnOpenParameter(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	const uuid = "0190163d-8694-739b-aea5-966c26f8ad91"
	for _, sql := range []string{"SELECT parse_id($1)->>'layout'", "SELECT layout FROM parse_id($1)"} {
		st, err := s.Prepare("", sql, nil)
		if err != nil || st.Params[0] != datum.Int8 {
			t.Fatalf("%s: parameters %v, error %v; want bigint", sql, st.Params, err)
		}
		for arg, want := range map[string]string{
			"1099511627776": "twitter", uuid: "uuidv7", "+0000000001099511627776": "twitter",
		} {
			if r, err := s.Execute(t, sql, arg); err != nil || r.String() != want {
				t.Errorf("%s with %s: %v, error %v; want %q", sql, arg, r, err, want)
			}
		}
		_, err = s.Execute(t, sql, "neither")
		sqltest.WantCode(t, "with a word", err, sqlstate.InvalidParameterValue)
	}
	// A second use takes it for a number.
	_, err := s.Execute(t, "SELECT parse_id($1), $1 + 1", uuid)
	sqltest.WantCode(t, "a UUID for a parameter that is also a number", err, sqlstate.InvalidText)
}

// pgjdbc's {?= call next_id(?)}: the first parameter is the result, of type
// void, and is no argument.
func TestVoidParameterIsDropped(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "orders")
	s := server.Session(t)
	st, err := s.Prepare("", "select * from next_id($1,$2) as result", []datum.OID{datum.Void, datum.Varchar})
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Columns) != 1 || st.Columns[0].Type != datum.Int8 {
		t.Errorf("columns %v", st.Columns)
	}
	_, err = s.Prepare("", "select next_id($1)", []datum.OID{datum.Void})
	sqltest.WantCode(t, "next_id of nothing", err, sqlstate.UndefinedFunction)
}
