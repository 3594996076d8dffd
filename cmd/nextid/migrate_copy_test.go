package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// An embedded store goes on in a shared one: no id comes again, and nobody can
// use the old one, or half a copy.
func TestMigrateStoreCopy(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "redis"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place, data := prepared(t, kind), t.TempDir()
			var log history.Log
			names := []string{"flakes", "numbers", "counted", "hidden", "gone"}
			drawAll := func(s *server) {
				conn := s.connect()
				for _, name := range names {
					for range 300 {
						id := draw(t, conn, name)
						log.Add(history.Event{Name: name, Client: int(log.Len()), Range: generator.Range{First: id, Step: 1, Count: 1}})
					}
				}
			}
			s := startServer(t, nil, "--data", data)
			for _, text := range []string{
				"SELECT create_generator('numbers', 'segment', step => 100)", "SELECT create_generator('counted', 'counter')",
				"SELECT create_generator('hidden', 'segment', scatter => true)", "SELECT create_generator('gone', 'segment')",
			} {
				if _, err := s.connect().Exec(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			drawAll(s)
			if _, err := s.connect().Exec(t.Context(), "SELECT drop_generator('gone')"); err != nil {
				t.Fatal(err)
			}
			if r := runProgram(t, nil, "migrate", "store", "copy", "--data", data, "--to", place.url); r.code != exitFailed || !strings.Contains(r.stderr, "in use") {
				t.Errorf("the store of a running server: %d %s%s", r.code, r.stdout, r.stderr)
			}
			s.kill9() // what it had reserved must not come again
			r := runProgram(t, nil, "migrate", "store", "copy", "--data", data, "--to", place.url)
			if r.code != exitOK || !strings.Contains(r.stdout, "4 generators and ") || !strings.Contains(r.stdout, "no id comes again") {
				t.Fatalf("%d %s%s", r.code, r.stdout, r.stderr)
			}
			if r := runProgram(t, nil, "migrate", "store", "copy", "--data", data, "--to", place.url); r.code != exitFailed || !strings.Contains(r.stderr, "complete") {
				t.Errorf("a second time: %d %s%s", r.code, r.stdout, r.stderr)
			}
			if r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data); r.code != exitFailed ||
				!strings.Contains(r.stderr, "was copied to "+strings.SplitN(place.url, "?", 2)[0]) || !isOneClearFailure(r.stderr) {
				t.Errorf("serve on the old store: %d %s", r.code, r.stderr)
			}
			s = startServer(t, nil, "--store", place.url)
			conn := s.connect()
			if _, err := conn.Exec(t.Context(), "SELECT create_generator('gone', 'segment')"); err != nil {
				t.Fatal(err)
			}
			drawAll(s)
			if err := log.Check(); err != nil {
				t.Error(err)
			}
			other := t.TempDir()
			startServer(t, nil, "--data", other).kill9()
			if r := runProgram(t, nil, "migrate", "store", "copy", "--data", other, "--to", place.url); r.code != exitFailed || !strings.Contains(r.stderr, "the copy of another store") {
				t.Errorf("another store into the same place: %d %s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// failing is a store that fails when so many calls that change it were made.
type failing struct {
	generator.Store
	left  *atomic.Int64
	after bool // the call was carried out all the same
}

var errBroken = errors.New("broken")

func (f failing) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	broken := f.left.Add(-1) < 0
	if !broken || f.after {
		lo, hi, err = f.Store.Reserve(ctx, r)
	}
	if broken {
		return 0, 0, errBroken
	}
	return lo, hi, err
}

func (f failing) Define(ctx context.Context, d generator.Definition) (stored generator.Definition, created bool, err error) {
	broken := f.left.Add(-1) < 0
	if !broken || f.after {
		stored, created, err = f.Store.Define(ctx, d)
	}
	if broken {
		err = errBroken
	}
	return stored, created, err
}

// A copy that is interrupted anywhere leaves no store on which a server starts
// beside the old one, and goes on when the command runs again.
func TestACopyIsInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	const keys, names = 20, 5
	finished := false
	for calls := int64(0); !finished; calls++ {
		for _, after := range []bool{false, true} {
			from, to := memory.New(memory.Config{Exclusive: true}), memory.New(memory.Config{})
			for i := range int64(keys) {
				if err := mark(t.Context(), from, fmt.Sprintf("worker/10/%d", i), "x", 1000+i); err != nil {
					t.Fatal(err)
				}
			}
			if err := mark(t.Context(), from, "worker/spent/10/7", "x", 5000); err != nil {
				t.Fatal(err)
			}
			for i := range names {
				if _, _, err := from.Define(t.Context(), generator.Definition{Name: fmt.Sprint("n", i), Kind: "segment", Options: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
			}
			left := &atomic.Int64{}
			left.Store(calls)
			copying := func(to generator.Store, from generator.Store) error {
				return (&storeCopy{from: from, to: to, id: "a", place: "there", report: io.Discard}).run(t.Context())
			}
			err := copying(failing{to, left, after}, failing{from, left, after})
			usable := 0
			for _, s := range []generator.Store{from, to} {
				empty, _ := s.Reserved(t.Context(), "")
				if checkCopied(t.Context(), s) == nil && len(empty) > 0 {
					usable++
				}
			}
			if usable > 1 || err == nil && usable != 1 {
				t.Fatalf("after %d calls (%v): servers start on %d of the two stores; %v", calls, after, usable, err)
			}
			if finished = err == nil; finished {
				break
			}
			if err := copying(to, from); err != nil && !strings.Contains(err.Error(), "is complete") {
				t.Fatalf("after %d calls (%v), again: %v", calls, after, err)
			}
			if checkCopied(t.Context(), from) == nil || checkCopied(t.Context(), to) != nil {
				t.Fatalf("after %d calls (%v) the copy does not end", calls, after)
			}
		}
	}
}

// A server whose user may not write the tables stops and says what to run,
// and that is enough.
func TestMigrateStoreGrant(t *testing.T) {
	t.Parallel()
	pg := dbtest.Postgres(t)
	maria := dbtest.MariaDB(t)
	for _, c := range []struct {
		admin, user, create string
		rights              []string
	}{
		{pg.PostgresURL("postgres"), pg.PostgresURL("ids"), "CREATE ROLE ids LOGIN", []string{"", "GRANT SELECT ON nextid_reservations, nextid_generators TO ids"}},
		{maria.MySQLURL("root", "nextid"), maria.MySQLURL("ids", "nextid"), "CREATE USER ids", []string{"", "GRANT SELECT ON nextid.nextid_reservations TO ids"}},
	} {
		run := func(text string) {
			t.Helper()
			if text == "" {
				return
			}
			if strings.HasPrefix(c.admin, "mysql") {
				db, err := sql.Open("mysql", "root@unix("+maria.Socket()+")/")
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
				return
			}
			db, err := pgx.Connect(t.Context(), c.admin)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close(context.Background())
			if _, err := db.Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if run(c.create); strings.HasPrefix(c.admin, "mysql") { // everybody has all rights to the database test
			run("CREATE DATABASE nextid")
		}
		if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", c.admin); r.code != exitOK {
			t.Fatal(r.stderr)
		}
		for _, rights := range c.rights {
			run(rights)
			r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--store", c.user)
			if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "nextid migrate store up --dsn ") || !strings.Contains(r.stderr, "--grant USER") {
				t.Errorf("%s with %q: exit code %d\n%s", c.user, rights, r.code, r.stderr)
			}
		}
		if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", c.admin, "--grant", "ids"); r.code != exitOK || !strings.Contains(r.stdout, "ids may read and write") {
			t.Fatalf("%d %s%s", r.code, r.stdout, r.stderr)
		}
		s := startServer(t, nil, "--store", c.user)
		draw(t, s.connect(), "orders")
	}
	r := runProgram(t, nil, "migrate", "store", "up", "--dsn", "redis://127.0.0.1:1", "--grant", "ids")
	if r.code != exitFailed || !strings.Contains(r.stderr, "redis has no rights that nextid could give") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
}
