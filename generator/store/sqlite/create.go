package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"nextid/generator"
)

// create makes a new store. The file gets its name only when it is complete. So a
// process that is killed meanwhile leaves no file that looks like a store.
func (d *directory) create(ctx context.Context, cfg Config) error {
	temporary := d.file + newSuffix
	for _, leftover := range []string{temporary, temporary + journalSuffix} {
		if err := d.root.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storeError(d.in(leftover), err)
		}
	}
	// SQLite gives a journal the mode of its database.
	f, err := d.root.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return storeError(d.in(temporary), err)
	}
	f.Close()
	if err := fill(ctx, filepath.Join(d.abs, temporary), cfg); err != nil {
		return storeError(d.in(temporary), err)
	}
	if err := d.root.Rename(temporary, d.file); err != nil {
		return storeError(d.in(d.file), err)
	}
	return storeError(d.path, d.sync())
}

// fill turns an empty file into an empty store that is not bound to a place.
func fill(ctx context.Context, path string, cfg Config) (err error) {
	db := connect(path)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := configure(ctx, db); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, metaInsert, newStoreID(), millis(cfg.Clock), cfg.Owner)
	return err
}

// newStoreID returns 128 random bits in hexadecimal.
func newStoreID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, see its documentation
	return hex.EncodeToString(id[:])
}

// millis returns the wall clock in Unix milliseconds.
func millis(c generator.Clock) int64 { return c.Wall() / 1e6 }
