package shards

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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

// idRows iterates over the ids of a line on one shard, the greatest first.
type idRows struct {
	conn *sql.Conn
	rows *sql.Rows

	id int64 // the present id, 0 after the last
}

// ids implements database. It uses a connection of its own: a query that takes too
// long is cancelled, which closes its connection.
func (c *connection) ids(ctx context.Context, l Line) (*idRows, error) {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf( //nolint:rowserrcheck // advance checks it
		"SELECT %[1]s FROM %[2]s WHERE %[1]s BETWEEN 1 AND 9223372036854775807 ORDER BY %[1]s DESC", l.column, l.table))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r := &idRows{conn: conn, rows: rows}
	return r, r.advance()
}

// advance sets id to the next id.
func (r *idRows) advance() error {
	r.id = 0
	if !r.rows.Next() {
		return r.rows.Err()
	}
	return r.rows.Scan(&r.id)
}

func (r *idRows) close() { _ = errors.Join(r.rows.Close(), r.conn.Close()) }

// seen collects the findings about the rows of one line.
type seen struct {
	name  string
	lines []*Line // by shard; nil if the shard does not have the line

	twice, newestTwice int64    // number of ids on several shards, and the greatest
	holders            string   // the shards that have newestTwice
	stray, newestStray []int64  // by shard: ids since up outside of its progression, and the greatest
	older              []int64  // by shard: such ids from before up
	drawn              []string // problems: ids that a shard will draw and another one has
	to                 int64    // ids below it were not read
}

// rows checks the rows of all lines.
func (s *set) rows(ctx context.Context, r *Report) error {
	if s.Rows == RowsNone {
		return nil
	}
	done := map[string]bool{}
	for _, one := range s.shards {
		for i, l := range one.state.Lines {
			if done[l.Name] || l.column == "" || l.trouble != "" || l.empty {
				continue
			}
			done[l.Name] = true
			s.progress("rows of %s, %d of %d", l.Name, i+1, len(one.state.Lines))
			if err := s.rowsOf(ctx, l.Name, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf checks the rows of one line.
func (s *set) rowsOf(ctx context.Context, name string, r *Report) error {
	n := len(s.shards)
	found := &seen{name: name, lines: make([]*Line, n), stray: make([]int64, n), newestStray: make([]int64, n), older: make([]int64, n)}
	for i, one := range s.shards {
		lines := one.state.Lines
		if k := slices.IndexFunc(lines, func(l Line) bool { return l.Name == name && l.column != "" && l.trouble == "" && !l.empty }); k >= 0 {
			found.lines[i] = &lines[k]
		}
	}
	limited := ctx
	if s.Rows == RowsForAWhile {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, rowsTime)
		defer cancel()
	}
	err := s.merge(limited, found)
	switch {
	case err == nil:
	case ctx.Err() == nil && limited.Err() != nil:
		r.Missed = append(r.Missed, fmt.Sprintf("the rows of %s below %d: more than can be read in %s (--rows reads them all)", name, found.to, rowsTime))
	default:
		r.Missed = append(r.Missed, fmt.Sprintf("the rows of %s: %v", name, err))
	}
	found.report(s.shards, r)
	return ctx.Err()
}

// merge reads the rows of all shards in the descending order of their ids, so that
// equal ids are adjacent.
func (s *set) merge(ctx context.Context, f *seen) error {
	heads := make([]*idRows, len(s.shards))
	defer func() {
		for _, h := range heads {
			if h != nil {
				h.close()
			}
		}
	}()
	for i, l := range f.lines {
		if l == nil {
			continue
		}
		var err error
		if heads[i], err = s.shards[i].ids(ctx, *l); err != nil {
			return hints.At(s.shards[i].name, err)
		}
	}
	for {
		var id int64
		for _, h := range heads {
			if h != nil {
				id = max(id, h.id)
			}
		}
		if id == 0 {
			return nil
		}
		f.to = id
		var holders []string
		for i, h := range heads {
			if h == nil || h.id != id {
				continue
			}
			if l := f.lines[i]; !l.replicated || l.Draws.has(id) { // else the row was replicated from another shard
				holders = append(holders, s.shards[i].name)
			}
			for h.id == id { // repeated in a column without a unique key
				f.row(s.shards, i, id)
				if err := h.advance(); err != nil {
					return hints.At(s.shards[i].name, err)
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

// row checks whether an id of shard i is in the shard's progression, and whether
// another shard will draw it.
func (f *seen) row(shards []*shard, i int, id int64) {
	l := f.lines[i]
	if l.Draws.has(id) || l.replicated {
		return
	}
	m := shards[i].state.Member
	if l.Started && id >= l.since && (m == nil || !m.Draining) {
		if f.stray[i]++; f.stray[i] == 1 {
			f.newestStray[i] = id
		}
	} else {
		f.older[i]++
	}
	for j, other := range f.lines {
		const shown = 3
		if j != i && other != nil && id >= other.Next && other.Draws.has(id) && len(f.drawn) < shown {
			f.drawn = append(f.drawn, fmt.Sprintf("%s will draw %d for %s, which %s has already", shards[j].name, id, f.name, shards[i].name))
		}
	}
}

// report adds the findings to the problems and notes.
func (f *seen) report(shards []*shard, r *Report) {
	if f.twice > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d ids of %s exist twice, such as %d on %s", f.twice, f.name, f.newestTwice, f.holders))
	}
	r.Problems = append(r.Problems, f.drawn...)
	for i, one := range shards {
		if n := f.stray[i]; n > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: rows of %s are outside of its numbers %s: %d, such as %d, made by hand or in sessions with other settings",
				one.name, f.name, f.lines[i].Draws, n, f.newestStray[i]))
		}
		if n := f.older[i]; n > 0 && one.state.Member != nil {
			one.state.Notes = append(one.state.Notes, fmt.Sprintf("rows of %s from before up with numbers of other shards: %d", f.name, n))
		}
	}
}
