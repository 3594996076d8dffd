package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// session is one connection to the database file, which was checked and is locked.
// Package sqlite has one at a time, owned by embedded.serve.
type session struct {
	db *sql.DB
	*statements
	begin, commit, count, opened *sql.Stmt
}

// meta is the row of nextid_meta.
type meta struct {
	storeID      string
	reservations int64
	seenAt       int64 // Unix ms, see embedded.seen
	binding
}

// openSession opens the database file of d and checks its content. SQLite rolls
// back the hot journal of a killed process first.
func openSession(ctx context.Context, d *directory) (*session, meta, error) {
	s := &session{db: connect(filepath.Join(d.abs, d.file))}
	m, err := s.open(ctx, d)
	if err != nil {
		s.close()
		return nil, meta{}, storeError(d.in(d.file), err)
	}
	return s, m, nil
}

// open runs the checks in their order. identify comes first, because configure
// writes to the file.
func (s *session) open(ctx context.Context, d *directory) (meta, error) {
	if err := identify(ctx, s.db); err != nil {
		return meta{}, err
	}
	if err := configure(ctx, s.db); err != nil {
		return meta{}, err
	}
	if err := checkLength(ctx, s.db, d); err != nil {
		return meta{}, err
	}
	if err := checkIntegrity(ctx, s.db); err != nil {
		return meta{}, err
	}
	if err := migrate(ctx, s.db); err != nil {
		return meta{}, err
	}
	m, err := checkRows(ctx, s.db)
	if err != nil {
		return meta{}, err
	}
	return m, s.prepare(ctx)
}

// prepare prepares all statements of the session.
func (s *session) prepare(ctx context.Context) (err error) {
	if s.statements, err = sqliteDialect.prepare(ctx, s.db); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{{&s.begin, "BEGIN IMMEDIATE"}, {&s.commit, "COMMIT"}, {&s.count, metaCount}, {&s.opened, metaOpened}} {
		if *p.stmt, err = s.db.PrepareContext(ctx, p.text); err != nil {
			return fmt.Errorf("prepare %q: %w", p.text, err)
		}
	}
	return nil
}

// close closes the connection and thereby rolls back an open transaction.
func (s *session) close() error { return s.db.Close() }

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

// configure sets how SQLite writes, checks that the settings took effect, and takes
// the exclusive lock. fullfsync has an effect on macOS only.
func configure(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct{ set, get, want string }{
		{"PRAGMA journal_mode = DELETE", "PRAGMA journal_mode", "delete"},
		{"PRAGMA synchronous = EXTRA", "PRAGMA synchronous", "3"},
		{"PRAGMA fullfsync = ON", "PRAGMA fullfsync", "1"},
		{"PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", "1"},
	} {
		if _, err := db.ExecContext(ctx, p.set); err != nil {
			return err
		}
		var got string
		if err := db.QueryRowContext(ctx, p.get).Scan(&got); err != nil {
			return err
		}
		if got != p.want {
			return fmt.Errorf("%s gives %q, not %q", p.get, got, p.want)
		}
	}
	_, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT")
	return err
}

// readMeta reads the one row of nextid_meta.
func readMeta(ctx context.Context, db *sql.DB) (m meta, err error) {
	var inode int64
	var intact bool
	err = db.QueryRowContext(ctx, metaSelect).Scan(&m.storeID, &m.machine, &m.hardware, &m.volume, &inode, &m.birth,
		&m.reservations, &m.seenAt, &intact)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && !intact) {
		return meta{}, damagedRow("meta", "1")
	}
	m.inode = uint64(inode)
	return m, err
}

// scanMeta reads the number of reservations that a change of nextid_meta returns. A
// row with a wrong checksum is not changed and returns nothing.
func scanMeta(row *sql.Row) (reservations int64, err error) {
	err = row.Scan(&reservations)
	if errors.Is(err, sql.ErrNoRows) {
		err = damagedRow("meta", "1")
	}
	return reservations, err
}

// oneConnection is a driver.Connector that connects once. database/sql would
// silently replace a broken connection. Here a new connection must pass all checks
// of openSession.
type oneConnection struct {
	dsn  string
	used atomic.Bool
}

var errConnectionLost = errors.New("the connection to SQLite was lost")

// Connect implements driver.Connector.
func (c *oneConnection) Connect(context.Context) (driver.Conn, error) {
	if c.used.Swap(true) {
		return nil, errConnectionLost
	}
	return sqliteDriver().Open(c.dsn)
}

// Driver implements driver.Connector.
func (c *oneConnection) Driver() driver.Driver { return sqliteDriver() }
