// Package mysql is the shared store on MySQL and MariaDB, and on databases that
// speak their protocol and SQL: TiDB and Vitess. engine implements shared.Engine;
// Driver describes it to the server.
//
// A round of reservations is one text of several statements: START TRANSACTION to
// COMMIT, and a last SELECT. So it takes one round trip and one commit. The result
// of that SELECT proves that the commit was done. A row keeps the random token of
// its last reservation; the token shows which asks were granted.
//
// The epoch is MySQL's server_uuid, and on MariaDB server_id and gtid_domain_id.
// TiDB and Vitess do not identify a server; there the epoch is constant.
//
// These settings are refused, unless the caller of Driver.Open accepts them:
// innodb_flush_log_at_trx_commit other than 1, innodb_doublewrite = OFF,
// sync_binlog other than 1 if the binary log is on, and tables in another engine
// than InnoDB. Each new connection checks all of them, each reservation all but the
// engine.
package mysql

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"nextid/dsn"
	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"mysql", "mariadb"}, Example: "mysql://USER@HOST:3306/DATABASE", Failover: shared.Stop,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) { return open(url, unsafe) },
		Schema: func(url string) (shared.Schema, error) {
			c, err := dsn.MySQL(url)
			if err != nil {
				return nil, err
			}
			c.ParseTime = true // goose's table has times
			connector, err := mysql.NewConnector(c)
			if err != nil {
				return nil, err
			}
			return migrations.Open("store/mysql", goose.DialectMySQL, sql.OpenDB(connector))
		},
	}
}

// engine implements shared.Engine.
type engine struct {
	*shared.SQL
	unsafe  []string                // accepted although they are unsafe
	what    string                  // for messages, without a password
	flavour atomic.Pointer[flavour] // stored by check
}

// open returns an engine for mysql://USER:PASSWORD@HOST:PORT/DATABASE?… The first call
// connects. Every new connection checks how durable the database is. unsafe names
// settings that are accepted all the same: innodb_flush_log_at_trx_commit,
// innodb_doublewrite, sync_binlog, engine.
func open(url string, unsafe []string) (*engine, error) {
	c, err := dsn.MySQL(url)
	if err != nil {
		return nil, err
	}
	if c.DBName == "" {
		return nil, errors.New("the URL names no database")
	}
	e := &engine{unsafe: unsafe, what: fmt.Sprintf("mysql://%s@%s/%s", c.User, c.Addr, c.DBName)}
	c.MultiStatements = true
	c.InterpolateParams = true
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	// The statements rely on strict mode: a value that does not fit is an error and is
	// not adjusted. Each commits, and tells how many rows it changed.
	c.Params["sql_mode"], c.Params["autocommit"] = "'STRICT_ALL_TABLES'", "1"
	c.ClientFoundRows = false
	base, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	e.SQL = shared.OpenSQL(connector{base, e}, shared.SQLDialect{
		Time:      "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
		From:      " FROM DUAL",
		Epoch:     func() string { return e.flavour.Load().epoch },
		IgnoreOld: " ON DUPLICATE KEY UPDATE name = name",
		Put:       e.put,
		Retryable: func(err error) bool { n := number(err); return n == errDeadlock || n == errLockTimeout },
		Failure:   e.failure,
	})
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
func (e *engine) failure(ctx context.Context, err error) error {
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

// put runs a statement on the catalogue. It checks after it that the database is
// still durable.
func (e *engine) put(ctx context.Context, c *sql.Conn, statement string, args ...any) (written bool, err error) {
	result, err := c.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	var epoch sql.NullString
	if err := c.QueryRowContext(ctx, e.flavour.Load().afterCommit).Scan(&epoch); err != nil {
		return false, err
	}
	if !epoch.Valid {
		return false, e.becameUnsafe(ctx, c)
	}
	changed, err := result.RowsAffected()
	return changed == 1, err
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
			a.Key, a.Epoch, a.AtLeast, a.Bound(), a.Epoch, a.From)
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
	return append(args, a.Key, a.AtLeast, a.End(a.AtLeast), a.Count, a.Write, a.Owner, a.Now, token, a.AtLeast, a.Bound(), a.Epoch,
		a.Bound(), a.Epoch, a.From, full, a.Limit, a.N)
}

func (e *engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	// All servers lock keys in the same order, so that two rounds cannot deadlock.
	order := slices.SortedFunc(slices.Values(asks), func(a, b shared.Ask) int { return strings.Compare(a.Key, b.Key) })
	err = e.On(ctx, func(c *sql.Conn) error {
		db := e.flavour.Load()
		tokens := make(map[string][]byte, len(asks))
		var text strings.Builder
		var args, keys []any
		text.WriteString("START TRANSACTION;\n")
		for i := range order {
			a, token := &order[i], make([]byte, 16)
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
			err = e.becameUnsafe(ctx, c)
		}
		return err
	})
	return answers, err
}

// errUnsafe is returned by read if the epoch is NULL; see flavour.
var errUnsafe = errors.New("settings are not safe")

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
