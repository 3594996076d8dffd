package feed

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"nextid/migrations/appdb"
)

type mariadb struct{ *Sequence }

// drawsFrom matches nextval(…) in a DEFAULT.
var drawsFrom = regexp.MustCompile("(?i)nextval\\((`(?:[^`]|``)+`\\.`(?:[^`]|``)+`)\\)")

// find implements engine: the sequence is in the column's DEFAULT.
func (m mariadb) find(ctx context.Context, parts []string) error {
	var version, database string
	if err := m.db.QueryRowContext(ctx, "SELECT VERSION(), COALESCE(DATABASE(), '')").Scan(&version, &database); err != nil {
		return err
	}
	const instead = "Let each shard count in steps of its own (nextid migrate shards), or let a trigger ask nextid (nextid migrate foreign --fill)."
	if !strings.Contains(version, "MariaDB") {
		return &Error{What: "MySQL has no sequences: AUTO_INCREMENT has no bound that could be moved", Hint: instead}
	}
	all := append([]string{database}, parts...)
	if schema, name := all[len(all)-2], all[len(all)-1]; len(parts) < 3 {
		var there bool
		err := m.db.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = 'SEQUENCE'", schema, name).Scan(&there)
		if err != nil {
			return err
		}
		if there {
			m.use(schema, name)
			m.most, m.used = math.MaxInt64-1, "0"
			return nil
		}
	}
	if len(parts) < 2 {
		return &Error{What: "there is no sequence of this name", Hint: "Write TABLE.COLUMN."}
	}
	schema, table, column := all[len(all)-3], all[len(all)-2], all[len(all)-1]
	var kind, extra string
	var value sql.NullString
	err := m.db.QueryRowContext(ctx, `SELECT column_type, extra, column_default FROM information_schema.columns
		WHERE table_schema = ? AND table_name = ? AND column_name = ?`, schema, table, column).Scan(&kind, &extra, &value)
	found := drawsFrom.FindStringSubmatch(value.String)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &Error{What: "there is no such column", Hint: "Write TABLE.COLUMN or DATABASE.TABLE.COLUMN."}
	case err != nil:
		return err
	case strings.Contains(extra, "auto_increment"):
		return &Error{What: "the column is AUTO_INCREMENT, which has no bound that could be moved", Hint: "Give it a sequence: DEFAULT nextval(…). " + instead}
	case appdb.MostOfMySQL(kind) == 0:
		return &Error{What: "the column is of type " + kind + ", not an integer"}
	case found == nil:
		return &Error{What: "the column has no sequence", Hint: "Give it one: DEFAULT nextval(…). " + instead}
	}
	_, path, _ := appdb.SplitName(found[1])
	m.use(path[0], path[1])
	m.most = min(appdb.MostOfMySQL(kind), math.MaxInt64-1)
	m.used = fmt.Sprintf("(SELECT COALESCE(MAX(%[1]s), 0) FROM %[2]s.%[3]s WHERE %[1]s <= 9223372036854775807)", appdb.QuoteMySQL(column), appdb.QuoteMySQL(schema), appdb.QuoteMySQL(table))
	return nil
}

// use sets the name of a sequence of MariaDB.
func (s *Sequence) use(schema, name string) {
	s.path, s.name = []string{schema, name}, appdb.QuoteMySQL(schema)+"."+appdb.QuoteMySQL(name)
}

// read implements engine. Numbers in the server's cache count as drawn. The server
// ends the wait for a lock itself: it does not notice that a client has gone.
func (m mariadb) read(ctx context.Context, q appdb.Querier) (State, error) {
	st := State{Most: m.most}
	var comment string
	var now int64
	err := q.QueryRowContext(ctx, fmt.Sprintf(`SET STATEMENT lock_wait_timeout = %d FOR SELECT v.next_not_cached_value, v.minimum_value, v.maximum_value, v.increment, v.cycle_option, v.cache_size, t.table_comment, UNIX_TIMESTAMP() FROM %s v, information_schema.tables t
			WHERE t.table_schema = ? AND t.table_name = ?`, lockLimit, m.name), m.path[0], m.path[1]).
		Scan(&st.Next, &st.First, &st.Last, &st.Increment, &st.Cycle, &st.Cache, &comment, &now)
	st.Note, st.Now = readNote(comment), time.Unix(now, 0)
	if st.Increment == 0 { // INCREMENT BY 0: the server's auto_increment_increment applies
		st.Increment = 1
	}
	return st, err
}

// locked implements engine.
func (m mariadb) locked(ctx context.Context, f func(appdb.Querier) error) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // closes the session, and so ends its locks
	}()
	var got sql.NullBool
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", idleLimit)); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+appdb.LiteralMySQL("nextid "+m.name[:min(len(m.name), 50)])+", 0)").Scan(&got); err != nil {
		return err
	}
	if !got.Bool {
		return errBusy
	}
	return f(conn)
}

// patience implements engine. lock_wait_timeout is in whole seconds. With 0 a
// statement does not queue for the lock, so inserts do not wait behind it. Only LOCK
// TABLES waits: the statements after it need no other lock.
func (m mariadb) patience(wait time.Duration) []string {
	return []string{fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(wait.Seconds())), "LOCK TABLES " + m.name + " WRITE"}
}

// comment implements engine.
func (m mariadb) comment(text string) string {
	return "ALTER TABLE " + m.name + " COMMENT = " + appdb.LiteralMySQL(text)
}
