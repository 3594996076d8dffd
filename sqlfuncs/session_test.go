package sqlfuncs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/counter"
	"nextid/generator/history"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/uuid"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// testServer is the SQL layer over the real engines and a store in memory.
type testServer struct {
	*sqlfuncs.Server
	registry *generator.Registry
	drawn    history.Log // every id that a test read
	sessions int
}

// serverConfig is what tests vary.
type serverConfig struct {
	limits       sqlfuncs.Limits
	memory       account.Limits
	noAutoCreate bool
	sequence     ids.Auto
	trail        ids.Trail
	audited      func(name string) bool
	store        *memory.Store // nil: one of this server alone
	lookups      *atomic.Int64 // counts how often the store is asked for a definition
}

// countedStore counts look-ups of definitions.
type countedStore struct {
	*memory.Store
	lookups *atomic.Int64
}

func (s countedStore) Defined(ctx context.Context, name string) (generator.Definition, error) {
	s.lookups.Add(1)
	return s.Store.Defined(ctx, name)
}

func newServer(t testing.TB, configs ...serverConfig) *testServer {
	t.Helper()
	var cfg serverConfig
	for _, c := range configs {
		cfg = c
	}
	if cfg.lookups == nil {
		cfg.lookups = new(atomic.Int64)
	}
	if cfg.store == nil {
		cfg.store = memory.New(memory.Config{Exclusive: true})
	}
	store := countedStore{cfg.store, cfg.lookups}
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	autoCreate := snowflake.KindName
	if cfg.noAutoCreate {
		autoCreate = ""
	}
	registry, err := generator.NewRegistry(generator.Config{
		Store: store, AutoCreate: autoCreate, Audited: cfg.audited,
		Kinds: slices.Concat(
			code.WrapAll(store, snowflake.Kind(pools, "twitter"), ring.Kind(pools), segment.Kind(store, generator.SystemClock{}, "test"),
				counter.Kind(store, generator.SystemClock{}, "test")),
			[]generator.Kind{counter.Dated(store, generator.SystemClock{}, "test"), uuid.Kind(generator.SystemClock{})},
			uuid.TextKinds(generator.SystemClock{}),
		),
	})
	if err != nil {
		t.Fatal(err)
	}
	sql, err := sqlfuncs.NewServer(sqlfuncs.Config{Registry: registry, Version: "test", Trail: cfg.trail, Limits: cfg.limits, Memory: cfg.memory, Sequence: cfg.sequence})
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{Server: sql, registry: registry}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(registry.Close(ctx), pools.Close(ctx), store.Close()); err != nil {
			t.Error(err)
		}
		if err := s.drawn.Check(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// segment creates a generator that counts 1, 2, 3, …
func (s *testServer) segment(t testing.TB, name string) {
	t.Helper()
	if err := s.registry.Create(t.Context(), name, segment.KindName, nil); err != nil {
		t.Fatal(err)
	}
}

// session begins a session of an admin.
func (s *testServer) session(t testing.TB) *testSession {
	t.Helper()
	return s.sessionWith(t, sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: true})
}

func (s *testServer) sessionWith(t testing.TB, o sqlfuncs.SessionOptions) *testSession {
	t.Helper()
	session, err := s.NewSession(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	s.sessions++
	return &testSession{Session: session, server: s, client: s.sessions}
}

// testSession is a session, driven the way the protocol drives it.
type testSession struct {
	*sqlfuncs.Session
	server *testServer
	client int
	newest int64                                     // see last
	form   func(datum.Value, sqlfuncs.Column) string // text form of a value, nil: PostgreSQL's
}

// noteID puts an id into the history of the server.
func (s *testSession) noteID(name string, id int64) {
	s.server.drawn.Add(history.Event{Name: name, Client: s.client, Range: generator.Range{First: id, Step: 1, Count: 1}})
}

// noteIDs does so for a column of ids.
func (s *testSession) noteIDs(t testing.TB, name string, ids ...string) {
	t.Helper()
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%q is no id", text)
		}
		s.noteID(name, id)
	}
}

