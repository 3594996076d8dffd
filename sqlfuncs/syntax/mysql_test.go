package syntax

import (
	"testing"
)

func TestMySQLQueries(t *testing.T) {
	testPrinted(t, MySQL, "", [][2]string{
		{"SELECT VERSION() as Version, a B, c 'D e', d AS \"f\", 1 `G`", "SELECT version() AS 'Version', a AS 'B', c AS 'D e', d AS 'f', 1 AS 'G'"},
		{"select sql_no_cache distinctrow `A`.`b` from `A`", "SELECT DISTINCT `A`.b FROM `A`"},
		{"select 1 from dual where ?", "SELECT 1 WHERE ?1"},
		{"select a from t limit 5, 10", "SELECT a FROM t LIMIT 10 OFFSET 5"},
		{"select a from t limit ?, ?", "SELECT a FROM t LIMIT ?2 OFFSET ?1"},
		{"select a from t lock in share mode", "SELECT a FROM t FOR UPDATE"},
		{"select a into @x, @`y z` from t where b", "SELECT a FROM t WHERE b INTO @`x`, @`y z`"},
		{"select a from t into @x", "SELECT a FROM t INTO @`x`"},
		{"select a from t join u on x", "SELECT a FROM t JOIN u ON x"},
		{"select a from t join u straight_join v on x cross join w on y", "SELECT a FROM t CROSS JOIN u JOIN v ON x JOIN w ON y"},
		{"select a from (t)", "SELECT a FROM t"},
		{"values row(1, 2), row(3, 4)", "VALUES (1, 2), (3, 4)"},
		{"select next value for s, next value from t", "SELECT NEXT VALUE FOR s, `next` AS 'value' FROM t"},
		{"select next value from t", "SELECT NEXT VALUE FROM t"},
		{"select next 5 values from s", "SELECT NEXT 5 VALUES FROM s"},
		{"select next ? values from t", "SELECT NEXT ?1 VALUES FROM t"},
		{"select a /*! as b */ -- c\n# d", "SELECT a AS 'b'"},
	})
}

func TestMySQLExpressions(t *testing.T) {
	testPrinted(t, MySQL, "SELECT ", [][2]string{
		{`'a\'b', "c"`, `'a''b', 'c'`},
		{`"a\\b", 'x\0'`, `'a\\b', 'x\0'`},
		{"x'41', _utf8mb4'é'", "x'41', 'é'"},
		{"@a, @a := @b := 1, @@x, @@global.x, @@local.x, @@session.y", "@`a`, @`a` := @`b` := 1, @@x, @@global.x, @@session.x, @@session.y"},
		{"(@a := 1) + 1", "(@`a` := 1) + 1"},
		{"!a, not a", "NOT a, NOT a"},
		{
			"cast(a as char), cast(a as char(3) character set utf8), cast(a as signed integer), cast(a as unsigned int)",
			"CAST(a AS char), CAST(a AS char(3)), CAST(a AS signed), CAST(a AS unsigned)",
		},
		{
			"convert(a, decimal(10, 2)), binary a, date '2020-01-01'",
			"CAST(a AS decimal(10, 2)), CAST(a AS binary), CAST('2020-01-01' AS date)",
		},
		{"a + interval 1 + 1 day, interval '1' year", "a + INTERVAL (1 + 1) day, INTERVAL '1' year"},
		{"database(), left(a, 1), if(a, b, c), schema(), user()", "`database`(), `left`(a, 1), `if`(a, b, c), `schema`(), user()"},
		{"current_user, current_user(), now(6), current_timestamp(3), utc_date()", "current_user, `current_user`(), now(6), current_timestamp(3), `utc_date`()"},
		{"f(distinct a, b order by c), count(*)", "f(DISTINCT a, b ORDER BY c), count(*)"},
		{"cast(a as double precision)", "CAST(a AS double)"},
		{"a like b, a not like b escape '!'", "a LIKE b, a NOT LIKE b ESCAPE '!'"},
		{"trim(both 'x' from y), substring(a from 2)", "pg_catalog.btrim(y, 'x'), pg_catalog.substring(a, 2)"},
		{"row_number() over (partition by a)", "row_number() OVER ( PARTITION BY a)"},
		{"corpus.next_id('a'), `next_id`('b'), nextval(orders)", "corpus.next_id('a'), next_id('b'), nextval(orders)"},
	})
}

