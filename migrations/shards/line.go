package shards

import (
	"math"
	"slices"
	"strings"
)

// Line is one series of ids of a shard: an AUTO_INCREMENT column, or a
// sequence.
type Line struct {
	Name    string      // table.column or the sequence; with the schema before it where that is not the URL's
	Draws   Progression // the numbers it draws, for sessions that begin now
	Next    int64       // the least number that it will draw
	Most    int64       // the greatest number that the column holds
	Unique  bool        // the column alone has a unique key
	Started bool        // up has moved it above what other shards had drawn
	Aside   bool        // up does not set it: it is in another schema, or a sequence of MariaDB

	table, column string // quoted; "" where no column is known
	sequence      string // PostgreSQL only, quoted
	stride        int64  // the increment that a sequence had by itself, as Hibernate's blocks; else 1
	since         int64  // what Started means: no number from here on is another shard's
	free          int64  // no number from here on was drawn or is in the table
	trouble       string // why it cannot be a line of a shard, "" if it can
}

// next is computed from where the line is.
func (l *Line) next() {
	next, ok := l.Draws.first(l.free)
	if !ok {
		next = math.MaxInt64
	}
	l.Next = next
}

// of is what the line draws on a shard that has p. Where a sequence counts in
// steps of its own, each number stands for a block of that many, and the shard
// keeps the blocks: of 50 and the numbers 2, 5, 8, … it is 51, 201, 351, …
func (l *Line) of(p Progression) Progression {
	if l.stride <= 1 {
		return p
	}
	return Progression{1 + l.stride*(p.Offset-1), l.stride * p.Increment}
}

// full reports whether more than 80 % of the column's numbers are used.
func (l *Line) full() bool { return l.Most > 0 && l.Next > l.Most/5*4 }

// excluded reports whether a name, or the table or schema before it, is among
// those that are left out.
func (o Options) excluded(name string) bool {
	return slices.ContainsFunc(o.Exclude, func(x string) bool { return name == x || strings.HasPrefix(name, x+".") })
}
