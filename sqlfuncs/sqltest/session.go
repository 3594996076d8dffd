package sqltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// Session is a session that runs statements as the protocols do.
type Session struct {
	*sqlfuncs.Session
	Server *Server
	client int
	form   func(datum.Value, sqlfuncs.Column) string // text form of a value, nil: PostgreSQL's
}

// NoteID adds an id to the history of the server.
func (s *Session) NoteID(name string, id int64) {
	s.Server.Drawn.Add(history.Event{Name: name, Client: s.client, Range: generator.Range{First: id, Step: 1, Count: 1}})
}

// NoteIDs adds a column of ids to the history.
func (s *Session) NoteIDs(t testing.TB, name string, ids ...string) {
	t.Helper()
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%q is no id", text)
		}
		s.NoteID(name, id)
	}
}

// Null is the text of NULL in results.
const Null = "NULL"

// Result is the answer to one statement.
type Result struct {
	Columns []sqlfuncs.Column
	Rows    [][]string
	Tag     string
}

// Column returns the texts of one column.
func (r Result) Column(i int) []string {
	out := make([]string, len(r.Rows))
	for j, row := range r.Rows {
		out[j] = row[i]
	}
	return out
}

// String writes the rows as tests compare them: values joined by |.
func (r Result) String() string {
	lines := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		lines[i] = strings.Join(row, "|")
	}
	return strings.Join(lines, "\n")
}

// Pull reads a portal to its end, or to a number of rows.
func (s *Session) Pull(ctx context.Context, p *sqlfuncs.Portal, max int) (Result, error) {
	r := Result{Columns: p.Columns()}
	for max <= 0 || len(r.Rows) < max {
		row, err := p.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = Null
			switch {
			case v.Valid && s.form != nil:
				texts[i] = s.form(v, r.Columns[i])
			case v.Valid:
				texts[i] = string(datum.AppendText(nil, v, s.Env()))
			}
		}
		r.Rows = append(r.Rows, texts)
	}
	r.Tag = string(p.AppendTag(nil, int64(len(r.Rows))))
	return r, nil
}

// QueryAll runs all statements of a simple query, as the protocol does.
func (s *Session) QueryAll(ctx context.Context, sql string) ([]Result, error) {
	results, err := s.batch(ctx, sql)
	if err != nil {
		s.Fail()
	}
	s.EndBatch()
	return results, err
}

