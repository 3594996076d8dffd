package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"

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

// session is one connection to the database file, which was checked and is locked.
// It implements local.Table. There is one at a time, owned by embedded.serve.
type session struct {
	db       *sql.DB
	prepared map[string]*sql.Stmt // by text; closed with the connection
	granted  int64                // reservations in the running transaction
}

// openSession opens the database file of d and checks its content. SQLite rolls
// back the hot journal of a killed process first. identify comes before configure,
// which writes to the file.
func openSession(ctx context.Context, d *directory) (_ *session, m meta, err error) {
	s := &session{db: connect(filepath.Join(d.abs, d.file))}
	length := func(ctx context.Context) error { return s.checkLength(ctx, d) }
	if err = inOrder(ctx, s.identify, s.configure, length, s.checkIntegrity, s.migrate, s.prepare); err == nil {
		m, err = s.checkRows(ctx)
	}
	if err != nil {
		s.db.Close()
		return nil, meta{}, err
	}
	return s, m, nil
}

// inOrder runs steps up to the first that fails.
func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// connect returns a pool of exactly one connection to an existing file. path is
// absolute. A broken connection is not replaced; see oneConnection.
func connect(path string) *sql.DB {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // file:///C:/…
	}
	// SQLite keeps the exclusive lock until the connection ends.
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_error_rc=1&_busy_timeout=0" +
		"&_pragma=locking_mode(EXCLUSIVE)&_pragma=temp_store(MEMORY)&_pragma=trusted_schema(OFF)"}
	db := sql.OpenDB(&oneConnection{dsn: dsn.String()})
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db
}

// oneConnection is a driver.Connector that connects once. database/sql would
// silently replace a broken connection. Here a new connection must pass all checks
// of openSession.
type oneConnection struct {
	dsn  string
	used atomic.Bool
}

var errConnectionLost = errors.New("the connection to SQLite was lost")

func (c *oneConnection) Connect(context.Context) (driver.Conn, error) {
	if c.used.Swap(true) {
		return nil, errConnectionLost
	}
	return sqliteDriver().Open(c.dsn)
}

func (c *oneConnection) Driver() driver.Driver { return sqliteDriver() }

// create turns an empty file into an empty store that is not bound to a place.
func create(ctx context.Context, path string, cfg Config) error {
	s := &session{db: connect(path)}
	err := inOrder(ctx, s.configure, s.migrate, s.prepare)
	if err == nil {
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails, see its documentation
		now := millis(cfg.Clock)
		err = s.putMeta(meta{storeID: hex.EncodeToString(id[:]), createdAt: now, openedAt: now, owner: cfg.Owner})
	}
	return errors.Join(err, s.db.Close())
}

// get reads one value.
func get[V any](ctx context.Context, db *sql.DB, query string) (v V, err error) {
	err = db.QueryRowContext(ctx, query).Scan(&v)
	return v, err
}

// identify refuses files of other programs, newer formats, and an SQLite with known
// bugs. It runs before anything is written.
func (s *session) identify(ctx context.Context) error {
	library, err := get[string](ctx, s.db, "SELECT sqlite_version()")
	if err != nil {
		return err
	}
	if !soundSQLite(library) {
		return refuse("Build nextid with SQLite 3.53.0 or newer.",
			"SQLite %s has known bugs that damage or forget data", library)
	}
	application, err := get[int64](ctx, s.db, "PRAGMA application_id")
	if err != nil {
		return err
	}
	if application != applicationID {
		return inconsistent("Name the right data directory. nextid has changed nothing in this file.",
			"the database is not a store of nextid (application_id %#x)", application)
	}
	format, err := get[int64](ctx, s.db, userVersion)
	if err == nil && format > formatVersion {
		err = refuse("Start the newer nextid that wrote it.",
			"the store has format %d, this nextid knows formats up to %d", format, formatVersion)
	}
	return err
}

// userVersion is the query for the format of the file.
const userVersion = "PRAGMA user_version"

// soundSQLite reports whether a version of SQLite is free of the WAL-reset bug:
// 3.51.3 and its patches, and 3.53.0 and later. 3.52.0 was withdrawn.
func soundSQLite(version string) bool {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return false
	}
	return major > 3 || (major == 3 && (minor >= 53 || (minor == 51 && patch >= 3)))
}

