package shards

import (
	"slices"

	"nextid/migrations/appdb"
)

// Line is one series of ids of a shard: an AUTO_INCREMENT column, or a sequence.
// Lines of several shards belong together if their names are equal.
type Line struct {
	Name    string      // table.column or the sequence, quoted
	Draws   Progression // progression of sessions that begin now
	Next    int64       // least number that the line will draw
	Most    int64       // greatest number that the column holds
	Unique  bool        // the column alone has a unique key
	Started bool        // up has moved the line above the numbers that other shards had drawn

	table, column string   // quoted; "" if the column is not known
	sequence      string   // PostgreSQL only, quoted
	path          []string // schema, table and column, or schema and sequence
	sequencePath  []string // PostgreSQL only: schema and sequence
	noted         bool     // PostgreSQL only: up has set the sequence
	replicated    bool     // replication may bring rows of other shards
	since         int64    // set if Started: ids from here on are of this shard's progression
	free          int64    // ids from here on are neither drawn nor in the table
	trouble       string   // why a shard cannot have this line, "" if it can
}

// widen says how a line gets more numbers. The sequence of a column that was made a
// bigint may still be an integer.
func (l Line) widen() string {
	if l.sequence != "" {
		return "make the column a bigint, and ALTER SEQUENCE " + l.sequence + " AS bigint NO MAXVALUE"
	}
	return "make it a bigint"
}

// named reports whether a name matches a path. As in psql's \d, it may be SCHEMA,
// TABLE, TABLE.COLUMN or SCHEMA.TABLE.COLUMN. An unquoted name matches in lower
// case, and as it is.
func named(name string, path []string) bool {
	folded, exact, ok := appdb.SplitName(name)
	for from := range min(len(path), 2) {
		for _, parts := range [][]string{folded, exact} {
			if rest := path[from:]; ok && len(parts) <= len(rest) && slices.Equal(parts, rest[:len(parts)]) {
				return true
			}
		}
	}
	return false
}
