package main

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"nextid/dsn"
)

// TestMigrateStoreSeesDroppedTables: status and up look for the tables, not only at
// the recorded version.
func TestMigrateStoreSeesDroppedTables(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "mysql"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place := prepared(t, kind)
			db := openPlace(t, kind, place.url)
			if _, err := db.ExecContext(t.Context(), "DROP TABLE nextid_reservations"); err != nil {
				t.Fatal(err)
			}
			for _, verb := range []string{"status", "up"} {
				r := runProgram(t, nil, "migrate", "store", verb, "--dsn", place.url)
				if r.code != exitFailed || !strings.Contains(r.stdout+r.stderr, "nextid_reservations") || strings.Contains(r.stdout+r.stderr, "nextid_generators was") {
					t.Errorf("%s: exit code %d\n%s%s", verb, r.code, r.stdout, r.stderr)
				}
			}
			for _, verb := range []string{"down", "up", "status"} {
				if r := runProgram(t, nil, "migrate", "store", verb, "--dsn", place.url); r.code != exitOK {
					t.Errorf("%s: exit code %d\n%s%s", verb, r.code, r.stdout, r.stderr)
				}
			}
		})
	}
}

func openPlace(t *testing.T, kind, url string) *sql.DB {
	t.Helper()
	var db *sql.DB
	if kind == "postgres" {
		c, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		db = stdlib.OpenDB(*c)
	} else {
		c, err := dsn.MySQL(url)
		if err != nil {
			t.Fatal(err)
		}
		connector, err := mysql.NewConnector(c)
		if err != nil {
			t.Fatal(err)
		}
		db = sql.OpenDB(connector)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
