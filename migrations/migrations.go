// Package migrations holds the schemas of nextid's stores, and applies them.
//
// A schema is a folder of SQL files in the form of github.com/pressly/goose. There
// is one folder for each database: store/postgres, store/mysql and store/sqlite in
// Files. A Schema applies them to a shared store; package sqlite applies its own.
//
// A migration that was released never changes, apart from comments. Up never makes a
// dropped table again: an empty table would let ids begin anew.
//
// The packages below change the databases of applications: foreign installs
// functions that draw ids, shards interleaves the ids of several databases, and feed
// moves their sequences from block to block of a generator. Package appdb opens such
// databases.
package migrations

import (
	"database/sql"
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/pressly/goose/v3"
)

// Files holds the schemas of stores.
//
//go:embed store
var Files embed.FS

// VersionTable is the table in which goose records the migrations of a store.
const VersionTable = "nextid_schema_version"

// Provider applies the migrations of a folder to a database, and records them in a
// table.
func Provider(dialect goose.Dialect, db *sql.DB, files fs.FS, folder, table string) (*goose.Provider, error) {
	migrations, err := fs.Sub(files, folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, db, migrations, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
}

// Texts returns the names of the migrations of a folder, oldest first, and the
// statements that each runs to migrate up. Of goose's marks it keeps those around
// statements with semicolons, which foreign translates.
func Texts(files fs.FS, folder string) (names, ups []string, err error) {
	names, err = fs.Glob(files, folder+"/*.sql")
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		var statements strings.Builder
		for line := range strings.Lines(up) {
			if !strings.HasPrefix(line, "-- +goose") || strings.HasPrefix(line, "-- +goose Statement") {
				statements.WriteString(line)
			}
		}
		names[i], ups = path.Base(name), append(ups, statements.String())
	}
	return names, ups, err
}