func TestMySQLStatements(t *testing.T) {
	testPrinted(t, MySQL, "", [][2]string{
		{
			"set a = 1, session b = on, global c := 'x', @@session.d = default, @@global.e = utf8mb4, @f := g",
			"SET a = 1, b = 'on', GLOBAL c = 'x', d = DEFAULT, GLOBAL e = 'utf8mb4', @`f` = g",
		},
		{"set sql_mode = concat(@@sql_mode, ',X')", "SET sql_mode = concat(@@sql_mode, ',X')"},
		{"set names utf8mb4 collate 'x', character set latin1, charset default", "SET client_encoding = 'utf8mb4', collation_connection = 'x', client_encoding = 'latin1', client_encoding = DEFAULT"},
		{"set transaction read only", "SET TRANSACTION READ ONLY"},
		{"set session transaction isolation level repeatable read", "SET default_transaction_isolation = 'repeatable read'"},
		{"set global transaction read write", "SET GLOBAL default_transaction_read_only = 'off'"},
		{"set statement a = 1, b = 2 for select 1", "SET STATEMENT a = 1, b = 2 FOR SELECT 1"},
		{"show full tables", "SHOW FULL TABLES"},
		{"show full columns from `t` in db like 'x%'", "SHOW FULL COLUMNS FROM t FROM db LIKE 'x%'"},
		{"show keys in a.t", "SHOW KEYS FROM a.t"},
		{"show table status from db like 'x'", "SHOW TABLE STATUS FROM db LIKE 'x'"},
		{"show create table if not exists a.t", "SHOW CREATE TABLE a.t"},
		{"show /*!50002 GLOBAL */ variables where a = 'b' or c", "SHOW GLOBAL VARIABLES WHERE (a = 'b') OR c"},
		{"show grants for current_user()", "SHOW GRANTS"},
		{"show warnings limit 1, 2", "SHOW WARNINGS"},
		{"describe a.t", "SHOW COLUMNS FROM a.t"},
		{"desc t 'x%'", "SHOW COLUMNS FROM t LIKE 'x%'"},
		{"explain t", "SHOW COLUMNS FROM t"},
		{"describe select 1", "EXPLAIN SELECT 1"},
		{"explain analyze select 1", "EXPLAIN ANALYZE SELECT 1"},
		{"use `a b`", "USE `a b`"},
		{"do next_id('a'), 1", "DO next_id('a'), 1"},
		{"kill 5", "KILL CONNECTION 5"},
		{"flush local tables a with read lock", "FLUSH TABLES"},
		{"select 1 union select 2 into @a", "SELECT 1 UNION SELECT 2 INTO @`a`"},
		{"kill query connection_id()", "KILL QUERY connection_id()"},
		{"lock tables a read, b write", "LOCK TABLES"},
		{"unlock tables", "UNLOCK TABLES"},
		{"prepare p from 'select ?, ''x'''", "PREPARE p FROM 'select ?, ''x'''"},
		{"execute p using @a, @b", "EXECUTE p USING @`a`, @`b`"},
		{"drop prepare p", "DEALLOCATE PREPARE p"},
		{"start transaction with consistent snapshot, read only", "START TRANSACTION READ ONLY"},
		{"commit and no chain no release", "COMMIT"},
		{"create sequence s start = 1 increment = 2 nocache nocycle nomaxvalue nominvalue", "CREATE SEQUENCE s START 1 INCREMENT 2 CACHE 1 NO MINVALUE NO MAXVALUE NO CYCLE"},
	})
}
