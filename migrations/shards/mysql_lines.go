package shards

import (
	"context"
	"math"
	"regexp"
	"strings"

	"nextid/migrations/appdb"
)

// lines reads the AUTO_INCREMENT columns of the server, and MariaDB's
// sequences. Those of other databases, and the sequences, are only looked at.
func (s *mysqlShard) lines(ctx context.Context, st *State) error {
	own := st.Setting // of the lines that up sets
	started := map[string]int64{}
	if st.Member != nil {
		if st.session {
			own = st.Member.Has
		}
		var err error
		if started, err = s.started(ctx); err != nil {
			return err
		}
	}
	lines, err := s.columns(ctx)
	if err != nil {
		return err
	}
	guards, err := s.guardNames(ctx)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		l.Draws = st.Setting
		if !l.Aside {
			l.Draws = own
			l.since, l.Started = started[l.Name], started[l.Name] > 0
			if st.Member != nil && st.session && !guards[guardName(*l)] {
				st.missed = append(st.missed, missed{l.Name, "whether the sessions that insert into " + l.Name + " set their progression (up --guard refuses those that do not)"})
			}
		}
		var greatest uint64
		err := s.conn.QueryRowContext(ctx, "SELECT COALESCE(MAX("+l.column+"), 0) FROM "+l.table+" WHERE "+l.column+" > 0").Scan(&greatest)
		switch {
		case err != nil && l.Aside:
			l.trouble = "cannot be read"
			st.missed = append(st.missed, missed{l.Name, l.Name + ": " + explainMySQL(err).Error()})
			continue
		case err != nil:
			return err
		case greatest >= math.MaxInt64:
			l.trouble = "holds numbers beyond a bigint"
			continue
		}
		l.free = max(l.free, int64(greatest)+1)
		l.next()
	}
	st.Lines = lines
	if !s.mariadb {
		return nil
	}
	sequences, err := s.sequences(ctx, st)
	st.Lines = append(st.Lines, sequences...)
	return err
}

func (s *mysqlShard) started(ctx context.Context) (map[string]int64, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT line, started FROM nextid_shard_lines")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	started := map[string]int64{}
	for rows.Next() {
		var line string
		var since int64
		if err := rows.Scan(&line, &since); err != nil {
			return nil, err
		}
		started[line] = since
	}
	return started, rows.Err()
}

// others are the databases that are nobody's application.
const systemSchemas = "('mysql', 'information_schema', 'performance_schema', 'sys', 'nextid')"

