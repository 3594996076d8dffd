package feed_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/migrations/appdb"
	"nextid/migrations/feed"
	"nextid/server/servertest"
)

// TestMain stops the servers that the tests have started.
func TestMain(m *testing.M) {
	code := m.Run()
	dbtest.StopShared()
	if rig := shared.rig; rig != nil {
		_ = rig.Close() // the tests have ended: an error has no reader
	}
	os.Exit(code)
}

// engines holds the kinds of databases that can be fed.
var engines = []struct {
	name  string
	mysql bool
	start func(t testing.TB) (address string)
	table string // makes the table orders, with some rows
}{
	{
		name: "PostgreSQL",
		start: func(t testing.TB) string {
			return strings.TrimPrefix(strings.Split(dbtest.SharedPostgres(t), "/postgres?")[0], "postgres://postgres@")
		},
		table: "CREATE TABLE orders (id serial PRIMARY KEY, note text)",
	},
	{
		name: "MariaDB", mysql: true,
		start: mariaDB,
		table: "CREATE SEQUENCE orders_seq CACHE 10; CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextval(orders_seq), note text)",
	},
}

// shared holds the MariaDB of all tests, which the first of them starts.
var shared struct {
	sync.Mutex
	rig     *dbtest.Rig
	address string
}

func mariaDB(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.rig == nil {
		rig := &dbtest.Rig{}
		if err := rig.Do(func(inner testing.TB) { shared.address, _ = dbtest.QuickMariaDB(inner) }); err != nil {
			_ = rig.Close()
			dbtest.QuickMariaDB(t) // skips the test, and names the package
			t.Fatal(err)
		}
		shared.rig = rig
	}
	return shared.address
}

// fleet is a set of databases and a nextid server that feeds them.
type fleet struct {
	t       testing.TB
	mysql   bool
	address string
	dsns    []string
	dbs     []*sql.DB
	server  *feed.Server
	out     bytes.Buffer
	block   int64
	nextid  string // the URL of the server
	log     history.Log
	clients atomic.Int64
}

var databases atomic.Int64

// onAll runs a test on each engine, with two databases that have the table
// orders and some rows.
func onAll(t *testing.T, test func(t *testing.T, f *fleet)) {
	for i, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, i, 1000, e.table)
			f.insert(0, 3)
			f.insert(1, 5)
			test(t, f)
		})
	}
}

// newFleet starts a server for two databases of an engine.
func newFleet(t testing.TB, engine int, block int64, script string) *fleet {
	e := engines[engine]
	f := &fleet{t: t, mysql: e.mysql, address: e.start(t), block: block}
	f.replaceServer()
	for range 2 {
		f.add(script)
	}
	return f
}

// replaceServer starts a nextid server with an empty store, for the next commands.
func (f *fleet) replaceServer() {
	f.t.Helper()
	f.nextid = servertest.Start(f.t).Postgres
	server, err := feed.OpenServer(f.nextid)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = server.Close() })
	f.server = server
}

// add creates a database and runs a script in it.
func (f *fleet) add(script string) (i int) {
	f.t.Helper()
	name := fmt.Sprintf("shop%d", databases.Add(1))
	all := f.open(f.url(map[bool]string{true: "mysql", false: "postgres"}[f.mysql]))
	if _, err := all.ExecContext(f.t.Context(), "CREATE DATABASE "+name); err != nil {
		f.t.Fatal(err)
	}
	f.dsns = append(f.dsns, f.url(name))
	f.dbs = append(f.dbs, f.open(f.url(name)))
	f.exec(len(f.dbs)-1, script)
	return len(f.dbs) - 1
}

func (f *fleet) url(database string) string {
	if f.mysql {
		return "mysql://root@" + f.address + "/" + database
	}
	return "postgres://postgres@" + f.address + "/" + database + "?sslmode=disable"
}

