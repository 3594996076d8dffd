package shards

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

// pgUsedUp is raised by start. The message is the number that the column's type does
// not hold.
const pgUsedUp = "N0001"

// postgresSystem describes PostgreSQL. The key of the advisory lock is "shards". The
// commit of last is synchronous, and makes the earlier ones of together durable.
var postgresSystem = system{
	folder: "postgres", dialect: goose.DialectPostgres, most: maxIncrementPostgres,
	tables:  "pg_class WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace AND relname",
	tryLock: fmt.Sprintf("SELECT pg_try_advisory_lock(%d)::int", int64(0x736861726473)), unlock: "SELECT pg_advisory_unlock_all()",
	first: "SET synchronous_commit = off", last: "SET synchronous_commit = on; UPDATE nextid_shard SET number = number",
	fits:   "SELECT pg_typeof(sequence) = 'regclass'::regtype FROM (SELECT 1) AS one LEFT JOIN nextid_shard_lines ON true LIMIT 1",
	locked: "another migrate shards is at work on this database", hint: "Is the database given twice?",
	unsettle: "UPDATE nextid_shard_lines SET started = NULL",
	unfit:    "SELECT CASE WHEN pg_is_in_recovery() THEN 'the server is a standby' ELSE '' END",
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
	if err := s.member(ctx, &st, ""); err != nil {
		return st, err
	}
	if st.Member != nil {
		st.Notes = append(st.Notes, "a table that is created later draws 1, 2, 3, … until up is run again")
	}
	err := s.lines(ctx, &st)
	return st, err
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
				err := s.start(ctx, l, has, 0)
				if err != nil && !errors.Is(err, errUsedUp) { // start reports errUsedUp
					return hints.At(l.Name, err)
				}
			}
		}
		return nil
	})
}

// able implements database. It checks nothing: without the rights, install or the
// first ALTER SEQUENCE fails and changes nothing.
func (s postgresShard) able(context.Context) error { return nil }

// older implements database.
func (s postgresShard) older(context.Context) ([]session, error) { return nil, nil }

// start implements database. The sequence draws the numbers of a progression, from
// least on and above all that it has drawn. With a least of 0, the line does not count
// as started.
func (s postgresShard) start(ctx context.Context, l Line, has Progression, least int64) error {
	note := `INSERT INTO nextid_shard_lines (sequence, before_start, before_increment)
		SELECT seqrelid, seqstart, 1 FROM pg_sequence WHERE seqrelid = ` + appdb.Literal(l.sequence) + `::regclass
		ON CONFLICT (sequence) DO NOTHING`
	started := " SET started = greatest(started, first) WHERE started IS NOT NULL AND sequence = " // numbers of its former progression are below first
	if least > 0 {
		started = fmt.Sprintf(" SET started = greatest(started, %d) WHERE sequence = ", least) // two tables may share it
	}
	if first, ok := has.first(max(l.free, least)); s.dry != nil && (!ok || first > l.Most) {
		return usedUp(l, first)
	}
	// One statement is one transaction and one round trip. The first ALTER blocks
	// nextval until the end, so that last_value does not change.
	err := s.patiently(ctx, fmt.Sprintf(`DO $nextid$
		DECLARE first numeric;
		BEGIN
			%[1]s;
			ALTER SEQUENCE %[2]s INCREMENT BY %[3]d;
			SELECT greatest(last_value::numeric + is_called::int, %[4]d, %[5]d) INTO first FROM %[2]s;
			first := first + mod(mod(%[5]d - first, %[3]d) + %[3]d, %[3]d);
			IF first > %[6]d THEN RAISE EXCEPTION USING ERRCODE = '%[7]s', MESSAGE = first::text; END IF;
			EXECUTE format('ALTER SEQUENCE %%s START WITH %%s RESTART WITH %%s', %[8]s, first, first);
			UPDATE nextid_shard_lines%[9]s%[8]s::regclass;
		END $nextid$`, note, l.sequence, has.Increment, least, has.Offset, l.Most, pgUsedUp, appdb.Literal(l.sequence), started))
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == pgUsedUp {
		first, _ := strconv.ParseInt(e.Message, 10, 64) // MaxInt64 if out of range
		return usedUp(l, first)
	}
	return err
}

