package feed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"nextid/migrations/appdb"
)

const erLockWaitTimeout = 1205

// readWait bounds how long a read waits for a feeder that moves the sequence, in
// seconds.
const readWait = 5

type mariadb struct{ *sql.DB }

func (m *mariadb) close() error { return m.DB.Close() }

// drawsFrom matches nextval(…) in a DEFAULT.
var drawsFrom = regexp.MustCompile("(?i)nextval\\(`([^`]+)`\\.`([^`]+)`\\)")

// find implements engine: the sequence is in the column's DEFAULT.
func (m *mariadb) find(ctx context.Context, s *Sequence, parts []string) error {
	var version, database string
	if err := m.QueryRowContext(ctx, "SELECT VERSION(), COALESCE(DATABASE(), '')").Scan(&version, &database); err != nil {
		return err
	}
	const instead = "Let each shard count in steps of its own (nextid migrate shards), or let a trigger ask nextid (nextid migrate foreign --fill)."
	if !strings.Contains(version, "MariaDB") {
		return &Error{What: "MySQL has no sequences: AUTO_INCREMENT has no bound that could be moved", Hint: instead}
	}
	schemaAnd := func(parts []string) (schema, name string) {
		if len(parts) == 1 {
			return database, parts[0]
		}
		return parts[0], parts[1]
	}
	if schema, name := schemaAnd(parts); len(parts) < 3 {
		var there bool
		err := m.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = 'SEQUENCE'", schema, name).Scan(&there)
		if err != nil {
			return err
		}
		if there {
			s.name, s.most, s.used = appdb.QuoteMySQL(schema)+"."+appdb.QuoteMySQL(name), "9223372036854775806", "0"
			return nil
		}
	}
	if len(parts) < 2 {
		return &Error{What: "there is no sequence of this name", Hint: "Write TABLE.COLUMN."}
	}
	schema, table := schemaAnd(parts[:len(parts)-1])
	column := parts[len(parts)-1]
	var kind, full, extra string
	var value sql.NullString
	err := m.QueryRowContext(ctx, `SELECT data_type, column_type, extra, column_default FROM information_schema.columns
		WHERE table_schema = ? AND table_name = ? AND column_name = ?`, schema, table, column).Scan(&kind, &full, &extra, &value)
	bits, integer := map[string]uint{"tinyint": 7, "smallint": 15, "mediumint": 23, "int": 31, "bigint": 63}[kind]
	if strings.Contains(full, "unsigned") && bits < 63 {
		bits++
	}
	found := drawsFrom.FindStringSubmatch(value.String)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &Error{What: "there is no such column", Hint: "Write TABLE.COLUMN or DATABASE.TABLE.COLUMN."}
	case err != nil:
		return err
	case strings.Contains(extra, "auto_increment"):
		return &Error{What: "the column is AUTO_INCREMENT, which has no bound that could be moved", Hint: "Give it a sequence: DEFAULT nextval(…). " + instead}
	case !integer:
		return &Error{What: "the column is of type " + full + ", not an integer"}
	case found == nil:
		return &Error{What: "the column has no sequence", Hint: "Give it one: DEFAULT nextval(…). " + instead}
	}
	s.name, s.most = appdb.QuoteMySQL(found[1])+"."+appdb.QuoteMySQL(found[2]), fmt.Sprint(min(uint64(1)<<bits-1, math.MaxInt64-1))
	s.used = fmt.Sprintf("(SELECT COALESCE(MAX(%[1]s), 0) FROM %[2]s.%[3]s WHERE %[1]s <= 9223372036854775807)", appdb.QuoteMySQL(column), appdb.QuoteMySQL(schema), appdb.QuoteMySQL(table))
	return nil
}

