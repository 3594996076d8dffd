package shards

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// postgresLock is the advisory lock of whoever changes a shard: "shards".
const postgresLock int64 = 0x736861726473

// pgLockNotAvailable is the SQLSTATE of a lock_timeout.
const pgLockNotAvailable = "55P03"

// postgresShard is a shard on PostgreSQL.
type postgresShard struct {
	*connection
	title string
	wait  time.Duration
}

func openPostgres(ctx context.Context, dsn string, o Options) (database, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil { // pgx takes the password out
		return nil, &Error{What: err.Error(), Hint: "Write --dsn postgres://USER@HOST:5432/DATABASE.", Err: err}
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // scripts hold several statements
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["application_name"] = "nextid migrate"
	config.RuntimeParams["client_min_messages"] = "warning"
	c, err := connect(ctx, stdlib.OpenDB(*config), "postgres", goose.DialectPostgres, o.dry)
	if err != nil {
		return nil, explainPostgres(err)
	}
	s := &postgresShard{connection: c, wait: o.Wait}
	var version string
	err = c.conn.QueryRowContext(ctx, "SELECT current_setting('server_version'), set_config('lock_timeout', '5s', false)").Scan(&version, new(string))
	if err != nil {
		return nil, errors.Join(explainPostgres(err), s.Close())
	}
	number, _, _ := strings.Cut(version, " ")
	s.title = "PostgreSQL " + number
	if o.Scope != "" {
		return nil, errors.Join(&Error{
			What: "--scope is for MySQL and MariaDB",
			Hint: "In PostgreSQL the increment belongs to the sequence and lasts.",
		}, s.Close())
	}
	return s, nil
}

// lock implements database.
func (s *postgresShard) lock(ctx context.Context) error {
	var got bool
	if err := s.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", postgresLock).Scan(&got); err != nil {
		return explainPostgres(err)
	}
	if !got {
		return &Error{What: "another migrate shards is at work on this database", Hint: "Is the database given twice?"}
	}
	s.unlock = "SELECT pg_advisory_unlock_all()"
	return nil
}

func (s *postgresShard) most() int64 { return maxIncrementPostgres }

// state implements database.
func (s *postgresShard) state(ctx context.Context) (State, error) {
	st, err := s.read(ctx)
	return st, explainPostgres(err)
}

func (s *postgresShard) read(ctx context.Context) (State, error) {
	st := State{Title: s.title}
	var replica, noted bool
	err := s.conn.QueryRowContext(ctx, "SELECT pg_is_in_recovery(), to_regclass('nextid_shard') IS NOT NULL AND to_regclass('nextid_shard_lines') IS NOT NULL").Scan(&replica, &noted)
	if err != nil {
		return st, err
	}
	if replica {
		st.trouble = "the server is a standby"
	}
	if noted {
		var m Member
		err := s.conn.QueryRowContext(ctx, "SELECT shards, number, members, first_number, increment FROM nextid_shard").
			Scan(&m.Set, &m.Number, &m.Of, &m.Has.Offset, &m.Has.Increment)
		switch {
		case err == nil:
			st.Member = &m
		case !errors.Is(err, sql.ErrNoRows):
			return st, err
		}
	}
	st.Lines, err = s.lines(ctx, noted)
	return st, err
}

