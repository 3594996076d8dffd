package main

import (
	"strings"
	"testing"

	"nextid/dbtest"
)

// TestMigrateForeign runs all commands. What they install is tested in
// migrations/foreign.
func TestMigrateForeign(t *testing.T) {
	t.Parallel()
	dsn := dbtest.QuickPostgres(t)
	s := startServer(t, nil)
	server := "postgres://app@" + s.address + "/nextid"
	run := func(code int, args ...string) string {
		t.Helper()
		r := runProgram(t, []string{"NEXTID_FOREIGN_PASSWORD=topsecret"}, append([]string{"migrate", "foreign"}, args...)...)
		if r.code != code {
			t.Fatalf("migrate foreign %s: exit code %d, not %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
		}
		if strings.Contains(r.stdout+r.stderr, "secret") {
			t.Errorf("migrate foreign %s shows a password:\n%s%s", strings.Join(args, " "), r.stdout, r.stderr)
		}
		return r.stdout + r.stderr
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in:\n%s", part, text)
			}
		}
	}
	has(run(exitFailed, "status", "--dsn", dsn), "installed  nothing", "nextid migrate foreign up")
	has(run(exitOK, "print", "--dsn", dsn, "--server", server, "--grant", "shop"), "CREATE FUNCTION nextid.next_id(name text)", `TO "shop"`, s.address[strings.IndexByte(s.address, ':')+1:])
	has(run(exitOK, "up", "--dsn", dsn, "--server", server), "installed; "+s.address+" answers: in ")
	has(run(exitOK, "status", "--dsn", dsn), s.address, "answers", "version 6 of 6")
	has(run(exitOK, "print", "--dsn", dsn, "--functions-only", "--layout", "orders=discord"), "(true, E'orders', E'discord', ")
	has(run(exitFailed, "up", "--dsn", dsn, "--functions-only", "--layout", "orders"), "GENERATOR=LAYOUT")
	app := connect(t, dsn)
	if _, err := app.Exec(t.Context(), "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders'), note text)"); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Exec(t.Context(), "INSERT INTO orders (note) VALUES ('a'), ('b')"); err != nil {
		t.Fatal(err)
	}
	has(run(exitFailed, "down", "--dsn", dsn), "in use by default value for column id of table orders", "hint:")
	if _, err := app.Exec(t.Context(), "DROP TABLE orders"); err != nil {
		t.Fatal(err)
	}
	s.kill9()
	has(run(exitFailed, "up", "--dsn", dsn, "--server", server), "as before: could not connect", "--unasked")
	has(run(exitOK, "up", "--dsn", dsn, "--unasked"), s.address+" answers: no: could not connect") // the server is kept
	has(run(exitFailed, "status", "--dsn", dsn), "no: could not connect", "does not answer")
	// A database that fails does not stop the others.
	other := strings.Replace(dsn, "postgres@", "postgres:secret@", 1)
	has(run(exitFailed, "down", "--dsn", strings.Replace(other, "/postgres?", "/none?", 1), "--dsn", other), `database "none" does not exist`, "/postgres: removed")
	has(run(exitFailed, "up", "--dsn", other, "--server", "postgres://app:secret@ids/x"), "NEXTID_FOREIGN_PASSWORD")
	has(run(exitFailed, "up", "--dsn", other, "--grant", "nobody at all"), `role "nobody at all" does not exist`)
}
