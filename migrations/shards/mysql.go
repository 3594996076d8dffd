package shards

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

// scope is the scope of the settings in MySQL and MariaDB.
type scope string

// The scopes.
const (
	persist scope = "persist" // SET PERSIST (MySQL 8): outlasts restarts
	global  scope = "global"  // SET GLOBAL: until the server restarts
)

// Error numbers of MySQL and MariaDB.
const (
	erNoSuchThread = "1094"
	erAccessDenied = "1227"
	erSyntax       = "1064"
	erWrongType    = "1232"
)

// mysqlSystem describes MySQL and MariaDB. The lock is the server's, as the settings
// are: two databases of one server cannot be two shards. An ALTER TABLE commits the
// transaction of together, and later changes commit one by one.
var mysqlSystem = system{
	folder: "mysql", dialect: goose.DialectMySQL, most: maxIncrementMySQL,
	tables:  "information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME",
	tryLock: "SELECT GET_LOCK('nextid migrate shards', 0)", unlock: "DO RELEASE_LOCK('nextid migrate shards')",
	first: "START TRANSACTION", last: "COMMIT", unsettle: "UPDATE nextid_shard_lines SET started = 0",
	fits:   "SELECT TRUE /*M! AND EXISTS (SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'nextid_shard' AND COLUMN_NAME = 'drained') */",
	locked: "another migrate shards is at work on this server",
	// A Galera cluster is of MariaDB, or of Percona.
	unfit: `SELECT CASE WHEN @@GLOBAL.read_only THEN 'the server is read-only, as a replica is'
		WHEN (SELECT COUNT(*) FROM /*M! information_schema.GLOBAL_VARIABLES */ /*!50700 performance_schema.global_variables */
			WHERE VARIABLE_NAME IN ('WSREP_ON', 'WSREP_AUTO_INCREMENT_CONTROL') AND VARIABLE_VALUE = 'ON') = 2
		THEN 'Galera sets auto_increment_offset and auto_increment_increment itself (wsrep_auto_increment_control = ON)' ELSE '' END`,
	hint: "Is the server given twice? Two databases of one MySQL or MariaDB server share its settings and cannot be two shards.",
}

// mysqlShard is a shard on MySQL or MariaDB.
type mysqlShard struct {
	*connection
	scope   scope
	mariadb bool
	changed time.Time // the settings have not changed since
	below   int64     // connections of this or a greater id are newer than the change; 0: not known
}

// begin implements database.
func (s *mysqlShard) begin(ctx context.Context) error {
	var version string
	if err := s.conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	number, _, _ := strings.Cut(version, "-")
	s.mariadb, s.scope, s.title = strings.Contains(version, "MariaDB"), global, "MySQL "+number
	major, _, _ := strings.Cut(number, ".")
	if generation, err := strconv.Atoi(major); s.mariadb {
		s.title = "MariaDB " + number
	} else if err == nil && generation >= 8 {
		s.scope = persist
	}
	// Other statements queue behind an ALTER TABLE that waits for a transaction. MySQL 8
	// caches AUTO_INCREMENT in information_schema for a day; MariaDB ignores this comment.
	return appdb.Exec(ctx, s.conn, "SET SESSION lock_wait_timeout = 5 /*!80000 , information_schema_stats_expiry = 0 */")
}

// state implements database.
func (s *mysqlShard) state(ctx context.Context) (State, error) {
	st := State{Title: s.title}
	var draining bool
	var err error
	if st.Setting, err = s.setting(ctx); err != nil {
		return st, err
	}
	if st.Setting.Offset > st.Setting.Increment {
		st.Notes = append(st.Notes, fmt.Sprintf("auto_increment_offset %d is greater than auto_increment_increment %d: MySQL ignores it",
			st.Setting.Offset, st.Setting.Increment))
		st.Setting = every
	}
	// INNODB_TRX needs the right PROCESS. Without it, PROCESSLIST omits the sessions
	// of other accounts, without an error.
	err = appdb.Exec(ctx, s.conn, "SELECT COUNT(*) FROM information_schema.INNODB_TRX")
	if st.blind = appdb.Says(err, erAccessDenied); err != nil && !st.blind {
		return st, err
	}
	if err := s.member(ctx, &st, ", scope, drain_below IS NOT NULL", &s.scope, &draining); err != nil {
		return st, err
	}
	if st.Member != nil {
		if err := s.origin(ctx, &st); err != nil {
			return st, err
		}
		st.Member.Draining = draining || st.lapsed
	}
	err = s.lines(ctx, &st)
	return st, err
}

