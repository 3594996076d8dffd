package shards

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"nextid/migrations/appdb"
)

// lines reads the AUTO_INCREMENT columns of the database.
func (s *mysqlShard) lines(ctx context.Context, st *State) (err error) {
	started := map[string]int64{}
	if st.Member != nil {
		if started, err = s.started(ctx); err != nil {
			return err
		}
	}
	replicates, err := s.replicates(ctx)
	if err != nil {
		return err
	}
	if replicates {
		st.Notes = append(st.Notes, "it replicates from another server, whose rows may be of other shards")
	}
	if err := s.aside(ctx, st); err != nil {
		return err
	}
	if st.Lines, err = s.columns(ctx); err != nil {
		return err
	}
	var selects []string
	for i := range st.Lines {
		l := &st.Lines[i]
		l.Draws, l.replicated = st.Setting, replicates
		l.since, l.Started = started[l.Name], started[l.Name] > 0
		selects = append(selects, fmt.Sprintf("SELECT %d, COALESCE(MAX(%[2]s), 0) FROM %[3]s WHERE %[2]s > 0", i, l.column, l.table))
	}
	return s.selectAll(ctx, selects, func(rows *sql.Rows) error {
		var i int
		var greatest uint64
		if err := rows.Scan(&i, &greatest); err != nil {
			return err
		}
		l := &st.Lines[i]
		if greatest >= math.MaxInt64 {
			l.trouble = "holds numbers beyond a bigint"
			return nil
		}
		l.free, l.empty = max(l.free, int64(greatest)+1), greatest == 0
		l.next()
		return nil
	})
}

// aside records the sequences of MariaDB as not checked: up does not set them.
func (s *mysqlShard) aside(ctx context.Context, st *State) error {
	return appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		path := make([]string, 2)
		err := rows.Scan(&path[0], &path[1])
		st.missed = append(st.missed, missed{path, "the sequence " + path[1] + ": nextid migrate feed keeps sequences apart"})
		return err
	}, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'SEQUENCE' AND TABLE_SCHEMA = DATABASE()")
}

// replicates reports whether the server replicates from another one. Without the
// right to read that, the result is false.
func (s *mysqlShard) replicates(ctx context.Context) (is bool, err error) {
	query := "SHOW REPLICA STATUS"
	if s.mariadb {
		query = "SHOW ALL SLAVES STATUS"
	}
	err = appdb.Each(ctx, s.conn, func(*sql.Rows) error { is = true; return nil }, query)
	if appdb.MySQLSays(err, erAccessDenied, erSyntax) { // no right, or MySQL before 8.0.22
		return false, nil
	}
	return is, err
}

// started returns nextid_shard_lines: the column started by line.
func (s *mysqlShard) started(ctx context.Context) (map[string]int64, error) {
	started := map[string]int64{}
	err := appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		var line string
		var since int64
		err := rows.Scan(&line, &since)
		started[line] = since
		return err
	}, "SELECT line, started FROM nextid_shard_lines")
	return started, err
}

// columns returns the AUTO_INCREMENT columns, without data about their rows. BINARY
// is needed because information_schema compares names without regard to case. The
// indexes are joined once: a subquery would read all indexes for each table.
func (s *mysqlShard) columns(ctx context.Context) (lines []Line, err error) {
	err = appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		var schema, table, column, kind string
		var next uint64
		var l Line
		if err := rows.Scan(&schema, &table, &column, &kind, &next, &l.Unique); err != nil {
			return err
		}
		l.Name, l.table, l.column = table+"."+column, appdb.QuoteMySQL(table), appdb.QuoteMySQL(column)
		l.path = []string{schema, table, column}
		l.free = int64(min(next, math.MaxInt64))
		if l.Most = mostOfType(kind); l.Most == 0 {
			l.trouble = "is of type " + kind + ", not an integer"
		}
		lines = append(lines, l)
		return nil
	}, `SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_TYPE, COALESCE(t.AUTO_INCREMENT, 1), u.COLUMN_NAME IS NOT NULL
		FROM information_schema.COLUMNS c
		JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND BINARY t.TABLE_NAME = BINARY c.TABLE_NAME
		LEFT JOIN (SELECT DISTINCT name, COLUMN_NAME
			FROM (SELECT BINARY TABLE_NAME AS name, MAX(COLUMN_NAME) AS COLUMN_NAME FROM information_schema.STATISTICS
				WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 GROUP BY BINARY TABLE_NAME, INDEX_NAME HAVING COUNT(*) = 1) indexes
		) u ON u.name = BINARY c.TABLE_NAME AND u.COLUMN_NAME = c.COLUMN_NAME
		WHERE c.TABLE_SCHEMA = DATABASE() AND c.EXTRA LIKE '%auto_increment%' AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')
			AND c.TABLE_NAME NOT IN `+ownTables+`
		ORDER BY c.TABLE_NAME`)
	return lines, err
}

// mostOfType returns the greatest number of a column type of MySQL, at most
// MaxInt64; 0 for a type that is no integer.
func mostOfType(kind string) int64 {
	name, _, _ := strings.Cut(kind, "(")
	name, _, _ = strings.Cut(name, " ")
	bits := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[name]
	switch {
	case bits == 0:
		return 0
	case bits == 64:
		return math.MaxInt64
	case strings.Contains(kind, "unsigned"):
		return 1<<bits - 1
	}
	return 1<<(bits-1) - 1
}
