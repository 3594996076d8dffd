package migrations_test

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"nextid/migrations"
)

// The migrations call the checksum function, which package sqlite registers on its
// connections. Its result does not matter here.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("nextid_crc32c", -1,
		func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) { return int64(0), nil })
}

func provider(t *testing.T, db *sql.DB) *goose.Provider {
	t.Helper()
	p, err := migrations.Provider(goose.DialectSQLite3, db, migrations.Files, "store/sqlite", migrations.VersionTable)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// schema lists the tables and indexes of the database, apart from goose's own table.
func schema(t *testing.T, db *sql.DB) (tables []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND tbl_name NOT IN ('sqlite_sequence', ?) ORDER BY sql`, migrations.VersionTable)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return tables
}

func pragma(t *testing.T, db *sql.DB, name string) (value int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSQLiteSchemaGoesUpAndDownAndUp(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := provider(t, db)
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	up := schema(t, db)
	if len(up) != 3 {
		t.Fatalf("the schema is %q", up)
	}
	for _, table := range up {
		if !strings.Contains(table, ") STRICT") {
			t.Errorf("not a STRICT table: %s", table)
		}
	}
	if id := pragma(t, db, "application_id"); id != 0x6e786964 {
		t.Errorf("application_id is %#x", id)
	}
	if _, err := p.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if down := schema(t, db); len(down) != 0 {
		t.Errorf("after all downs there is still %q", down)
	}
	// Without its application_id a server refuses the file, so ids do not begin
	// anew.
	if id := pragma(t, db, "application_id"); id != 0 {
		t.Errorf("after all downs application_id is %#x", id)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := schema(t, db); !slices.Equal(again, up) {
		t.Errorf("the second way up gives\n%q, the first gave\n%q", again, up)
	}
}

func TestSQLiteSchemaRefusesInvalidRows(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := provider(t, db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		`INTO nextid_reservations VALUES ('k', 0, 'much', 'me', 1, 0, 0)`,
		`INTO nextid_reservations VALUES ('k', 0, 1.5, 'me', 1, 0, 0)`,
		`INTO nextid_reservations VALUES ('k', 10, 9, 'me', 1, 0, 0)`,
		`INTO nextid_reservations VALUES ('', 0, 1, 'me', 1, 0, 0)`,
		`INTO nextid_reservations VALUES ('k', 0, 1, 'me', 0, 0, 0)`,
		`INTO nextid_reservations VALUES ('k', NULL, 1, 'me', 1, 0, 0)`,
		`INTO nextid_generators VALUES ('', 'segment', '{}', 1, 0, 0, 0)`,
		`INTO nextid_generators VALUES ('g', 'segment', '{}', 0, 0, 0, 0)`,
		`INTO nextid_generators VALUES ('g', 'segment', '{}', 1, 0, 2, 0)`,
		`INTO nextid_meta VALUES (2, '0123456789abcdef0123456789abcdef', 0, 0, '', '', 0, 0, 0, '', '', '', 0)`,
		`INTO nextid_meta VALUES (1, 'short', 0, 0, '', '', 0, 0, 0, '', '', '', 0)`,
		`INTO nextid_meta VALUES (1, '0123456789abcdef0123456789abcdef', 0, 0, '', '', 0, -1, 0, '', '', '', 0)`,
	} {
		if _, err := db.ExecContext(t.Context(), "INSERT "+row); err == nil {
			t.Errorf("accepted: %s", row)
		}
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO nextid_reservations VALUES ('k', -5, -5, '', 1, 0, 0)`); err != nil {
		t.Errorf("refused a good row: %v", err)
	}
}