func (s *mysqlShard) columns(ctx context.Context) ([]Line, error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT c.TABLE_SCHEMA, c.TABLE_SCHEMA = DATABASE(), c.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_TYPE, COALESCE(t.AUTO_INCREMENT, 1),
			EXISTS (SELECT 1 FROM information_schema.STATISTICS i
				WHERE i.TABLE_SCHEMA = c.TABLE_SCHEMA AND i.TABLE_NAME = c.TABLE_NAME AND i.NON_UNIQUE = 0 AND i.COLUMN_NAME = c.COLUMN_NAME
					AND i.SEQ_IN_INDEX = 1 AND NOT EXISTS (SELECT 1 FROM information_schema.STATISTICS j
						WHERE j.TABLE_SCHEMA = i.TABLE_SCHEMA AND j.TABLE_NAME = i.TABLE_NAME AND j.INDEX_NAME = i.INDEX_NAME AND j.SEQ_IN_INDEX > 1))
		FROM information_schema.COLUMNS c
		JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
		WHERE c.TABLE_SCHEMA NOT IN `+systemSchemas+` AND c.EXTRA LIKE '%auto_increment%' AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')
			AND c.TABLE_NAME NOT IN `+ownTables+`
		ORDER BY c.TABLE_SCHEMA <> DATABASE(), c.TABLE_SCHEMA, c.TABLE_NAME`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []Line
	for rows.Next() {
		var schema, table, column, kind string
		var here bool
		var next uint64
		l := Line{stride: 1}
		if err := rows.Scan(&schema, &here, &table, &column, &kind, &next, &l.Unique); err != nil {
			return nil, err
		}
		l.Name, l.table, l.column = table+"."+column, appdb.QuoteMySQL(table), appdb.QuoteMySQL(column)
		if !here {
			l.Name, l.table, l.Aside = schema+"."+l.Name, appdb.QuoteMySQL(schema)+"."+l.table, true
		}
		l.free = int64(min(next, math.MaxInt64))
		if l.Most = mostOfType(kind); l.Most == 0 {
			l.trouble = "is of type " + kind + ", not an integer"
		}
		lines = append(lines, l)
	}
	return lines, rows.Err()
}

// nextval is how a DEFAULT of MariaDB names its sequence.
var nextval = regexp.MustCompile("(?i)nextval\\(`([^`]+)`\\.`([^`]+)`\\)")

// sequences reads those of MariaDB, with the columns whose DEFAULT draws from
// them.
func (s *mysqlShard) sequences(ctx context.Context, st *State) ([]Line, error) {
	users, err := s.sequenceUsers(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, `SELECT t.TABLE_SCHEMA, t.TABLE_SCHEMA = DATABASE(), t.TABLE_NAME
		FROM information_schema.TABLES t WHERE t.TABLE_TYPE = 'SEQUENCE' AND t.TABLE_SCHEMA NOT IN `+systemSchemas+` ORDER BY 1, 3`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []Line
	for rows.Next() {
		var schema, name string
		var here bool
		if err := rows.Scan(&schema, &here, &name); err != nil {
			return nil, err
		}
		l := Line{Aside: true, stride: 1, Unique: true, sequence: appdb.QuoteMySQL(schema) + "." + appdb.QuoteMySQL(name), Name: name}
		user, known := users[schema+"."+name]
		if known {
			l.Name, l.table, l.column = user.Name, user.table, user.column
		}
		if !here {
			l.Name = schema + "." + l.Name
		}
		if !known {
			st.missed = append(st.missed, missed{l.Name, "the rows that take their ids from the sequence " + l.Name + ", which no column names"})
		}
		lines = append(lines, l)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range lines {
		l := &lines[i]
		var cycles bool
		var increment int64
		err := s.conn.QueryRowContext(ctx, "SELECT next_not_cached_value, maximum_value, increment, cycle_option FROM "+l.sequence).
			Scan(&l.free, &l.Most, &increment, &cycles)
		switch {
		case err != nil:
			l.trouble = "cannot be read"
			st.missed = append(st.missed, missed{l.Name, l.Name + ": " + explainMySQL(err).Error()})
			continue
		case increment < 0 || cycles || l.free < 1:
			l.trouble = "has a sequence that goes down, is below 1 or has CYCLE"
			continue
		case increment == 0: // it follows the settings
			l.Draws = st.Setting
		default:
			l.Draws = through(l.free, increment)
		}
		l.next()
	}
	return lines, nil
}

// sequenceUsers are the columns whose DEFAULT draws from a sequence.
func (s *mysqlShard) sequenceUsers(ctx context.Context) (map[string]Line, error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT FROM information_schema.COLUMNS
		WHERE COLUMN_DEFAULT LIKE '%nextval(%' AND TABLE_SCHEMA NOT IN `+systemSchemas)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	users := map[string]Line{}
	for rows.Next() {
		var schema, table, column, value string
		if err := rows.Scan(&schema, &table, &column, &value); err != nil {
			return nil, err
		}
		if m := nextval.FindStringSubmatch(value); m != nil {
			users[m[1]+"."+m[2]] = Line{Name: table + "." + column, table: appdb.QuoteMySQL(schema) + "." + appdb.QuoteMySQL(table), column: appdb.QuoteMySQL(column)}
		}
	}
	return users, rows.Err()
}

// mostOfType is the greatest number of a column type of MySQL, 0 where that
// is no integer.
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

func unquoteMySQL(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "`"), "`"), "``", "`")
}
