package shards_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/migrations/shards"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	dbtest.StopShared()
	os.Exit(code)
}

// fleet is a set of databases that a test makes shards of.
type fleet struct {
	t       *testing.T
	dsns    []string
	dbs     []*sql.DB // with one connection each
	open    func(i int) *sql.DB
	log     history.Log
	out     bytes.Buffer
	rows    shards.Rows
	exclude []string

	clients atomic.Int64
}

// connect opens the databases.
func (f *fleet) connect(n int) {
	for i := range n {
		db := f.open(i)
		db.SetMaxOpenConns(1)
		f.t.Cleanup(func() { _ = db.Close() })
		f.dbs = append(f.dbs, db)
	}
}

// renew opens new sessions for the next statements.
func (f *fleet) renew() {
	for _, db := range f.dbs {
		db.SetMaxIdleConns(0)
		db.SetMaxIdleConns(1)
	}
}

func (f *fleet) exec(i int, statement string) {
	f.t.Helper()
	if _, err := f.dbs[i].ExecContext(f.t.Context(), statement); err != nil {
		f.t.Fatalf("shard %d: %s: %v", i+1, statement, err)
	}
}

func (f *fleet) everywhere(statement string) {
	f.t.Helper()
	for i := range f.dbs {
		f.exec(i, statement)
	}
}

// options returns the options of the tests. No command waits for sessions of the
// test itself.
func (f *fleet) options() shards.Options {
	f.renew()
	return shards.Options{Out: &f.out, Wait: 10 * time.Second, Exclude: f.exclude}
}

func (f *fleet) up(n int) {
	f.t.Helper()
	if err := shards.Up(f.t.Context(), f.dsns[:n], f.options()); err != nil {
		f.t.Fatalf("up: %v\n%s", err, &f.out)
	}
}

func (f *fleet) down(n int) {
	f.t.Helper()
	if err := shards.Down(f.t.Context(), f.dsns[:n], f.options()); err != nil {
		f.t.Fatalf("down: %v\n%s", err, &f.out)
	}
}

func (f *fleet) status(n int) shards.Report {
	f.t.Helper()
	r, err := shards.Status(f.t.Context(), f.dsns[:n], shards.Options{Rows: f.rows, Exclude: f.exclude})
	if err != nil {
		f.t.Fatalf("status: %v", err)
	}
	return r
}

// sound checks that status finds no problem.
func (f *fleet) sound(n int) {
	f.t.Helper()
	if r := f.status(n); len(r.Problems) > 0 || len(r.Missed) > 0 {
		f.t.Errorf("status of %d shards: %q, not looked at: %q", n, r.Problems, r.Missed)
	}
}

// fails checks that an error contains a text, and has a hint.
func fails(t *testing.T, err error, text string) {
	t.Helper()
	e, ok := errors.AsType[*shards.Error](err)
	if !ok || !strings.Contains(e.What, text) {
		t.Fatalf("error %v, not %q", err, text)
	}
}

// draw inserts rows and records their ids.
func (f *fleet) draw(ctx context.Context, db *sql.DB, client int, statement string) ([]int64, error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		f.record(client, id)
	}
	return ids, rows.Err()
}

func (f *fleet) record(client int, id int64) {
	f.log.Add(history.Event{Name: "orders", Client: client, Range: generator.Range{First: id, Count: 1, Step: 1}})
}

// ids inserts n rows with one statement on shard i.
func (f *fleet) ids(i, n int) []int64 {
	f.t.Helper()
	ids, err := f.draw(f.t.Context(), f.dbs[i], int(f.clients.Add(1)), insert(n))
	if err != nil || len(ids) != n {
		f.t.Fatalf("shard %d: %d ids, %v", i+1, len(ids), err)
	}
	return ids
}

func insert(n int) string {
	return "INSERT INTO orders (note) VALUES " + strings.Join(slices.Repeat([]string{"('x')"}, n), ", ") + " RETURNING id"
}

// check checks that no id was drawn twice.
func (f *fleet) check(least int64) {
	f.t.Helper()
	if err := f.log.Check(); err != nil {
		f.t.Error(err)
	}
	if n := f.log.Len(); n < least {
		f.t.Errorf("only %d ids were drawn", n)
	}
}

// load inserts on shards from several sessions each until it is stopped.
type load struct {
	stop     context.CancelFunc
	wg       sync.WaitGroup
	failures atomic.Int64
	last     atomic.Pointer[error]
}

// loadPause limits the number of rows, because status reads all of them.
const loadPause = 3 * time.Millisecond

// load runs sessions on shard i. Each connects again after its lifetime.
func (f *fleet) load(l *load, ctx context.Context, i int, lifetimes ...time.Duration) {
	for worker, lifetime := range lifetimes {
		db := f.open(i)
		db.SetMaxOpenConns(1)
		db.SetConnMaxLifetime(lifetime)
		client := int(f.clients.Add(1))
		l.wg.Go(func() {
			defer db.Close()
			for n := worker; ctx.Err() == nil; n++ {
				// A cancelled statement would leave unknown ids.
				if _, err := f.draw(context.WithoutCancel(ctx), db, client, insert(1+n%5)); err != nil {
					l.failures.Add(1)
					l.last.Store(&err)
				}
				time.Sleep(loadPause) //nolint:forbidigo // the load has a bound
			}
		})
	}
}

func (f *fleet) startLoad(shardsInUse int, lifetimes ...time.Duration) (*load, context.Context) {
	ctx, stop := context.WithCancel(f.t.Context())
	l := &load{stop: stop}
	for i := range shardsInUse {
		f.load(l, ctx, i, lifetimes...)
	}
	return l, ctx
}

// more waits until the load has drawn n more ids.
func (f *fleet) more(n int64) {
	f.t.Helper()
	deadline := time.After(time.Minute)
	for until := f.log.Len() + n; f.log.Len() < until; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			f.t.Fatal("the load draws no ids")
		}
	}
}

// end stops the load.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop()
	l.wg.Wait()
	if n := l.failures.Load(); n > 0 {
		t.Errorf("%d statements failed, the last with %v", n, *l.last.Load())
	}
}
