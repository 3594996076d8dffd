package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pressly/goose/v3"

	"nextid/migrations"
)

const (
	// applicationID marks a database file as a store of nextid: "nxid".
	applicationID = 0x6e786964
	// formatVersion is the number of the newest migration. It is also the user_version
	// of a file, by which an older nextid recognizes a newer file.
	formatVersion = 2

	sqliteMigrations = "store/sqlite"
)

// identify refuses files of other programs, newer formats, and an SQLite with known
// bugs. It runs before anything is written.
func identify(ctx context.Context, db *sql.DB) error {
	var library string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&library); err != nil {
		return err
	}
	if !soundSQLite(library) {
		return refuse("Build nextid with SQLite 3.53.0 or newer.",
			"SQLite %s has known bugs that damage or forget data", library)
	}
	var application, format int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if application != applicationID {
		return inconsistent("Name the right data directory. nextid has changed nothing in this file.",
			"the database is not a store of nextid (application_id %#x)", application)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&format); err != nil {
		return err
	}
	if format > formatVersion {
		return refuse("Start the newer nextid that wrote it.",
			"the store has format %d, this nextid knows formats up to %d", format, formatVersion)
	}
	return nil
}

// soundSQLite reports whether a version of SQLite is free of the WAL-reset bug:
// 3.51.3 and its patches, and 3.53.0 and later. 3.52.0 was withdrawn.
func soundSQLite(version string) bool {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return false
	}
	return major > 3 || (major == 3 && (minor >= 53 || (minor == 51 && patch >= 3)))
}

// checkLength refuses a truncated file. SQLite itself would read the missing part
// of the last page as zeros.
func checkLength(ctx context.Context, db *sql.DB, d *directory) error {
	var want int64
	const pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
	if err := db.QueryRowContext(ctx, pages).Scan(&want); err != nil {
		return err
	}
	info, err := d.root.Stat(d.file)
	if err == nil && info.Size() < want {
		err = inconsistent(hintRestore, "%s is cut off: it has %d bytes of %d", d.in(d.file), info.Size(), want)
	}
	return err
}

// checkIntegrity lets SQLite check the structure of the whole file.
func checkIntegrity(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(3)")
	if err != nil {
		return err
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		found = append(found, line)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(found) != 1 || found[0] != "ok" {
		return inconsistent(hintRestore, "the store is damaged: %s", strings.Join(found, "; "))
	}
	return nil
}

// migrate brings an older file to the present format.
func migrate(ctx context.Context, db *sql.DB) error {
	format, err := userVersion(ctx, db)
	if err != nil || format == formatVersion {
		return err
	}
	folder, err := migrations.Folder(sqliteMigrations)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder,
		goose.WithTableName(migrations.VersionTable), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	if format, err = userVersion(ctx, db); err == nil && format != formatVersion {
		err = inconsistent(hintRestore, "the store is damaged: it says format %d", format)
	}
	return err
}

// userVersion returns the format of the file.
func userVersion(ctx context.Context, db *sql.DB) (v int64, err error) {
	return v, db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
}

// checkRows verifies the checksum of every row and that none is missing.
func checkRows(ctx context.Context, db *sql.DB) (meta, error) {
	damaged, err := db.QueryContext(ctx, damagedRows)
	if err != nil {
		return meta{}, err
	}
	defer damaged.Close()
	if damaged.Next() {
		var table, key string
		if err := damaged.Scan(&table, &key); err != nil {
			return meta{}, err
		}
		return meta{}, damagedRow(table, key)
	}
	if err := damaged.Err(); err != nil {
		return meta{}, err
	}
	var metas, noted, found int64
	if err := db.QueryRowContext(ctx, countRows).Scan(&metas, &noted, &found); err != nil {
		return meta{}, err
	}
	if metas != 1 || noted != found {
		return meta{}, inconsistent(hintRestore, "the store is damaged: its keys have %d reservations of %d", found, noted)
	}
	return readMeta(ctx, db)
}
