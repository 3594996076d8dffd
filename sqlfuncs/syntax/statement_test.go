package syntax

import "testing"

func TestSettings(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"set search_path = a, 'B', \"C\"", "SET search_path TO 'a', 'B', 'C'"},
		{"set session x to on", "SET x TO 'on'"},
		{"set local a.B.c to -1.5", "SET LOCAL a.b.c TO '-1.5'"},
		{`set "DateStyle" to iso`, "SET datestyle TO 'iso'"},
		{"set x to default", "SET x TO DEFAULT"},
		{"set session = 1", "SET \"session\" TO '1'"},
		{"set time zone 'UTC'", "SET timezone TO 'UTC'"},
		{"set time zone -7", "SET timezone TO '-7'"},
		{"set time zone local", "SET timezone TO DEFAULT"},
		{"set time zone interval '+00:00' hour to minute", "SET timezone TO '<+00>-00'"},
		{"set names 'utf8'", "SET client_encoding TO 'utf8'"},
		{"set names", "SET client_encoding TO DEFAULT"},
		{"set schema 'x'", "SET search_path TO 'x'"},
		{"set role none", "SET role TO 'none'"},
		{"set role to x", "SET role TO 'x'"},
		{"set session authorization 'x'", "SET session_authorization TO 'x'"},
		{"set session authorization default", "SET session_authorization TO DEFAULT"},
		{"set transaction isolation level read uncommitted", "SET transaction_isolation TO 'read uncommitted'"},
		{"set local transaction read only not deferrable", "SET LOCAL TRANSACTION READ ONLY, NOT DEFERRABLE"},
		{"set session characteristics as transaction isolation level serializable", "SET default_transaction_isolation TO 'serializable'"},
		{"set session characteristics as transaction read write, deferrable", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE, DEFERRABLE"},
		{"reset all", "RESET ALL"},
		{"reset X.y", "RESET x.y"},
		{"reset time zone", "RESET timezone"},
		{"reset session authorization", "RESET session_authorization"},
		{"reset transaction isolation level", "RESET transaction_isolation"},
		{"show all", `SHOW "all"`},
		{"show Server_Version", "SHOW server_version"},
		{"show time zone", "SHOW timezone"},
		{"show transaction isolation level", "SHOW transaction_isolation"},
		{"show session authorization", "SHOW session_authorization"},
	})
}

func TestTransactionControl(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"begin work", "BEGIN"},
		{"begin transaction isolation level serializable, read only deferrable", "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE"},
		{"start transaction read write", "START TRANSACTION READ WRITE"},
		{"commit work and no chain", "COMMIT"},
		{"rollback transaction", "ROLLBACK"},
		{"savepoint \"A b\"", `SAVEPOINT "A b"`},
		{"release savepoint a", "RELEASE SAVEPOINT a"},
		{"release savepoint", `RELEASE SAVEPOINT "savepoint"`},
		{"rollback work to a", "ROLLBACK TO SAVEPOINT a"},
	})
}

func TestPreparedStatementsAndCursors(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"prepare p as select $1", "PREPARE p AS SELECT $1"},
		{"prepare p (int, text[]) as values ($1, $2)", "PREPARE p (int, text[]) AS VALUES ($1, $2)"},
		{"execute p", "EXECUTE p"},
		{"execute p ('a', 1 + 1)", "EXECUTE p ('a', 1 + 1)"},
		{"deallocate prepare p", "DEALLOCATE PREPARE p"},
		{"deallocate all", "DEALLOCATE PREPARE ALL"},
		{"deallocate prepare", `DEALLOCATE PREPARE "prepare"`},
		{"discard temporary", "DISCARD TEMP"},
		{"declare c cursor for select 1", "DECLARE c CURSOR FOR SELECT 1"},
		{"declare c insensitive no scroll cursor with hold for values (1)", "DECLARE c CURSOR WITH HOLD FOR VALUES (1)"},
		{"declare c asensitive scroll cursor without hold for select 1", "DECLARE c SCROLL CURSOR FOR SELECT 1"},
		{"fetch c", "FETCH FORWARD 1 FROM c"},
		{"fetch next from c", "FETCH FORWARD 1 FROM c"},
		{"fetch next", "FETCH FORWARD 1 FROM \"next\""},
		{"fetch 100 c", "FETCH FORWARD 100 FROM c"},
		{"fetch all in c", "FETCH FORWARD ALL FROM c"},
		{"move forward all from c", "MOVE FORWARD ALL FROM c"},
		{"fetch -2 c", "FETCH FORWARD -2 FROM c"},
		{"fetch prior c", "FETCH FORWARD -1 FROM c"},
		{"move backward 3 in c", "MOVE FORWARD -3 FROM c"},
		{"close c", "CLOSE c"},
		{"close all", "CLOSE ALL"},
		{"explain select 1", "EXPLAIN SELECT 1"},
		{"explain (select 1)", "EXPLAIN SELECT 1"},
		{"explain analyze verbose select 1", "EXPLAIN ANALYZE SELECT 1"},
		{"explain ((values (1)))", "EXPLAIN VALUES (1)"},
	})
}