// restore implements database. It does not move sequences, and skips those that were
// dropped. The start of a fed sequence is in its block.
func (s postgresShard) restore(ctx context.Context) error {
	statements, err := appdb.Texts(ctx, s.conn, `SELECT format('ALTER SEQUENCE %s INCREMENT BY %s', sequence, before_increment)
		|| CASE WHEN `+notFed("sequence")+` THEN format(' START WITH %s', before_start) ELSE '' END
		FROM nextid_shard_lines JOIN pg_class ON oid = sequence ORDER BY relname`)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := s.exec(ctx, statement); err != nil {
			return hints.At(statement, err)
		}
	}
	return nil
}

// ownTables lists goose's tables for shards and for a store, which are not lines.
const ownTables = "('" + versionTable + "', 'nextid_schema_version')"

// notFed is a condition on the id of a sequence: package feed does not move it.
func notFed(id string) string {
	return "coalesce(obj_description(" + id + ", 'pg_class'), '') NOT LIKE '" + appdb.FeedNote + "%'"
}

// lines reads the sequences of the current schema that are not fed, with the columns
// that draw from them: serial and identity columns, and columns with DEFAULT
// nextval('…'). Hibernate's sequences are matched by name.
func (s postgresShard) lines(ctx context.Context, st *State) error {
	note := "SELECT NULL::regclass AS sequence, NULL::bigint AS started"
	if st.Member != nil {
		note = "SELECT sequence, started FROM nextid_shard_lines"
	}
	err := appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		var l Line
		var schema, name, table, tableSchema, column, kind string
		var cycles bool
		if err := rows.Scan(&l.sequence, &schema, &name, &tableSchema, &table, &column, &kind, &l.Draws.Increment, &cycles, &l.Most,
			&l.Unique, &l.noted, &l.Started, &l.since, &l.replicated); err != nil {
			return err
		}
		l.sequencePath = []string{schema, name}
		l.Name, l.path = pgName(name), l.sequencePath
		if table != "" {
			l.Name, l.path = pgName(table)+"."+pgName(column), []string{tableSchema, table, column}
		}
		switch kind {
		case "bigint", "integer", "smallint":
			l.table, l.column = pgx.Identifier{tableSchema, table}.Sanitize(), pgx.Identifier{column}.Sanitize()
		case "":
			st.missed = append(st.missed, missed{l.path, "the rows that take their ids from the sequence " + l.Name + ", which no column names"})
		default:
			st.missed = append(st.missed, missed{l.path, "the rows of " + l.Name + ", which is of type " + kind})
		}
		switch {
		case cycles:
			l.trouble = "its sequence has CYCLE and repeats itself"
		case l.Draws.Increment < 1:
			l.trouble = "its sequence goes down"
		}
		st.Lines = append(st.Lines, l)
		return nil
	}, `WITH every_use AS (
			SELECT d.objid AS sequence, d.refobjid AS tab, d.refobjsubid AS col
			FROM pg_depend d JOIN pg_class q ON q.oid = d.objid AND q.relkind = 'S'
			WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
			UNION
			SELECT d.refobjid, f.adrelid, f.adnum
			FROM pg_depend d JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
			JOIN pg_class q ON d.refclassid = 'pg_class'::regclass AND q.oid = d.refobjid AND q.relkind = 'S'
			UNION
			SELECT q.oid, t.oid, i.indkey[0] -- Hibernate's: the table's name and _seq
			FROM pg_class q JOIN pg_class t ON t.relnamespace = q.relnamespace AND t.relkind IN ('r', 'p') AND lower(q.relname) = lower(t.relname) || '_seq'
			JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary AND i.indnatts = 1
			JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0] AND NOT a.atthasdef AND a.attidentity = ''
				AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
			WHERE q.relkind = 'S'),
		used AS ( -- of a partition only where it has a sequence of its own
			SELECT u.* FROM every_use u JOIN pg_class t ON t.oid = u.tab AND t.relkind IN ('r', 'p')
			WHERE NOT t.relispartition OR NOT EXISTS (SELECT FROM every_use o JOIN pg_class w ON w.oid = o.tab
				WHERE o.sequence = u.sequence AND w.relkind IN ('r', 'p') AND NOT w.relispartition)),
		note AS (`+note+`)
		SELECT c.oid::regclass::text, n.nspname, c.relname, coalesce(tn.nspname, ''), coalesce(t.relname, ''), coalesce(a.attname, ''), coalesce(format_type(a.atttypid, NULL), ''),
			q.seqincrement, q.seqcycle, least(q.seqmax, CASE a.atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 ELSE q.seqmax END),
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
				AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
			o.sequence IS NOT NULL, o.started IS NOT NULL, coalesce(o.started, 0),
			-- Before PostgreSQL 14 only superusers may read pg_subscription.oid.
			EXISTS (SELECT FROM pg_subscription_rel r JOIN pg_stat_subscription v ON v.subid = r.srsubid JOIN pg_subscription p ON p.subname = v.subname
				JOIN pg_database d ON d.oid = p.subdbid WHERE r.srrelid = t.oid AND d.datname = current_database() AND p.subenabled)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_sequence q ON q.seqrelid = c.oid
		LEFT JOIN used u ON u.sequence = c.oid
		LEFT JOIN pg_class t ON t.oid = u.tab LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
		LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = u.col
		LEFT JOIN note o ON o.sequence = c.oid
		WHERE n.nspname = current_schema()
			AND (t.oid IS NULL OR t.relname NOT IN `+ownTables+`)
			AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
			AND `+notFed("c.oid")+`
		ORDER BY 5, 6, 3`)
	if err != nil {
		return err
	}
	var others string
	err = s.conn.QueryRowContext(ctx, `SELECT coalesce(string_agg(DISTINCT quote_ident(n.nspname), ', '), '') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'S' AND n.nspname NOT IN (current_schema(), 'nextid') AND n.nspname NOT LIKE 'pg\_t%'`).Scan(&others)
	if err != nil {
		return err
	}
	if others != "" {
		st.Notes = append(st.Notes, "schemas with sequences beside this one: "+others+" (?search_path=SCHEMA in the URL)")
	}
	return s.positions(ctx, st)
}

