package mysql_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
	"nextid/sqlfuncs/syntax"
)

func TestLastInsertIDIsTheNewestID(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.MySQLSession(t)
	if got := s.Value(t, "SELECT LAST_INSERT_ID()"); got != "0" {
		t.Errorf("before the first id: %s", got)
	}
	s.NoteIDs(t, "a", s.Value(t, "SELECT next_id('a')"))
	if got := s.Value(t, "SELECT LAST_INSERT_ID()"); got != "1" {
		t.Errorf("after SELECT next_id: %s", got)
	}
	if _, err := s.Query(t, "DO next_id('a')"); err != nil {
		t.Fatal(err)
	}
	if got := s.LastInsertID(); got != 2 {
		t.Errorf("the OK packet of DO next_id has %d", got)
	}
	s.NoteIDs(t, "a", "2")
	if _, err := s.Query(t, "SET @x = 1"); err != nil || s.LastInsertID() != 0 {
		t.Errorf("the OK packet of another statement has %d, %v", s.LastInsertID(), err)
	}
	if got := s.Value(t, "SELECT LAST_INSERT_ID(7)") + s.Value(t, "SELECT LAST_INSERT_ID()"); got != "77" {
		t.Errorf("LAST_INSERT_ID(7), LAST_INSERT_ID() = %s", got)
	}
	if got := s.Value(t, "SELECT LASTVAL(a)"); got != "2" {
		t.Errorf("LASTVAL(a) = %s", got)
	}
}

func TestSequencesOfMariaDBAndVitess(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.MySQLSession(t)
	for i, sql := range []string{"SELECT NEXT VALUE FOR a", "SELECT NEXTVAL(a)", "SELECT NEXTVAL(corpus.a)", "SELECT nextval('a')", "SELECT NEXT VALUE FROM a"} {
		want := string(rune('1' + i))
		if got := s.Value(t, sql); got != want {
			t.Errorf("%s = %s, want %s", sql, got, want)
		}
		s.NoteIDs(t, "a", want)
	}
	if got := s.Value(t, "SELECT NEXT 5 VALUES FROM a"); got != "6" {
		t.Errorf("NEXT 5 VALUES = %s", got)
	}
	if got := s.Value(t, "SELECT next_id('a')"); got != "11" {
		t.Errorf("after five values: %s", got)
	}
	s.NoteIDs(t, "a", "6", "7", "8", "9", "10", "11")
	s.Want(t, "SELECT n, (SELECT NEXT 2 VALUES FROM a) FROM (SELECT 1 AS n UNION SELECT 2) t", "1|12\n2|14")
	s.NoteIDs(t, "a", "12", "13", "14", "15")
}

