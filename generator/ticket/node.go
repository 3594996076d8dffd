package ticket

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// node is the access to one database. Its methods are called one at a time.
type node interface {
	// prepare connects, and creates the table if it is missing.
	prepare(ctx context.Context) error
	// draw takes up to n tickets. They rise, with gaps if others draw meanwhile.
	draw(ctx context.Context, n int64) ([]generator.Range, error)
	// raise makes all later tickets, for every client, greater than v. It never makes
	// them less.
	raise(ctx context.Context, v int64) error
	close()
}

// newNode returns the node of a database. table names the table, the sequence or
// the key.
func newNode(l Location, table string, s series, p Passwords) (node, error) {
	name, err := l.System.QuoteName(table)
	if err != nil {
		return nil, err
	}
	switch l.System {
	case MySQL:
		// Each session sets its own series, so that the server's settings do not matter.
		db, err := l.OpenSQL(p, map[string]string{
			"auto_increment_increment": strconv.FormatInt(s.increment, 10), "auto_increment_offset": strconv.FormatInt(s.offset, 10),
			"sql_mode": "'STRICT_ALL_TABLES'",
		})
		return &mysqlNode{session: session{db: db}, table: name, series: s}, err
	case Postgres:
		db, err := l.OpenSQL(p, nil)
		return &postgresNode{session: session{db: db}, sequence: name, series: s}, err
	}
	return &redisNode{location: l, passwords: p, key: table, series: s}, nil
}

// session is one connection to an SQL database. A broken connection is not replaced
// automatically, since the database may have changed: source.connect must run
// again.
type session struct {
	db   *sql.DB
	conn *sql.Conn
}

// connect makes a new session.
func (s *session) connect(ctx context.Context) (err error) {
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn, err = s.db.Conn(ctx)
	return err
}

func (s *session) close() {
	if s.conn != nil {
		s.conn.Close()
	}
	s.db.Close()
}

// mysqlNode is Flickr's table: one row, which each ticket replaces.
type mysqlNode struct {
	session
	table string
	series
}

// maxRows bounds the rows of one REPLACE.
const maxRows = 1000

// prepare creates the table if it is missing. Otherwise no right to create tables is
// needed.
func (n *mysqlNode) prepare(ctx context.Context) error {
	if err := n.connect(ctx); err != nil {
		return err
	}
	var one int
	err := n.conn.QueryRowContext(ctx, "SELECT 1 FROM "+n.table+" LIMIT 1").Scan(&one)
	if appdb.Says(err, noSuchTable) {
		_, err = n.conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+n.table+` (
id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, stub CHAR(1) NOT NULL DEFAULT '', UNIQUE KEY stub (stub)) ENGINE=InnoDB`)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return err
}

// Error numbers of MySQL.
const (
	noSuchTable  = "1146"
	duplicateKey = "1062"
	deadlock     = "1213"
)

// draw replaces the row up to maxRows times with one statement.
func (n *mysqlNode) draw(ctx context.Context, count int64) ([]generator.Range, error) {
	count = min(count, maxRows)
	// InnoDB gives consecutive numbers to the rows of one statement, in every
	// innodb_autoinc_lock_mode. LAST_INSERT_ID() is the first of them.
	text := "REPLACE INTO " + n.table + " (stub) VALUES ('a')" + strings.Repeat(",('a')", int(count-1))
	var err error
	for range 3 { // a deadlock with others that replace the row rolls the statement back
		var r sql.Result
		if r, err = n.conn.ExecContext(ctx, text); err == nil {
			first, err := r.LastInsertId()
			return []generator.Range{{First: first, Step: n.increment, Count: count}}, err
		}
		if !appdb.Says(err, deadlock) {
			break
		}
	}
	return nil, err
}

// raise inserts a number and deletes the row again. The table's counter stays above
// that number, which is not issued.
func (n *mysqlNode) raise(ctx context.Context, v int64) error {
	if v < n.offset {
		return nil // a new table begins at the offset
	}
	tx, err := n.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	var newest int64
	if err := tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(id), 0) FROM "+n.table).Scan(&newest); err != nil {
		return err
	}
	if newest > v {
		return nil
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO "+n.table+" (id, stub) VALUES (?, 'r')", n.above(v))
	if appdb.Says(err, duplicateKey) {
		return nil // another server has raised it to the same number
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+n.table+" WHERE stub = 'r'"); err != nil {
		return err
	}
	return tx.Commit()
}

