package shards

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
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
	db, err := appdb.OpenPostgres(dsn)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, db, appdb.NameOf(dsn), "postgres", goose.DialectPostgres, o.dry)
	if err != nil {
		return nil, err
	}
	s := &postgresShard{connection: c, wait: o.Wait}
	var version, path string
	var schema bool
	err = c.conn.QueryRowContext(ctx, "SELECT current_setting('server_version'), set_config('lock_timeout', '5s', false), current_setting('search_path'), current_schema() IS NOT NULL").
		Scan(&version, new(string), &path, &schema)
	if err == nil && !schema {
		err = &Error{What: "there is no schema of search_path " + path, Hint: `Write a schema with capitals, dots or blanks in double quotes: ?search_path=%22Shop%22.`}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	number, _, _ := strings.Cut(version, " ")
	s.title = "PostgreSQL " + number
	return s, nil
}

// lock implements database.
func (s *postgresShard) lock(ctx context.Context) error {
	var got bool
	if err := s.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", postgresLock).Scan(&got); err != nil {
		return err
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
			st.Notes = append(st.Notes, "a table that is created later draws 1, 2, 3, … until up is run again")
		case !errors.Is(err, sql.ErrNoRows):
			return st, err
		}
	}
	return st, s.lines(ctx, noted, &st)
}

// join implements database.
func (s *postgresShard) join(ctx context.Context, m Member) error {
	return s.exec(ctx, fmt.Sprintf(`INSERT INTO nextid_shard VALUES (true, '%s', %d, %d, %d, %d)
		ON CONFLICT (one) DO UPDATE SET number = excluded.number, members = excluded.members, first_number = excluded.first_number, increment = excluded.increment`,
		m.Set, m.Number, m.Of, m.Has.Offset, m.Has.Increment))
}

// assign implements database. Sessions that hold cached numbers use them up:
// those are below the sequence's last_value, and so below everything that
// start gives to others.
func (s *postgresShard) assign(ctx context.Context, lines []Line, has Progression) error {
	return s.together(ctx, func() error {
		for _, l := range lines {
			if l.Draws != has && l.trouble == "" {
				err := s.place(ctx, l, has, 0)
				if err != nil && !errors.Is(err, errUsedUp) { // start tells of those
					return err
				}
			}
		}
		return nil
	})
}

// together implements database: the last commit makes those before it durable,
// too.
func (s *postgresShard) together(ctx context.Context, f func() error) error {
	if s.dry != nil {
		return f()
	}
	err := s.exec(ctx, "SET synchronous_commit = off")
	if err == nil {
		err = f()
	}
	return errors.Join(err, s.exec(ctx, "SET synchronous_commit = on; UPDATE nextid_shard SET number = number"))
}

// able implements database: who may create the tables of the note may do the
// rest, or is told by the first statement, which changes nothing.
func (s *postgresShard) able(context.Context) error { return nil }

// unsettle implements database.
func (s *postgresShard) unsettle(ctx context.Context) error {
	return s.exec(ctx, "UPDATE nextid_shard_lines SET started = NULL")
}

// older implements database.
func (s *postgresShard) older(context.Context) ([]session, error) { return nil, nil }

// kill implements database.
func (s *postgresShard) kill(context.Context, session) error { return nil }

// start implements database.
func (s *postgresShard) start(ctx context.Context, l Line, has Progression, least int64) error {
	if err := s.place(ctx, l, has, least); err != nil {
		return err
	}
	return s.exec(ctx, "UPDATE nextid_shard_lines SET started = "+strconv.FormatInt(least, 10)+" WHERE sequence = "+appdb.Literal(l.sequence))
}

// place makes a sequence draw the numbers of a progression that are neither
// below least nor below what it has drawn.
func (s *postgresShard) place(ctx context.Context, l Line, has Progression, least int64) error {
	deadline := time.Now().Add(s.wait)
	for {
		err := s.tryPlace(ctx, l, has, least)
		if !appdb.PostgresSays(err, pgLockNotAvailable) || time.Now().After(deadline) {
			return err
		}
	}
}

func (s *postgresShard) tryPlace(ctx context.Context, l Line, has Progression, least int64) error {
	note := `INSERT INTO nextid_shard_lines (sequence, before_start, before_increment)
		SELECT ` + appdb.Literal(l.sequence) + `, seqstart, 1 FROM pg_sequence WHERE seqrelid = ` + appdb.Literal(l.sequence) + `::regclass
		ON CONFLICT (sequence) DO NOTHING`
	if s.dry != nil {
		first, ok := has.first(max(l.free, least))
		if !ok || first > l.Most {
			return usedUp(l, first)
		}
		if err := s.exec(ctx, note); err != nil {
			return err
		}
		return s.exec(ctx, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d START WITH %d RESTART WITH %d", l.sequence, has.Increment, first, first))
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, note); err != nil {
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
	// What it drew in its former progression lies below.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE nextid_shard_lines SET started = greatest(started, %d) WHERE started IS NOT NULL AND sequence = %s",
		first, appdb.Literal(l.sequence))); err != nil {
		return err
	}
	return tx.Commit()
}

// restore implements database. Sequences stay where they are; some may be gone.
func (s *postgresShard) restore(ctx context.Context) error {
	var noted bool
	err := s.conn.QueryRowContext(ctx, "SELECT to_regclass('nextid_shard_lines') IS NOT NULL").Scan(&noted)
	if err != nil || !noted {
		return err
	}
	statements, err := appdb.Texts(ctx, s.conn, `SELECT format('ALTER SEQUENCE %s INCREMENT BY %s START WITH %s', sequence, before_increment, before_start)
		FROM nextid_shard_lines WHERE to_regclass(sequence) IS NOT NULL ORDER BY sequence`)
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

// settings implements database: in PostgreSQL they last.
func (s *postgresShard) settings(context.Context, io.Writer, string, Progression) error { return nil }
