package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pressly/goose/v3"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/mysql"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/migrations"
)

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

func start(t testing.TB, url string, cfg shared.Config, unsafe ...string) *shared.Store {
	t.Helper()
	s, err := try(t.Context(), url, cfg, unsafe...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func try(ctx context.Context, url string, cfg shared.Config, unsafe ...string) (*shared.Store, error) {
	e, err := mysql.Open(mysql.Config{URL: url, Unsafe: unsafe})
	if err != nil {
		return nil, err
	}
	return shared.New(ctx, e, cfg)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	where := map[generator.Store]string{}
	storetest.Run(t, func(t *testing.T) generator.Store {
		url := place(t, s)
		store := start(t, url, shared.Config{})
		where[store] = url
		return store
	}, storetest.Caps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
		url := where[old]
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		store := start(t, url, shared.Config{})
		where[store] = url
		return store
	}})
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, start(b, place(b, dbtest.MariaDB(b)), shared.Config{}))
}
