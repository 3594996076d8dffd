// Package migrations holds every database schema of nextid as SQL files in
// the form of github.com/pressly/goose, one folder for each purpose and
// database. Whoever runs them picks a folder with Folder.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed store
var files embed.FS

// VersionTable is the table in which goose notes what it has applied to a
// database of nextid.
const VersionTable = "nextid_schema_version"

// Folder returns the migrations below path, for example "store/sqlite".
func Folder(path string) (fs.FS, error) {
	if _, err := fs.Stat(files, path); err != nil {
		return nil, err
	}
	return fs.Sub(files, path)
}
