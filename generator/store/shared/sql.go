package shared

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"time"

	"nextid/generator"
)

// SQL implements the part of an Engine that SQL databases have in common: the
// connections, and the statements on nextid's two tables except those of Advance.
type SQL struct {
	db      *sql.DB
	dialect SQLDialect
}

// SQLDialect holds what differs between SQL databases. Parameters in texts are ?.
type SQLDialect struct {
	Time      string                        // query for the present time in Unix µs
	ByteOrder string                        // makes a comparison of texts one of their bytes
	From      string                        // of a SELECT that has a WHERE but reads no table
	IgnoreOld string                        // end of an INSERT that changes nothing if the name exists
	Text      func(statement string) string // translates a statement; nil: it stays as it is

	// Epoch returns an expression for the present epoch. It is called with a connection
	// in hand.
	Epoch func() string
	// Put runs a statement on the catalogue, and reports whether it changed a row.
	Put func(ctx context.Context, c *sql.Conn, statement string, args ...any) (written bool, err error)
	// Retryable reports whether an error means that nothing was committed, and that the
	// statement may succeed if it is repeated.
	Retryable func(err error) bool
	// Failure turns an error of the database into a *generator.Error.
	Failure func(ctx context.Context, err error) error
}

// sqlConns is the greatest number of connections to a database.
const sqlConns = 6

// OpenSQL returns the SQL part of an engine. The first call connects.
func OpenSQL(c driver.Connector, d SQLDialect) *SQL {
	if d.Text == nil {
		d.Text = func(statement string) string { return statement }
	}
	s := &SQL{db: sql.OpenDB(c), dialect: d}
	s.db.SetMaxOpenConns(sqlConns)
	s.db.SetMaxIdleConns(sqlConns)
	s.db.SetConnMaxIdleTime(time.Minute)
	s.db.SetConnMaxLifetime(time.Hour) // new connections check the database's settings
	return s
}

// On runs f on a connection. It repeats f after a retryable error. After any error
// of the database the connection is closed: it may be in a transaction, or its
// server may be a standby now.
func (s *SQL) On(ctx context.Context, f func(c *sql.Conn) error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := s.once(ctx, f)
		if err == nil || !s.dialect.Retryable(err) || try == tries {
			return s.dialect.Failure(ctx, err)
		}
		if (generator.Goroutines{}).Sleep(ctx, rand.N(time.Duration(try)*10*time.Millisecond)) != nil {
			return s.dialect.Failure(ctx, err)
		}
	}
}

func (s *SQL) once(ctx context.Context, f func(c *sql.Conn) error) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	err = f(c)
	if _, known := errors.AsType[*generator.Error](err); err != nil && !known {
		_ = c.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// Reconnect closes the connections that are not in use.
func (s *SQL) Reconnect() {
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(sqlConns)
}

// Close implements Engine.
func (s *SQL) Close() error { return s.db.Close() }

// Epoch implements Engine.
func (s *SQL) Epoch(ctx context.Context) (epoch string, err error) {
	err = s.On(ctx, func(c *sql.Conn) error {
		return c.QueryRowContext(ctx, "SELECT "+s.dialect.Epoch()).Scan(&epoch)
	})
	return epoch, err
}

// Time implements generator.Timekeeper.
func (s *SQL) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	var micros int64
	err = s.On(ctx, func(c *sql.Conn) error { return c.QueryRowContext(ctx, s.dialect.Time).Scan(&micros) })
	return time.UnixMicro(micros), time.UnixMicro(micros), err
}

// Lower implements Engine.
func (s *SQL) Lower(ctx context.Context, r Return) error {
	return s.On(ctx, func(c *sql.Conn) error {
		_, err := c.ExecContext(ctx, s.dialect.Text(`UPDATE nextid_reservations AS r SET lo = LEAST(lo, ?), hi = ?, updated_at = ?
WHERE r.key = ? AND hi = ? AND seq = ? AND stamp = ?`), r.To, r.To, r.Now, r.Key, r.Hi, r.Seq, r.Epoch)
		return err
	})
}