func TestTablesOfIDsInMySQL(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.MySQLSession(t)
	for i, sql := range []string{
		"SELECT id FROM ids WHERE name = 'a'", "SELECT `ids`.`id` FROM `ids` WHERE (`name` = 'a') LIMIT 21", "SELECT ID FROM any_database.ids WHERE NAME IN ('a')",
		"select t0.`id` `id` from `x`.`a_id` t0 lock in share mode", "SELECT id FROM a_id",
	} {
		want := string(rune('1' + i))
		if got := s.Value(t, sql); got != want {
			t.Errorf("%s = %s, want %s", sql, got, want)
		}
		s.NoteIDs(t, "a", want)
	}
	if r, err := s.Query(t, "SELECT n, id FROM id_batch WHERE name = 'a' AND n = 3"); err != nil || r.String() != "3|6\n3|7\n3|8" {
		t.Errorf("id_batch: %v, %v", r, err)
	}
	s.NoteIDs(t, "a", "6", "7", "8")
	for _, sql := range []string{"EXPLAIN SELECT id FROM ids WHERE name = 'a'", "SHOW TABLE STATUS LIKE 'a_id'", "DESCRIBE a_id", "SELECT * FROM ids WHERE 1=0"} {
		if _, err := s.Query(t, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := s.Value(t, "SELECT next_id('a')"); got != "9" {
		t.Errorf("a statement that only looks drew an id: %s", got)
	}
	s.NoteIDs(t, "a", "9")
	if number, state := s.MySQLError(t, "SELECT * FROM mysql.user"); number != 1142 || state != "42000" {
		t.Errorf("mysql.user: %d %s", number, state)
	}
}

func TestUUIDsOfMySQL(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for sql, want := range map[string]string{
		"SELECT UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db') = X'6CCD780CBABA102695645B8C656024DB'":    "1",
		"SELECT UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', 1) = X'1026BABA6CCD780C95645B8C656024DB'": "1",
		"SELECT BIN_TO_UUID(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', 1), 1)":                       "6ccd780c-baba-1026-9564-5b8c656024db",
		"SELECT BIN_TO_UUID(UUID_TO_BIN('{6ccd780c-baba-1026-9564-5b8c656024db}'))":                           "6ccd780c-baba-1026-9564-5b8c656024db",
		"SELECT UUID() LIKE '________-____-1___-____-____________' AND UUID() <> UUID()":                      "1",
		"SELECT UUID_SHORT() < UUID_SHORT()":                                                                  "1",
		"SELECT BIN_TO_UUID(X'00112233445566778899AABBCCDDEEFF')":                                             "00112233-4455-6677-8899-aabbccddeeff",
		"SELECT UUID_TO_BIN(NULL) IS NULL":                                                                    "1",
	} {
		if got := s.Value(t, sql); got != want {
			t.Errorf("%s = %s, want %s", sql, got, want)
		}
	}
	if number, state := s.MySQLError(t, "SELECT UUID_TO_BIN('x')"); number != 1411 || state != "HY000" {
		t.Errorf("UUID_TO_BIN('x'): %d %s", number, state)
	}
}

func TestSleepEndsWithTheStatement(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := s.QueryAll(ctx, "SELECT SLEEP(100)"); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestUserVariablesAreBounded(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	long := "'" + strings.Repeat("x", 600_000) + "'"
	for range 3 {
		if _, err := s.Query(t, "SET @a = "+long); err != nil {
			t.Fatal(err)
		}
	}
	if number, _ := s.MySQLError(t, "SET @b = "+long); number != 1226 {
		t.Errorf("too many bytes: %d", number)
	}
	if number, _ := s.MySQLError(t, "SELECT CONCAT(@a"+strings.Repeat(", @a", 60)+")"); number != 1226 {
		t.Errorf("a text too long: %d", number)
	}
}

func TestOnlyAdminsChangeGeneratorsInMySQL(t *testing.T) {
	server := sqltest.NewServer(t)
	user := server.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "u", PID: 1})
	if number, _ := user.MySQLError(t, "SELECT create_generator('g', 'segment', '{}')"); number != 1370 {
		t.Errorf("create_generator: %d", number)
	}
	admin := server.MySQLSession(t)
	if got := admin.Value(t, `SELECT create_generator('g', 'segment', '{"step": 10}')`); got != "g" {
		t.Errorf("create_generator = %s", got)
	}
	if _, err := admin.Query(t, "CREATE SEQUENCE s2 START WITH 100"); err != nil {
		t.Error(err)
	}
	s2 := admin.Value(t, "SELECT NEXTVAL(s2)")
	if s2 != "100" {
		t.Errorf("NEXTVAL(s2) = %s", s2)
	}
	admin.NoteIDs(t, "s2", s2)
	if number, _ := admin.MySQLError(t, "SET GLOBAL max_connections = 5"); number != 1227 {
		t.Errorf("SET GLOBAL: %d", number)
	}
}

func TestParametersWhereTheirTypeFollows(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.MySQLSession(t)
	number := func(n string) sqlfuncs.Arg { return sqlfuncs.Arg{Type: datum.Int8, Data: []byte(n)} }
	text := func(v string) sqlfuncs.Arg { return sqlfuncs.Arg{Type: datum.Text, Data: []byte(v)} }
	for _, c := range []struct {
		sql  string
		args []sqlfuncs.Arg
		want string
	}{
		{"SELECT a FROM (SELECT 1 AS a UNION SELECT 2) t LIMIT ?", []sqlfuncs.Arg{number("1")}, "1"},
		{"SELECT a FROM (SELECT 1 AS a UNION SELECT 2) t LIMIT ?, ?", []sqlfuncs.Arg{text("1"), text("1")}, "2"},
		{"SELECT a FROM (SELECT 1 AS a UNION SELECT 2) t WHERE a IN (?, ?)", []sqlfuncs.Arg{text("2"), number("3")}, "2"},
		{"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", []sqlfuncs.Arg{text("x"), text("IDS")}, "1"},
		{"SELECT n FROM id_batch WHERE name = ? AND n = ? LIMIT 1", []sqlfuncs.Arg{text("a"), text("3")}, "3"},
		{"SELECT ? AS v UNION ALL SELECT 1", []sqlfuncs.Arg{text("x1")}, "x1\n1"},
		{"SELECT 1 AS v UNION ALL SELECT ?", []sqlfuncs.Arg{text("x1")}, "1\nx1"},
		{"SELECT ? DIV 2", []sqlfuncs.Arg{number("7")}, "3"},
		{"SELECT CASE WHEN ? THEN 'yes' ELSE 'no' END", []sqlfuncs.Arg{number("1")}, "yes"},
		{"SELECT ? = 'A', ? IS NULL", []sqlfuncs.Arg{text("a"), {Null: true}}, "1|1"},
		{"SELECT SUBSTRING(?, 1, 4)", []sqlfuncs.Arg{{Type: datum.Timestamp, Data: []byte("2026-01-02 03:04:05")}}, "2026"},
		{"SELECT ? = X'FF00'", []sqlfuncs.Arg{{Type: datum.Bytea, Binary: true, Data: []byte("\xff\x00")}}, "1"},
	} {
		st, err := s.Prepare("", c.sql, nil)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		p, err := s.Open(st, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		r, err := s.Pull(t.Context(), p, 0)
		if err != nil || r.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.sql, r, err, c.want)
		}
		p.Close()
	}
}

