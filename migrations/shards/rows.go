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

// Rows says whether Status looks at the rows that are there.
type Rows int

// The values of Rows.
const (
	RowsForAWhile Rows = iota // as far as it comes in a few seconds, the newest first
	RowsAll
	RowsNone
)

// rowsTime bounds the look at the rows of one line with RowsForAWhile.
const rowsTime = 5 * time.Second

// idRows are the ids of a line's rows on one shard, the greatest first.
type idRows struct {
	conn *sql.Conn
	rows *sql.Rows

	id int64 // 0: there are no more
}

// ids implements database. It has a connection of its own, since a look that
// takes too long ends with that.
func (c *connection) ids(ctx context.Context, l Line) (*idRows, error) {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf( //nolint:rowserrcheck // advance looks at it
		"SELECT %[1]s FROM %[2]s WHERE %[1]s BETWEEN 1 AND 9223372036854775807 ORDER BY %[1]s DESC", l.column, l.table))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r := &idRows{conn: conn, rows: rows}
	return r, r.advance()
}

func (r *idRows) advance() error {
	r.id = 0
	if !r.rows.Next() {
		return r.rows.Err()
	}
	return r.rows.Scan(&r.id)
}

func (r *idRows) close() { _ = errors.Join(r.rows.Close(), r.conn.Close()) }

// seen holds what the rows of one line have shown.
type seen struct {
	name  string
	lines []*Line // of the shards, in their order; nil where one has none

	twice, newestTwice int64
	holders            string
	stray, newestStray []int64 // by shard: rows since up that are another shard's numbers
	older              []int64 // by shard: those from before
	drawn              []string
	to                 int64 // no row below it was looked at
}

// rows looks at the rows of all lines.
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

// merge reads the rows of all shards at the same time, so that equal ids come
// together.
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
			if l := f.lines[i]; !l.replicated || l.Draws.has(id) { // else another shard has drawn it
				holders = append(holders, s.shards[i].name)
			}
			for h.id == id { // more than once in a column without a unique key
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

// row looks at one row: whose number is it?
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

// report turns what was seen into problems and notes.
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