// lines finds the columns that draw from a sequence: as serial and identity
// columns, and as DEFAULT nextval('…').
func (s *postgresShard) lines(ctx context.Context, noted bool) ([]Line, error) {
	started := "false"
	if noted {
		started = "EXISTS (SELECT FROM nextid_shard_lines n WHERE n.sequence = u.sequence::text AND n.started IS NOT NULL)"
	}
	rows, err := s.conn.QueryContext(ctx, `WITH used AS (
			SELECT d.objid::regclass AS sequence, d.refobjid AS tab, d.refobjsubid AS col
			FROM pg_depend d JOIN pg_class q ON q.oid = d.objid AND q.relkind = 'S'
			WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
			UNION
			SELECT d.refobjid::regclass, f.adrelid, f.adnum
			FROM pg_depend d JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
			JOIN pg_class q ON d.refclassid = 'pg_class'::regclass AND q.oid = d.refobjid AND q.relkind = 'S')
		SELECT u.sequence::text, quote_ident(t.relname), quote_ident(a.attname), format_type(a.atttypid, NULL),
			q.seqincrement, q.seqcycle, least(q.seqmax, CASE a.atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 ELSE q.seqmax END),
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
				AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum), `+started+`
		FROM used u JOIN pg_class t ON t.oid = u.tab JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = u.col
		JOIN pg_sequence q ON q.seqrelid = u.sequence
		WHERE t.relnamespace = current_schema()::regnamespace AND NOT t.relispartition AND t.relkind IN ('r', 'p') AND t.relname NOT LIKE 'nextid\_%'
		ORDER BY 2, 3`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []Line
	for rows.Next() {
		var l Line
		var table, column, kind string
		var cycles bool
		if err := rows.Scan(&l.sequence, &table, &column, &kind, &l.Draws.Increment, &cycles, &l.Most, &l.Unique, &l.Started); err != nil {
			return nil, err
		}
		l.Name, l.table, l.column = table+"."+column, table, column
		switch {
		case cycles:
			l.trouble = "its sequence has CYCLE and repeats itself"
		case l.Draws.Increment < 1:
			l.trouble = "its sequence goes down"
		case kind != "bigint" && kind != "integer" && kind != "smallint":
			l.trouble = "is of type " + kind + ", not an integer"
		}
		lines = append(lines, l)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range lines {
		if lines[i].trouble != "" {
			continue
		}
		if err := s.position(ctx, &lines[i]); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// position reads where a sequence and its column are.
func (s *postgresShard) position(ctx context.Context, l *Line) error {
	var last, greatest int64
	var called bool
	err := s.conn.QueryRowContext(ctx, "SELECT last_value, is_called, coalesce((SELECT max("+l.column+") FROM "+l.table+"), 0) FROM "+l.sequence).Scan(&last, &called, &greatest)
	if err != nil {
		return err
	}
	if last < 1 {
		l.trouble = "its sequence is below 1"
		return nil
	}
	l.Draws = through(last, l.Draws.Increment)
	l.free = last
	if called {
		l.free = beyond(last, 1)
	}
	l.next() // of the sequence, which does not know what is in the table
	l.free = max(l.free, beyond(greatest, 1))
	return nil
}

// beyond is n+by, or the greatest bigint.
func beyond(n, by int64) int64 {
	if n > math.MaxInt64-by {
		return math.MaxInt64
	}
	return n + by
}

// join implements database.
func (s *postgresShard) join(ctx context.Context, m Member) error {
	return explainPostgres(s.exec(ctx, fmt.Sprintf(`INSERT INTO nextid_shard VALUES (true, '%s', %d, %d, %d, %d)
		ON CONFLICT (one) DO UPDATE SET number = excluded.number, members = excluded.members, first_number = excluded.first_number, increment = excluded.increment`,
		m.Set, m.Number, m.Of, m.Has.Offset, m.Has.Increment)))
}

// assign implements database. Sessions that hold cached numbers use them up:
// those are below the sequence's last_value, and so below everything that
// start gives to others.
func (s *postgresShard) assign(ctx context.Context, lines []Line, has Progression) error {
	for _, l := range lines {
		if l.Draws == has {
			continue
		}
		if err := s.place(ctx, l, has, 0); err != nil {
			return explainPostgres(err)
		}
	}
	return nil
}

// older implements database.
func (s *postgresShard) older(context.Context) ([]session, error) { return nil, nil }

// kill implements database.
func (s *postgresShard) kill(context.Context, session) error { return nil }

// start implements database.
func (s *postgresShard) start(ctx context.Context, l Line, has Progression, least int64) error {
	if err := s.place(ctx, l, has, least); err != nil {
		return explainPostgres(err)
	}
	return explainPostgres(s.exec(ctx, "UPDATE nextid_shard_lines SET started = "+strconv.FormatInt(least, 10)+" WHERE sequence = "+literal(l.sequence)))
}

// place makes a sequence draw the numbers of a progression that are neither
// below least nor below what it has drawn.
func (s *postgresShard) place(ctx context.Context, l Line, has Progression, least int64) error {
	deadline := time.Now().Add(s.wait)
	for {
		err := s.tryPlace(ctx, l, has, least)
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pg.Code != pgLockNotAvailable || time.Now().After(deadline) {
			return err
		}
	}
}

func (s *postgresShard) tryPlace(ctx context.Context, l Line, has Progression, least int64) error {
	if s.dry != nil {
		first, ok := has.first(max(l.free, least))
		if !ok || first > l.Most {
			return usedUp(l, first)
		}
		return s.exec(ctx, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d START WITH %d RESTART WITH %d", l.sequence, has.Increment, first, first))
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, `INSERT INTO nextid_shard_lines (sequence, before_start, before_increment)
		SELECT `+literal(l.sequence)+`, seqstart, seqincrement FROM pg_sequence WHERE seqrelid = `+literal(l.sequence)+`::regclass
		ON CONFLICT (sequence) DO NOTHING`); err != nil {
		return err
	}
	// This one keeps nextval waiting until the transaction ends, so that the
	// position below is the last one.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d", l.sequence, has.Increment)); err != nil {
		return err
	}
	var last int64
	var called bool
	if err := tx.QueryRowContext(ctx, "SELECT last_value, is_called FROM "+l.sequence).Scan(&last, &called); err != nil {
		return err
	}
	next := last
	if called {
		next = beyond(last, 1)
	}
	first, ok := has.first(max(next, least))
	if !ok || first > l.Most {
		return usedUp(l, first)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER SEQUENCE %s START WITH %d RESTART WITH %d", l.sequence, first, first)); err != nil {
		return err
	}
	return tx.Commit()
}

// restore implements database. Sequences stay where they are.
func (s *postgresShard) restore(ctx context.Context) error {
	return explainPostgres(s.undo(ctx))
}

func (s *postgresShard) undo(ctx context.Context) error {
	var noted bool
	err := s.conn.QueryRowContext(ctx, "SELECT to_regclass('nextid_shard_lines') IS NOT NULL").Scan(&noted)
	if err != nil || !noted {
		return err
	}
	statements, err := s.undoing(ctx)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	return s.remove(ctx)
}

// undoing writes the statements that bring the sequences back that are still
// there.
func (s *postgresShard) undoing(ctx context.Context) ([]string, error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT format('ALTER SEQUENCE %s INCREMENT BY %s START WITH %s', sequence, before_increment, before_start)
		FROM nextid_shard_lines WHERE to_regclass(sequence) IS NOT NULL ORDER BY sequence`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var statements []string
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return nil, err
		}
		statements = append(statements, statement)
	}
	return statements, rows.Err()
}

// Settings implements database: in PostgreSQL they last.
func (s *postgresShard) Settings(io.Writer, string, Progression) error { return nil }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// explainPostgres turns an answer of the server into one line with a hint.
func explainPostgres(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	hint := pg.Hint
	switch pg.Code {
	case pgLockNotAvailable:
		hint = "A transaction holds the sequence. Run it again when that has ended, or with a longer --wait."
	case "42501":
		hint = "Log in as the owner of the sequences, who may also create tables in the schema."
	}
	return &Error{What: fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code), Hint: hint, Err: err}
}