// postgresNode draws from a sequence.
type postgresNode struct {
	session
	sequence string
	series
}

// prepare creates the sequence if it is missing.
func (n *postgresNode) prepare(ctx context.Context) error {
	if err := n.connect(ctx); err != nil {
		return err
	}
	var there bool
	if err := n.conn.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", n.sequence).Scan(&there); err != nil || there {
		return err
	}
	_, err := n.conn.ExecContext(ctx, fmt.Sprintf("CREATE SEQUENCE IF NOT EXISTS %s INCREMENT BY %d MINVALUE %d START WITH %d",
		n.sequence, n.increment, n.offset, n.offset))
	return err
}

// draw returns one Range per gapless run: other clients may draw in between.
func (n *postgresNode) draw(ctx context.Context, count int64) (runs []generator.Range, err error) {
	rows, err := n.conn.QueryContext(ctx, "SELECT nextval($1::regclass) FROM generate_series(1, $2::bigint)", n.sequence, count)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		runs = generator.AppendRun(runs, generator.Range{First: v, Step: n.increment, Count: 1})
	}
	return runs, rows.Err()
}

// raise locks the sequence with an ALTER SEQUENCE that changes nothing. It waits
// for other users of the sequence, and they wait for the end of the transaction.
func (n *postgresNode) raise(ctx context.Context, v int64) error {
	tx, err := n.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	var last int64
	read := func() error {
		return tx.QueryRowContext(ctx, "SELECT last_value FROM "+n.sequence).Scan(&last)
	}
	if err := read(); err != nil {
		return err
	}
	if last > v {
		return nil
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d", n.sequence, n.increment)); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	if last > v {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SELECT setval($1::regclass, $2, false)", n.sequence, n.above(v)); err != nil {
		return err
	}
	return tx.Commit()
}

// redisNode draws from a key with INCRBY.
type redisNode struct {
	location  Location
	passwords Passwords
	key       string
	series
	client *redis.Client
	conn   *redis.Conn // the only connection, like that of a session
}

// prepare makes a new client, since the connection may be broken.
func (n *redisNode) prepare(ctx context.Context) error {
	n.close()
	client, err := n.location.OpenRedis(n.passwords, nodeTimeout)
	if err != nil {
		return err
	}
	n.client, n.conn = client, client.Conn()
	return n.conn.Ping(ctx).Err()
}

// draw adds to the key. The key holds the last ticket.
func (n *redisNode) draw(ctx context.Context, count int64) ([]generator.Range, error) {
	if n.conn == nil {
		return nil, errors.New("not connected")
	}
	last, err := n.add(ctx, count*n.increment)
	return []generator.Range{{First: last - (count-1)*n.increment, Step: n.increment, Count: count}}, err
}

// add sends SETNX and INCRBY in one transaction. A Redis that lost the key begins its
// series again, and the caller detects that.
func (n *redisNode) add(ctx context.Context, by int64) (int64, error) {
	var last *redis.IntCmd
	_, err := n.conn.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.SetNX(ctx, n.key, n.offset-n.increment, 0)
		last = p.IncrBy(ctx, n.key, by)
		return nil
	})
	return last.Val(), err
}

// raise adds the difference. Two servers that do so at once skip some numbers.
func (n *redisNode) raise(ctx context.Context, v int64) error {
	target := n.above(v) - n.increment // the next ticket is above v
	have, err := n.conn.Get(ctx, n.key).Int64()
	if errors.Is(err, redis.Nil) {
		have, err = n.offset-n.increment, nil
	}
	if err == nil && have < target {
		_, err = n.add(ctx, target-have)
	}
	return err
}

func (n *redisNode) close() {
	if n.client != nil {
		n.conn.Close()
		n.client.Close()
		n.client, n.conn = nil, nil
	}
}

// nodeTimeout bounds one request to a database. After that the source uses the next
// database.
const nodeTimeout = 2 * time.Second
