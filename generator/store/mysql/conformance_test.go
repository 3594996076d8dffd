package mysql_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"nextid/dbtest"
	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/mysql"
	"nextid/generator/store/shared"
	"nextid/migrations"
)

var engine dbtest.Opener = mysql.Driver().Open

// place creates a database with the tables, and an account with exactly the
// privileges that the migration names. It returns the URL.
func place(t testing.TB, s *dbtest.Server) string {
	t.Helper()
	return placeFor(t, s.MySQLURL, "")
}

func placeFor(t testing.TB, urlOf func(user, database string) string, identified string) string {
	t.Helper()
	name := fmt.Sprintf("d%d", places.Add(1))
	execute(t, open(t, urlOf("root", "mysql")), "CREATE DATABASE "+name)
	db := open(t, urlOf("root", name))
	p, err := migrations.Provider(goose.DialectMySQL, db, migrations.Files, "store/mysql", migrations.VersionTable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "CREATE USER IF NOT EXISTS least@'127.0.0.1'"+identified)
	for _, table := range []string{"nextid_reservations", "nextid_generators"} {
		execute(t, db, "GRANT SELECT, INSERT, UPDATE ON "+table+" TO least@'127.0.0.1'")
	}
	return urlOf("least", name)
}

var places atomic.Int64

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	c, err := dsn.MySQL(url)
	if err != nil {
		t.Fatal(err)
	}
	c.ParseTime = true // goose's table has times
	connector, err := driver.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
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

func TestConformanceWithLoginAndTLS(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDBTLS(t)
	var u string
	engine.Conformance(t, func(t *testing.T) string {
		u = placeFor(t, s.MySQLURL, " IDENTIFIED BY '"+dbtest.Password+"' REQUIRE SSL")
		return u
	})
	_, err := engine.Try(t.Context(), strings.Replace(u, "pass", "word", 1), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "Access denied")
	plain, _, _ := strings.Cut(u, "?ca=")
	_, err = engine.Try(t.Context(), plain, shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "")
	_, err = engine.Try(t.Context(), plain+"?tls=true", shared.Config{}) // with the certificate authorities of the system
	dbtest.WantError(t, err, generator.ErrNotNow, "certificate signed by unknown authority")
}

func TestARenewalCostsTheSameWithManyNames(t *testing.T) {
	t.Parallel()
	s := dbtest.MariaDB(t)
	engine.Renewal(t, place(t, s), s.Addr, true)
}

func BenchmarkReserve(b *testing.B) {
	generatortest.BenchStore(b, engine.Start(b, place(b, dbtest.MariaDB(b)), shared.Config{}))
}
