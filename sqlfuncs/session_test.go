package sqlfuncs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

func TestSimpleQueryAnswersRowsColumnsAndTag(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	r := s.Must(t, "SELECT 1 AS a, 'x'::text AS b, NULL AS c UNION ALL SELECT 2, 'y', NULL")
	if got, want := r.String(), "1|x|NULL\n2|y|NULL"; got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
	if r.Tag != "SELECT 2" {
		t.Errorf("tag %q", r.Tag)
	}
	names := []string{r.Columns[0].Name, r.Columns[1].Name, r.Columns[2].Name}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("columns %v", names)
	}
	if r.Columns[0].Type != datum.Int4 || r.Columns[1].Type != datum.Text || r.Columns[2].Type != datum.Text {
		t.Errorf("types %v %v %v", r.Columns[0].Type, r.Columns[1].Type, r.Columns[2].Type)
	}
}

func TestSimpleQueryStopsAtTheFirstError(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	results, err := s.QueryAll(t.Context(), "SELECT 1; SELECT 1/0; SELECT next_id('a')")
	sqltest.WantCode(t, "the second statement", err, sqlstate.DivisionByZero)
	if len(results) != 1 {
		t.Errorf("%d results before the error, want 1", len(results))
	}
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("the statement after the error drew an id: next is %d, want 1", id)
	}
}

func TestSyntaxErrorRunsNothing(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.Fails(t, "SELECT next_id('a'); SELEC 1", sqlstate.SyntaxError)
	if id := s.ID(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("next id %d, want 1", id)
	}
}

func TestEmptyQueryHasNoStatement(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, sql := range []string{"", " ", ";", "-- nothing\n;;", "/* nothing */"} {
		results, err := s.QueryAll(t.Context(), sql)
		if err != nil || len(results) != 0 {
			t.Errorf("%q: %d results, error %v", sql, len(results), err)
		}
		st, err := s.Prepare("", sql, nil)
		if err != nil || !st.Empty() {
			t.Errorf("%q: prepared statement is not empty, error %v", sql, err)
		}
	}
}

func TestPreparedStatementsAndPortalsHaveNames(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	st, err := s.Prepare("one", "SELECT $1::int4 + 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(st.Params, []datum.OID{datum.Int4}) {
		t.Errorf("parameters %v, want int4", st.Params)
	}
	_, err = s.Prepare("one", "SELECT 2", nil)
	sqltest.WantCode(t, "a name twice", err, sqlstate.DuplicateStatement)
	if got, err := s.Prepared([]byte("one")); err != nil || got != st {
		t.Errorf("Prepared: %v, %v", got, err)
	}
	s.Must(t, "BEGIN")
	p, err := s.BindTextsTo([]byte("p"), st, 41)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.BindTextsTo([]byte("p"), st, 41)
	sqltest.WantCode(t, "a portal name twice", err, sqlstate.DuplicateCursor)
	if got, err := s.Portal([]byte("p")); err != nil || got != p {
		t.Errorf("Portal: %v, %v", got, err)
	}
	if r, err := s.Pull(t.Context(), p, 0); err != nil || r.String() != "42" {
		t.Errorf("%v, %v", r, err)
	}
	s.ClosePortal([]byte("p"))
	_, err = s.Portal([]byte("p"))
	sqltest.WantCode(t, "a closed portal", err, sqlstate.InvalidCursorName)
	s.Unprepare([]byte("one"))
	_, err = s.Prepared([]byte("one"))
	sqltest.WantCode(t, "a closed statement", err, sqlstate.InvalidStatementName)
}

func TestSyncClosesPortalsOutsideATransaction(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	st, err := s.Prepare("one", "SELECT 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "p"} {
		if _, err := s.BindTextsTo([]byte(name), st); err != nil {
			t.Fatal(err)
		}
		s.EndBatch()
		_, err := s.Portal([]byte(name))
		sqltest.WantCode(t, "portal after Sync", err, sqlstate.InvalidCursorName)
	}
	s.Must(t, "BEGIN")
	if _, err := s.BindTextsTo([]byte("p"), st); err != nil {
		t.Fatal(err)
	}
	s.EndBatch()
	if _, err := s.Portal([]byte("p")); err != nil {
		t.Errorf("the portal must live as long as the block: %v", err)
	}
	s.Must(t, "COMMIT")
	_, err = s.Portal([]byte("p"))
	sqltest.WantCode(t, "portal after COMMIT", err, sqlstate.InvalidCursorName)
}

