package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

const (
	pgLockNotAvailable = "55P03" // SQLSTATE of a lock_timeout
	pgUsedUp           = "N0001" // raised by place; the message is the number that the column's type does not hold
)

// postgresSystem describes PostgreSQL. The key of the advisory lock is "shards".
var postgresSystem = system{
	folder: "postgres", dialect: goose.DialectPostgres, most: maxIncrementPostgres,
	tables:  "pg_tables WHERE schemaname = current_schema() AND tablename",
	tryLock: fmt.Sprintf("SELECT pg_try_advisory_lock(%d)::int", 0x736861726473), unlock: "SELECT pg_advisory_unlock_all()",
	locked: "another migrate shards is at work on this database", hint: "Is the database given twice?",
}

// postgresShard is a shard on PostgreSQL.
type postgresShard struct{ *connection }

// begin implements database.
func (s postgresShard) begin(ctx context.Context) error {
	var version, path string
	var schema bool
	err := s.conn.QueryRowContext(ctx, "SELECT current_setting('server_version'), set_config('lock_timeout', '5s', false), current_setting('search_path'), current_schema() IS NOT NULL").
		Scan(&version, new(string), &path, &schema)
	if err == nil && !schema {
		err = &Error{What: "there is no schema of search_path " + path, Hint: `Write a schema with capitals, dots or blanks in double quotes: ?search_path=%22Shop%22.`}
	}
	number, _, _ := strings.Cut(version, " ")
	s.title = "PostgreSQL " + number
	return err
}

// state implements database.
func (s postgresShard) state(ctx context.Context) (State, error) {
	st := State{Title: s.title}
	var replica bool
	if err := s.conn.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&replica); err != nil {
		return st, err
	}
	if replica {
		st.trouble = "the server is a standby"
	}
	if err := s.member(ctx, &st, ""); err != nil {
		return st, err
	}
	if st.Member != nil {
		st.Notes = append(st.Notes, "a table that is created later draws 1, 2, 3, … until up is run again")
	}
	return st, s.lines(ctx, &st)
}

// join implements database.
func (s postgresShard) join(ctx context.Context, m Member) error {
	return s.exec(ctx, fmt.Sprintf(`INSERT INTO nextid_shard VALUES (true, '%s', %d, %d, %d, %d)
		ON CONFLICT (one) DO UPDATE SET number = excluded.number, members = excluded.members, first_number = excluded.first_number, increment = excluded.increment`,
		m.Set, m.Number, m.Of, m.Has.Offset, m.Has.Increment))
}

// assign implements database. Sessions use up their cached numbers. These are below
// the sequence's last_value, and so below all numbers that start gives to other
// shards.
func (s postgresShard) assign(ctx context.Context, lines []Line, has Progression) error {
	return s.together(ctx, func() error {
		for _, l := range lines {
			if l.Draws != has && l.trouble == "" {
				err := s.place(ctx, l, has, 0)
				if err != nil && !errors.Is(err, errUsedUp) { // start reports errUsedUp
					return err
				}
			}
		}
		return nil
	})
}

// together implements database. It sets synchronous_commit off for f. The last
// commit, a synchronous one, makes the earlier ones durable.
func (s postgresShard) together(ctx context.Context, f func() error) error {
	if s.dry != nil {
		return f()
	}
	err := s.exec(ctx, "SET synchronous_commit = off")
	if err == nil {
		err = f()
	}
	return errors.Join(err, s.exec(ctx, "SET synchronous_commit = on; UPDATE nextid_shard SET number = number"))
}

// able implements database. It checks nothing: without the rights, install or the
// first ALTER SEQUENCE fails and changes nothing.
func (s postgresShard) able(context.Context) error { return nil }

// unsettle implements database.
func (s postgresShard) unsettle(ctx context.Context) error {
	return s.exec(ctx, "UPDATE nextid_shard_lines SET started = NULL")
}

// older implements database.
func (s postgresShard) older(context.Context) ([]session, error) { return nil, nil }

