package shards

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"

	"nextid/migrations/appdb"
)

// ownTables lists goose's tables for shards and for a store, which are not lines.
const ownTables = "('" + versionTable + "', 'nextid_schema_version')"

// lines reads the sequences of the current schema, with the columns that draw from
// them: serial and identity columns, and columns with DEFAULT nextval('…').
// Hibernate's sequences are matched by name.
func (s postgresShard) lines(ctx context.Context, st *State) error {
	note := "SELECT NULL::text AS sequence, NULL::bigint AS started"
	there, err := s.noted(ctx)
	if err != nil {
		return err
	}
	if there {
		note = "SELECT sequence, started FROM nextid_shard_lines"
	}
	err = appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
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
		LEFT JOIN note o ON o.sequence = c.oid::regclass::text
		WHERE n.nspname = current_schema()
			AND (t.oid IS NULL OR t.relname NOT IN `+ownTables+`)
			AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
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
		l.next() // from the sequence alone: it draws without regard to the table
		l.free, l.empty = max(l.free, appdb.Plus(row, 1)), row < 1
		return nil
	})
}
