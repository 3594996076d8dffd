package ticket

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"nextid/generator"
)

// table is a table with an AUTO_INCREMENT column.
type table struct {
	*sql.Conn
	schema, bare string // as in information_schema; schema is an SQL expression
	prefix       string // SQL before names in the schema
	name         string // quoted
	column       string // quoted
	trigger      string // name of the fence
}

// readAutoIncrement takes over the numbers of a table's AUTO_INCREMENT column.
// CREATE TRIGGER waits for the transactions that use the table. After it the table
// issues no number.
func readAutoIncrement(ctx context.Context, d *takenDatabase) (p position, err error) {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return p, err
	}
	defer conn.Close()
	for _, statement := range shortWaits[d.System] {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return p, err
		}
	}
	t, err := d.findTable(ctx, conn)
	if err != nil {
		return p, err
	}
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = "+t.schema+
		" AND EVENT_OBJECT_TABLE = ? AND TRIGGER_NAME = ?", t.bare, t.trigger).Scan(&p.fenced)
	if err != nil {
		return p, err
	}
	if d.fence && !p.fenced {
		if _, err := conn.ExecContext(ctx, "CREATE TRIGGER "+t.prefix+"`"+t.trigger+"` BEFORE INSERT ON "+t.name+
			" FOR EACH ROW IF NEW."+t.column+" IS NULL OR NEW."+t.column+" = 0 THEN SIGNAL SQLSTATE '45000'"+
			" SET MESSAGE_TEXT = 'the ids of this table come from nextid now'; END IF"); err != nil {
			return p, err
		}
	}
	return p, t.position(ctx, &p)
}

// findTable reads the name of the AUTO_INCREMENT column.
func (d *takenDatabase) findTable(ctx context.Context, conn *sql.Conn) (*table, error) {
	name, err := d.System.QuoteName(d.key)
	if err != nil {
		return nil, err
	}
	t := &table{Conn: conn, name: name, schema: "DATABASE()", bare: d.key}
	if s, bare, ok := strings.Cut(d.key, "."); ok {
		t.schema, t.bare = "'"+s+"'", bare // letters, digits and _, as QuoteName has checked
		t.prefix = "`" + s + "`."
	}
	t.trigger = t.bare[:min(len(t.bare), 56)] + "_nextid"
	err = conn.QueryRowContext(ctx, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+t.schema+
		" AND TABLE_NAME = ? AND EXTRA LIKE '%auto_increment%'", t.bare).Scan(&t.column)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, generator.OptionError("Pass the table's name: import_generator(name, 'auto_increment', dsn, key => '…').",
			"%s has no AUTO_INCREMENT column", d.key)
	}
	t.column = "`" + strings.ReplaceAll(t.column, "`", "``") + "`"
	return t, err
}

// position sets p.next above the counter and above all rows.
func (t *table) position(ctx context.Context, p *position) error {
	// MySQL 8 caches AUTO_INCREMENT for a day; other versions do not have the setting.
	_, _ = t.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0")
	var next, greatest int64
	if err := t.QueryRowContext(ctx, "SELECT (SELECT COALESCE(AUTO_INCREMENT, 1) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+t.schema+
		" AND TABLE_NAME = ?), (SELECT COALESCE(MAX("+t.column+"), 0) FROM "+t.name+"), @@GLOBAL.auto_increment_increment, @@GLOBAL.auto_increment_offset",
		t.bare).Scan(&next, &greatest, &p.increment, &p.offset); err != nil {
		return err
	}
	if err := t.shardSeries(ctx, p); err != nil {
		return err
	}
	if p.offset > p.increment { // then MySQL ignores the offset
		p.offset = 1
	}
	p.next = max(next, greatest+1)
	return nil
}

// shardSeries reads the series of a shard that package migrations/shards made.
// There the sessions may set the increment, while the server's own settings are
// those of a single database.
func (t *table) shardSeries(ctx context.Context, p *position) error {
	var there bool
	err := t.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+t.schema+
		" AND TABLE_NAME = 'nextid_shard'").Scan(&there)
	if err != nil || !there {
		return err
	}
	err = t.QueryRowContext(ctx, "SELECT increment, first_number FROM "+t.prefix+"nextid_shard").Scan(&p.increment, &p.offset)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the tables of a shard exist, but no series
	}
	return err
}
