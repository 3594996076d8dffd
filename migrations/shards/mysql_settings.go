package shards

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// configured returns the origin of MariaDB's settings if they outlast a restart: the
// path of a configuration file, or the command line. Otherwise it returns "".
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

// origin adds notes about settings that end with a restart, or that sessions
// override.
func (s *mysqlShard) origin(ctx context.Context, st *State) error {
	var initial string
	if err := s.conn.QueryRowContext(ctx, "SELECT @@GLOBAL.init_connect").Scan(&initial); err != nil {
		return err
	}
	if strings.Contains(strings.ToLower(initial), "auto_increment_") {
		st.missed = append(st.missed, missed{nil, "what sessions draw: init_connect sets auto_increment_… in each that has not SUPER"})
	}
	if s.scope != global {
		return nil
	}
	path, err := s.configured(ctx)
	has := st.Member.Has
	lines := fmt.Sprintf("auto-increment-increment = %d, auto-increment-offset = %d", has.Increment, has.Offset)
	switch {
	case path == "":
		lines = "a restart takes the settings from my.cnf, which has to say: " + lines
	case st.Setting == has:
		lines = path + " has the settings, which are right"
	default:
		lines = path + " is wrong and has to say: " + lines
	}
	st.Notes = append(st.Notes, lines)
	return err
}

// settings implements database. It writes the lines for my.cnf on a server without
// SET PERSIST.
func (s *mysqlShard) settings(ctx context.Context, w io.Writer, has Progression) error {
	if s.scope != global {
		return nil
	}
	path, err := s.configured(ctx)
	if err != nil {
		return err
	}
	now, err := s.setting(ctx)
	if err != nil {
		return err
	}
	if path != "" && now == has {
		_, err = fmt.Fprintf(w, "%s: %s has the settings, which are right\n", s.name, path)
		return err
	}
	_, err = fmt.Fprintf(w, "%s: SET GLOBAL ends with a restart of the server. Put into its my.cnf:\n  [mysqld]\n  auto-increment-increment = %d\n  auto-increment-offset    = %d\n",
		s.name, has.Increment, has.Offset)
	return err
}
