package syntax

import (
	"strings"
	"testing"
)

func TestPostgreSQLPrecedence(t *testing.T) {
	testPrecedence(t, PostgreSQL, [][2]string{
		{"a or b and not c = d", "(a OR (b AND (NOT (c = d))))"},
		{"a and b and c or d or e", "((((a AND b) AND c) OR d) OR e)"},
		{"not not a is null", "(NOT (NOT (a IS NULL)))"},
		{"a = b is null", "((a = b) IS NULL)"},
		{"a is null is not true", "((a IS NULL) IS NOT TRUE)"},
		{"a is null = b", "((a IS NULL) = b)"},
		{"a = b like c", "(a = (b LIKE c))"},
		{"a like b = c", "((a LIKE b) = c)"},
		{"a like b || c", "(a LIKE (b || c))"},
		{"a < b + c * d ^ e", "(a < (b + (c * (d ^ e))))"},
		{"a - b - c", "((a - b) - c)"},
		{"a / b * c % d", "(((a / b) * c) % d)"},
		{"a ^ b ^ c", "((a ^ b) ^ c)"},
		{"a || b + c || d", "((a || (b + c)) || d)"},
		{"a -> b ->> c = d", "(((a -> b) ->> c) = d)"},
		{"- a ^ b", "((- a) ^ b)"},
		{"- a::int", "(- (a::int))"},
		{"- - + a", "(- (- (+ a)))"},
		{"a operator(pg_catalog.+) b * c", "(a + (b * c))"},
		{"a operator(pg_catalog.=) b = c", "((a = b) = c)"},
		{"a between b and c and d", "((a BETWEEN b AND c) AND d)"},
		{"a between b + 1 and c + 1 = d", "((a BETWEEN (b + 1) AND (c + 1)) = d)"},
		{"a not between b and c or d", "((a NOT BETWEEN b AND c) OR d)"},
		{"not a in (1) and b", "((NOT (a IN …)) AND b)"},
		{"a in (1) in (2)", "((a IN …) IN …)"},
		{"a = any (b) = c", "((a = ANY …) = c)"},
		{"a + b <> all (c)", "((a + b) <> ANY …)"},
		{"a is distinct from b + c and d", "((a IS DISTINCT FROM (b + c)) AND d)"},
		{"a = not b = c", "(a = (NOT (b = c)))"},
		{"a::int::text || b", "(((a::int)::text) || b)"},
		{"a similar to b escape c or d", "((a SIMILAR TO b) OR d)"},
	})
}

func TestMySQLPrecedence(t *testing.T) {
	testPrecedence(t, MySQL, [][2]string{
		{"a || b xor c && d", "(a OR (b XOR (c AND d)))"},
		{"a or b xor c and not d = e", "(a OR (b XOR (c AND (NOT (d = e)))))"},
		{"a = b = c", "((a = b) = c)"},
		{"a <=> b is null", "((a <=> b) IS NULL)"},
		{"! a = b", "((NOT a) = b)"},
		{"a = b in (c)", "(a = (b IN …))"},
		{"a | b & c << d + e * f ^ - g", "(a | (b & (c << (d + (e * (f ^ (- g)))))))"},
		{"a div b mod c % d", "(((a DIV b) MOD c) % d)"},
		{"a like b || c", "((a LIKE b) OR c)"},
		{"a between b and c and d", "((a BETWEEN b AND c) AND d)"},
		{"@a := b or c", "(@a := (b OR c))"},
		{"a + interval 1 day - b", "((a + ('1'::interval day)) - b)"},
		{"a -> '$.x' = b", "((a -> '$.x') = b)"},
	})
}

func testPrecedence(t *testing.T, d Dialect, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		got := parenthesise(expression(t, c[0], d), d)
		if d == MySQL {
			got = strings.ReplaceAll(got, "(1::", "('1'::")
		}
		if got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
		// The parentheses that show the structure do not change it.
		if text := c[1]; !strings.ContainsAny(text, "…@") && !strings.Contains(text, "interval") && !strings.Contains(text, "COLLATE D") {
			if again := parenthesise(expression(t, text, d), d); again != text {
				t.Errorf("%s is %s", text, again)
			}
		}
	}
}