// configure sets how SQLite writes, checks that the settings took effect, and takes
// the exclusive lock. fullfsync has an effect on macOS only.
func (s *session) configure(ctx context.Context) error {
	for _, p := range []struct{ set, get, want string }{
		{"PRAGMA journal_mode = DELETE", "PRAGMA journal_mode", "delete"},
		{"PRAGMA synchronous = EXTRA", "PRAGMA synchronous", "3"},
		{"PRAGMA fullfsync = ON", "PRAGMA fullfsync", "1"},
		{"PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", "1"},
	} {
		if _, err := s.db.ExecContext(ctx, p.set); err != nil {
			return err
		}
		got, err := get[string](ctx, s.db, p.get)
		if err != nil {
			return err
		}
		if got != p.want {
			return fmt.Errorf("%s gives %q, not %q", p.get, got, p.want)
		}
	}
	_, err := s.db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT")
	return err
}

// checkLength refuses a truncated file. SQLite itself would read the missing part
// of the last page as zeros.
func (s *session) checkLength(ctx context.Context, d *directory) error {
	want, err := get[int64](ctx, s.db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	if err != nil {
		return err
	}
	info, err := d.root.Stat(d.file)
	if err == nil && info.Size() < want {
		err = inconsistent(hintRestore, "%s is cut off: it has %d bytes of %d", d.in(d.file), info.Size(), want)
	}
	return err
}

// checkIntegrity lets SQLite check the structure of the whole file.
func (s *session) checkIntegrity(ctx context.Context) error {
	found, err := get[string](ctx, s.db,
		"SELECT group_concat(integrity_check, '; ') FROM (SELECT integrity_check FROM pragma_integrity_check LIMIT 3)")
	if err == nil && found != "ok" {
		err = inconsistent(hintRestore, "the store is damaged: %s", found)
	}
	return err
}

// migrate brings an older file to the present format.
func (s *session) migrate(ctx context.Context) error {
	format, err := get[int64](ctx, s.db, userVersion)
	if err != nil || format == formatVersion {
		return err
	}
	provider, err := migrations.Provider(goose.DialectSQLite3, s.db, migrations.Files, sqliteMigrations, migrations.VersionTable)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	if format, err = get[int64](ctx, s.db, userVersion); err == nil && format != formatVersion {
		err = inconsistent(hintRestore, "the store is damaged: it says format %d", format)
	}
	return err
}

// prepare prepares all statements of the session.
func (s *session) prepare(ctx context.Context) (err error) {
	s.prepared = make(map[string]*sql.Stmt, len(prepared))
	for _, text := range prepared {
		if s.prepared[text], err = s.db.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	return nil
}

// checkRows verifies the checksum of every row and that none is missing.
func (s *session) checkRows(ctx context.Context) (meta, error) {
	var table, key string
	err := s.db.QueryRowContext(ctx, damagedRows).Scan(&table, &key)
	if !errors.Is(err, sql.ErrNoRows) {
		return meta{}, cmp.Or(err, damagedRow(table, key))
	}
	found, err := get[int64](ctx, s.db, countReservations)
	if err != nil {
		return meta{}, err
	}
	m, err := s.meta()
	if err == nil && m.reservations != found {
		err = inconsistent(hintRestore, "the store is damaged: its keys have %d reservations of %d", found, m.reservations)
	}
	return m, err
}

// atomically runs f in a transaction. After an error the transaction is open or its
// end is unknown, and the session must be closed.
func (s *session) atomically(f func() error) error {
	if err := s.exec(begin); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return s.exec(commit)
}

// row runs a prepared statement that returns one row. Statements have no context: a
// caller's would cancel the operations of the others in the transaction, too.
func (s *session) row(text string, args ...any) *sql.Row { return s.prepared[text].QueryRow(args...) }

// exec runs a prepared statement.
func (s *session) exec(text string, args ...any) error {
	_, err := s.prepared[text].Exec(args...)
	return err
}

// collect reads all rows that a prepared statement returns.
func collect[V any](s *session, scan func(scanner) (V, error), text string, args ...any) ([]V, error) {
	rows, err := s.prepared[text].Query(args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []V
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
