package syntax

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// wrong holds texts that PostgreSQL 15 refuses, with its message and position.
// TestWrongTextsAgainstPostgreSQL compares them with a real server.
var wrong = []struct {
	sql, message string
	position     int
}{
	{"SELEC 1", `syntax error at or near "SELEC"`, 1},
	{"select 1 from", "syntax error at end of input", 14},
	{"select 'é', ü ) x", `syntax error at or near ")"`, 15},
	{"select '日本', 'x", `unterminated quoted string at or near "'x"`, 14},
	{"select \"日本\" from \"x", `unterminated quoted identifier at or near ""x"`, 18},
	{"select /* é */ +", "syntax error at end of input", 17},
	{"select 1;\nselect 2 3", `syntax error at or near "3"`, 20},
	{"select (1, 2", "syntax error at end of input", 13},
	{"select ()", `syntax error at or near ")"`, 9},
	{"select 1 +", "syntax error at end of input", 11},
	{"select 1 + from t", `syntax error at or near "from"`, 12},
	{"select , 1", `syntax error at or near ","`, 8},
	{"select 1, from t", `syntax error at or near "from"`, 11},
	{"select a b c from t", `syntax error at or near "c"`, 12},
	{"select a as from t", `syntax error at or near "t"`, 18},
	{"select next 5 values from t", `syntax error at or near "5"`, 13}, // Vitess's, of MySQL's dialect
	{"select a from t where", "syntax error at end of input", 22},
	{"select a from t where b is 5", `syntax error at or near "5"`, 28},
	{"select a from t where b not c", `syntax error at or near "not"`, 25},
	{"select a from t where b between 1 or 2", `syntax error at or near "or"`, 35},
	{"select a from t where b in ()", `syntax error at or near ")"`, 29},
	{"select a from t where b in 1", `syntax error at or near "1"`, 28},
	{"select a from t where b = any c", `syntax error at or near "c"`, 31},
	{"select a from t where a = b = c", `syntax error at or near "="`, 29},
	{"select a from t where a like b like c", `syntax error at or near "like"`, 32},
	{"select a from t group a", `syntax error at or near "a"`, 23},
	{"select a from t order a", `syntax error at or near "a"`, 23},
	{"select a from t limit", "syntax error at end of input", 22},
	{"select a from t join u", "syntax error at end of input", 23},
	{"select a from (t)", `syntax error at or near ")"`, 17},
	{"select a from t, from u", `syntax error at or near "from"`, 18},
	{"select a from f(", "syntax error at end of input", 17},
	{"select a from select 1", `syntax error at or near "select"`, 15},
	{"select distinct from t", `syntax error at or near "from"`, 17},
	{"select f(a, )", `syntax error at or near ")"`, 13},
	{"select f(*, a)", `syntax error at or near ","`, 11},
	{"select array[1, 2][1]", `syntax error at or near "["`, 19},
	{"select f(a)[1]", `syntax error at or near "["`, 12},
	{"select cast(a int)", `syntax error at or near "int"`, 15},
	{"select a::", "syntax error at end of input", 11},
	{"select a::timestamp with time b", `syntax error at or near "b"`, 31},
	{"select case when a then b", "syntax error at end of input", 26},
	{"select case else 1 end", `syntax error at or near "else"`, 13},
	{"select coalesce()", `syntax error at or near ")"`, 17},
	{"select nullif(1, 2, 3)", `syntax error at or near ")"`, 22},
	{"select exists (1)", `syntax error at or near "1"`, 16},
	{"select current_date()", `syntax error at or near "("`, 20},
	{"select left from t", `syntax error at or near "from"`, 13},
	{"select user.a", `syntax error at or near "."`, 12},
	{"select a.1", `syntax error at or near ".1"`, 9},
	{"select 1a", `trailing junk after numeric literal at or near "1a"`, 8},
	{"select $1a", `trailing junk after parameter at or near "$1a"`, 8},
	{"select a @", "syntax error at end of input", 11},
	{"select a := 1", `syntax error at or near ":="`, 10},
	{"select a; ]", `syntax error at or near "]"`, 11},
	{"select 'a' 'b'", `syntax error at or near "'b'"`, 12},
	{"select \"\"", `zero-length delimited identifier at or near """"`, 8},
	{"select /* /* */", `unterminated /* comment at or near "/* /* */"`, 8},
	{"select $a$ $b$", `unterminated dollar-quoted string at or near "$a$ $b$"`, 8},
	{"select * from lateral x", `syntax error at or near "x"`, 23},
	{"select * from left", `syntax error at or near "left"`, 15},
	{"select * from current_date", `syntax error at or near "current_date"`, 15},
	{"select * from a join b left join c on x on y", `syntax error at or near "left"`, 24},
	{"select * from interval(1)", `syntax error at or near "("`, 23},
	{"select * from int '1'", `syntax error at or near "'1'"`, 19},
	{"select * from f() as 1", `syntax error at or near "1"`, 22},
	{"select current_date('x')", `syntax error at or near "("`, 20},
	{"select a operator(pg_catalog. 1)", `syntax error at or near "1"`, 31},
	{"select 1 -- x\r+", "syntax error at end of input", 16},
	{"values (1", "syntax error at end of input", 10},
	{"values 1", `syntax error at or near "1"`, 8},
	{"with a as select 1 select 2", `syntax error at or near "select"`, 11},
	{"with a as (select 1)", "syntax error at end of input", 21},
	{"(select 1 order by 1) order by 2", "multiple ORDER BY clauses not allowed", 32},
	{"(select 1 limit 1) limit 2", "multiple LIMIT clauses not allowed", 26},
	{"(select 1 offset 1) offset 2", "multiple OFFSET clauses not allowed", 28},
	{"select 1 limit 2, 3", "LIMIT #,# syntax is not supported", 10},
	{"set", "syntax error at end of input", 4},
	{"set a", "syntax error at end of input", 6},
	{"set a = ", "syntax error at end of input", 9},
	{"set transaction isolation level x", `syntax error at or near "x"`, 33},
	{"set transaction isolation level read only", `syntax error at or near "only"`, 38},
	{"show", "syntax error at end of input", 5},
	{"begin isolation serializable", `syntax error at or near "serializable"`, 17},
	{"savepoint", "syntax error at end of input", 10},
	{"declare c for select 1", `syntax error at or near "for"`, 11},
	{"fetch forward 1 2 from c", `syntax error at or near "2"`, 17},
	{"prepare p select 1", `syntax error at or near "select"`, 11},
	{"execute p ()", `syntax error at or near ")"`, 12},
	{"copy t stdout", `syntax error at or near "stdout"`, 8},
	{"copy (select 1) from stdin", `syntax error at or near "from"`, 17},
	{"create sequence s start", "syntax error at end of input", 24},
	{"create sequence s no start", `syntax error at or near "start"`, 22},
	{"alter sequence s", "syntax error at end of input", 17},
	{"explain begin", `syntax error at or near "begin"`, 9},
	{"{", `syntax error at or near "{"`, 1},
}

