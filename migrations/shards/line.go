package shards

import (
	"math"
	"slices"
	"strings"
)

// Line is one series of ids of a shard: an AUTO_INCREMENT column, or a
// sequence.
type Line struct {
	Name    string      // table.column or the sequence, quoted
	Draws   Progression // the numbers it draws, for sessions that begin now
	Next    int64       // the least number that it will draw
	Most    int64       // the greatest number that the column holds
	Unique  bool        // the column alone has a unique key
	Started bool        // up has moved it above what other shards had drawn

	table, column string   // quoted; "" where no column is known
	sequence      string   // PostgreSQL only, quoted
	path          []string // schema, table and column, or schema and sequence
	sequencePath  []string // PostgreSQL only: schema and sequence
	noted         bool     // PostgreSQL only: up has set its sequence
	replicated    bool     // rows of other shards may come by replication
	empty         bool     // the table has no id from 1 on
	since         int64    // what Started means: no number from here on is another shard's
	free          int64    // no number from here on was drawn or is in the table
	trouble       string   // why it cannot be a line of a shard, "" if it can
}

// next is computed from where the line is.
func (l *Line) next() {
	next, ok := l.Draws.first(l.free)
	if !ok {
		next = math.MaxInt64
	}
	l.Next = next
}

// full reports whether more than 80 % of the column's numbers are used.
func (l *Line) full() bool { return l.Most > 0 && l.Next > l.Most/5*4 }

// named reports whether a name, as psql's \d takes it, is that of a path or of
// what begins it: SCHEMA, TABLE, TABLE.COLUMN, SCHEMA.TABLE.COLUMN. An unquoted
// name stands for itself, too.
func named(name string, path []string) bool {
	folded, exact := nameParts(name)
	for from := range min(len(path), 2) {
		for _, parts := range [][]string{folded, exact} {
			if rest := path[from:]; len(parts) <= len(rest) && slices.Equal(parts, rest[:len(parts)]) {
				return true
			}
		}
	}
	return false
}

// nameParts cuts a name at its dots outside of quotes. What is not quoted is in
// lower case in folded.
func nameParts(name string) (folded, exact []string) {
	for rest := name; ; {
		var part string
		if quote := rest[:min(1, len(rest))]; quote == `"` || quote == "`" {
			for rest = rest[1:]; rest != ""; {
				inside, after, _ := strings.Cut(rest, quote)
				part, rest = part+inside, after
				if !strings.HasPrefix(rest, quote) {
					break
				}
				part, rest = part+quote, rest[1:]
			}
			folded = append(folded, part)
			rest = strings.TrimPrefix(rest, ".")
		} else {
			part, rest, _ = strings.Cut(rest, ".")
			folded = append(folded, strings.ToLower(part))
		}
		if exact = append(exact, part); rest == "" {
			return folded, exact
		}
	}
}
