package ticket

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"nextid/generator"
)

// alloc describes a table with one row per name, from which servers reserve blocks.
type alloc struct {
	table, key, max   string // names of the table and of columns
	step, description string // columns, "" for none
	increment, offset string // columns, "" for none
	width             int    // characters of the key
	inclusive         bool   // max itself may have been issued
}

// fenced is appended to the key of a row that was taken over. Then servers of the
// other system do not find the row any more.
const fenced = "@nextid"

// allocSystem returns the system of an allocation table.
func allocSystem(a alloc, name string) system {
	return system{
		name: name, on: []System{MySQL, Postgres}, read: a.read,
		how: fmt.Sprintf("UPDATE %s SET %s = another one", a.table, a.key),
	}
}

// read locks the row, so that no block is reserved between reading and fencing.
func (a alloc) read(ctx context.Context, d *takenDatabase) (p position, err error) {
	table, err := d.System.QuoteName(cmp.Or(d.table, a.table))
	if err != nil {
		return p, err
	}
	away := d.key + fenced
	if len(away) > a.width {
		away = d.key[:a.width-len(fenced)] + fenced
	}
	tx, err := d.begin(ctx)
	if err != nil {
		return p, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	columns := strings.Join([]string{
		a.key, a.max, cmp.Or(a.step, "NULL"), cmp.Or(a.description, "NULL"), cmp.Or(a.increment, "NULL"), cmp.Or(a.offset, "NULL"),
	}, ", ")
	question := "SELECT " + columns + " FROM " + table + " WHERE " + a.key + " IN (" + d.mark(1) + ", " + d.mark(2) + ")"
	if d.fence {
		question += " FOR UPDATE"
	}
	rows, err := tx.QueryContext(ctx, question, d.key, away)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	var open, taken bool // a row that is not fenced, and one that is
	for rows.Next() {
		var key string
		var newest int64
		var step, increment, offset sql.NullInt64
		var description sql.NullString
		if err := rows.Scan(&key, &newest, &step, &description, &increment, &offset); err != nil {
			return p, err
		}
		open, taken = open || key != away, taken || key == away
		p.increment, p.offset = max(p.increment, increment.Int64), max(p.offset, offset.Int64)
		p.next = max(p.next, newest)
		p.step, p.description = max(p.step, step.Int64), cmp.Or(p.description, description.String)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return p, err
	}
	if !open && !taken {
		return p, generator.OptionError("Pass its key: import_generator(name, system, dsn, key => '…').", "%s has no row %q", table, d.key)
	}
	p.fenced = !open
	if d.fence && open {
		if taken { // the other system has created the row again, as CosId does at its start
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

// begin starts a transaction that waits at most lockWait for a lock.
func (d *takenDatabase) begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, statement := range shortWaits[d.System] {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
	}
	return tx, nil
}

// shortWaits are the statements that limit waits for locks, in a session or a
// transaction.
var shortWaits = map[System][]string{
	Postgres: {fmt.Sprintf("SET LOCAL lock_timeout = %d", lockWait.Milliseconds())},
	MySQL: {
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(lockWait.Seconds())),
		fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", int(lockWait.Seconds())),
	},
}

// mark returns the n-th parameter marker of a statement.
func (d *takenDatabase) mark(n int) string {
	if d.System == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// readSequence takes over a sequence of PostgreSQL. ALTER SEQUENCE locks out other
// users until the end of the transaction. Numbers that sessions have cached are
// below its last value.
func readSequence(ctx context.Context, d *takenDatabase) (p position, err error) {
	name, err := d.System.QuoteName(d.key)
	if err != nil {
		return p, err
	}
	tx, err := d.begin(ctx)
	if err != nil {
		return p, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	var minimum, maximum int64
	err = tx.QueryRowContext(ctx, "SELECT seqincrement, seqmin, seqmax FROM pg_sequence WHERE seqrelid = $1::regclass", name).
		Scan(&p.increment, &minimum, &maximum)
	if errors.Is(err, sql.ErrNoRows) {
		return p, generator.OptionError("Pass its name: import_generator(name, 'sequence', dsn, key => '…').", "%s is not a sequence", d.key)
	}
	if err != nil {
		return p, err
	}
	if p.increment < 1 {
		return p, generator.OptionError("Create a segment generator with a negative increment by hand.", "the sequence %s descends", d.key)
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
	p.fenced = called && last == maximum
	if p.next = last; called {
		p.next += p.increment
	}
	p.offset = p.next
	if p.fenced || !d.fence {
		return p, tx.Commit()
	}
	// The fence makes the last value the maximum. PostgreSQL requires a maximum above
	// the minimum, so at least two numbers are passed.
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

// readRedis takes over a key of INCR. It replaces the number by a text that
// contains the number, so that INCR fails.
func readRedis(ctx context.Context, d *takenDatabase) (p position, err error) {
	c, err := d.OpenRedis(d.passwords, timeout)
	if err != nil {
		return p, err
	}
	defer c.Close()
	for range 10 {
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			text, err := tx.Get(ctx, d.key).Result()
			if errors.Is(err, redis.Nil) {
				return generator.OptionError("Pass the key: import_generator(name, 'redis', dsn, key => '…').", "there is no key %q", d.key)
			}
			if err != nil {
				return err
			}
			number, already := strings.CutSuffix(text, fenced)
			last, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return generator.OptionError("Only keys of INCR and INCRBY hold a position.", "the key %q holds no number", d.key)
			}
			p.next, p.fenced = last+1, already
			if already || !d.fence {
				return nil
			}
			_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, d.key, number+fenced, 0).Err() })
			return err
		}, d.key)
		if !errors.Is(err, redis.TxFailedErr) {
			return p, err
		}
	}
	return p, fmt.Errorf("other clients change the key %q too often", d.key)
}