func (f *fleet) open(url string) *sql.DB {
	f.t.Helper()
	open := appdb.OpenPostgres
	if f.mysql {
		open = appdb.OpenMySQL
	}
	db, err := open(url)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *fleet) exec(i int, statement string) {
	f.t.Helper()
	if _, err := f.dbs[i].ExecContext(f.t.Context(), statement); err != nil {
		f.t.Fatalf("database %d: %s: %v", i, statement, err)
	}
}

// insert inserts n rows with one statement and returns their ids.
func (f *fleet) insert(i, n int) []int64 {
	f.t.Helper()
	ids, err := f.draw(f.t.Context(), i, n)
	if err != nil {
		f.t.Fatalf("database %d: %v", i, err)
	}
	return ids
}

func (f *fleet) draw(ctx context.Context, i, n int) (ids []int64, err error) {
	rows, err := f.dbs[i].QueryContext(ctx, "INSERT INTO orders (note) VALUES ('x')"+strings.Repeat(", ('x')", n-1)+" RETURNING id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// record records ids that no database may draw again.
func (f *fleet) record(client int64, ids []int64) {
	for _, id := range ids {
		f.log.Add(history.Event{Name: "orders", Client: int(client), Range: generator.Range{First: id, Count: 1, Step: 1}})
	}
}

const loadPause = 2 * time.Millisecond

// load inserts into all databases from two sessions each until stop is called,
// which reports how many statements failed.
func (f *fleet) load(databases ...int) (stop func() (failed int64)) {
	ctx, cancel := context.WithCancel(f.t.Context())
	var work sync.WaitGroup
	var failed atomic.Int64
	for _, i := range append(databases, databases...) {
		client := f.clients.Add(1)
		work.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				ids, err := f.draw(context.WithoutCancel(ctx), i, 1+n%7)
				if err != nil {
					failed.Add(1)
				}
				f.record(client, ids)
				time.Sleep(loadPause) //nolint:forbidigo // the load has a bound
			}
		})
	}
	return func() int64 {
		cancel()
		work.Wait()
		return failed.Load()
	}
}

// options returns the options of the tests, for all databases.
func (f *fleet) options() feed.Options {
	return feed.Options{DSNs: f.dsns, Columns: []feed.Column{{Column: "orders.id", Generator: "orders"}}, Server: f.server, Cron: true, Block: f.block, Out: &f.out}
}

func (f *fleet) up() {
	f.t.Helper()
	if err := feed.Up(f.t.Context(), f.options()); err != nil {
		f.t.Fatalf("up: %v\n%s", err, &f.out)
	}
}

func (f *fleet) status() feed.Report {
	f.t.Helper()
	r, err := feed.Status(f.t.Context(), f.options())
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// sound checks that status finds no problem.
func (f *fleet) sound() {
	f.t.Helper()
	if r := f.status(); len(r.Problems) > 0 {
		f.t.Errorf("status: %q", r.Problems)
	}
}

// feeds returns a Feed of each database.
func (f *fleet) feeds(draw feed.Draw) []*feed.Feed {
	f.t.Helper()
	var all []*feed.Feed
	for i := range f.dsns {
		all = append(all, f.feed(f.dsns[i], draw))
	}
	return all
}

func (f *fleet) feed(dsn string, draw feed.Draw) *feed.Feed {
	f.t.Helper()
	sequence, err := feed.Find(f.t.Context(), f.open(dsn), f.mysql, appdb.NameOf(dsn), "orders.id")
	if err != nil {
		f.t.Fatal(err)
	}
	return &feed.Feed{Sequence: sequence, Generator: "orders", Ahead: feed.DefaultAhead, Block: f.block, Draw: draw}
}

// unique checks that no id was drawn twice.
func (f *fleet) unique(least int64) {
	f.t.Helper()
	if err := f.log.Check(); err != nil {
		f.t.Error(err)
	}
	if n := f.log.Len(); n < least {
		f.t.Errorf("only %d ids were drawn", n)
	}
}