func TestMySQLHints(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for sql, hint := range map[string]string{
		"CALL next_id('a')": "nextid has functions and no procedures",
		"FLUSH PRIVILEGES":  "SIGHUP", "GRANT SELECT ON *.* TO x": "nextid passwd", "SHUTDOWN": "SIGTERM", "INSERT INTO ids VALUES (1)": "stores no rows",
	} {
		_, err := s.Query(t, sql)
		var e *sqlstate.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %v, want a hint with %q", sql, err, hint)
		}
	}
}

func TestMySQLGrants(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	s.Want(t, "SHOW GRANTS", "GRANT USAGE ON *.* TO `root`@`127.0.0.1`\nGRANT SELECT, EXECUTE ON `nextid`.* TO `root`@`127.0.0.1`\n"+
		"GRANT CREATE, ALTER, DROP ON `nextid`.* TO `root`@`127.0.0.1`")
	s.Want(t, "SHOW CREATE USER", "CREATE USER `root`@`127.0.0.1`")
	for _, sql := range []string{"SHOW GRANTS FOR CURRENT_USER()", "SHOW GRANTS FOR root@localhost", "SHOW GRANTS FOR 'root'@'%'"} {
		if r := s.Must(t, sql); len(r.Rows) != 3 {
			t.Errorf("%s: %d rows", sql, len(r.Rows))
		}
	}
	if _, err := s.Query(t, "SHOW GRANTS FOR 'nobody'@'%'"); err == nil || !strings.Contains(err.Error(), "no such grant") {
		t.Errorf("SHOW GRANTS FOR nobody: %v", err)
	}
	if got := s.Must(t, "SHOW GRANTS").Columns[0].Name; got != "Grants for root@127.0.0.1" {
		t.Errorf("SHOW GRANTS: column %q", got)
	}
}

