package ids_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// A read that asks for no name draws nothing: not from a gap-free generator, and one
// that has run out does not make it fail.
func TestReadingATableDrawsOnlyForNames(t *testing.T) {
	server := sqltest.NewServer(t)
	s, m := server.Session(t), server.MySQLSession(t)
	s.Must(t, "CREATE SEQUENCE a; CREATE SEQUENCE ended MAXVALUE 1; SELECT create_generator('gapless', 'counter')")
	s.ID(t, "ended", "SELECT nextval('ended')")
	s.Want(t, "SELECT * FROM ids ORDER BY name", "a|NULL\nended|NULL\ngapless|NULL")
	s.Want(t, "SELECT count(*) FROM ids", "3")
	s.Want(t, "SELECT id FROM ids WHERE name LIKE 'g%' AND name > 'b'", "NULL")
	if got := m.Must(t, "SELECT name, id FROM ids LIMIT 1").String(); got != "a|NULL" {
		t.Errorf("MySQL: %s", got)
	}
	s.Want(t, "SELECT id FROM ids WHERE name = 'gapless'", "1")
	s.Want(t, "SELECT name, id FROM ids WHERE name IN ('a', 'gapless') ORDER BY name", "a|1\ngapless|2")
	s.Want(t, "SELECT name, id FROM ids WHERE name = 'a' OR name = 'a' OR name IN ('gapless', 'gap' || NULL)", "a|2\ngapless|3")
	s.Want(t, "SELECT name, id FROM ids WHERE (name = 'a' OR true) AND name < 'b'", "a|NULL")
	s.Fails(t, "SELECT id FROM ids WHERE name = 'ended'", sqlstate.SequenceExhausted)
}

func TestConditionsOnASubqueryReachItsTable(t *testing.T) {
	server := sqltest.NewServer(t)
	s, m := server.Session(t), server.MySQLSession(t)
	s.Must(t, "CREATE SEQUENCE a")
	s.Want(t, "SELECT * FROM (SELECT * FROM ids) t", "a|NULL")
	s.Want(t, "SELECT * FROM (SELECT * FROM ids) t WHERE name = 'a' AND 1 = 0", "")
	s.Want(t, "SELECT * FROM (SELECT * FROM ids LIMIT 5) t WHERE name = 'a'", "a|NULL")
	s.Want(t, "SELECT * FROM (SELECT name, max(id) FROM ids GROUP BY name) t WHERE name = 'a'", "a|NULL")
	s.Want(t, "SELECT id FROM (SELECT * FROM ids) t WHERE t.name = 'a'", "1")
	m.Want(t, "SELECT id FROM (SELECT * FROM ids) t WHERE t.name = 'a'", "2")
	s.Want(t, "SELECT id FROM (SELECT name AS n, id FROM (SELECT * FROM ids) i ORDER BY 1) t WHERE n IN ('a', 'b') AND n = 'a'", "3")
	s.Want(t, "SELECT id FROM (SELECT i.name, i.id FROM (VALUES (1)) v (x) LEFT JOIN ids i ON true) t WHERE name = 'a'", "4")
	s.Want(t, "SELECT count(id) FROM (SELECT * FROM id_batch) t WHERE name = 'a' AND n = 2", "2")
	s.Want(t, "WITH t AS (SELECT * FROM ids) SELECT id FROM t WHERE name = 'a'", "7")
	m.Want(t, "WITH t AS (SELECT * FROM ids) SELECT id FROM t WHERE name = 'a'", "8")
	s.Want(t, "WITH t AS (SELECT * FROM ids), u (n, i) AS (SELECT * FROM t) SELECT i FROM u WHERE n = 'a'", "9")
	s.Want(t, "SELECT (WITH t AS (SELECT * FROM ids) SELECT id FROM t WHERE name = v.x) FROM (VALUES ('a')) v (x)", "NULL")
	s.Want(t, "WITH t AS (SELECT * FROM ids) SELECT v.x, (SELECT name FROM t WHERE name = v.x) FROM (VALUES ('a'), ('b')) v (x)", "a|a\nb|NULL")
	s.Want(t, "WITH t AS (SELECT * FROM ids) SELECT t.id, u.id FROM t, t u WHERE t.name = 'a'", "NULL|NULL")
	s.Want(t, "WITH t AS (SELECT * FROM ids) SELECT v.x, id FROM (VALUES ('a'), ('b')) v (x) LEFT JOIN t ON name = 'a' AND name = x", "a|NULL\nb|NULL")
}

func TestABatchForNoNameHasNoRows(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Want(t, "SELECT * FROM id_batch WHERE name = NULL AND n = 0", "")
}

func TestANameThatNoGeneratorCanHaveIsNotFound(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "CREATE SEQUENCE a")
	s.Want(t, "SELECT id FROM ids WHERE name = 'user@example.com'", "")
	s.Want(t, "SELECT id FROM ids WHERE name IN ('@', 'a', '')", "1")
	s.Want(t, "SELECT id FROM id_batch WHERE name = 'no such' AND n = 5", "")
	s.Want(t, "SELECT first FROM id_ranges WHERE name = '1' AND n = 5", "")
	s.Want(t, "SELECT name FROM nextid.generators", "a")
}

// auto_create_tables: false is for programs that look names up.
func TestTablesThatCreateNothing(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{NoTableCreate: true}}).Session(t)
	s.Must(t, "CREATE SEQUENCE a")
	for _, sql := range []string{
		"SELECT id FROM ids WHERE name = 'nosuch'", "SELECT id FROM id_batch WHERE name = 'nosuch' AND n = 2", "SELECT first FROM id_ranges WHERE name = 'nosuch' AND n = 2",
	} {
		s.Want(t, sql, "")
	}
	s.Fails(t, "SELECT id FROM nosuch_id", sqlstate.UndefinedTable)
	s.Want(t, "SELECT name FROM nextid.generators", "a")
	s.Want(t, "SELECT id FROM ids WHERE name = 'a'", "1")
	s.Want(t, "SELECT id FROM a_id", "2")
	s.ID(t, "made", "SELECT next_id('made')")
	s.Want(t, "SELECT count(*) FROM ids WHERE name = 'made'", "1")
}

// TestPairsOfManyKeysAreNotHeld reads one row of tables with a row for each pair of keys.
func TestPairsOfManyKeysAreNotHeld(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	names, numbers := make([]string, 200), make([]string, 4000)
	for i := range names {
		names[i] = "g" + strconv.Itoa(i)
		server.Segment(t, names[i])
	}
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	list := func(values []string, of string) string {
		return " = ANY ('{" + strings.Join(values, ",") + "}'::" + of + "[])"
	}
	for _, where := range []string{
		"id_batch WHERE name" + list(names, "text") + " AND n" + list(numbers, "bigint"),
		"id_parts WHERE id" + list(numbers, "bigint") + " AND layout" + list(names, "text"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Must(t, "SELECT id FROM "+where+" LIMIT 1")
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 20 {
			t.Errorf("%.20s: %d MiB for one row", where, allocated)
		}
	}
}