// setting returns the global settings, which sessions copy when they connect.
func (s *mysqlShard) setting(ctx context.Context) (p Progression, err error) {
	err = s.conn.QueryRowContext(ctx, "SELECT @@GLOBAL.auto_increment_offset, @@GLOBAL.auto_increment_increment").Scan(&p.Offset, &p.Increment)
	return p, err
}

// join implements database.
func (s *mysqlShard) join(ctx context.Context, m Member) error {
	persisted := ""
	if s.scope == persist {
		const value = ", before_persisted_%[1]s = (SELECT VARIABLE_VALUE FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = 'auto_increment_%[1]s')"
		persisted = fmt.Sprintf(value, "offset") + fmt.Sprintf(value, "increment")
	}
	return s.exec(ctx, fmt.Sprintf(`INSERT INTO nextid_shard SET one = 1, shards = '%s', number = %d, members = %d, first_number = %d, increment = %d, scope = '%s',
		before_offset = @@GLOBAL.auto_increment_offset, before_increment = @@GLOBAL.auto_increment_increment%s
		ON DUPLICATE KEY UPDATE number = VALUES(number), members = VALUES(members), first_number = VALUES(first_number), increment = VALUES(increment)`,
		m.Set, m.Number, m.Of, m.Has.Offset, m.Has.Increment, s.scope, persisted))
}

// assign implements database.
func (s *mysqlShard) assign(ctx context.Context, _ []Line, has Progression) error {
	// Before the change, record that older sessions must be waited for.
	if err := s.exec(ctx, "UPDATE nextid_shard SET drain_below = 0"); err != nil {
		return err
	}
	s.below = 0
	// SET GLOBAL would hide that a configuration file has set the value already.
	if now, err := s.setting(ctx); err != nil || s.scope == global && now == has {
		return err
	}
	scope := strings.ToUpper(string(s.scope))
	err := s.exec(ctx, fmt.Sprintf("SET %s auto_increment_increment = %d, %s auto_increment_offset = %d", scope, has.Increment, scope, has.Offset))
	s.changed = time.Now()
	return err
}

// able implements database. It sets an invalid value: the server checks the right
// before the value. A valid value would hide that a configuration file has set it.
func (s *mysqlShard) able(ctx context.Context) error {
	if s.dry != nil {
		return nil
	}
	err := appdb.Exec(ctx, s.conn, "SET GLOBAL auto_increment_increment = 'right?'")
	if appdb.Says(err, erWrongType) {
		return nil
	}
	return err
}

// settle bounds how long a connection may take from the copy of the settings to its
// connection id.
const settle = time.Second

// older implements database. Connection ids grow. So a connection made now has a
// greater id than all that have copied the settings before the change.
func (s *mysqlShard) older(ctx context.Context) ([]session, error) {
	const drained = "UPDATE nextid_shard SET drain_below = NULL /*M! , drained = UNIX_TIMESTAMP() */"
	if s.dry != nil {
		_, err := fmt.Fprintln(s.dry, "-- wait until no session is older than this change")
		return nil, cmp.Or(err, s.exec(ctx, drained))
	}
	var below sql.NullInt64
	if err := s.conn.QueryRowContext(ctx, "SELECT drain_below FROM nextid_shard").Scan(&below); err != nil || !below.Valid {
		return nil, err
	}
	if s.below == 0 { // a note from before a restart of the server has ids that begin again
		var err error
		if s.below, err = s.newest(ctx); err != nil {
			return nil, err
		}
		if below.Int64 > 0 {
			s.below = min(s.below, below.Int64)
		}
		if err := s.exec(ctx, fmt.Sprintf("UPDATE nextid_shard SET drain_below = %d", s.below)); err != nil {
			return nil, err
		}
	}
	// Replication does not draw ids. The event scheduler starts a new session for
	// each event.
	var found []session
	err := appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		var one session
		err := rows.Scan(&one.id, &one.account)
		found = append(found, one)
		return err
	}, `SELECT ID, CONCAT(USER, '@', HOST) FROM information_schema.PROCESSLIST
		WHERE ID < ? AND ID <> CONNECTION_ID() AND COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')
			AND USER NOT IN ('system user', 'event_scheduler')`, s.below)
	if err != nil || len(found) > 0 {
		return found, err
	}
	if err := s.settleLines(ctx); err != nil {
		return nil, err
	}
	return nil, s.exec(ctx, drained)
}

