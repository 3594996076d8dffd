package postgres_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/postgres"
	"nextid/generator/store/shared"
	"nextid/migrations"
)

var engine dbtest.Opener = postgres.Driver().Open

// place creates a schema with the tables, and a role with exactly the privileges
// that the migration names. It returns the URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	return placeFor(t, s.PostgresURL)
}

func placeFor(t testing.TB, urlOf func(user string) string) string {
	t.Helper()
	schema := fmt.Sprintf("s%d", places.Add(1))
	admin := withPath(urlOf("postgres"), schema)
	db := open(t, admin)
	execute(t, db, "CREATE SCHEMA "+schema)
	p, err := migrations.Provider(goose.DialectPostgres, db, migrations.Files, "store/postgres", migrations.VersionTable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `DO $$ BEGIN CREATE ROLE least LOGIN PASSWORD '`+dbtest.Password+`'; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	execute(t, db, "GRANT USAGE ON SCHEMA "+schema+" TO least")
	execute(t, db, "GRANT SELECT, INSERT, UPDATE ON nextid_reservations, nextid_generators TO least")
	return withPath(urlOf("least"), schema)
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

func TestConformance(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	engine.Conformance(t, func(t *testing.T) string { return place(t, s) })
}

func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	s := dbtest.PostgresTLS(t)
	var u string
	engine.Conformance(t, func(t *testing.T) string { u = placeFor(t, s.PostgresURL); return u })
	_, err := engine.Try(t.Context(), strings.Replace(u, "pass", "word", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "password authentication failed")
	_, err = engine.Try(t.Context(), strings.Replace(u, "verify-full", "disable", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "no pg_hba.conf entry")
}

func TestARenewalCostsTheSameWithManyNames(t *testing.T) {
	t.Parallel()
	s := dbtest.Postgres(t)
	engine.Renewal(t, place(t, s), s.Addr, true)
}

func BenchmarkReserve(b *testing.B) {
	generatortest.BenchStore(b, engine.Start(b, place(b, dbtest.Postgres(b)), shared.Config{}))
}