// TestShowsOfAnyForm combines the words of SHOW with words that may follow. An
// unexpected form must be an error, not a panic.
func TestShowsOfAnyForm(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.MySQLSession(t)
	words := strings.Split(`VARIABLES,STATUS,DATABASES,TABLES,FULL TABLES,TABLE STATUS,COLUMNS,FULL COLUMNS,CREATE,CREATE TABLE,CREATE DATABASE,
		CREATE FUNCTION,CREATE USER,CREATE VIEW,CREATE SEQUENCE,CREATE SCHEMA,CREATE PROCEDURE,CREATE TRIGGER,CREATE EVENT,CREATE PACKAGE BODY,CREATE SERVER,
		ENGINES,COLLATION,CHARACTER SET,FUNCTION STATUS,PROCEDURE STATUS,PROCESSLIST,INDEX,GRANTS,PLUGINS,TRIGGERS,EVENTS,WARNINGS,ERRORS,COUNT,MASTER STATUS,
		BINARY LOGS,BINLOG EVENTS,PROFILE,OPEN TABLES,PRIVILEGES,ENGINE INNODB STATUS,EXPLAIN,RELAYLOG EVENTS,GLOBAL VARIABLES,ANYTHING,ENGINE,ALL SLAVES STATUS`, ",")
	tails := []string{
		"", " root", " root@localhost", " 'root'@'%'", " `a`.`b`", " FROM ids", " FROM nextid", " FROM ids FROM nextid", " IN x LIKE 'y'", " LIKE 'x%'",
		" WHERE 1=1", " FOR root", " FOR 7", " FOR CURRENT_USER()", "(*)", "(*) WARNINGS", " LIMIT 1", " IF NOT EXISTS x", " USER root", " .", " @a", " CREATE USER",
	}
	for _, w := range words {
		for _, tail := range tails {
			sql := "SHOW " + strings.TrimSpace(w) + tail
			_, err := s.Query(t, sql)
			var e *sqlstate.Error
			if err != nil && (!errors.As(err, &e) || e.Code == sqlstate.Internal) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	for _, sql := range []string{"SHOW CREATE USER", "SHOW CREATE USER root", "SHOW CREATE USER 'root'@'%'", "SHOW CREATE USER CURRENT_USER()"} {
		if got := s.Value(t, sql); !strings.HasPrefix(got, "CREATE USER `root`@") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestUnsupportedFunctionsAreNamed checks that MySQL's other functions are errors
// that name the function, and that the session stays usable.
func TestUnsupportedFunctionsAreNamed(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	for call := range strings.FieldsSeq(`SOUNDEX('a') ABS(-1) ROUND(1.5) RAND() MD5('a') SHA2('a',256) DATE_FORMAT(NOW(),'%Y') YEAR(NOW())
		STR_TO_DATE('1','%d') FROM_UNIXTIME(1) DAYNAME(NOW()) JSON_OBJECT('a',1) JSON_LENGTH('[]') GET_LOCK('a',0) BENCHMARK(1,1) LPAD('a',2,'b')
		FIELD('a','b') REGEXP_REPLACE('a','b','c') CONV('a',16,10) INET_ATON('1.2.3.4') TO_BASE64('a') CHAR(65) POW(2,3)
		JSON_VALUE('{}','$') GROUP_CONCAT('a') HEX('a') LEFT('a',1) LENGTH('a') CURDATE() UTC_DATE() FOUND_ROWS() COLLATION('a')`) {
		number, state := s.MySQLError(t, "SELECT "+call)
		if number != 1305 || state != "42000" {
			t.Errorf("%s: error %d %s", call, number, state)
		}
		name, _, _ := strings.Cut(call, "(")
		if _, err := s.Query(t, "SELECT "+call); err == nil || !strings.Contains(strings.ToUpper(err.Error()), name+" DOES NOT EXIST") {
			t.Errorf("%s: %v", call, err)
		}
	}
	for _, call := range []string{"EXTRACT(YEAR FROM NOW())", "INSERT('a', 1, 1, 'b')", "FORMAT(1, 2)", "DATE(NOW())", "TIME(NOW())", "MOD(5, 2)"} {
		if number, _ := s.MySQLError(t, "SELECT "+call); number != 1305 && number != 1064 {
			t.Errorf("%s: error %d", call, number)
		}
	}
	if got := s.Value(t, "SELECT kind FROM id_parts WHERE id = 7234567890123456789"); got != "snowflake" {
		t.Errorf("the parts of an id: %s", got)
	}
}

func TestParametersTakeTheTypesOfTheirValues(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	st, err := s.Prepare("", "SELECT ? + 1 AS n, ? AS v", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Params) != 2 || len(st.Columns) != 2 {
		t.Fatalf("%d parameters, %d columns", len(st.Params), len(st.Columns))
	}
	for _, c := range []struct {
		a, b       sqlfuncs.Arg
		kinds, row string
	}{
		{sqlfuncs.Arg{Type: datum.Int8, Data: []byte("5")}, sqlfuncs.Arg{Type: datum.Text, Data: []byte("x")}, "integer text", "6 x"},
		{sqlfuncs.Arg{Type: datum.Text, Data: []byte("5")}, sqlfuncs.Arg{Type: datum.Int8, Data: []byte("7")}, "double integer", "6 7"},
		{sqlfuncs.Arg{Type: datum.Numeric, Data: []byte("1.5")}, sqlfuncs.Arg{Null: true}, "decimal text", "2.5 NULL"},
	} {
		p, err := s.Open(st, []sqlfuncs.Arg{c.a, c.b})
		if err != nil {
			t.Fatal(err)
		}
		kinds := sqltest.DatumKind(p.Columns()[0].Type) + " " + sqltest.DatumKind(p.Columns()[1].Type)
		r, err := s.Pull(t.Context(), p, 0)
		if err != nil || kinds != c.kinds || strings.Join(r.Rows[0], " ") != c.row {
			t.Errorf("got %s: %v, %v; want %s: %s", kinds, r, err, c.kinds, c.row)
		}
		p.Close()
	}
}

// TestRowsOfManyDatabasesAreNotHeld reads one row of a table that has all functions in
// each database that the WHERE names.
func TestRowsOfManyDatabasesAreNotHeld(t *testing.T) {
	s := sqltest.NewServer(t).MySQLSession(t)
	databases := make([]string, 2000)
	for i := range databases {
		databases[i] = "'d" + strconv.Itoa(i) + "'"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Must(t, "SELECT ROUTINE_NAME FROM information_schema.routines WHERE ROUTINE_SCHEMA IN ("+strings.Join(databases, ",")+") LIMIT 1")
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 20 {
		t.Errorf("%d MiB for one row", allocated)
	}
}