// settleLines records the present counters: ids from there on are of the present
// progression.
func (s *mysqlShard) settleLines(ctx context.Context) error {
	lines, err := s.columns(ctx, "nextid_shard_lines")
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return nil
	}
	var all strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&all, " WHEN %s THEN %d", appdb.LiteralMySQL(l.Name), l.free)
	}
	return s.exec(ctx, "UPDATE nextid_shard_lines SET started = GREATEST(started, CASE line"+all.String()+" ELSE 0 END) WHERE started > 0")
}

// newest returns the id of a connection that is made now, at least settle after the
// change.
func (s *mysqlShard) newest(ctx context.Context) (id int64, err error) {
	select {
	case <-time.After(time.Until(s.changed.Add(settle))):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	err = conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id)
	return id, err
}

// start implements database.
func (s *mysqlShard) start(ctx context.Context, l Line, has Progression, least int64) error {
	first, ok := has.first(least)
	if !ok || first > l.Most {
		return usedUp(l, first)
	}
	if next, ok := has.first(l.free); !ok || next < first {
		if err := s.patiently(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", l.table, first)); err != nil {
			return err
		}
		if err := s.check(ctx, l, first); err != nil {
			return err
		}
	}
	return s.exec(ctx, fmt.Sprintf("REPLACE INTO nextid_shard_lines VALUES (%s, %d)", appdb.LiteralMySQL(l.Name), first))
}

// check returns an error if the server has ignored a new AUTO_INCREMENT: some
// storage engines do.
func (s *mysqlShard) check(ctx context.Context, l Line, first int64) error {
	if s.dry != nil {
		return nil
	}
	var next uint64
	err := s.conn.QueryRowContext(ctx, "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", l.path[0], l.path[1]).Scan(&next)
	if err != nil {
		return err
	}
	if next < uint64(first) {
		return &Error{What: fmt.Sprintf("the table of %s did not take AUTO_INCREMENT = %d", l.Name, first), Hint: "Is its engine InnoDB?"}
	}
	return nil
}

// restore implements database.
func (s *mysqlShard) restore(ctx context.Context) error {
	var before Progression
	var persisted [2]sql.NullInt64
	var was scope
	err := s.conn.QueryRowContext(ctx, "SELECT scope, before_offset, before_increment, before_persisted_offset, before_persisted_increment FROM nextid_shard").
		Scan(&was, &before.Offset, &before.Increment, &persisted[0], &persisted[1])
	if err != nil {
		return err
	}
	var statements []string
	for i, name := range []string{"auto_increment_offset", "auto_increment_increment"} {
		switch {
		case was != persist:
		case persisted[i].Valid:
			statements = append(statements, fmt.Sprintf("SET PERSIST_ONLY %s = %d", name, persisted[i].Int64))
		default:
			statements = append(statements, "RESET PERSIST IF EXISTS "+name)
		}
	}
	now, err := s.setting(ctx)
	if err != nil {
		return err
	}
	if now != before { // without a change, the account needs no right
		statements = append(statements, fmt.Sprintf("SET GLOBAL auto_increment_increment = %d, GLOBAL auto_increment_offset = %d", before.Increment, before.Offset))
	}
	return s.exec(ctx, statements...)
}

