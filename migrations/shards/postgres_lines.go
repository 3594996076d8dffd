package shards

import (
	"context"
	"math"
)

// ownTables are those with ids that nextid migrate makes in a database of
// others: where goose notes what it has applied for shards, and for a store.
const ownTables = "('" + versionTable + "', 'nextid_schema_version')"

// lines finds the sequences of the database, with the columns that draw from
// them: as serial and identity columns, and as DEFAULT nextval('…'). Those
// without a column are Hibernate's. In other schemas than the URL's they are
// only looked at.
func (s *postgresShard) lines(ctx context.Context, noted bool, st *State) error {
	note := "SELECT NULL::text AS sequence, NULL::bigint AS before_increment, NULL::bigint AS started"
	if noted {
		note = "SELECT sequence, before_increment, started FROM nextid_shard_lines"
	}
	rows, err := s.conn.QueryContext(ctx, `WITH every_use AS (
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
		SELECT c.oid::regclass::text, c.relnamespace = current_schema()::regnamespace, quote_ident(n.nspname), quote_ident(c.relname),
			coalesce(quote_ident(t.relname), ''), coalesce(quote_ident(tn.nspname), ''), coalesce(quote_ident(a.attname), ''), coalesce(format_type(a.atttypid, NULL), ''),
			q.seqincrement, q.seqcycle, least(q.seqmax, CASE a.atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 ELSE q.seqmax END),
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
				AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
			coalesce(o.before_increment, q.seqincrement), o.started IS NOT NULL, coalesce(o.started, 0)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_sequence q ON q.seqrelid = c.oid
		LEFT JOIN used u ON u.sequence = c.oid
		LEFT JOIN pg_class t ON t.oid = u.tab LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
		LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = u.col
		LEFT JOIN note o ON o.sequence = c.oid::regclass::text
		WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'nextid') AND n.nspname NOT LIKE 'pg\_t%'
			AND (t.oid IS NULL OR t.relname NOT IN `+ownTables+`)
			AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
		ORDER BY 2 DESC, 3, 5, 7, 4`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var lines []Line
	for rows.Next() {
		var l Line
		var schema, name, table, tableSchema, column, kind string
		var here, cycles bool
		if err := rows.Scan(&l.sequence, &here, &schema, &name, &table, &tableSchema, &column, &kind, &l.Draws.Increment, &cycles, &l.Most,
			&l.Unique, &l.stride, &l.Started, &l.since); err != nil {
			return err
		}
		l.Aside = !here
		if l.Name = name; table != "" {
			l.Name = table + "." + column
		}
		if l.Aside {
			l.Name = schema + "." + l.Name
		}
		switch kind {
		case "bigint", "integer", "smallint":
			l.table, l.column = tableSchema+"."+table, column
		case "":
			st.missed = append(st.missed, missed{l.Name, "the rows that take their ids from the sequence " + l.Name + ", which no column names"})
		default:
			st.missed = append(st.missed, missed{l.Name, "the rows of " + l.Name + ", which is of type " + kind})
		}
		const most = 1 << 30
		switch {
		case cycles:
			l.trouble = "its sequence has CYCLE and repeats itself"
		case l.Draws.Increment < 1:
			l.trouble = "its sequence goes down"
		case l.stride > most:
			l.trouble = "its sequence has too great an increment"
		}
		lines = append(lines, l)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		if l.trouble != "" {
			continue
		}
		err := s.position(ctx, l)
		if err != nil && l.Aside {
			l.trouble = "cannot be read"
			st.missed = append(st.missed, missed{l.Name, l.Name + ": " + explainPostgres(err).Error()})
			continue
		}
		if err != nil {
			return err
		}
	}
	st.Lines = lines
	return nil
}

// position reads where a sequence and its column are.
func (s *postgresShard) position(ctx context.Context, l *Line) error {
	greatest := "0"
	if l.column != "" {
		greatest = "coalesce((SELECT max(" + l.column + ") FROM " + l.table + "), 0)"
	}
	var last, row int64
	var called bool
	err := s.conn.QueryRowContext(ctx, "SELECT last_value, is_called, "+greatest+" FROM "+l.sequence).Scan(&last, &called, &row)
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
	l.free = max(l.free, beyond(row, 1))
	if l.stride > 1 { // a number stands for those up to the next, or for those before it
		l.free = beyond(l.free, 2*l.stride)
	}
	return nil
}

// beyond is n+by, or the greatest bigint.
func beyond(n, by int64) int64 {
	if n > math.MaxInt64-by {
		return math.MaxInt64
	}
	return n + by
}
