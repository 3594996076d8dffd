package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// A directory without a store is not an empty store: its names would begin again in
// the copy.
func TestCommandsMakeNoStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, command := range [][]string{{"repair"}, {"migrate", "store", "copy", "--to", "redis://127.0.0.1:1"}, {"parse", "1", "--name", "orders"}} {
		r := runProgram(t, nil, append(command, "--data", data)...)
		if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "there is no store sqlite:"+data) {
			t.Errorf("%v: exit code %d\n%s%s", command, r.code, r.stdout, r.stderr)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// An embedded store goes on in a shared one, and no id is repeated. Neither the old
// store nor an unfinished copy can be used.
func TestMigrateStoreCopy(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "redis"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place, data := prepared(t, kind), t.TempDir()
			var log history.Log
			names := []string{"flakes", "numbers", "counted", "hidden", "gone"}
			drawAll := func(s *process) {
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
			s.kill9() // its reservation must not be issued again
			r := runProgram(t, nil, "migrate", "store", "copy", "--data", data, "--to", place.url)
			if r.code != exitOK || !strings.Contains(r.stdout, "4 generators and ") || !strings.Contains(r.stdout, "no id is repeated") {
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

// A server whose user may not write the tables stops and prints the command that
// grants it. That command is enough.
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
		if run(c.create); strings.HasPrefix(c.admin, "mysql") { // every user has all rights to the database test
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
