package mysql

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// Config names the database.
type Config struct {
	URL    string   // mysql://USER:PASSWORD@HOST:PORT/DATABASE?…
	Unsafe []string // accepted although they are unsafe: innodb_flush_log_at_trx_commit, innodb_doublewrite, sync_binlog, engine
	Conns  int      // greatest number of connections; 0: 6
}

const defaultConns = 6

// Engine implements shared.Engine.
type Engine struct {
	db      *sql.DB
	cfg     Config
	what    string // for messages, without a password
	flavour atomic.Pointer[flavour]
}

var (
	_ shared.Engine        = (*Engine)(nil)
	_ generator.Timekeeper = (*Engine)(nil)
)

// Open returns an Engine. The first call connects. Every new connection checks how
// durable the database is.
func Open(cfg Config) (*Engine, error) {
	c, err := dsn.MySQL(cfg.URL)
	if err != nil {
		return nil, err
	}
	if c.DBName == "" {
		return nil, errors.New("the URL names no database")
	}
	e := &Engine{cfg: cfg, what: fmt.Sprintf("mysql://%s@%s/%s", c.User, c.Addr, c.DBName)}
	c.MultiStatements = true
	c.InterpolateParams = true
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	// The statements rely on strict mode: a value that does not fit is an error and is
	// not adjusted.
	c.Params["sql_mode"] = "'STRICT_ALL_TABLES'"
	base, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	e.db = sql.OpenDB(connector{base, e})
	conns := defaultConns
	if cfg.Conns > 0 {
		conns = cfg.Conns
	}
	e.db.SetMaxOpenConns(conns)
	e.db.SetMaxIdleConns(conns)
	e.db.SetConnMaxIdleTime(time.Minute)
	return e, nil
}

// Numbers of MySQL's errors.
const (
	errNoDatabase  = 1049
	errNoTable     = 1146
	errNoRight     = 1142
	errNoRightToDB = 1044
	errLockTimeout = 1205
	errDeadlock    = 1213
	errReadOnly    = 1290
	errReadOnlyTx  = 1792
	errReadOnlyAll = 1836
)

// number returns the number of an error of MySQL, 0 for others.
func number(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// failure turns an error of the database into a *generator.Error.
func (e *Engine) failure(ctx context.Context, err error) error {
	switch number(err) {
	case errNoTable, errNoDatabase:
		return shared.NoSchema(e.what, "mysql://…", err)
	case errNoRight, errNoRightToDB: // also for a missing table
		return shared.NoRights(e.what, "mysql://…", err)
	case errReadOnly, errReadOnlyTx, errReadOnlyAll:
		return shared.ReadOnly(e.what, err)
	}
	return shared.Unreachable(ctx, e.what, err)
}

// on runs f on a connection. It repeats f after a deadlock or a lock timeout, since
// nothing was committed then. After any error of the database the connection is
// closed: it may be in a transaction, or its server may be a standby now.
func (e *Engine) on(ctx context.Context, f func(c *sql.Conn, db *flavour) error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := e.once(ctx, f)
		if n := number(err); n != errDeadlock && n != errLockTimeout || try == tries {
			return e.failure(ctx, err)
		}
		select {
		case <-time.After(mathrand.N(time.Duration(try) * 10 * time.Millisecond)):
		case <-ctx.Done():
			return e.failure(ctx, err)
		}
	}
}