func TestComparisonsDoNotChain(t *testing.T) {
	for _, x := range []string{
		"a = b = c", "a < b > c", "a like b like c", "a between b and c between d and e",
		"a is distinct from b is null", "a = b + c < d", "a like b not similar to c",
	} {
		if _, err := Parse("SELECT "+x, PostgreSQL); err == nil {
			t.Errorf("%s parses", x)
		}
	}
}

func TestSpecialFunctionsBecomeCalls(t *testing.T) {
	testPrinted(t, PostgreSQL, "SELECT ", [][2]string{
		{"substring(a from b)", "pg_catalog.substring(a, b)"},
		{"substring(a from b for c)", "pg_catalog.substring(a, b, c)"},
		{"substring(a for c)", "pg_catalog.substring(a, 1, c)"},
		{"substring(a for c from b)", "pg_catalog.substring(a, b, c)"},
		{"substring(a, b)", "substring(a, b)"},
		{"trim(x)", "pg_catalog.btrim(x)"},
		{"trim(both 'x' from y)", "pg_catalog.btrim(y, 'x')"},
		{"trim(leading from y)", "pg_catalog.ltrim(y)"},
		{"trim(trailing 'x' from y)", "pg_catalog.rtrim(y, 'x')"},
		{"trim(y, 'x')", "pg_catalog.btrim(y, 'x')"},
		{"COALESCE(a, b)", "coalesce(a, b)"},
		{"nullif(a, b)", "nullif(a, b)"},
		{"greatest(a), least(b)", "greatest(a), least(b)"},
		{"CURRENT_DATE, localtime", "current_date, localtime"},
		{"current_user, user, session_user", "current_user, user, session_user"},
		{"current_schema, current_schema()", `current_schema, "current_schema"()`},
	})
}

func TestBareFunctionsAreMarked(t *testing.T) {
	for x, want := range map[string]bool{"current_user": true, "current_schema": true, "current_schema()": false} {
		if got := expression(t, x, PostgreSQL).(*FuncCall).Bare; got != want {
			t.Errorf("%s: Bare %v", x, got)
		}
	}
}

func TestExpressions(t *testing.T) {
	testPrinted(t, PostgreSQL, "SELECT ", [][2]string{
		{"1, 1.50, 'a', null, TRUE, false", "1, 1.50, 'a', NULL, true, false"},
		{"'it''s', E'a\\nb', $$x'y$$", "'it''s', 'a\nb', 'x''y'"},
		{`"Select"."b c", t.*, a.b.c.*`, `"Select"."b c", t.*, a.b.c.*`},
		{"((a)), (((a + b)))", "a, a + b"},
		{"(a).b, (a.b).c.d, $1.x", "(a).b, (a.b).c.d, $1.x"},
		{"a[1], a.b[1][2], (f(x))[c], $1[2], a[1].b", "a[1], a.b[1][2], (f(x))[c], $1[2], a[1].b"},
		{"array[1, 2], array[]::int[], array(select 1)", "ARRAY[1, 2], ARRAY[]::int[], ARRAY(SELECT 1)"},
		{"(select 1), ((select 1)), ((select 1) + 1)", "(SELECT 1), (SELECT 1), (SELECT 1) + 1"},
		{"((select 1) union (select 2))", "(SELECT 1 UNION SELECT 2)"},
		{"(((select 1)) limit 1)", "(SELECT 1 LIMIT 1)"},
		{"((select a))[1], ((select a)).b", "((SELECT a))[1], ((SELECT a)).b"},
		{"exists (select 1), not exists ((select 1))", "EXISTS (SELECT 1), NOT EXISTS (SELECT 1)"},
		{"a in (1, 2), a not in (select 1), a in ((select 1))", "a IN (1, 2), a NOT IN (SELECT 1), a IN (SELECT 1)"},
		{"a in ((select 1), 2), a in (((select 1)) + 2)", "a IN ((SELECT 1), 2), a IN ((SELECT 1) + 2)"},
		{"a = some (select 1), a <> all (select 1), a <> all ('{}')", "a IN (SELECT 1), a NOT IN (SELECT 1), a <> ALL ('{}')"},
		{"a like b escape '!', a not like b, a not similar to b", "a LIKE b ESCAPE '!', a NOT LIKE b, a NOT SIMILAR TO b"},
		{"a between asymmetric 1 and 2", "a BETWEEN 1 AND 2"},
		{"a is unknown, a is not distinct from b", "a IS UNKNOWN, a IS NOT DISTINCT FROM b"},
		{"case when a then b end, case a when 1 then 2 when 3 then 4 else 5 end", "CASE WHEN a THEN b END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END"},
		{"a operator(x.||) b, a operator(y.=) b", "a || b, a = b"},
		{"-1, - -1, + a, - (a + b)", "-1, - -1, +a, -(a + b)"},
		{`a collate "C", a collate pg_catalog.default`, `a COLLATE "C", a COLLATE pg_catalog.default`},
		{"count(*), count(distinct a), f(all a)", "count(*), count(DISTINCT a), f(a)"},
		{"f(a, b => 1, c := 2)", "f(a, b => 1, c => 2)"},
		{"string_agg(a, ',' order by b desc nulls last, c)", "string_agg(a, ',' ORDER BY b DESC NULLS LAST, c)"},
		{"f() over (), f() over (partition by a, b order by c)", "f() OVER (), f() OVER ( PARTITION BY a, b ORDER BY c)"},
		{"next value for a.b, next, next value", "NEXT VALUE FOR a.b, \"next\", \"next\" AS value"},
		{"values, row, int, time, interval, coalesce", `"values", "row", "int", "time", "interval", "coalesce"`},
		{"default", "DEFAULT"},
		{`"coalesce"(distinct a), "coalesce"(a => 1), "nullif"(a), "trim"(a)`, `"coalesce"(DISTINCT a), "coalesce"(a => 1), "nullif"(a), "trim"(a)`},
	})
}

