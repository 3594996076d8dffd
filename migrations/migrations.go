// Package migrations holds the schemas of nextid's stores, and applies them.
//
// A schema is a folder of SQL files in the form of github.com/pressly/goose. There
// is one folder for each database: store/postgres, store/mysql and store/sqlite.
// Folder returns the files. A Schema applies them to a shared store; package sqlite
// applies its own.
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
	"embed"
	"io/fs"
)

//go:embed store
var files embed.FS

// VersionTable is the table in which goose records the migrations of a store.
const VersionTable = "nextid_schema_version"

// Folder returns the migrations below path, for example "store/sqlite".
func Folder(path string) (fs.FS, error) {
	if _, err := fs.Stat(files, path); err != nil {
		return nil, err
	}
	return fs.Sub(files, path)
}