// null is how tests write NULL.
const null = "NULL"

// result is what one statement answered.
type result struct {
	columns []sqlfuncs.Column
	rows    [][]string
	tag     string
}

// column returns the texts of one column.
func (r result) column(i int) []string {
	out := make([]string, len(r.rows))
	for j, row := range r.rows {
		out[j] = row[i]
	}
	return out
}

// String writes the rows as tests compare them: values joined by |.
func (r result) String() string {
	lines := make([]string, len(r.rows))
	for i, row := range r.rows {
		lines[i] = strings.Join(row, "|")
	}
	return strings.Join(lines, "\n")
}

// pull reads a portal to its end, or to a number of rows.
func (s *testSession) pull(ctx context.Context, p *sqlfuncs.Portal, max int) (result, error) {
	r := result{columns: p.Columns()}
	for max <= 0 || len(r.rows) < max {
		row, err := p.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = null
			switch {
			case v.Valid && s.form != nil:
				texts[i] = s.form(v, r.columns[i])
			case v.Valid:
				texts[i] = string(datum.AppendText(nil, v, s.Env()))
			}
		}
		r.rows = append(r.rows, texts)
	}
	r.tag = string(p.AppendTag(nil, int64(len(r.rows))))
	return r, nil
}

// queryAll runs every statement of a simple query, as the protocol does.
func (s *testSession) queryAll(ctx context.Context, sql string) ([]result, error) {
	results, err := s.batch(ctx, sql)
	if err != nil {
		s.Fail()
	}
	s.EndBatch()
	return results, err
}

func (s *testSession) batch(ctx context.Context, sql string) (results []result, err error) {
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
		statement, done := s.StatementContext(ctx)
		r, err := s.pull(statement, p, 0)
		done()
		p.Close()
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
}

// run runs a simple query and returns its last result.
func (s *testSession) run(t testing.TB, sql string) (result, error) {
	t.Helper()
	results, err := s.queryAll(t.Context(), sql)
	if err != nil || len(results) == 0 {
		return result{}, err
	}
	return results[len(results)-1], nil
}