// once runs f on a connection. It closes the connection if f returns an error of
// the database.
func (e *Engine) once(ctx context.Context, f func(c *sql.Conn, db *flavour) error) error {
	c, err := e.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	err = f(c, e.flavour.Load()) // stored by check
	var known *generator.Error
	if err != nil && !errors.As(err, &known) {
		_ = c.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// Epoch implements shared.Engine.
func (e *Engine) Epoch(ctx context.Context) (found string, err error) {
	err = e.on(ctx, func(c *sql.Conn, db *flavour) error {
		return c.QueryRowContext(ctx, "SELECT "+db.epoch).Scan(&found)
	})
	return found, err
}

// Time implements generator.Timekeeper.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	var micros int64
	err = e.on(ctx, func(c *sql.Conn, _ *flavour) error {
		return c.QueryRowContext(ctx, "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)").Scan(&micros)
	})
	return time.UnixMicro(micros), time.UnixMicro(micros), err
}

// advance appends the statement for one ask. MySQL makes assignments from left to
// right, so hi is computed from the new lo. A statement that may insert the row
// sets the token first. The later assignments take effect only if the row has that
// token. VALUES(x) is x of the row that would be inserted. The driver and the
// database parse the text each time, so each word and each argument costs time.
func advance(text *strings.Builder, args []any, a *shared.Ask, token []byte, epoch string) []any {
	// full is the least lo from which at most N numbers are left below Limit.
	full := max(a.Limit, math.MinInt64+a.N) - a.N
	if !a.Create {
		text.WriteString("UPDATE nextid_reservations SET token = ?, lo = GREATEST(hi, ?), hi = IF(lo >= ?, ?, lo + ?)," +
			" seq = seq + ?, stamp = ?, owner = ?, updated_at = ?\n" +
			"WHERE `key` = ? AND " + epoch + " = ? AND GREATEST(hi, ?) < ? AND stamp IN (?, ?);\n")
		return append(args, token, a.AtLeast, full, a.Limit, a.N, a.Count, a.Write, a.Owner, a.Now,
			a.Key, a.Epoch, a.AtLeast, a.Limit, a.Epoch, a.From)
	}
	text.WriteString("INSERT INTO nextid_reservations (`key`, lo, hi, seq, stamp, owner, updated_at, token)\n" +
		"SELECT ?, ?, ?, ?, ?, ?, ?, ? FROM DUAL WHERE ? < ? AND " + epoch + " = ?\n" +
		"ON DUPLICATE KEY UPDATE token = IF(GREATEST(hi, VALUES(lo)) < ? AND stamp IN (?, ?), VALUES(token), token)," +
		" lo = IF(token = VALUES(token), GREATEST(hi, VALUES(lo)), lo)," +
		" hi = IF(token = VALUES(token), IF(lo >= ?, ?, lo + ?), hi)," +
		" seq = IF(token = VALUES(token), seq + VALUES(seq), seq)," +
		" stamp = IF(token = VALUES(token), VALUES(stamp), stamp)," +
		" owner = IF(token = VALUES(token), VALUES(owner), owner)," +
		" updated_at = IF(token = VALUES(token), VALUES(updated_at), updated_at);\n")
	return append(args, a.Key, a.AtLeast, a.End(a.AtLeast), a.Count, a.Write, a.Owner, a.Now, token, a.AtLeast, a.Limit, a.Epoch,
		a.Limit, a.Epoch, a.From, full, a.Limit, a.N)
}

// Advance implements shared.Engine.
func (e *Engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	order := make([]*shared.Ask, len(asks))
	for i := range asks {
		order[i] = &asks[i]
	}
	// All servers lock keys in the same order, so that two rounds cannot deadlock.
	slices.SortFunc(order, func(a, b *shared.Ask) int { return strings.Compare(a.Key, b.Key) })
	err = e.on(ctx, func(c *sql.Conn, db *flavour) error {
		tokens := make(map[string][]byte, len(asks))
		var text strings.Builder
		var args, keys []any
		text.WriteString("START TRANSACTION;\n")
		for _, a := range order {
			token := make([]byte, 16)
			rand.Read(token)
			tokens[a.Key] = token
			args = advance(&text, args, a, token, db.epoch)
			keys = append(keys, a.Key)
		}
		text.WriteString("SELECT `key`, lo, hi, seq, stamp, token FROM nextid_reservations WHERE `key` IN (?" +
			strings.Repeat(", ?", len(keys)-1) + ");\nCOMMIT;\n" + db.afterCommit)
		rows, err := c.QueryContext(ctx, text.String(), append(args, keys...)...)
		if err != nil {
			return err
		}
		answers, err = read(rows, asks, tokens)
		if errors.Is(err, errUnsafe) {
			err = e.unsafe(ctx, c)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// read decodes the results of Advance's statements and closes them.
func read(rows *sql.Rows, asks []shared.Ask, tokens map[string][]byte) ([]shared.Answer, error) {
	defer rows.Close()
	found := make(map[string]*shared.Row, len(asks))
	granted := map[string]bool{}
	for rows.Next() {
		var r shared.Row
		var token []byte
		if err := rows.Scan(&r.Key, &r.Lo, &r.Hi, &r.Seq, &r.Epoch, &token); err != nil {
			return nil, err
		}
		found[r.Key] = &r
		granted[r.Key] = bytes.Equal(token, tokens[r.Key])
	}
	// Without the result after COMMIT, the commit is not certain.
	if !rows.NextResultSet() || !rows.Next() {
		return nil, errors.Join(errors.New("no answer to the commit"), rows.Err())
	}
	var epoch sql.NullString
	if err := rows.Scan(&epoch); err != nil {
		return nil, err
	}
	if !epoch.Valid {
		return nil, errUnsafe
	}
	answers := make([]shared.Answer, len(asks))
	for i := range asks {
		a := &asks[i]
		if r := found[a.Key]; granted[a.Key] {
			answers[i] = shared.Answer{Outcome: shared.Granted, Lo: r.Lo, Hi: r.Hi, Seq: r.Seq}
		} else {
			answers[i] = a.Refused(r, epoch.String)
		}
	}
	return answers, rows.Err()
}

// Lower implements shared.Engine.
func (e *Engine) Lower(ctx context.Context, r shared.Return) error {
	return e.on(ctx, func(c *sql.Conn, _ *flavour) error {
		_, err := c.ExecContext(ctx, "UPDATE nextid_reservations SET lo = LEAST(lo, ?), hi = ?, updated_at = ? WHERE `key` = ? AND hi = ? AND seq = ? AND stamp = ?",
			r.To, r.To, r.Now, r.Key, r.Hi, r.Seq, r.Epoch)
		return err
	})
}

// Row implements shared.Engine.
func (e *Engine) Row(ctx context.Context, key string) (*shared.Row, error) {
	all, err := e.rows(ctx, "`key` = ?", key)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) ([]shared.Row, error) {
	return e.rows(ctx, "`key` >= ? AND `key` < ?", prefix, shared.PrefixEnd(prefix))
}

// rows reads the rows that where selects.
func (e *Engine) rows(ctx context.Context, where string, args ...any) (all []shared.Row, err error) {
	err = e.on(ctx, func(c *sql.Conn, _ *flavour) error {
		all = nil
		rows, err := c.QueryContext(ctx, "SELECT `key`, lo, hi, seq, stamp, owner, updated_at FROM nextid_reservations WHERE "+where, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r shared.Row
			if err := rows.Scan(&r.Key, &r.Lo, &r.Hi, &r.Seq, &r.Epoch, &r.Owner, &r.Updated); err != nil {
				return err
			}
			all = append(all, r)
		}
		return rows.Err()
	})
	return all, err
}

const entryColumns = `name, kind, options, version, created_at, dropped`

// entries reads the catalogue, or the rows of it that where selects.
func (e *Engine) entries(ctx context.Context, where string, args ...any) (all []shared.Entry, err error) {
	err = e.on(ctx, func(c *sql.Conn, _ *flavour) error {
		all = nil
		rows, err := c.QueryContext(ctx, "SELECT "+entryColumns+" FROM nextid_generators"+where, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n shared.Entry
			var created int64
			if err := rows.Scan(&n.Name, &n.Kind, (*[]byte)(&n.Options), &n.Version, &created, &n.Dropped); err != nil {
				return err
			}
			n.Created = time.UnixMilli(created)
			all = append(all, n)
		}
		return rows.Err()
	})
	return all, err
}

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (shared.Entry, error) {
	all, err := e.entries(ctx, " WHERE name = ?", name)
	if err == nil && len(all) == 0 {
		err = shared.Unknown(name)
	}
	if err != nil {
		return shared.Entry{}, err
	}
	return all[0], nil
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) ([]shared.Entry, error) { return e.entries(ctx, "") }

// Count implements shared.Engine.
func (e *Engine) Count(ctx context.Context) (n int, err error) {
	err = e.on(ctx, func(c *sql.Conn, _ *flavour) error {
		return c.QueryRowContext(ctx, "SELECT count(*) FROM nextid_generators").Scan(&n)
	})
	return n, err
}

// PutName implements shared.Engine.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	text := "INSERT INTO nextid_generators (" + entryColumns + ") VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE name = name"
	args := []any{n.Name, n.Kind, string(n.Options), n.Version, n.Created.UnixMilli(), n.Dropped}
	if was != nil {
		text = "UPDATE nextid_generators SET kind = ?, options = ?, version = ?, created_at = ?, dropped = ?" +
			" WHERE name = ? AND version = ? AND dropped = ?"
		args = append(args[1:], n.Name, was.Version, was.Dropped)
	}
	err = e.on(ctx, func(c *sql.Conn, db *flavour) error {
		result, err := c.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		var epoch sql.NullString
		if err := c.QueryRowContext(ctx, db.afterCommit).Scan(&epoch); err != nil {
			return err
		}
		if !epoch.Valid {
			return e.unsafe(ctx, c)
		}
		changed, err := result.RowsAffected()
		written = changed == 1
		return err
	})
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error { return e.db.Close() }
