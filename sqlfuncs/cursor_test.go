package sqlfuncs_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// steps runs FETCH and MOVE statements and compares tags and rows.
func steps(t *testing.T, s *testSession, want [][2]string) {
	t.Helper()
	for _, w := range want {
		r := s.must(t, w[0])
		got := strings.Join(r.column(0), ",")
		if strings.HasPrefix(w[0], "MOVE") {
			got = r.tag
		}
		if got != w[1] {
			t.Errorf("%s: %q, want %q", w[0], got, w[1])
		}
	}
}

func TestCursorsGoOnAndBack(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	s.wantTag(t, "DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 9) g", "DECLARE CURSOR")
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
	s.wantTag(t, "CLOSE c", "CLOSE CURSOR")
	s.fails(t, "FETCH c", sqlstate.InvalidCursorName)
}

func TestForwardCursorReadsOnlyWhatIsFetched(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.must(t, "BEGIN; DECLARE c CURSOR FOR SELECT id FROM next_ids('a', 100) AS t (id)")
	r := s.must(t, "FETCH 2 c")
	s.noteIDs(t, "a", r.column(0)...)
	if got := r.String(); got != "1\n2" {
		t.Errorf("fetched %q", got)
	}
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 3 {
		t.Errorf("next id %d, want 3", id)
	}
	for sql, code := range map[string]sqlstate.Code{
		"FETCH PRIOR c": sqlstate.NotPrerequisite, "FETCH FORWARD -1 c": sqlstate.NotPrerequisite, "FETCH 0 c": sqlstate.NotPrerequisite,
		"MOVE FIRST c": sqlstate.FeatureNotSupported, "FETCH ABSOLUTE 2 c": sqlstate.FeatureNotSupported,
	} {
		s.must(t, "SAVEPOINT s")
		s.fails(t, sql, code)
		s.must(t, "ROLLBACK TO s")
	}
	s.must(t, "ROLLBACK")
}

func TestDeclareDrawsNothing(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	for _, query := range []string{"SELECT next_id('a')", "SELECT * FROM ids WHERE name = 'a'", "SELECT * FROM next_ids('a', 10)"} {
		s.must(t, "BEGIN; DECLARE c SCROLL CURSOR FOR "+query+"; COMMIT")
	}
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("next id %d, want 1", id)
	}
}

func TestCursorsEndWithTheBlockUnlessHeld(t *testing.T) {
	s := newServer(t).session(t)
	s.fails(t, "DECLARE c CURSOR FOR SELECT 1", sqlstate.NoActiveTransaction)
	s.must(t, "BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 3) g")
	s.fails(t, "DECLARE c CURSOR FOR SELECT 1", sqlstate.DuplicateCursor)
	s.must(t, "ROLLBACK")
	s.fails(t, "FETCH h", sqlstate.InvalidCursorName)
	s.must(t, "BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 3) g")
	s.want(t, "FETCH h", "1")
	s.must(t, "COMMIT")
	s.fails(t, "FETCH c", sqlstate.InvalidCursorName)
	s.want(t, "FETCH ALL h", "2\n3")
	s.must(t, "DECLARE h2 CURSOR WITH HOLD FOR SELECT 7")
	s.want(t, "FETCH h2", "7")
	s.wantTag(t, "CLOSE ALL", "CLOSE CURSOR ALL")
	s.fails(t, "FETCH h", sqlstate.InvalidCursorName)
}

func TestHeldCursorThatFailsMakesCommitFail(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN; SET application_name = 'x'; DECLARE h CURSOR WITH HOLD FOR SELECT 1 / (2 - g) FROM generate_series(1, 3) g")
	s.fails(t, "COMMIT", sqlstate.DivisionByZero)
	s.wantStatus(t, 'I')
	s.want(t, "SHOW application_name", "")
	s.fails(t, "FETCH h", sqlstate.InvalidCursorName)
}

func TestBinaryCursorAsksForBinary(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN; DECLARE c BINARY CURSOR FOR SELECT 1::int4, 'x'::text")
	b, err := s.Simple([]byte("FETCH c"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := b.Next()
	if err != nil {
		t.Fatal(err)
	}
	p := s.Run(st)
	if !p.Binary(0) || !p.Binary(1) {
		t.Error("FETCH from a binary cursor must describe binary columns before the first row")
	}
	if _, err := p.Next(t.Context()); err != nil || !p.Binary(0) {
		t.Errorf("binary %v, error %v", p.Binary(0), err)
	}
}

func TestCursorTakesTheParametersOfDeclare(t *testing.T) {
	s := newServer(t).session(t)
	s.must(t, "BEGIN")
	if _, err := s.execute(t, "DECLARE c CURSOR FOR SELECT $1::int4 + g FROM generate_series(1, 2) g", 40); err != nil {
		t.Fatal(err)
	}
	st, err := s.Prepare("", "FETCH ALL FROM c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Columns) != 1 || st.Columns[0].Type != datum.Int4 {
		t.Errorf("FETCH is described as %v", st.Columns)
	}
	s.want(t, "FETCH ALL FROM c", "41\n42")
	s.must(t, "COMMIT")
}

func TestCopyFormats(t *testing.T) {
	s := newServer(t).session(t)
	const rows = `(VALUES (1, E'a\tb\\'), (2, NULL), (3, ''), (4, 'x,"y"'), (5, E'l\nm')) AS t (n, "S")`
	for _, c := range []struct{ options, want string }{
		{"", "1\ta\\tb\\\\\n2\t\\N\n3\t\n4\tx,\"y\"\n5\tl\\nm\n"},
		{"WITH (HEADER)", "n\tS\n1\ta\\tb\\\\\n2\t\\N\n3\t\n4\tx,\"y\"\n5\tl\\nm\n"},
		{"WITH (FORMAT csv)", "1,a\tb\\\n2,\n3,\"\"\n4,\"x,\"\"y\"\"\"\n5,\"l\nm\"\n"},
		{"WITH CSV HEADER", "n,S\n1,a\tb\\\n2,\n3,\"\"\n4,\"x,\"\"y\"\"\"\n5,\"l\nm\"\n"},
	} {
		got := s.copy(t, "COPY (SELECT * FROM "+rows+") TO STDOUT "+c.options)
		if string(got) != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.options, got, c.want)
		}
	}
}

// copy runs a COPY and returns its data; the tag must count the rows.
func (s *testSession) copy(t *testing.T, sql string) []byte {
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

func TestCopyRefusesWhatItCannotDo(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
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
		s.fails(t, c.sql, c.code)
	}
	s.must(t, "COPY (SELECT next_id('a')) TO STDOUT")
	if r := s.must(t, "SELECT currval('a')"); r.String() != "1" {
		t.Errorf("COPY drew up to %s, want 1", r)
	}
}

func TestPortalsAreBounded(t *testing.T) {
	s := newServer(t, serverConfig{limits: sqlfuncs.Limits{Portals: 3}}).session(t)
	s.must(t, "BEGIN; DECLARE a CURSOR FOR SELECT 1; DECLARE b CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 1")
	s.fails(t, "DECLARE d CURSOR FOR SELECT 1", sqlstate.LimitExceeded)
	s.must(t, "ROLLBACK; BEGIN; DECLARE d CURSOR FOR SELECT 1; COMMIT")
}