// must runs a query that must not fail.
func (s *testSession) must(t testing.TB, sql string) result {
	t.Helper()
	r, err := s.run(t, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// want checks the rows of a query; want joins values by | and rows by \n.
func (s *testSession) want(t testing.TB, sql, want string) {
	t.Helper()
	if got := s.must(t, sql).String(); got != want {
		t.Errorf("%s\ngot  %q\nwant %q", sql, got, want)
	}
}

// wantTag checks the command tag.
func (s *testSession) wantTag(t testing.TB, sql, want string) {
	t.Helper()
	if got := s.must(t, sql).tag; got != want {
		t.Errorf("%s: tag %q, want %q", sql, got, want)
	}
}

// fails checks the SQLSTATE of a query that must fail and returns the error.
func (s *testSession) fails(t testing.TB, sql string, want sqlstate.Code) *sqlstate.Error {
	t.Helper()
	_, err := s.run(t, sql)
	return wantCode(t, sql, err, want)
}

// wantCode checks the SQLSTATE of an error.
func wantCode(t testing.TB, what string, err error, want sqlstate.Code) *sqlstate.Error {
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

// wantStatus checks the transaction status.
func (s *testSession) wantStatus(t testing.TB, want byte) {
	t.Helper()
	if got := s.Status(); got != want {
		t.Errorf("status %c, want %c", got, want)
	}
}

// id draws one id with a query and notes it.
func (s *testSession) id(t testing.TB, name, sql string) int64 {
	t.Helper()
	r := s.must(t, sql)
	if len(r.rows) != 1 {
		t.Fatalf("%s: %d rows, want 1", sql, len(r.rows))
	}
	last := r.rows[0][len(r.rows[0])-1]
	s.noteIDs(t, name, last)
	id, _ := strconv.ParseInt(last, 10, 64)
	return id
}

// bind prepares and binds a statement in the unnamed ones; arguments are
// texts, nil for NULL.
func (s *testSession) bind(sql string, args ...any) (*sqlfuncs.Portal, error) {
	st, err := s.Prepare("", sql, nil)
	if err != nil {
		return nil, err
	}
	return s.bindTo(nil, st, args...)
}

// bindTo binds a statement to a portal.
func (s *testSession) bindTo(portal []byte, st *sqlfuncs.Statement, args ...any) (*sqlfuncs.Portal, error) {
	bound := make([]sqlfuncs.Arg, len(args))
	for i, a := range args {
		bound[i] = sqlfuncs.Arg{Null: a == nil}
		if a != nil {
			bound[i].Data = []byte(fmt.Sprint(a))
		}
	}
	return s.Bind(portal, st, bound, nil)
}

// execute runs a statement with arguments through Prepare, Bind, Execute
// and Sync.
func (s *testSession) execute(t testing.TB, sql string, args ...any) (result, error) {
	t.Helper()
	p, err := s.bind(sql, args...)
	var r result
	if err == nil {
		r, err = s.pull(t.Context(), p, 0)
	}
	if err != nil {
		s.Fail()
	}
	s.EndBatch()
	return r, err
}

// warnings returns the notices since the last call, severity and code.
func (s *testSession) warnings() []string {
	var out []string
	for _, n := range s.TakeNotices() {
		out = append(out, n.Severity+" "+string(n.Code))
	}
	return out
}

func TestSimpleQueryAnswersRowsColumnsAndTag(t *testing.T) {
	s := newServer(t).session(t)
	r := s.must(t, "SELECT 1 AS a, 'x'::text AS b, NULL AS c UNION ALL SELECT 2, 'y', NULL")
	if got, want := r.String(), "1|x|NULL\n2|y|NULL"; got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
	if r.tag != "SELECT 2" {
		t.Errorf("tag %q", r.tag)
	}
	names := []string{r.columns[0].Name, r.columns[1].Name, r.columns[2].Name}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("columns %v", names)
	}
	if r.columns[0].Type != datum.Int4 || r.columns[1].Type != datum.Text || r.columns[2].Type != datum.Text {
		t.Errorf("types %v %v %v", r.columns[0].Type, r.columns[1].Type, r.columns[2].Type)
	}
}

func TestSimpleQueryStopsAtTheFirstError(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	results, err := s.queryAll(t.Context(), "SELECT 1; SELECT 1/0; SELECT next_id('a')")
	wantCode(t, "the second statement", err, sqlstate.DivisionByZero)
	if len(results) != 1 {
		t.Errorf("%d results before the error, want 1", len(results))
	}
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("the statement after the error drew an id: next is %d, want 1", id)
	}
}

func TestSyntaxErrorRunsNothing(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.fails(t, "SELECT next_id('a'); SELEC 1", sqlstate.SyntaxError)
	if id := s.id(t, "a", "SELECT next_id('a')"); id != 1 {
		t.Errorf("next id %d, want 1", id)
	}
}

func TestEmptyQueryHasNoStatement(t *testing.T) {
	s := newServer(t).session(t)
	for _, sql := range []string{"", " ", ";", "-- nothing\n;;", "/* nothing */"} {
		results, err := s.queryAll(t.Context(), sql)
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
	s := newServer(t).session(t)
	st, err := s.Prepare("one", "SELECT $1::int4 + 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(st.Params, []datum.OID{datum.Int4}) {
		t.Errorf("parameters %v, want int4", st.Params)
	}
	_, err = s.Prepare("one", "SELECT 2", nil)
	wantCode(t, "a name twice", err, sqlstate.DuplicateStatement)
	if got, err := s.Prepared([]byte("one")); err != nil || got != st {
		t.Errorf("Prepared: %v, %v", got, err)
	}
	s.must(t, "BEGIN")
	p, err := s.bindTo([]byte("p"), st, 41)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.bindTo([]byte("p"), st, 41)
	wantCode(t, "a portal name twice", err, sqlstate.DuplicateCursor)
	if got, err := s.Portal([]byte("p")); err != nil || got != p {
		t.Errorf("Portal: %v, %v", got, err)
	}
	if r, err := s.pull(t.Context(), p, 0); err != nil || r.String() != "42" {
		t.Errorf("%v, %v", r, err)
	}
	s.ClosePortal([]byte("p"))
	_, err = s.Portal([]byte("p"))
	wantCode(t, "a closed portal", err, sqlstate.InvalidCursorName)
	s.Unprepare([]byte("one"))
	_, err = s.Prepared([]byte("one"))
	wantCode(t, "a closed statement", err, sqlstate.InvalidStatementName)
}

func TestSyncClosesPortalsOutsideATransaction(t *testing.T) {
	s := newServer(t).session(t)
	st, err := s.Prepare("one", "SELECT 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "p"} {
		if _, err := s.bindTo([]byte(name), st); err != nil {
			t.Fatal(err)
		}
		s.EndBatch()
		_, err := s.Portal([]byte(name))
		wantCode(t, "portal after Sync", err, sqlstate.InvalidCursorName)
	}
	s.must(t, "BEGIN")
	if _, err := s.bindTo([]byte("p"), st); err != nil {
		t.Fatal(err)
	}
	s.EndBatch()
	if _, err := s.Portal([]byte("p")); err != nil {
		t.Errorf("the portal must live as long as the block: %v", err)
	}
	s.must(t, "COMMIT")
	_, err = s.Portal([]byte("p"))
	wantCode(t, "portal after COMMIT", err, sqlstate.InvalidCursorName)
}

func TestPortalStopsAtARowLimitAndGoesOn(t *testing.T) {
	s := newServer(t).session(t)
	p, err := s.bind("SELECT g FROM generate_series(1, 5) g")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		r, err := s.pull(t.Context(), p, 2)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(r.column(0), ","))
	}
	if want := []string{"1,2", "3,4", "5"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBindRefusesWrongArguments(t *testing.T) {
	s := newServer(t).session(t)
	_, err := s.bind("SELECT $1::int4", 1, 2)
	wantCode(t, "too many arguments", err, sqlstate.ProtocolViolation)
	_, err = s.bind("SELECT $1::int4", "x")
	wantCode(t, "no number", err, sqlstate.InvalidText)
	_, err = s.bind("SELECT $1::int4", "99999999999")
	wantCode(t, "too large", err, sqlstate.NumericOutOfRange)
	_, err = s.Prepare("", "SELECT 1; SELECT 2", nil)
	wantCode(t, "two statements", err, sqlstate.SyntaxError)
	s.fails(t, "SELECT $1", sqlstate.UndefinedParameter)
	st, err := s.Prepare("", "SELECT 1, 2, 3", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Bind(nil, st, nil, []int16{0, 1})
	wantCode(t, "two formats for three columns", err, sqlstate.ProtocolViolation)
}

func TestParameterTypesAreInferred(t *testing.T) {
	s := newServer(t).session(t)
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

func TestActivityTellsWhoSleeps(t *testing.T) {
	server := newServer(t)
	sleeper, watcher := server.session(t), server.session(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := sleeper.queryAll(ctx, "SELECT pg_sleep(100)")
		done <- err
	}()
	const asleep = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep' AND query LIKE '%pg_sleep(100)'"
	for len(done) == 0 {
		if watcher.must(t, asleep).rows[0][0] == "1" {
			break
		}
	}
	cancel()
	wantCode(t, "sleeping", <-done, sqlstate.QueryCanceled)
	watcher.want(t, asleep, "0")
}