func TestWrongTexts(t *testing.T) {
	for _, c := range wrong {
		_, err := Parse(c.sql, PostgreSQL)
		var e *sqlstate.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.sql, err)
			continue
		}
		if e.Code != sqlstate.SyntaxError || e.Message != c.message || e.Position != c.position {
			t.Errorf("%q: %s %q at %d, want %q at %d", c.sql, e.Code, e.Message, e.Position, c.message, c.position)
		}
	}
}

func TestWrongTextsWithOtherCodes(t *testing.T) {
	for _, c := range []struct {
		sql, message string
		code         sqlstate.Code
		position     int
	}{
		{"select 'a\xff'", `invalid byte sequence for encoding "UTF8": 0xff`, "22021", 0},
		{"select 'é\x00'", `invalid byte sequence for encoding "UTF8": 0x00`, "22021", 0},
		{`select E'\xff'`, `the escape \x in strings is not supported`, "0A000", 10},
		{`select E'\u12'`, `the escape \u in strings is not supported`, "0A000", 10},
		{"select X'1f'", "strings with X are not supported", "0A000", 8},
		{"select 'é', $0", "there is no parameter $0", "42P02", 13},
		{"select $65536", "there is no parameter $65536", "42P02", 8},
		{"select $99999999999999999999", "there is no parameter $99999999999999999999", "42P02", 8},
		{"fetch 99999999999999999999 from c", `value "99999999999999999999" is out of range for type bigint`, "22003", 7},
		{"create sequence s start -9223372036854775809", `value "-9223372036854775809" is out of range for type bigint`, "22003", 25},
		{"create sequence s start 1 start 2", "conflicting or redundant options", "42601", 27},
		{"select ~ a", "the prefix operator ~ is not supported", "0A000", 8},
		{"select a order by b using <", "USING is not supported", "0A000", 21},
		{"select unique (select 1)", "unique is not supported", "0A000", 8},
		{"select a::geo(point)", `syntax error at or near "point"`, "42601", 15},
		{"select a::setof int", "SETOF is not supported", "0A000", 11},
		{"with a as (select 1) search depth first by b set c select 1", "SEARCH is not supported", "0A000", 22},
		{"set a from current", "SET … FROM CURRENT is not supported", "0A000", 7},
		{"set transaction snapshot 'x'", "SET TRANSACTION SNAPSHOT is not supported", "0A000", 17},
		{"select f() over (order by a rows 1 preceding)", "a window frame is not supported", "0A000", 29},
		{"select * from a full outer join b on true", "FULL JOIN is not supported", "0A000", 17},
		{"select * from a right join b on true", "RIGHT JOIN is not supported", "0A000", 17},
		{"select a not ilike b", "ILIKE is not supported", "0A000", 10},
		{"select a isnull", "ISNULL is not supported", "0A000", 10},
		{"select a notnull", "NOTNULL is not supported", "0A000", 10},
		{"select a > all (select b)", "ANY or ALL of a query, but for = ANY and <> ALL, is not supported", "0A000", 10},
		{"select * from a natural join b", "NATURAL JOIN is not supported", "0A000", 17},
		{"select * from rows from (f(), g())", "ROWS FROM is not supported", "0A000", 15},
		{"select f(variadic a)", "VARIADIC is not supported", "0A000", 10},
		{"select a between symmetric b and c", "BETWEEN SYMMETRIC is not supported", "0A000", 18},
		{"select (a, b) = (1, 2)", "a row expression is not supported", "0A000", 8},
		{"select row(a, b)", "a row expression is not supported", "0A000", 8},
		{"select a[1:2]", "a slice of an array is not supported", "0A000", 11},
		{"select array[[1], [2]]", "an array of several dimensions is not supported", "0A000", 14},
		{"select 1 except select 2", "EXCEPT is not supported", "0A000", 10},
		{"select 1 intersect select 2", "INTERSECT is not supported", "0A000", 10},
		{"select f() over w", "OVER with the name of a window is not supported", "0A000", 17},
		{"select 1 window w as ()", "WINDOW is not supported", "0A000", 10},
		{"select a for update skip locked", "SKIP LOCKED is not supported", "0A000", 21},
		{"select a between b = c and d", `syntax error at or near "="`, "42601", 20},
		{"select 'a'\n'b'", `syntax error at or near "'b'"`, "42601", 12},
		{"select distinct on (a) a", "DISTINCT ON is not supported", "0A000", 17},
		{"select B'01'", "strings with B are not supported", "0A000", 8},
		{"select * from (a join b on x) c", "an alias of a join is not supported", "0A000", 31},
		{"select * from f() as (a int)", "a list of columns with types is not supported", "0A000", 23},
		{"select * from t tablesample x (1)", "TABLESAMPLE is not supported", "0A000", 17},
		{"select 1 fetch first 1 rows with ties", "FETCH FIRST is not supported", "0A000", 10},
		{"select xmlelement(name a)", "xmlelement is not supported", "0A000", 8},
		{"alter sequence s rename to t", "ALTER SEQUENCE … RENAME is not supported", "0A000", 18},
	} {
		_, err := Parse(c.sql, PostgreSQL)
		var e *sqlstate.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Message != c.message || e.Position != c.position {
			t.Errorf("%q: %#v, want %s %q at %d", c.sql, err, c.code, c.message, c.position)
		}
	}
}

func TestHintsOfWrongTexts(t *testing.T) {
	for sql, want := range map[string]string{
		"select 1 limit 2, 3": "Use separate LIMIT and OFFSET clauses.",
	} {
		_, err := Parse(sql, PostgreSQL)
		var e *sqlstate.Error
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("%s: %#v, want the hint %q", sql, err, want)
		}
	}
}

func TestTooManyParameters(t *testing.T) {
	_, err := Parse("select ?"+strings.Repeat(",?", maxParams), MySQL)
	var e *sqlstate.Error
	if !errors.As(err, &e) || e.Code != sqlstate.TooComplex {
		t.Errorf("%v, want 54001", err)
	}
	if _, err := Parse("select ?"+strings.Repeat(",?", maxParams-1), MySQL); err != nil {
		t.Error(err)
	}
}

// checkError checks that err is one that Parse may return for the text.
func checkError(t testing.TB, sql string, err error) {
	t.Helper()
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is no *sqlstate.Error", err)
	}
	if len(e.Code) != 5 || e.Message == "" || e.Position < 0 || e.Position > utf8.RuneCountInString(sql)+1 {
		t.Fatalf("code %q, message %q, position %d", e.Code, e.Message, e.Position)
	}
}
