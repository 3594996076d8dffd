package shards

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/migrations/appdb"
)

// configured is where MariaDB has its settings from if they outlast a restart:
// a configuration file or the command line; "" for a statement.
func (s *mysqlShard) configured(ctx context.Context) (path string, err error) {
	if !s.mariadb {
		return "", nil
	}
	var files int
	err = s.conn.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(GLOBAL_VALUE_PATH), 'the command line of the server') FROM information_schema.SYSTEM_VARIABLES
		WHERE VARIABLE_NAME IN ('AUTO_INCREMENT_INCREMENT', 'AUTO_INCREMENT_OFFSET') AND GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'COMMAND-LINE')`).Scan(&files, &path)
	if files < 2 {
		path = ""
	}
	return path, err
}

// origin notes whether the settings outlast a restart.
func (s *mysqlShard) origin(ctx context.Context, st *State) error {
	m := st.Member
	if m == nil {
		return nil
	}
	var initial string
	if err := s.conn.QueryRowContext(ctx, "SELECT @@GLOBAL.init_connect").Scan(&initial); err != nil {
		return err
	}
	if strings.Contains(strings.ToLower(initial), "auto_increment_") {
		st.missed = append(st.missed, missed{"", "what sessions draw: init_connect sets auto_increment_… in each that has not SUPER"})
	}
	if s.scope == Session {
		st.Notes = append(st.Notes, "the application's connections set auto_increment_increment and auto_increment_offset")
	}
	if s.scope != Global {
		return nil
	}
	path, err := s.configured(ctx)
	lines := "auto-increment-increment = " + strconv.FormatInt(m.Has.Increment, 10) + ", auto-increment-offset = " + strconv.FormatInt(m.Has.Offset, 10)
	switch {
	case path == "":
		st.Notes = append(st.Notes, "a restart takes the settings from my.cnf, which has to say: "+lines)
	case st.Setting == m.Has:
		st.Notes = append(st.Notes, path+" has the settings, which are right")
	default:
		st.Notes = append(st.Notes, path+" is wrong and has to say: "+lines)
	}
	return err
}

// settings implements database: what makes the settings last on a server
// without SET PERSIST, or what connections have to send under the scope
// session.
func (s *mysqlShard) settings(ctx context.Context, w io.Writer, name string, has Progression) error {
	switch s.scope {
	case Global:
		path, err := s.configured(ctx)
		if err != nil {
			return err
		}
		now, err := s.setting(ctx)
		if err != nil {
			return err
		}
		if path != "" && now == has {
			_, err = fmt.Fprintf(w, "%s: %s has the settings, which are right\n", name, path)
			return err
		}
		_, err = fmt.Fprintf(w, "%s: SET GLOBAL ends with a restart of the server. Put into its my.cnf:\n  [mysqld]\n  auto-increment-increment = %d\n  auto-increment-offset    = %d\n",
			name, has.Increment, has.Offset)
		return err
	case Session:
		_, err := fmt.Fprintf(w, "%s: every connection of the application has to send:\n  SET SESSION auto_increment_increment = %d, SESSION auto_increment_offset = %d\n",
			name, has.Increment, has.Offset)
		return err
	}
	return nil
}

// guardPrefix begins the names of the triggers of guard.
const guardPrefix = "nextid_guard_"

// guards looks for the triggers.
func (s *mysqlShard) guards(ctx context.Context, st *State) error {
	names, err := s.guardNames(ctx)
	st.guarded = len(names) > 0
	return err
}

func (s *mysqlShard) guardNames(ctx context.Context) (map[string]bool, error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
		WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME LIKE 'nextid\_guard\_%'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names[name] = true
	}
	return names, rows.Err()
}

// guard implements database. A session may draw a part of the shard's numbers:
// while one gives half of them away, those that do so already pass.
func (s *mysqlShard) guard(ctx context.Context, lines []Line, has Progression) error {
	for _, l := range lines {
		if l.Aside || l.column == "" {
			continue
		}
		trigger := appdb.QuoteMySQL(guardName(l))
		if err := s.patiently(ctx, "DROP TRIGGER IF EXISTS "+trigger); err != nil {
			return explainMySQL(err)
		}
		column := "NEW." + l.column
		err := s.patiently(ctx, fmt.Sprintf("CREATE TRIGGER %[1]s BEFORE INSERT ON %[2]s FOR EACH ROW "+
			"IF (%[3]s IS NULL OR %[3]s = 0) AND (@@SESSION.auto_increment_increment %% %[5]d <> 0"+
			" OR (@@SESSION.auto_increment_offset + %[5]d - %[4]d) %% %[5]d <> 0 OR @@SESSION.auto_increment_offset > @@SESSION.auto_increment_increment) "+
			"THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'this shard draws ids with auto_increment_increment %[5]d and auto_increment_offset %[4]d: set them in this session'; END IF",
			trigger, l.table, column, has.Offset, has.Increment))
		if err != nil {
			return explainMySQL(err)
		}
	}
	return nil
}

// guardName is the name of a table's guard. Two long names may begin alike.
func guardName(l Line) string {
	const most = 64 // characters of a name in MySQL
	name := guardPrefix + unquoteMySQL(l.table)
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("%s%x", guardPrefix, h.Sum64())
}

// unguarding are the statements that remove the guards.
func (s *mysqlShard) unguarding(ctx context.Context) (statements []string, err error) {
	names, err := s.guardNames(ctx)
	for name := range names {
		statements = append(statements, "DROP TRIGGER "+appdb.QuoteMySQL(name))
	}
	return statements, err
}