func TestInnerStatementsKeepTheirText(t *testing.T) {
	if got := one(t, "prepare p as  select  1 ;", PostgreSQL).(*Prepare).Text; got != "select  1" {
		t.Errorf("PREPARE has text %q", got)
	}
	if got := one(t, "declare c cursor for /* x */ select  1 -- y", PostgreSQL).(*Declare).Text; got != "select  1" {
		t.Errorf("DECLARE has text %q", got)
	}
}

func TestCopyAndTwoPhaseTransactions(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"copy (select 1) to stdout", "COPY (SELECT 1) TO STDOUT (FORMAT text)"},
		{"copy a.t to stdout", "COPY (SELECT * FROM a.t) TO STDOUT (FORMAT text)"},
		{"copy t (a, b) to stdout with csv header", "COPY (SELECT a, b FROM t) TO STDOUT (FORMAT csv, HEADER)"},
		{"copy t to stdout (format 'csv')", "COPY (SELECT * FROM t) TO STDOUT (FORMAT csv)"},
	})
	for sql, want := range map[string]string{
		"copy t from stdin with (format x) where a": "COPY FROM", "copy t from 'x'": "COPY FROM",
		"copy t to 'x'": "COPY TO a file", "copy (select 1) to program 'x'": "COPY TO PROGRAM",
		"declare c binary cursor for values (1)": "DECLARE BINARY CURSOR", "table a.ids": "TABLE",
		"explain (costs off) values (1)": "EXPLAIN (COSTS)",
		"copy binary t to stdout":        "COPY BINARY", "copy t to stdout (header, format binary)": "COPY with FORMAT BINARY",
		"copy t to stdout using delimiters '|'": "COPY with USING", "copy t to stdout csv delimiter as ','": "COPY with DELIMITER",
		"copy t to stdout (null 'x')": "COPY with NULL", "copy t to stdout csv force quote a, b": "COPY with FORCE",
		"copy t to stdout (foo)":  "COPY with FOO",
		"prepare transaction 'a'": "PREPARE TRANSACTION", "commit prepared 'a'": "COMMIT PREPARED", "rollback prepared 'a'": "ROLLBACK PREPARED",
	} {
		if got := one(t, sql, PostgreSQL).(*Unsupported).What; got != want {
			t.Errorf("%s: refused as %q, want %q", sql, got, want)
		}
	}
}

func TestSequences(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"create temp sequence a.b", "CREATE SEQUENCE a.b"},
		{
			"create sequence if not exists a as bigint start 1 increment by -2 minvalue -5 maxvalue +5 cache 7 cycle owned by t.c",
			"CREATE SEQUENCE IF NOT EXISTS a AS bigint START 1 INCREMENT -2 MINVALUE -5 MAXVALUE 5 CACHE 7 CYCLE OWNED BY NONE",
		},
		{"create sequence a no minvalue no maxvalue no cycle", "CREATE SEQUENCE a NO MINVALUE NO MAXVALUE NO CYCLE"},
		{"alter sequence if exists a restart", "ALTER SEQUENCE IF EXISTS a RESTART"},
		{"alter sequence a restart with 9223372036854775807", "ALTER SEQUENCE a RESTART 9223372036854775807"},
		{"drop sequence if exists a, b.c cascade", "DROP SEQUENCE IF EXISTS a, b.c"},
		{"drop sequence if", "DROP SEQUENCE if"},
	})
}

