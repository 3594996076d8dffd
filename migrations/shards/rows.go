package shards

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Rows says which rows Status reads.
type Rows int

// The values of Rows.
const (
	RowsForAWhile Rows = iota // the greatest ids of each line, for rowsTime
	RowsAll
	RowsNone
)

// rowsTime bounds how long RowsForAWhile reads the rows of one line.
const rowsTime = 5 * time.Second

// column is a line on one shard whose rows are read, the greatest id first.
type column struct {
	*shard
	Line
	rows *sql.Rows
	id   int64 // the present id, 0 after the last

	stray, newest int64 // number of ids since up outside of the shard's progression, and the greatest
	older         int64 // number of such ids from before up
}

// open takes another connection than the shard's: a query that takes too long is
// cancelled, which closes its connection.
func (c *column) open(ctx context.Context) (err error) {
	c.rows, err = c.db.QueryContext(ctx, fmt.Sprintf( //nolint:rowserrcheck // advance checks it
		"SELECT %[1]s FROM %[2]s WHERE %[1]s BETWEEN 1 AND 9223372036854775807 ORDER BY %[1]s DESC", c.column, c.table))
	return err
}

// advance sets id to the next id.
func (c *column) advance() error {
	c.id = 0
	if !c.rows.Next() {
		return c.rows.Err()
	}
	return c.rows.Scan(&c.id)
}

// seen collects the findings about the rows of one line.
type seen struct {
	name    string
	columns []*column

	twice, newestTwice int64    // number of ids on several shards, and the greatest
	holders            string   // the shards that have newestTwice
	drawn              []string // problems: ids that a shard will draw and another one has
	to                 int64    // ids below it were not read
}

// rows checks the rows of all lines.
func (s *set) rows(ctx context.Context, r *Report) error {
	if s.Rows == RowsNone {
		return nil
	}
	names := s.names()
	for _, one := range s.shards {
		one.db.SetMaxIdleConns(1) // for the rows of the next line
	}
	for i, name := range names {
		found := &seen{name: name}
		for _, one := range s.shards {
			for _, l := range one.state.Lines {
				if l.Name == name && l.column != "" && l.trouble == "" {
					found.columns = append(found.columns, &column{shard: one, Line: l})
					break
				}
			}
		}
		if len(found.columns) > 0 {
			s.progress("rows of %s, %d of %d", name, i+1, len(names))
			if err := s.rowsOf(ctx, found, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf checks the rows of one line.
func (s *set) rowsOf(ctx context.Context, f *seen, r *Report) error {
	limited := ctx
	if s.Rows == RowsForAWhile {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, rowsTime)
		defer cancel()
	}
	err := f.merge(limited)
	switch {
	case err == nil:
	case ctx.Err() == nil && limited.Err() != nil:
		r.Missed = append(r.Missed, fmt.Sprintf("the rows of %s below %d: more than can be read in %s (--rows reads them all)", f.name, f.to, rowsTime))
	default:
		r.Missed = append(r.Missed, fmt.Sprintf("the rows of %s: %v", f.name, err))
	}
	f.report(r)
	return ctx.Err()
}

// merge reads the rows of all columns in the descending order of their ids, so that
// equal ids are adjacent.
func (f *seen) merge(ctx context.Context) error {
	for _, c := range f.columns {
		err := c.open(ctx)
		if err == nil {
			defer c.rows.Close()
			err = c.advance()
		}
		if err != nil {
			return hints.At(c.name, err)
		}
	}
	for {
		var id int64
		for _, c := range f.columns {
			id = max(id, c.id)
		}
		if id == 0 {
			return nil
		}
		f.to = id
		var holders []string
		for _, c := range f.columns {
			if c.id == id && (!c.replicated || c.Draws.has(id)) { // else the row was replicated from another shard
				holders = append(holders, c.name)
			}
			for c.id == id { // repeated in a column without a unique key
				f.row(c)
				if err := c.advance(); err != nil {
					return hints.At(c.name, err)
				}
			}
		}
		if len(holders) > 1 {
			if f.twice++; f.twice == 1 {
				f.newestTwice, f.holders = id, strings.Join(holders, " and ")
			}
		}
	}
}

// row checks whether the present id of a column is in the shard's progression, and
// whether another shard will draw it.
func (f *seen) row(c *column) {
	if c.Draws.has(c.id) || c.replicated {
		return
	}
	if m := c.state.Member; c.Started && c.id >= c.since && (m == nil || !m.Draining) {
		if c.stray++; c.stray == 1 {
			c.newest = c.id
		}
	} else {
		c.older++
	}
	for _, other := range f.columns {
		const shown = 3
		if other != c && c.id >= other.Next && other.Draws.has(c.id) && len(f.drawn) < shown {
			f.drawn = append(f.drawn, fmt.Sprintf("%s will draw %d for %s, which %s has already", other.name, c.id, f.name, c.name))
		}
	}
}

// report adds the findings to the problems and notes.
func (f *seen) report(r *Report) {
	if f.twice > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d ids of %s exist twice, such as %d on %s", f.twice, f.name, f.newestTwice, f.holders))
	}
	r.Problems = append(r.Problems, f.drawn...)
	for _, c := range f.columns {
		if c.stray > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: rows of %s are outside of its numbers %s: %d, such as %d, made by hand or in sessions with other settings",
				c.name, f.name, c.Draws, c.stray, c.newest))
		}
		if c.older > 0 && c.state.Member != nil {
			c.state.Notes = append(c.state.Notes, fmt.Sprintf("rows of %s from before up with numbers of other shards: %d", f.name, c.older))
		}
	}
}

// strays marks lines of a shard as not started that would draw numbers from before up
// again, or have rows whose ids other shards would draw. Such rows were made by hand,
// or in sessions with other settings.
func (s *set) strays(ctx context.Context, one *shard) error {
	var selects []string
	for i, l := range one.state.Lines {
		one.state.Lines[i].Started = l.Started && l.Next >= l.since // else TRUNCATE or setval has set it back
		var drawn []string
		for _, other := range s.shards {
			for _, k := range other.state.Lines {
				if other != one && k.Name == l.Name && k.Next < l.free && k.trouble == "" {
					drawn = append(drawn, fmt.Sprintf("%[1]s >= %[2]d AND MOD(%[1]s, %[3]d) = MOD(%[2]d, %[3]d)", l.column, k.Next, k.Draws.Increment))
				}
			}
		}
		if len(drawn) > 0 && l.column != "" && l.trouble == "" && !l.replicated {
			selects = append(selects, fmt.Sprintf("SELECT %d, EXISTS (SELECT 1 FROM %s WHERE %s)", i, l.table, strings.Join(drawn, " OR ")))
		}
	}
	return one.selectAll(ctx, selects, func(rows *sql.Rows) error {
		var i int
		var is bool
		err := rows.Scan(&i, &is)
		one.state.Lines[i].Started = one.state.Lines[i].Started && !is
		return err
	})
}
