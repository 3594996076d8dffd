package sqlfuncs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// fuzzLimits keep one statement small.
var fuzzLimits = sqlfuncs.Limits{
	IDsPerCall: 50, Statements: 4, Portals: 4, PreparedBytes: 1 << 14,
	StatementsPerQuery: 8, PlanCache: 16,
}

const (
	fuzzTime = 2 * time.Second
	fuzzRows = 1000
)

// FuzzQuery runs any text as a simple query and as a prepared statement. It checks
// that there is no panic and no internal error, and that the statement ends.
func FuzzQuery(f *testing.F) {
	for _, folder := range []string{"engine", "pgfunc", "ids"} {
		for _, file := range sqltest.Files(f, folder+"/testdata/*.slt") {
			for _, c := range sqltest.ReadCases(f, file) {
				f.Add(c.SQL, "a")
			}
		}
	}
	for _, sql := range sqltest.Drawing {
		f.Add(sql, "a")
	}
	for _, sql := range []string{
		"SELECT next_id($1)", "SELECT * FROM next_ids($1, $2)", "SELECT id FROM ids WHERE name = ANY ($1::text[])",
		"BEGIN; DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1; FETCH ALL c; MOVE 1 c; COMMIT; FETCH c; CLOSE c",
		"SAVEPOINT a; ROLLBACK TO a; PREPARE p AS SELECT $1; EXECUTE p (1); DEALLOCATE ALL; DISCARD ALL",
		"SET TimeZone = 'x'; SHOW ALL; RESET ALL; SET LOCAL a.b = 1", "COPY (SELECT 1, NULL) TO STDOUT (FORMAT csv, HEADER)",
		"CREATE SEQUENCE s START 5; ALTER SEQUENCE s RESTART WITH 9; DROP SEQUENCE s; SELECT setval('a', 5), currval('a')",
		"SELECT create_generator('x', 'segment', step => 5), alter_generator('x', '{}'), drop_generator('x')",
		"EXPLAIN SELECT * FROM pg_catalog.pg_class", "SELECT * FROM information_schema.tables", "SELECT parse_id('1'), id_floor('a', now())",
	} {
		f.Add(sql, "{a,b}")
	}
	f.Fuzz(func(t *testing.T, sql, arg string) {
		server := sqltest.NewServer(t, sqltest.Config{Limits: fuzzLimits})
		server.Segment(t, "a")
		s := server.Session(t)
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
		defer cancel()
		watchdog := time.AfterFunc(5*fuzzTime, func() { panic(fmt.Sprintf("%q with %q does not end", sql, arg)) })
		defer watchdog.Stop()
		for range 2 { // the second time with cached plans
			fuzzSimple(ctx, t, s, sql)
			fuzzPrepared(ctx, t, s, sql, arg)
		}
		if status := s.Status(); strings.IndexByte("ITE", status) < 0 {
			t.Fatalf("status %q", status)
		}
	})
}

func fuzzSimple(ctx context.Context, t *testing.T, s *sqltest.Session, sql string) {
	b, err := s.Simple([]byte(sql))
	for err == nil {
		var st *sqlfuncs.Statement
		if st, err = b.Next(); err != nil || st == nil {
			break
		}
		p := s.Run(st)
		err = fuzzPortal(ctx, t, s, p)
		p.Close()
	}
	fuzzError(t, s, sql, err)
}

func fuzzPrepared(ctx context.Context, t *testing.T, s *sqltest.Session, sql, arg string) {
	st, err := s.Prepare("", sql, nil)
	if err == nil {
		args := make([]any, len(st.Params))
		for i := range args {
			args[i] = arg
		}
		var p *sqlfuncs.Portal
		if p, err = s.BindTextsTo(nil, st, args...); err == nil {
			err = fuzzPortal(ctx, t, s, p)
		}
	}
	fuzzError(t, s, sql, err)
}

// fuzzPortal reads a portal's rows, at most fuzzRows, in their text form.
func fuzzPortal(ctx context.Context, t *testing.T, s *sqltest.Session, p *sqlfuncs.Portal) error {
	for range fuzzRows {
		row, err := p.Next(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				p.AppendTag(nil, 0)
				return nil
			}
			return err
		}
		columns := p.Columns()
		if len(row) != len(columns) {
			t.Fatalf("%d values for %d columns", len(row), len(columns))
		}
		for i, v := range row {
			if v.Valid {
				datum.AppendText(nil, v, s.Env())
				if c := columns[i].Type; v.Type != c && !(v.Type == datum.Unknown && c == datum.Text) { // an untyped literal is sent as text
					t.Fatalf("column %d: a value of type %d in a column of type %d", i, v.Type, c)
				}
			}
		}
	}
	return nil
}

// fuzzError ends a batch and checks its error.
func fuzzError(t *testing.T, s *sqltest.Session, sql string, err error) {
	if err != nil {
		var e *sqlstate.Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: an error without SQLSTATE: %v", sql, err)
		}
		if e.Code == sqlstate.Internal {
			t.Fatalf("%q: internal error: %v", sql, e.Cause)
		}
		s.Fail()
	}
	s.EndBatch()
	s.TakeNotices()
	s.TakeParameters()
}