func TestTypes(t *testing.T) {
	testPrinted(t, PostgreSQL, "SELECT ", [][2]string{
		{"cast(a as int), a::pg_catalog.regclass", "a::int, a::pg_catalog.regclass"},
		{`a::"char", a::char, a::char(3), a::pg_catalog."char"`, `a::"char", a::character, a::character(3), a::pg_catalog.char`},
		{"a::character varying(3), a::char varying, a::varchar(2)", "a::character varying(3), a::character varying, a::varchar(2)"},
		{"a::numeric(10, 2), a::dec, a::float(3), a::double precision, a::double", `a::numeric(10, 2), a::dec, a::float(3), a::double precision, a::"double"`},
		{"a::bit, a::bit varying(3)", "a::bit, a::bit varying(3)"},
		{"a::timestamp(3) with time zone, a::time without time zone, a::timestamptz(0)", "a::timestamp(3) with time zone, a::time, a::timestamptz(0)"},
		{"a::int[], a::int[3][]", "a::int[], a::int[][]"},
		{"a::geo.point(1, 2)[]", "a::geo.point(1, 2)[]"},
		{"date '2020-01-01', pg_catalog.date 'x'", "'2020-01-01'::date, 'x'::pg_catalog.date"},
		{"timestamp with time zone 'x', time(2) 'y', double precision '1'", "'x'::timestamp with time zone, 'y'::time(2), '1'::double precision"},
		{"char 'abc', char(2) 'abc', int '1', bit '1', bool 'f'", "'abc'::bpchar, 'abc'::character(2), '1'::int, '1'::bit, 'f'::bool"},
	})
}

// testPrinted checks how texts print, and that they survive it.
func testPrinted(t *testing.T, d Dialect, prefix string, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		parsed, err := Parse(prefix+c[0], d)
		if err != nil {
			t.Errorf("%s%s: %v", prefix, c[0], err)
			continue
		}
		if got := string(Append(nil, parsed[0].Statement, d)); got != prefix+c[1] {
			t.Errorf("%s%s prints as\n%s, want\n%s%s", prefix, c[0], got, prefix, c[1])
		}
		checkFixedPoint(t, parsed, d)
	}
}
