package sqlfuncs_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// steps runs FETCH and MOVE statements and compares tags and rows.
func steps(t *testing.T, s *sqltest.Session, want [][2]string) {
	t.Helper()
	for _, w := range want {
		r := s.Must(t, w[0])
		got := strings.Join(r.Column(0), ",")
		if strings.HasPrefix(w[0], "MOVE") {
			got = r.Tag
		}
		if got != w[1] {
			t.Errorf("%s: %q, want %q", w[0], got, w[1])
		}
	}
}

func TestCursorsGoOnAndBack(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	s.WantTag(t, "DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 9) g", "DECLARE CURSOR")
	steps(t, s, [][2]string{
		{"FETCH 0 c", ""},
		{"FETCH c", "1"},
		{"FETCH 2 FROM c", "2,3"},
		{"FETCH NEXT FROM c", "4"},
		{"MOVE 2 c", "MOVE 2"},
		{"FETCH FORWARD ALL c", "7,8,9"},
		{"FETCH NEXT c", ""},
		{"FETCH BACKWARD 2 c", "9,8"},
		{"FETCH 0 c", "8"},
		{"MOVE BACKWARD ALL c", "MOVE 7"},
		{"FETCH FORWARD 2 c", "1,2"},
		{"FETCH -1 c", "1"},
		{"FETCH PRIOR c", ""},
		{"FETCH c", "1"},
	})
	s.WantTag(t, "CLOSE c", "CLOSE CURSOR")
	s.Fails(t, "FETCH c", sqlstate.InvalidCursorName)
}

func TestForwardCursorReadsOnlyWhatIsFetched(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Must(t, "BEGIN; DECLARE c CURSOR FOR SELECT id FROM next_ids('a', 100) AS t (id)")
	r := s.Must(t, "FETCH 2 c")
	s.NoteIDs(t, "a", r.Column(0)...)
	if got := r.String(); got != "1\n2" {
		t.Errorf("fetched %q", got)
	}
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 3 {
		t.Errorf("next id %d, want 3", id)
	}
	for sql, code := range map[string]sqlstate.Code{
		"FETCH PRIOR c": sqlstate.NotPrerequisite, "FETCH FORWARD -1 c": sqlstate.NotPrerequisite, "FETCH 0 c": sqlstate.NotPrerequisite,
		"MOVE FIRST c": sqlstate.FeatureNotSupported, "FETCH ABSOLUTE 2 c": sqlstate.FeatureNotSupported,
	} {
		s.Must(t, "SAVEPOINT s")
		s.Fails(t, sql, code)
		s.Must(t, "ROLLBACK TO s")
	}
	s.Must(t, "ROLLBACK")
}

func TestDeclareDrawsNothing(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	for _, query := range []string{"SELECT next_id('a')", "SELECT * FROM ids WHERE name = 'a'", "SELECT * FROM next_ids('a', 10)"} {
		s.Must(t, "BEGIN; DECLARE c SCROLL CURSOR FOR "+query+"; COMMIT")
	}
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("next id %d, want 1", id)
	}
}

func TestCursorsEndWithTheBlockUnlessHeld(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Fails(t, "DECLARE c CURSOR FOR SELECT 1", sqlstate.NoActiveTransaction)
	s.Must(t, "BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 3) g")
	s.Fails(t, "DECLARE c CURSOR FOR SELECT 1", sqlstate.DuplicateCursor)
	s.Must(t, "ROLLBACK")
	s.Fails(t, "FETCH h", sqlstate.InvalidCursorName)
	s.Must(t, "BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 3) g")
	s.Want(t, "FETCH h", "1")
	s.Must(t, "COMMIT")
	s.Fails(t, "FETCH c", sqlstate.InvalidCursorName)
	s.Want(t, "FETCH ALL h", "2\n3")
	s.Must(t, "DECLARE h2 CURSOR WITH HOLD FOR SELECT 7")
	s.Want(t, "FETCH h2", "7")
	s.WantTag(t, "CLOSE ALL", "CLOSE CURSOR ALL")
	s.Fails(t, "FETCH h", sqlstate.InvalidCursorName)
}

