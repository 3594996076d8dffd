package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pressly/goose/v3"

	"nextid/generator/store/dbtest"
	"nextid/generator/store/enginetest"
	"nextid/generator/store/mysql"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/migrations"
)

var engine enginetest.Opener = func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
	return mysql.Open(mysql.Config{URL: url, Unsafe: unsafe})
}

// place makes a database with the tables in it, and an account with the
// privileges that the migration names and no others. It returns the URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	name := fmt.Sprintf("d%d", places.Add(1))
	execute(t, open(t, s.MySQLURL("root", "mysql")), "CREATE DATABASE "+name)
	db := open(t, s.MySQLURL("root", name))
	folder, err := migrations.Folder("store/mysql")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectMySQL, db, folder, goose.WithTableName(migrations.VersionTable))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "CREATE USER IF NOT EXISTS least@'127.0.0.1'")
	for _, table := range []string{"nextid_reservations", "nextid_generators"} {
		execute(t, db, "GRANT SELECT, INSERT, UPDATE ON "+table+" TO least@'127.0.0.1'")
	}
	return s.MySQLURL("least", name)
}

var places atomic.Int64

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	dsn, err := mysql.DSN(url)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	engine.Conformance(t, func(t *testing.T) string { return place(t, s) })
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, engine.Start(b, place(b, dbtest.MariaDB(b)), shared.Config{}))
}