// pgName returns a name as psql shows it, quoted if needed.
func pgName(name string) string {
	if plain.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

var plain = regexp.MustCompile(`^[a-z_][a-z0-9_$]*$`)

// positions reads the positions of the sequences and the greatest ids of their
// columns.
func (s postgresShard) positions(ctx context.Context, st *State) error {
	var selects []string
	replicated := 0
	for i, l := range st.Lines {
		if l.replicated {
			replicated++
		}
		if l.trouble != "" {
			continue
		}
		greatest := "0"
		if l.column != "" {
			greatest = "coalesce((SELECT max(" + l.column + ") FROM " + l.table + "), 0)"
		}
		selects = append(selects, fmt.Sprintf("SELECT %d, last_value, is_called, %s FROM %s", i, greatest, l.sequence))
	}
	if replicated > 0 {
		st.Notes = append(st.Notes, fmt.Sprintf("tables with subscriptions of logical replication: %d, whose rows may be of other shards", replicated))
	}
	return s.selectAll(ctx, selects, func(rows *sql.Rows) error {
		var i int
		var last, row int64
		var called bool
		if err := rows.Scan(&i, &last, &called, &row); err != nil {
			return err
		}
		l := &st.Lines[i]
		if last < 1 {
			l.trouble = "its sequence is below 1"
			return nil
		}
		l.Draws = through(last, l.Draws.Increment)
		l.free = last
		if called {
			l.free = appdb.Plus(last, 1)
		}
		l.Next, _ = l.Draws.first(l.free) // from the sequence alone: it draws without regard to the table
		l.free = max(l.free, appdb.Plus(row, 1))
		return nil
	})
}
