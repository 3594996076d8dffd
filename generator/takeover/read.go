package takeover

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"nextid/generator/external"
	"nextid/generator/option"
)

// alloc is a table with a row for each name, of which servers take blocks.
type alloc struct {
	table, key, max   string // columns
	step, description string // columns, "" for none
	width             int    // characters of the key
	inclusive         bool   // max itself may have been given
}

// fenced is put behind the key of a row that was taken over: no server of the
// other system finds it any more.
const fenced = "@nextid"

func allocSystem(a alloc, name string) system {
	return system{
		names: []string{name}, on: []external.System{external.MySQL, external.Postgres}, read: a.read,
		how: fmt.Sprintf("UPDATE %s SET %s = another one", a.table, a.key),
	}
}

// read locks the row, so that no block is taken between the look and the fence.
func (a alloc) read(ctx context.Context, d *database) (p position, err error) {
	table := a.table
	if d.table != "" {
		table = d.table
	}
	if table, err = d.System.QuoteName(table); err != nil {
		return p, err
	}
	away := d.key + fenced
	if len(away) > a.width {
		away = d.key[:a.width-len(fenced)] + fenced
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return p, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	columns := strings.Join([]string{a.key, a.max, cmp.Or(a.step, "NULL"), cmp.Or(a.description, "NULL")}, ", ")
	rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM "+table+" WHERE "+a.key+" IN ("+d.mark(1)+", "+d.mark(2)+") FOR UPDATE", d.key, away)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	var open, taken bool // there is a row that is not fenced, and one that is
	for rows.Next() {
		var key string
		var newest int64
		var step sql.NullInt64
		var description sql.NullString
		if err := rows.Scan(&key, &newest, &step, &description); err != nil {
			return p, err
		}
		open, taken = open || key != away, taken || key == away
		p.next = max(p.next, newest)
		p.step, p.description = max(p.step, step.Int64), cmp.Or(p.description, description.String)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return p, err
	}
	if !open && !taken {
		return p, option.Error("Pass its key: import_generator(name, system, dsn, key => '…').", "%s has no row %q", table, d.key)
	}
	if d.fence && open {
		if taken { // the other system has made the row again, as CosId does at a start
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+a.key+" = "+d.mark(1), away); err != nil {
				return p, err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE "+table+" SET "+a.key+" = "+d.mark(1)+", "+a.max+" = "+d.mark(2)+
			" WHERE "+a.key+" = "+d.mark(3), away, p.next, d.key); err != nil {
			return p, err
		}
	}
	if a.inclusive {
		p.next++
	}
	return p, tx.Commit()
}

// mark is the n-th parameter of a statement.
func (d *database) mark(n int) string {
	if d.System == external.Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// readSequence takes over a sequence of PostgreSQL. ALTER SEQUENCE keeps
// others from it until the end of the transaction; what sessions have cached
// lies below its last value.
func readSequence(ctx context.Context, d *database) (p position, err error) {
	name, err := d.System.QuoteName(d.key)
	if err != nil {
		return p, err
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return p, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	var minimum, maximum int64
	err = tx.QueryRowContext(ctx, "SELECT seqincrement, seqmin, seqmax FROM pg_sequence WHERE seqrelid = $1::regclass", name).
		Scan(&p.increment, &minimum, &maximum)
	if errors.Is(err, sql.ErrNoRows) {
		return p, option.Error("Pass its name: import_generator(name, 'sequence', dsn, key => '…').", "%s is not a sequence", d.key)
	}
	if err != nil {
		return p, err
	}
	if p.increment < 1 {
		return p, option.Error("Create a segment generator with a negative increment by hand.", "the sequence %s descends", d.key)
	}
	if d.fence {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER SEQUENCE %s INCREMENT BY %d", name, p.increment)); err != nil {
			return p, err
		}
	}
	var last int64
	var called bool
	if err := tx.QueryRowContext(ctx, "SELECT last_value, is_called FROM "+name).Scan(&last, &called); err != nil {
		return p, err
	}
	p.next = last
	if called {
		p.next += p.increment
	}
	if !d.fence || called && last == maximum {
		return p, tx.Commit()
	}
	// Its last number becomes its maximum. A sequence has room for two.
	for !called || last <= minimum {
		if called {
			last += p.increment
		}
		called, p.next = true, last+p.increment
	}
	if _, err := tx.ExecContext(ctx, "SELECT setval($1::regclass, $2, true)", name, last); err != nil {
		return p, err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER SEQUENCE %s START WITH %d MAXVALUE %d NO CYCLE", name, minimum, last)); err != nil {
		return p, err
	}
	return p, tx.Commit()
}

// readAutoIncrement takes over the numbers of a table's AUTO_INCREMENT
// column. CREATE TRIGGER waits for the transactions that use the table; after
// it nobody gets a number there.
func readAutoIncrement(ctx context.Context, d *database) (p position, err error) {
	table, err := d.System.QuoteName(d.key)
	if err != nil {
		return p, err
	}
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return p, err
	}
	defer conn.Close()
	schema, bare := "DATABASE()", d.key
	if s, t, ok := strings.Cut(d.key, "."); ok {
		schema, bare = "'"+s+"'", t // letters, digits and _, as QuoteName has seen
	}
	var column string
	err = conn.QueryRowContext(ctx, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+schema+
		" AND TABLE_NAME = ? AND EXTRA LIKE '%auto_increment%'", bare).Scan(&column)
	if errors.Is(err, sql.ErrNoRows) {
		return p, option.Error("Pass the table's name: import_generator(name, 'auto_increment', dsn, key => '…').",
			"%s has no AUTO_INCREMENT column", d.key)
	}
	if err != nil {
		return p, err
	}
	column = "`" + strings.ReplaceAll(column, "`", "``") + "`"
	if d.fence {
		trigger := "`" + (bare + strings.Repeat(" ", 64))[:min(len(bare), 56)] + "_nextid`"
		if s, _, ok := strings.Cut(d.key, "."); ok {
			trigger = "`" + s + "`." + trigger
		}
		if _, err := conn.ExecContext(ctx, "DROP TRIGGER IF EXISTS "+trigger); err != nil {
			return p, err
		}
		if _, err := conn.ExecContext(ctx, "CREATE TRIGGER "+trigger+" BEFORE INSERT ON "+table+
			" FOR EACH ROW IF NEW."+column+" IS NULL OR NEW."+column+" = 0 THEN SIGNAL SQLSTATE '45000'"+
			" SET MESSAGE_TEXT = 'the ids of this table come from nextid now'; END IF"); err != nil {
			return p, err
		}
	}
	// MySQL 8 shows an old value of AUTO_INCREMENT for a day; others have no such setting.
	_, _ = conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0")
	var next, greatest int64
	if err := conn.QueryRowContext(ctx, "SELECT COALESCE(AUTO_INCREMENT, 1) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+schema+
		" AND TABLE_NAME = ?", bare).Scan(&next); err != nil {
		return p, err
	}
	if err := conn.QueryRowContext(ctx, "SELECT COALESCE(MAX("+column+"), 0) FROM "+table).Scan(&greatest); err != nil {
		return p, err
	}
	if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.auto_increment_increment").Scan(&p.increment); err != nil {
		return p, err
	}
	p.next = max(next, greatest+1)
	if p.increment > 1 { // the series of this server goes on
		var offset int64
		if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.auto_increment_offset").Scan(&offset); err != nil {
			return p, err
		}
		p.next += ((offset-p.next)%p.increment + p.increment) % p.increment
	}
	return p, nil
}

