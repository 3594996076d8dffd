package ids_test

import (
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// What pg_dump writes behind CREATE SEQUENCE is answered, and changes nothing.
func TestADumpOfSequencesCanBeRead(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	s.Must(t, "CREATE SEQUENCE public.inv START WITH 100 INCREMENT BY 5 NO MINVALUE NO MAXVALUE CACHE 1")
	for sql, notice := range map[string]string{
		"ALTER SEQUENCE public.inv OWNER TO postgres":                          "nextid keeps no owners of sequences: nothing is changed",
		"ALTER TABLE public.inv OWNER TO postgres":                             "nextid keeps no owners of sequences: nothing is changed",
		"ALTER SEQUENCE IF EXISTS nosuch OWNER TO postgres":                    "nextid keeps no owners of sequences: nothing is changed",
		"COMMENT ON SEQUENCE public.inv IS 'the invoices'":                     "nextid keeps no comments of sequences: nothing is changed",
		"GRANT SELECT,USAGE ON SEQUENCE public.inv TO app":                     "nextid keeps no grants of sequences: nothing is changed",
		"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM app CASCADE":        "nextid keeps no grants of sequences: nothing is changed",
		"GRANT ALL PRIVILEGES ON SEQUENCE inv TO app, other WITH GRANT OPTION": "nextid keeps no grants of sequences: nothing is changed",
	} {
		s.Must(t, sql)
		if n := s.TakeNotices(); len(n) != 1 || n[0].Message != notice {
			t.Errorf("%s: %v", sql, n)
		}
	}
	s.Fails(t, "ALTER SEQUENCE nosuch OWNER TO postgres", sqlstate.UndefinedTable)
	s.Fails(t, "COMMENT ON SEQUENCE nosuch IS NULL", sqlstate.UndefinedTable)
	s.Fails(t, "COMMENT ON TABLE ids IS NULL", sqlstate.FeatureNotSupported)
	s.Fails(t, "GRANT SELECT ON ids TO app", sqlstate.FeatureNotSupported)
	s.Fails(t, "ALTER TABLE ids ADD COLUMN x int", sqlstate.FeatureNotSupported)
	s.Fails(t, "GRANT USAGE ON SEQUENCE inv", sqlstate.SyntaxError)
	reader := server.SessionWith(t, sqlfuncs.SessionOptions{User: "reader", Database: "nextid"})
	reader.Fails(t, "COMMENT ON SEQUENCE inv IS 'x'", sqlstate.InsufficientPrivilege)
}

func TestATypeBoundsASequence(t *testing.T) {
	s := sqltest.NewServer(t).SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	s.Must(t, "CREATE SEQUENCE small AS smallint; CREATE SEQUENCE down AS int INCREMENT -1; CREATE SEQUENCE near AS integer START 2147483647")
	s.Want(t, "SELECT sequencename, min_value, max_value FROM pg_sequences ORDER BY 1",
		"down|-2147483648|-1\nnear|1|2147483647\nsmall|1|32767")
	s.Want(t, "SELECT nextval('near')", "2147483647")
	s.Fails(t, "SELECT nextval('near')", sqlstate.SequenceExhausted)
	s.Fails(t, "CREATE SEQUENCE wide AS integer MAXVALUE 3000000000", sqlstate.InvalidParameterValue)
	s.Fails(t, "CREATE SEQUENCE words AS text", sqlstate.InvalidParameterValue)
}

func TestADroppedSequenceGoesOnAbove(t *testing.T) {
	s := sqltest.NewServer(t).SessionWith(t, sqlfuncs.SessionOptions{User: "app", Database: "nextid", Admin: true})
	s.Must(t, "CREATE SEQUENCE inv START 100")
	s.Want(t, "SELECT nextval('inv')", "100")
	s.Must(t, "DROP SEQUENCE inv")
	s.TakeNotices()
	s.Must(t, "CREATE SEQUENCE inv START 1")
	if n := s.TakeNotices(); len(n) != 1 || n[0].Severity != "WARNING" {
		t.Errorf("notices %v", n)
	}
	s.Want(t, "SELECT nextval('inv') > 100", "t")
}