func TestNotifications(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"listen a", "LISTEN"},
		{"unlisten *", "UNLISTEN"},
		{"unlisten \"*\"", "UNLISTEN"},
		{"notify a, 'b'", "NOTIFY"},
		{"lock table a in share mode nowait", "LOCK TABLE"},
	})
}

func TestStatementsThatNextidDoesNotRunAreNamed(t *testing.T) {
	for _, d := range dialects {
		for sql, want := range map[string]string{
			"insert into t values (1, 'a;b')":                "INSERT",
			"WITH a AS (SELECT 1) DELETE FROM t":             "DELETE",
			"with a as (update t set b = 1) select * from a": "UPDATE",
			"create table t (a int default ';')":             "CREATE TABLE",
			"create unique index on t (a)":                   "CREATE INDEX",
			"create or replace view v as select 1":           "CREATE VIEW",
			"alter table t add a int":                        "ALTER TABLE",
			"drop table if exists t":                         "DROP TABLE",
			"drop user x":                                    "DROP USER",
			"truncate t":                                     "TRUNCATE TABLE",
			"grant select on t to u":                         "GRANT",
			"create function f() begin select 1; end":        "CREATE FUNCTION",
			"explain insert into t values (1)":               "INSERT",
		} {
			checkUnsupported(t, sql, want, d)
		}
	}
	for sql, want := range map[string]string{
		"do $$ begin; end $$":                           "DO",
		"call p(1)":                                     "CALL",
		"select 1 into temp t from u":                   "SELECT INTO",
		"prepare p as insert into t values ($1)":        "INSERT",
		"copy (delete from t returning 1) to stdout":    "DELETE",
		"set constraints all deferred":                  "SET CONSTRAINTS",
		"vacuum (full) t":                               "VACUUM",
		"analyse":                                       "ANALYZE",
		"refresh materialized view v":                   "REFRESH MATERIALIZED VIEW",
		"create materialized view v as select 1":        "CREATE MATERIALIZED VIEW",
		"create text search configuration c (parser=p)": "CREATE TEXT SEARCH",
		"alter default privileges grant all on t to u":  "ALTER DEFAULT PRIVILEGES",
		"drop owned by u":                               "DROP OWNED BY",
		"explain create table t as select 1":            "EXPLAIN CREATE",
		"explain execute p":                             "EXPLAIN EXECUTE",
		"fetch last from c":                             "FETCH LAST",
		"move absolute 5 c":                             "MOVE ABSOLUTE",
	} {
		checkUnsupported(t, sql, want, PostgreSQL)
	}
	for sql, want := range map[string]string{
		"replace into t values (1)": "REPLACE", "load data infile 'x' into table t": "LOAD DATA", "flush privileges": "FLUSH",
		"create definer = a@b procedure p() begin select 1; end": "CREATE DEFINER", "set password = 'x'": "SET PASSWORD",
		"create trigger t before insert on u for each row begin set a = 1; end": "CREATE TRIGGER", "reset master": "RESET",
	} {
		checkUnsupported(t, sql, want, MySQL)
	}
}

func checkUnsupported(t *testing.T, sql, want string, d Dialect) {
	t.Helper()
	parsed, err := Parse(" "+sql, d)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	u, ok := parsed[0].Statement.(*Unsupported)
	if !ok || u.What != want || u.Pos != 1 || len(parsed) != 1 || parsed[0].End != len(sql)+1 {
		t.Errorf("%s: %d statements, %T %+v, end %d; want %s", sql, len(parsed), parsed[0].Statement, parsed[0].Statement, parsed[0].End, want)
	}
	checkFixedPoint(t, parsed, d)
}