// batch runs the statements up to the first error.
func (s *Session) batch(ctx context.Context, sql string) (results []Result, err error) {
	b, err := s.Simple([]byte(sql))
	if err != nil {
		return nil, err
	}
	for {
		st, err := b.Next()
		if err != nil || st == nil {
			return results, err
		}
		p := s.Run(st)
		statement, done := s.StatementContext(ctx, st)
		r, err := s.Pull(statement, p, 0)
		done()
		p.Close()
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
}

// Query runs a simple query and returns its last result.
func (s *Session) Query(t testing.TB, sql string) (Result, error) {
	t.Helper()
	results, err := s.QueryAll(t.Context(), sql)
	if err != nil || len(results) == 0 {
		return Result{}, err
	}
	return results[len(results)-1], nil
}

// Must runs a query that must not fail.
func (s *Session) Must(t testing.TB, sql string) Result {
	t.Helper()
	r, err := s.Query(t, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// Want checks the rows of a query; want joins values by | and rows by \n.
func (s *Session) Want(t testing.TB, sql, want string) {
	t.Helper()
	if got := s.Must(t, sql).String(); got != want {
		t.Errorf("%s\ngot  %q\nwant %q", sql, got, want)
	}
}

// WantTag checks the command tag.
func (s *Session) WantTag(t testing.TB, sql, want string) {
	t.Helper()
	if got := s.Must(t, sql).Tag; got != want {
		t.Errorf("%s: tag %q, want %q", sql, got, want)
	}
}

// Fails checks the SQLSTATE of a query that must fail and returns the error.
func (s *Session) Fails(t testing.TB, sql string, want sqlstate.Code) *sqlstate.Error {
	t.Helper()
	_, err := s.Query(t, sql)
	return WantCode(t, sql, err, want)
}

// WantCode checks the SQLSTATE of an error.
func WantCode(t testing.TB, what string, err error, want sqlstate.Code) *sqlstate.Error {
	t.Helper()
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v, want %s", what, err, want)
	}
	if e.Code != want {
		t.Errorf("%s: error %s %s, want %s", what, e.Code, e.Message, want)
	}
	return e
}

// ID draws one id with a query and notes it.
func (s *Session) ID(t testing.TB, name, sql string) int64 {
	t.Helper()
	r := s.Must(t, sql)
	if len(r.Rows) != 1 {
		t.Fatalf("%s: %d rows, want 1", sql, len(r.Rows))
	}
	last := r.Rows[0][len(r.Rows[0])-1]
	s.NoteIDs(t, name, last)
	id, _ := strconv.ParseInt(last, 10, 64)
	return id
}

// BindTexts prepares the unnamed statement and binds the unnamed portal. Arguments
// are sent as texts; nil means NULL.
func (s *Session) BindTexts(sql string, args ...any) (*sqlfuncs.Portal, error) {
	st, err := s.Prepare("", sql, nil)
	if err != nil {
		return nil, err
	}
	return s.BindTextsTo(nil, st, args...)
}

// BindTextsTo binds a statement to a portal.
func (s *Session) BindTextsTo(portal []byte, st *sqlfuncs.Statement, args ...any) (*sqlfuncs.Portal, error) {
	bound := make([]sqlfuncs.Arg, len(args))
	for i, a := range args {
		bound[i] = sqlfuncs.Arg{Null: a == nil, Data: []byte(fmt.Sprint(a))}
	}
	return s.Bind(portal, st, bound, nil)
}

// Execute runs a statement with arguments through Prepare, Bind, Execute
// and Sync.
func (s *Session) Execute(t testing.TB, sql string, args ...any) (Result, error) {
	t.Helper()
	p, err := s.BindTexts(sql, args...)
	var r Result
	if err == nil {
		r, err = s.Pull(t.Context(), p, 0)
	}
	if err != nil {
		s.Fail()
	}
	s.EndBatch()
	return r, err
}

// NoticeCodes returns severity and code of the notices since the last call.
func (s *Session) NoticeCodes() []string {
	var out []string
	for _, n := range s.TakeNotices() {
		out = append(out, n.Severity+" "+string(n.Code))
	}
	return out
}

// Value runs a query of one value.
func (s *Session) Value(t *testing.T, sql string) string {
	t.Helper()
	r := s.Must(t, sql)
	if len(r.Rows) != 1 || len(r.Rows[0]) != 1 {
		t.Fatalf("%s: %v", sql, r)
	}
	return r.Rows[0][0]
}

// MySQLError runs a query that must fail and returns the error's number and state.
func (s *Session) MySQLError(t *testing.T, sql string) (number uint16, state string) {
	t.Helper()
	_, err := s.Query(t, sql)
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v, want an error", sql, err)
	}
	return e.MySQL().Number, e.MySQL().State
}

// mysqlForm writes a value as MySQL's protocol does.
func mysqlForm(v datum.Value, c sqlfuncs.Column) string {
	switch v.Type {
	case datum.Bytea:
		return v.Str
	case datum.Float8:
		return strconv.FormatFloat(v.Float, 'g', -1, 64) // as the driver does
	case datum.Timestamp, datum.Time:
		whole, fraction, _ := strings.Cut(string(datum.AppendText(nil, v, nil)), ".")
		if digits := c.TypeMod; digits > 0 || digits < 0 && fraction != "" {
			if digits < 0 {
				digits = 6
			}
			whole += "." + (fraction + "000000")[:digits]
		}
		return whole
	}
	return string(datum.AppendText(nil, v, nil))
}

// Drawing lists statements that draw ids of the generator a.
var Drawing = []string{
	"SELECT next_id('a')", "SELECT nextval('a')", "SELECT * FROM next_ids('a', 10)", "SELECT next_ids('a', 10)",
	"SELECT * FROM next_range('a', 10)", "SELECT * FROM ids WHERE name = 'a'", "SELECT * FROM a_id",
	"SELECT * FROM id_batch WHERE name = 'a' AND n = 10", "SELECT * FROM id_ranges WHERE name = 'a' AND n = 10",
	"SELECT next_id('a') FROM generate_series(1, 10)", "WITH x AS (SELECT next_id('a')) SELECT * FROM x",
	"SELECT 1 ORDER BY next_id('a')", "VALUES (next_id('a'))", "SELECT 1 LIMIT next_id('a')",
	"SELECT count(*) FROM ids WHERE name = 'a'", "SELECT * FROM ids",
}