// origin reports settings that end with a restart, since the server has no SET
// PERSIST, or that sessions override.
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
	// A configuration file or the command line of MariaDB outlasts a restart.
	var files int
	var path string
	if s.mariadb {
		err := s.conn.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MAX(GLOBAL_VALUE_PATH), 'the command line of the server'),
			(SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE >= drained FROM information_schema.GLOBAL_STATUS, nextid_shard WHERE VARIABLE_NAME = 'UPTIME')
			FROM information_schema.SYSTEM_VARIABLES
			WHERE VARIABLE_NAME IN ('AUTO_INCREMENT_INCREMENT', 'AUTO_INCREMENT_OFFSET') AND GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'COMMAND-LINE')`).
			Scan(&files, &path, &st.lapsed)
		if err != nil {
			return err
		}
	}
	lasts := files == 2
	st.lapsed = st.lapsed && !lasts
	has, right := st.Member.Has, path+" has the settings, which are right"
	note := fmt.Sprintf("has to say: auto-increment-increment = %d, auto-increment-offset = %d", has.Increment, has.Offset)
	st.restart = fmt.Sprintf("SET GLOBAL ends with a restart of the server. Put into its my.cnf:\n  [mysqld]\n  auto-increment-increment = %d\n  auto-increment-offset    = %d",
		has.Increment, has.Offset)
	switch {
	case !lasts:
		note = "a restart takes the settings from my.cnf, which " + note
	case st.Setting == has:
		note, st.restart = right, right
	default:
		note = path + " is wrong and " + note
	}
	st.Notes = append(st.Notes, note)
	return nil
}

// lines reads the AUTO_INCREMENT columns of the database.
func (s *mysqlShard) lines(ctx context.Context, st *State) (err error) {
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
	note := "(SELECT NULL AS line, NULL AS started)"
	if st.Member != nil {
		note = "nextid_shard_lines"
	}
	if st.Lines, err = s.columns(ctx, note); err != nil {
		return err
	}
	var selects []string
	for i := range st.Lines {
		l := &st.Lines[i]
		l.Draws, l.replicated = st.Setting, replicates
		if l.trouble == "" {
			selects = append(selects, fmt.Sprintf("SELECT %d, COALESCE(MAX(%[2]s), 0) FROM %[3]s WHERE %[2]s > 0", i, l.column, l.table))
		}
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
		l.free = max(l.free, int64(greatest)+1)
		l.Next, _ = l.Draws.first(l.free)
		return nil
	})
}

// aside records the sequences of MariaDB that are not fed as not checked: up does not
// set them.
func (s *mysqlShard) aside(ctx context.Context, st *State) error {
	return appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		path := make([]string, 2)
		err := rows.Scan(&path[0], &path[1])
		st.missed = append(st.missed, missed{path, "the sequence " + path[1] + ": nextid migrate feed keeps sequences apart"})
		return err
	}, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'SEQUENCE' AND TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT NOT LIKE '"+appdb.FeedNote+"%'")
}

// replicates reports whether the server replicates from another one. Without the
// right to read that, the result is false.
func (s *mysqlShard) replicates(ctx context.Context) (is bool, err error) {
	query := "SHOW REPLICA STATUS"
	if s.mariadb {
		query = "SHOW ALL SLAVES STATUS"
	}
	err = appdb.Each(ctx, s.conn, func(*sql.Rows) error { is = true; return nil }, query)
	if appdb.Says(err, erAccessDenied, erSyntax) { // no right, or MySQL before 8.0.22
		return false, nil
	}
	return is, err
}

// columns returns the AUTO_INCREMENT columns, without data about their rows. note is
// the table nextid_shard_lines, or an empty one. BINARY
// is needed because information_schema compares names without regard to case. The
// indexes are joined once: a subquery would read all indexes for each table.
func (s *mysqlShard) columns(ctx context.Context, note string) (lines []Line, err error) {
	err = appdb.Each(ctx, s.conn, func(rows *sql.Rows) error {
		var schema, table, column, kind string
		var next uint64
		var l Line
		if err := rows.Scan(&schema, &table, &column, &kind, &next, &l.Unique, &l.since); err != nil {
			return err
		}
		l.Name, l.table, l.column = table+"."+column, appdb.QuoteMySQL(table), appdb.QuoteMySQL(column)
		l.path, l.Started = []string{schema, table, column}, l.since > 0
		l.free = int64(min(next, math.MaxInt64))
		if l.Most = appdb.MostOfMySQL(kind); l.Most == 0 {
			l.trouble = "is of type " + kind + ", not an integer"
		}
		lines = append(lines, l)
		return nil
	}, `SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.COLUMN_TYPE, COALESCE(t.AUTO_INCREMENT, 1), u.COLUMN_NAME IS NOT NULL, COALESCE(n.started, 0)
		FROM information_schema.COLUMNS c
		JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND BINARY t.TABLE_NAME = BINARY c.TABLE_NAME
		LEFT JOIN (SELECT DISTINCT name, COLUMN_NAME
			FROM (SELECT BINARY TABLE_NAME AS name, MAX(COLUMN_NAME) AS COLUMN_NAME FROM information_schema.STATISTICS
				WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 GROUP BY BINARY TABLE_NAME, INDEX_NAME HAVING COUNT(*) = 1) indexes
		) u ON u.name = BINARY c.TABLE_NAME AND u.COLUMN_NAME = c.COLUMN_NAME
		LEFT JOIN `+note+` n ON BINARY n.line = BINARY CONCAT(c.TABLE_NAME, '.', c.COLUMN_NAME)
		WHERE c.TABLE_SCHEMA = DATABASE() AND c.EXTRA LIKE '%auto_increment%' AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')
			AND c.TABLE_NAME NOT IN `+ownTables+`
		ORDER BY c.TABLE_NAME`)
	return lines, err
}