func TestHeldCursorThatFailsMakesCommitFail(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN; SET application_name = 'x'; DECLARE h CURSOR WITH HOLD FOR SELECT 1 / (2 - g) FROM generate_series(1, 3) g")
	s.Fails(t, "COMMIT", sqlstate.DivisionByZero)
	wantStatus(t, s, 'I')
	s.Want(t, "SHOW application_name", "")
	s.Fails(t, "FETCH h", sqlstate.InvalidCursorName)
}

func TestCursorTakesTheParametersOfDeclare(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "BEGIN")
	if _, err := s.Execute(t, "DECLARE c CURSOR FOR SELECT $1::int4 + g FROM generate_series(1, 2) g", 40); err != nil {
		t.Fatal(err)
	}
	st, err := s.Prepare("", "FETCH ALL FROM c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Columns) != 1 || st.Columns[0].Type != datum.Int4 {
		t.Errorf("FETCH is described as %v", st.Columns)
	}
	s.Want(t, "FETCH ALL FROM c", "41\n42")
	s.Must(t, "COMMIT")
}

func TestCopyFormats(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	const rows = `(VALUES (1, E'a\tb\\'), (2, NULL), (3, ''), (4, 'x,"y"'), (5, E'l\nm')) AS t (n, "S")`
	for _, c := range []struct{ options, want string }{
		{"", "1\ta\\tb\\\\\n2\t\\N\n3\t\n4\tx,\"y\"\n5\tl\\nm\n"},
		{"WITH (HEADER)", "n\tS\n1\ta\\tb\\\\\n2\t\\N\n3\t\n4\tx,\"y\"\n5\tl\\nm\n"},
		{"WITH (FORMAT csv)", "1,a\tb\\\n2,\n3,\"\"\n4,\"x,\"\"y\"\"\"\n5,\"l\nm\"\n"},
		{"WITH CSV HEADER", "n,S\n1,a\tb\\\n2,\n3,\"\"\n4,\"x,\"\"y\"\"\"\n5,\"l\nm\"\n"},
	} {
		got := copied(t, s, "COPY (SELECT * FROM "+rows+") TO STDOUT "+c.options)
		if string(got) != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.options, got, c.want)
		}
	}
}

func TestCopyRefusesWhatItCannotDo(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	for _, c := range []struct {
		sql  string
		code sqlstate.Code
	}{
		{"COPY (SELECT 1) TO STDOUT (FORMAT binary)", sqlstate.FeatureNotSupported},
		{"COPY (SELECT 1) TO STDOUT (DELIMITER ',')", sqlstate.FeatureNotSupported},
		{"COPY (SELECT nosuch) TO STDOUT", sqlstate.UndefinedColumn},
		{"COPY ids FROM STDIN", sqlstate.FeatureNotSupported},
		{"COPY (SELECT 1) TO '/tmp/x'", sqlstate.FeatureNotSupported},
		{"COPY (SELECT 1) TO PROGRAM 'true'", sqlstate.FeatureNotSupported},
	} {
		s.Fails(t, c.sql, c.code)
	}
	s.Must(t, "COPY (SELECT next_id('a')) TO STDOUT")
	if r := s.Must(t, "SELECT currval('a')"); r.String() != "1" {
		t.Errorf("COPY drew up to %s, want 1", r)
	}
}

func TestPortalsAreBounded(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{Portals: 3}}).Session(t)
	s.Must(t, "BEGIN; DECLARE a CURSOR FOR SELECT 1; DECLARE b CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 1")
	s.Fails(t, "DECLARE d CURSOR FOR SELECT 1", sqlstate.LimitExceeded)
	s.Must(t, "ROLLBACK; BEGIN; DECLARE d CURSOR FOR SELECT 1; COMMIT")
}

// copied runs a COPY and returns its data; the tag must count the rows.
func copied(t *testing.T, s *sqltest.Session, sql string) []byte {
	t.Helper()
	b, err := s.Simple([]byte(sql))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	st, err := b.Next()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	p := s.Run(st)
	c := p.Copy()
	if c == nil || !st.IsCopy() {
		t.Fatalf("%s is no COPY", sql)
	}
	out := c.AppendHeader(nil)
	for {
		row, err := p.Next(t.Context())
		if err != nil {
			break
		}
		out = c.AppendRow(out, row, s.Env())
	}
	return out
}
