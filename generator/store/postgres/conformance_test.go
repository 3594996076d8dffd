package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/postgres"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
	"nextid/migrations"
)

// place makes an empty schema with the tables in it, and a role with the
// privileges that the migration names and no others. It returns the URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	schema := fmt.Sprintf("s%d", places.Add(1))
	admin := withPath(s.PostgresURL("postgres"), schema)
	db := open(t, admin)
	execute(t, db, "CREATE SCHEMA "+schema)
	folder, err := migrations.Folder("store/postgres")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, folder, goose.WithTableName(migrations.VersionTable))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `DO $$ BEGIN CREATE ROLE least LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	execute(t, db, "GRANT USAGE ON SCHEMA "+schema+" TO least")
	execute(t, db, "GRANT SELECT, INSERT, UPDATE ON nextid_reservations, nextid_generators TO least")
	return withPath(s.PostgresURL("least"), schema)
}

var places atomic.Int64

func withPath(dsn, schema string) string { return dsn + "&search_path=" + url.QueryEscape(schema) }

func open(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
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

func start(t testing.TB, dsn string, cfg shared.Config, unsafe ...string) *shared.Store {
	t.Helper()
	s, err := try(t.Context(), dsn, cfg, unsafe...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func try(ctx context.Context, dsn string, cfg shared.Config, unsafe ...string) (*shared.Store, error) {
	e, err := postgres.Open(ctx, postgres.Config{URL: dsn, Unsafe: unsafe})
	if err != nil {
		return nil, err
	}
	return shared.New(ctx, e, cfg)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	where := map[generator.Store]string{}
	storetest.Run(t, func(t *testing.T) generator.Store {
		dsn := place(t, s)
		store := start(t, dsn, shared.Config{})
		where[store] = dsn
		return store
	}, storetest.Caps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
		dsn := where[old]
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		store := start(t, dsn, shared.Config{})
		where[store] = dsn
		return store
	}})
}

func BenchmarkReserve(b *testing.B) {
	storetest.Bench(b, start(b, place(b, dbtest.Postgres(b)), shared.Config{}))
}