// read implements engine. Numbers in the server's cache count as drawn.
func (m *mariadb) read(ctx context.Context, q querier, s *Sequence) (st State, err error) {
	if q == nil {
		q = m
	}
	var comment string
	var now int64
	schema, name, _ := strings.Cut(s.name, "`.`")
	err = q.QueryRowContext(ctx, "SELECT v.next_not_cached_value, v.minimum_value, v.maximum_value, v.increment, v.cycle_option, v.cache_size, t.table_comment, "+s.most+
		", UNIX_TIMESTAMP() FROM "+s.name+" v, information_schema.tables t WHERE t.table_schema = ? AND t.table_name = ?",
		unquote(schema+"`"), unquote("`"+name)).
		Scan(&st.Next, &st.First, &st.Last, &st.Increment, &st.Cycle, &st.Cache, &comment, &st.Most, &now)
	if err != nil {
		return st, err
	}
	st.Note = readNote(comment)
	if st.Increment == 0 { // INCREMENT BY 0: the server's auto_increment_increment applies
		st.Increment = 1
	}
	st.Now = time.Unix(now, 0)
	return st, nil
}

func unquote(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "`"), "`"), "``", "`")
}

// move implements engine. The last statement moves the sequence. So after a lock
// timeout the sequence has not moved. If a move ends between the comment and the
// sequence, the two differ, and the next step moves again.
func (m *mariadb) move(ctx context.Context, s *Sequence, wait time.Duration, change func(State) (block, error)) error {
	conn, err := m.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	lock := appdb.LiteralMySQL("nextid " + s.name[:min(len(s.name), 50)])
	var got sql.NullBool
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+lock+", 0)").Scan(&got); err != nil {
		return err
	}
	if !got.Bool {
		return errBusy
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+lock+")") }()
	st, err := m.read(ctx, conn, s)
	if err != nil {
		return err
	}
	b, err := change(st)
	if err != nil || b == (block{}) {
		return err
	}
	return run(ctx, conn, wait, m.blockSQL(s, b))
}

// lockTable is the first statement of a change. Only it waits: those after it need
// no other lock.
func lockTable(s *Sequence) string { return "LOCK TABLES " + s.name + " WRITE" }

// run executes statements with a lock_wait_timeout of wait, in whole seconds. With 0
// a statement does not queue for the lock, so inserts do not wait behind it.
func run(ctx context.Context, conn *sql.Conn, wait time.Duration, statements []string) error {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(wait.Seconds()))); err != nil {
		return err
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "UNLOCK TABLES")
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("SET SESSION lock_wait_timeout = %d", readWait))
	}()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); appdb.MySQLSays(err, erLockWaitTimeout) {
			return errBusy
		} else if err != nil {
			return err
		}
	}
	return nil
}

// exec implements engine.
func (m *mariadb) exec(ctx context.Context, wait time.Duration, statements []string) error {
	conn, err := m.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return run(ctx, conn, wait, statements)
}

func (m *mariadb) blockSQL(s *Sequence, b block) []string {
	return []string{
		lockTable(s),
		"ALTER TABLE " + s.name + " COMMENT = " + appdb.LiteralMySQL(b.note.String()),
		fmt.Sprintf("ALTER SEQUENCE %s MINVALUE %d MAXVALUE %d START WITH %d RESTART WITH %d NOCYCLE", s.name, b.note.First, b.note.Last, b.note.First, b.note.First),
	}
}

func (m *mariadb) bound(s *Sequence, last int64) string {
	return fmt.Sprintf("ALTER SEQUENCE %s MAXVALUE %d NOCYCLE", s.name, last)
}

func (m *mariadb) plain(s *Sequence, n Note) []string {
	return []string{
		lockTable(s),
		fmt.Sprintf("ALTER SEQUENCE %s MINVALUE 1 NOMAXVALUE START WITH 1", s.name),
		"ALTER TABLE " + s.name + " COMMENT = " + appdb.LiteralMySQL(n.rest),
	}
}

func (m *mariadb) greatest(ctx context.Context, s *Sequence, n *int64) error {
	return m.QueryRowContext(ctx, "SELECT "+s.used).Scan(n)
}