// readRedis takes over a key of INCR: a text takes its place, with the number
// in it, so that INCR fails.
func readRedis(ctx context.Context, d *database) (p position, err error) {
	conn, err := d.DialRedis(ctx, d.passwords, timeout)
	if err != nil {
		return p, err
	}
	defer conn.Close()
	for range 10 {
		if _, err := redis.DoContext(conn, ctx, "WATCH", d.key); err != nil {
			return p, err
		}
		text, err := redis.String(redis.DoContext(conn, ctx, "GET", d.key))
		if errors.Is(err, redis.ErrNil) {
			return p, option.Error("Pass the key: import_generator(name, 'redis', dsn, key => '…').", "there is no key %q", d.key)
		}
		if err != nil {
			return p, err
		}
		number, already := strings.CutSuffix(text, fenced)
		last, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return p, option.Error("Only keys of INCR and INCRBY hold a position.", "the key %q holds no number", d.key)
		}
		p.next = last + 1
		if already || !d.fence {
			return p, nil
		}
		if err := conn.Send("MULTI"); err != nil {
			return p, err
		}
		if err := conn.Send("SET", d.key, number+fenced); err != nil {
			return p, err
		}
		done, err := redis.DoContext(conn, ctx, "EXEC")
		if err != nil {
			return p, err
		}
		if done != nil {
			return p, nil
		}
	}
	return p, fmt.Errorf("others change the key %q all the time", d.key)
}