// Row implements Engine.
func (s *SQL) Row(ctx context.Context, key string) (*Row, error) {
	all, err := s.rows(ctx, `r.key = ?`, key)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Rows implements Engine.
func (s *SQL) Rows(ctx context.Context, prefix string) ([]Row, error) {
	key := `r.key` + s.dialect.ByteOrder
	return s.rows(ctx, key+` >= ? AND `+key+` < ?`, prefix, PrefixEnd(prefix))
}

func (s *SQL) rows(ctx context.Context, where string, args ...any) ([]Row, error) {
	return query(ctx, s, func(rows *sql.Rows) (r Row, err error) {
		err = rows.Scan(&r.Key, &r.Lo, &r.Hi, &r.Seq, &r.Epoch, &r.Owner, &r.Updated)
		return r, err
	}, `SELECT r.key, lo, hi, seq, stamp, owner, updated_at FROM nextid_reservations AS r WHERE `+where, args...)
}

// Name implements Engine.
func (s *SQL) Name(ctx context.Context, name string) (Entry, error) {
	all, err := s.entries(ctx, ` WHERE name = ?`, name)
	if err == nil && len(all) == 0 {
		err = generator.UnknownError(name)
	}
	if err != nil {
		return Entry{}, err
	}
	return all[0], nil
}

// Names implements Engine.
func (s *SQL) Names(ctx context.Context) ([]Entry, error) { return s.entries(ctx, ``) }

const entryColumns = `name, kind, options, version, created_at, dropped`

func (s *SQL) entries(ctx context.Context, where string, args ...any) ([]Entry, error) {
	return query(ctx, s, func(rows *sql.Rows) (e Entry, err error) {
		var created int64
		err = rows.Scan(&e.Name, &e.Kind, (*[]byte)(&e.Options), &e.Version, &created, &e.Dropped)
		e.Created = time.UnixMilli(created)
		return e, err
	}, `SELECT `+entryColumns+` FROM nextid_generators`+where, args...)
}

// query reads all rows of a query.
func query[V any](ctx context.Context, s *SQL, scan func(*sql.Rows) (V, error), text string, args ...any) (all []V, err error) {
	err = s.On(ctx, func(c *sql.Conn) error {
		all = nil
		rows, err := c.QueryContext(ctx, s.dialect.Text(text), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		return rows.Err()
	})
	return all, err
}

// Count implements Engine.
func (s *SQL) Count(ctx context.Context) (n int, err error) {
	err = s.On(ctx, func(c *sql.Conn) error {
		return c.QueryRowContext(ctx, `SELECT count(*) FROM nextid_generators`).Scan(&n)
	})
	return n, err
}

// PutName implements Engine.
func (s *SQL) PutName(ctx context.Context, epoch string, e Entry, was *Entry) (written bool, err error) {
	args := []any{e.Kind, string(e.Options), e.Version, e.Created.UnixMilli(), e.Dropped, e.Name, epoch}
	if was != nil {
		args = append(args, was.Version, was.Dropped)
	}
	err = s.On(ctx, func(c *sql.Conn) error {
		present := s.dialect.Epoch() + ` = ?`
		text := `INSERT INTO nextid_generators (kind, options, version, created_at, dropped, name)
SELECT ?, ?, ?, ?, ?, ?` + s.dialect.From + ` WHERE ` + present + s.dialect.IgnoreOld
		if was != nil {
			text = `UPDATE nextid_generators SET kind = ?, options = ?, version = ?, created_at = ?, dropped = ?
WHERE name = ? AND ` + present + ` AND version = ? AND dropped = ?`
		}
		written, err = s.dialect.Put(ctx, c, s.dialect.Text(text), args...)
		return err
	})
	return written, err
}