func TestPortalStopsAtARowLimitAndGoesOn(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	p, err := s.BindTexts("SELECT g FROM generate_series(1, 5) g")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		r, err := s.Pull(t.Context(), p, 2)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(r.Column(0), ","))
	}
	if want := []string{"1,2", "3,4", "5"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBindRefusesWrongArguments(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	_, err := s.BindTexts("SELECT $1::int4", 1, 2)
	sqltest.WantCode(t, "too many arguments", err, sqlstate.ProtocolViolation)
	_, err = s.BindTexts("SELECT $1::int4", "x")
	sqltest.WantCode(t, "no number", err, sqlstate.InvalidText)
	_, err = s.BindTexts("SELECT $1::int4", "99999999999")
	sqltest.WantCode(t, "too large", err, sqlstate.NumericOutOfRange)
	_, err = s.Prepare("", "SELECT 1; SELECT 2", nil)
	sqltest.WantCode(t, "two statements", err, sqlstate.SyntaxError)
	s.Fails(t, "SELECT $1", sqlstate.UndefinedParameter)
	st, err := s.Prepare("", "SELECT 1, 2, 3", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Bind(nil, st, nil, []int16{0, 1})
	sqltest.WantCode(t, "two formats for three columns", err, sqlstate.ProtocolViolation)
}

func TestParameterTypesAreInferred(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct {
		sql      string
		declared []datum.OID
		want     []datum.OID
	}{
		{"SELECT next_id($1)", nil, []datum.OID{datum.Text}},
		{"SELECT * FROM next_ids($1, $2)", nil, []datum.OID{datum.Text, datum.Int4}},
		{"SELECT * FROM next_ids($1, $2)", []datum.OID{0, datum.Int8}, []datum.OID{datum.Text, datum.Int8}},
		{"SELECT * FROM next_ids($1, n => $2)", nil, []datum.OID{datum.Text, datum.Int4}},
		{"SELECT parse_id($1)", nil, []datum.OID{datum.Int8}},
		{"SELECT * FROM parse_id($1, $2)", nil, []datum.OID{datum.Int8, datum.Text}},
		{"SELECT parse_id($1::uuid), parse_id($2::text)", nil, []datum.OID{datum.UUID, datum.Text}},
		{"SELECT * FROM next_id($1, $2)", []datum.OID{datum.Void}, []datum.OID{datum.Void, datum.Text}},
		{"SELECT $1", nil, []datum.OID{datum.Text}},
		{"SELECT $1", []datum.OID{datum.Int4}, []datum.OID{datum.Int4}},
		{"SELECT $2::int8, $1::bool", nil, []datum.OID{datum.Bool, datum.Int8}},
		{"SELECT 1::int8 + $1", nil, []datum.OID{datum.Int8}},
		{"SELECT $1 = 5::int2", nil, []datum.OID{datum.Int2}},
		{"SELECT 1 LIMIT $1", nil, []datum.OID{datum.Int8}},
		{"SELECT id FROM ids WHERE name = $1", nil, []datum.OID{datum.Text}},
		{"SELECT CASE WHEN $1 THEN $2 ELSE 1 END", nil, []datum.OID{datum.Bool, datum.Int4}},
		{"SELECT $1 UNION ALL SELECT id FROM ids WHERE name = $2", nil, []datum.OID{datum.Int8, datum.Text}},
		{"SELECT 'x', 1 UNION SELECT $2, $1", nil, []datum.OID{datum.Int4, datum.Text}},
		{"SELECT 'x'::varchar = ANY ($1), 1 = ANY ($2)", nil, []datum.OID{datum.TextArray, datum.Int4Array}},
		{"SELECT $1 UNION SELECT $2", nil, []datum.OID{datum.Text, datum.Text}},
		{"SELECT $1 UNION SELECT $1::date", nil, []datum.OID{datum.Date}},
		{"SELECT $1::text, $1 UNION SELECT 'x', 'y'", nil, []datum.OID{datum.Text}},
	} {
		st, err := s.Prepare("", c.sql, c.declared)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if !slices.Equal(st.Params, c.want) {
			t.Errorf("%s: parameters %v, want %v", c.sql, st.Params, c.want)
		}
	}
}

func TestParametersOfASetOperation(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for sql, want := range map[string]string{
		"SELECT $1 UNION SELECT 2::int8 UNION ALL SELECT 3 ORDER BY 1": "1\n2\n3",
		"SELECT 2 + x FROM (SELECT $1 AS x UNION ALL SELECT 1.5) t":    "3\n3.5",
		"SELECT $1 UNION SELECT $1::int2":                              "1",
	} {
		if r, err := s.Execute(t, sql, "1"); err != nil || r.String() != want {
			t.Errorf("%s: %v, %v; want %s", sql, r, err, want)
		}
	}
}

func TestActivityTellsWhoSleeps(t *testing.T) {
	server := sqltest.NewServer(t)
	sleeper, watcher := server.Session(t), server.Session(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := sleeper.QueryAll(ctx, "SELECT pg_sleep(100)")
		done <- err
	}()
	const asleep = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep' AND query LIKE '%pg_sleep(100)'"
	for len(done) == 0 {
		if watcher.Must(t, asleep).Rows[0][0] == "1" {
			break
		}
	}
	cancel()
	sqltest.WantCode(t, "sleeping", <-done, sqlstate.QueryCanceled)
	watcher.Want(t, asleep, "0")
}

func TestCachedPlansDoNotKeepSettingsOfASession(t *testing.T) {
	server := sqltest.NewServer(t)
	const sql = "SELECT '2024-01-01 00:00'::timestamptz::timestamp - '2024-01-01 00:00+00'::timestamptz::timestamp"
	tokyo, utc := server.Session(t), server.Session(t)
	tokyo.Must(t, "SET TimeZone = 'Asia/Tokyo'")
	for range 3 {
		tokyo.Want(t, sql, "-09:00:00")
		utc.Want(t, sql, "00:00:00")
	}
}

func TestStatementTimeoutEndsAStatement(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "SET statement_timeout = '20ms'")
	for _, sql := range []string{
		"SELECT count(*) FROM generate_series(1, 1000000000000)",
		"SELECT DISTINCT 1 FROM generate_series(1, 1000000000000)",
		"SELECT 1 FROM generate_series(1, 1000000000000) g WHERE g < 0",
		"SELECT DISTINCT generate_series(1, 1000000000000) > 0",
		"SELECT 1 FROM generate_series(1, 1000000000000) OFFSET 100000000000",
		"SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b",
		"SELECT EXISTS (SELECT 1 FROM generate_series(1, 1000000000000) g WHERE g < 0)",
		"WITH RECURSIVE t (n) AS (SELECT 1 UNION SELECT n FROM t, generate_series(1, 1000000000000)) SELECT count(*) FROM t",
	} {
		e := s.Fails(t, sql, sqlstate.QueryCanceled)
		if e.Message != "canceling statement due to statement timeout" {
			t.Errorf("%s: %s", sql, e.Message)
		}
	}
}

// TestUnsupportedSQLIsNamedInItsError checks that SQL which an id server does not
// need gets an error that names it, with a hint. The session stays usable.
func TestUnsupportedSQLIsNamedInItsError(t *testing.T) {
	const inYourOwn = "compute the rest in your own database"
	server := sqltest.NewServer(t)
	postgres, mysql := server.Session(t), server.MySQLSession(t)
	for _, c := range []struct {
		s        *sqltest.Session
		sql      string
		code     sqlstate.Code
		number   uint16
		says     string
		hints    string
		position int
	}{
		{postgres, "SELECT exp(1)", sqlstate.UndefinedFunction, 0, "function exp(integer) does not exist", inYourOwn, 8},
		{postgres, "SELECT to_char(now(), 'YYYY')", sqlstate.UndefinedFunction, 0, "function to_char(", inYourOwn, 8},
		{postgres, "SELECT sum(1) OVER (ORDER BY 1 ROWS 1 PRECEDING)", sqlstate.FeatureNotSupported, 0, "a window frame is not", inYourOwn, 32},
		{postgres, "SELECT * FROM ids a FULL JOIN ids b ON true", sqlstate.FeatureNotSupported, 0, "FULL JOIN is not", inYourOwn, 21},
		{postgres, "SELECT count(*) OVER () FROM generate_series(1, 3)", sqlstate.FeatureNotSupported, 0, "count with OVER is not", "or in a subquery with GROUP BY", 8},
		{postgres, "COPY (SELECT 1) TO STDOUT (FORMAT binary)", sqlstate.FeatureNotSupported, 0, "COPY with FORMAT BINARY is not", "writes text, or with FORMAT csv", 1},
		{postgres, "COPY ids TO STDOUT WITH BINARY", sqlstate.FeatureNotSupported, 0, "COPY with BINARY is not", "writes text, or with FORMAT csv", 1},
		{postgres, "COPY (SELECT 1) TO '/tmp/x'", sqlstate.FeatureNotSupported, 0, "COPY TO a file is not", `psql's \copy`, 1},
		{postgres, "CREATE ROLE x", sqlstate.FeatureNotSupported, 0, "CREATE ROLE is not", "nextid passwd", 1},
		{mysql, "SELECT SOUNDEX('a')", sqlstate.UndefinedFunction, 1305, "soundex does not exist", "", 8},
		{mysql, "SELECT EXP(1)", sqlstate.UndefinedFunction, 1305, "exp does not exist", "", 8},
		{mysql, "SELECT to_char(now(), 'YYYY')", sqlstate.UndefinedFunction, 1305, "to_char does not exist", "", 8},
		{mysql, "SELECT SUM(1) OVER (ORDER BY 1 ROWS 1 PRECEDING)", sqlstate.FeatureNotSupported, 1235, "a window frame is not", inYourOwn, 32},
		{mysql, "SELECT * FROM ids a FULL JOIN ids b ON 1", sqlstate.FeatureNotSupported, 1235, "FULL JOIN is not", inYourOwn, 21},
		{mysql, "SELECT COUNT(*) OVER () FROM id_parts", sqlstate.FeatureNotSupported, 1235, "count with OVER is not", "or in a subquery with GROUP BY", 8},
	} {
		e := c.s.Fails(t, c.sql, c.code)
		if !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hints) || e.Position != c.position {
			t.Errorf("%s: %q at %d, hint %q", c.sql, e.Message, e.Position, e.Hint)
		}
		if n := e.MySQL().Number; c.number != 0 && n != c.number {
			t.Errorf("%s: error %d", c.sql, n)
		}
		wantStatus(t, c.s, 'I')
		c.s.Must(t, "SELECT next_id('a')")
	}
}
