package shards

import (
	"context"
	"errors"
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

// startLines moves some lines above all numbers that any shard has drawn. full
// describes the lines whose type has no numbers left.
//
// A shard whose line is not started may have drawn numbers of any progression. That
// line moves last: until then the next up begins again.
func (s *set) startLines(ctx context.Context, which func(*shard, Line) bool) (full []string, err error) {
	if err := each(s.shards, func(one *shard) error { return s.strays(ctx, one) }); err != nil {
		return nil, err
	}
	start := func(one *shard, before bool) error {
		for i, l := range one.state.Lines {
			if l.Started != before || l.trouble != "" || !which(one, l) {
				continue
			}
			s.progress("%s: %s goes above all shards, %d of %d", one.name, l.Name, i+1, len(one.state.Lines))
			err := one.start(ctx, l, one.state.Member.Has, drawn(l.Name, s.shards...))
			switch {
			case errors.Is(err, errUsedUp):
				full = append(full, hints.At(one.name, err).Error())
			case err != nil:
				return hints.At(l.Name, err)
			}
		}
		return nil
	}
	for _, before := range []bool{true, false} {
		err := each(s.shards, func(one *shard) error {
			return one.together(ctx, func() error { return start(one, before) })
		})
		if err != nil {
			return full, err
		}
	}
	return full, nil
}

// started reports whether a line is started on all of some shards that have it.
func started(name string, shards ...*shard) bool {
	return !slices.ContainsFunc(shards, func(one *shard) bool {
		return slices.ContainsFunc(one.state.Lines, func(l Line) bool { return l.Name == name && !l.Started && l.trouble == "" })
	})
}