// kill implements database.
func (s postgresShard) kill(context.Context, session) error { return nil }

// start implements database.
func (s postgresShard) start(ctx context.Context, l Line, has Progression, least int64) error {
	return s.place(ctx, l, has, least)
}

// place makes a sequence draw the numbers of a progression, from least on and above
// all that it has drawn. With a least of 0, it does not start the line.
func (s postgresShard) place(ctx context.Context, l Line, has Progression, least int64) error {
	note := `INSERT INTO nextid_shard_lines (sequence, before_start, before_increment)
		SELECT ` + appdb.Literal(l.sequence) + `, seqstart, 1 FROM pg_sequence WHERE seqrelid = ` + appdb.Literal(l.sequence) + `::regclass
		ON CONFLICT (sequence) DO NOTHING`
	started := " SET started = greatest(started, first) WHERE started IS NOT NULL AND sequence = " // numbers of its former progression are below first
	if least > 0 {
		started = fmt.Sprintf(" SET started = %d WHERE sequence = ", least)
	}
	if s.dry != nil {
		return s.showPlace(ctx, l, has, least, note, started)
	}
	// One statement is one transaction and one round trip. The first ALTER blocks
	// nextval until the end, so that last_value does not change.
	place := fmt.Sprintf(`DO $nextid$
		DECLARE first numeric;
		BEGIN
			%[1]s;
			ALTER SEQUENCE %[2]s INCREMENT BY %[3]d;
			SELECT greatest(last_value::numeric + is_called::int, %[4]d, %[5]d) INTO first FROM %[2]s;
			first := first + mod(mod(%[5]d - first, %[3]d) + %[3]d, %[3]d);
			IF first > %[6]d THEN RAISE EXCEPTION USING ERRCODE = '%[7]s', MESSAGE = first::text; END IF;
			EXECUTE format('ALTER SEQUENCE %%s START WITH %%s RESTART WITH %%s', %[8]s, first, first);
			UPDATE nextid_shard_lines%[9]s%[8]s;
		END $nextid$`, note, l.sequence, has.Increment, least, has.Offset, l.Most, pgUsedUp, appdb.Literal(l.sequence), started)
	for deadline := time.Now().Add(s.wait); ; {
		err := s.exec(ctx, place)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == pgUsedUp {
			first, _ := strconv.ParseInt(e.Message, 10, 64) // MaxInt64 if out of range
			return usedUp(l, first)
		}
		if !appdb.PostgresSays(err, pgLockNotAvailable) || time.Now().After(deadline) {
			return err
		}
	}
}

// showPlace writes the statements of place for a dry run, with the sequence's
// present position.
func (s postgresShard) showPlace(ctx context.Context, l Line, has Progression, least int64, note, started string) error {
	first, ok := has.first(max(l.free, least))
	if !ok || first > l.Most {
		return usedUp(l, first)
	}
	statements := []string{note, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d START WITH %d RESTART WITH %d", l.sequence, has.Increment, first, first)}
	if least > 0 {
		statements = append(statements, "UPDATE nextid_shard_lines"+started+appdb.Literal(l.sequence))
	}
	return s.exec(ctx, statements...)
}

// restore implements database. It does not move sequences, and skips those that were
// dropped.
func (s postgresShard) restore(ctx context.Context) error {
	if there, err := s.noted(ctx); err != nil || !there {
		return err
	}
	statements, err := appdb.Texts(ctx, s.conn, `SELECT format('ALTER SEQUENCE %s INCREMENT BY %s START WITH %s', sequence, before_increment, before_start)
		FROM nextid_shard_lines WHERE to_regclass(sequence) IS NOT NULL ORDER BY sequence`)
	if err != nil {
		return err
	}
	if err := s.exec(ctx, statements...); err != nil {
		return err
	}
	return s.remove(ctx)
}

// settings implements database. In PostgreSQL the settings outlast a restart.
func (s postgresShard) settings(context.Context, io.Writer, Progression) error { return nil }
