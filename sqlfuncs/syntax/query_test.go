package syntax

import "testing"

func TestQueries(t *testing.T) {
	testPrinted(t, PostgreSQL, "", [][2]string{
		{"select", "SELECT"},
		{"select from ids", "SELECT FROM ids"},
		{"select all a, b as c, d e, f \"G\"", `SELECT a, b AS c, d AS e, f AS "G"`},
		{"select 1 as select, 2 name, 3 kind, a is, b and, c in from t", `SELECT 1 AS "select", 2 AS name, 3 AS kind, a AS "is", b AS "and", c AS "in" FROM t`},
		{"select distinct a, b from t", "SELECT DISTINCT a, b FROM t"},
		{"select a from t where b group by c, d", "SELECT a FROM t WHERE b GROUP BY c, d"},
		{"select a from t group by all a", "SELECT a FROM t GROUP BY a"},
		{"select a order by b, c desc, d asc nulls first, e desc nulls last", "SELECT a ORDER BY b, c DESC, d NULLS FIRST, e DESC NULLS LAST"},
		{"select a limit 1 offset 2", "SELECT a LIMIT 1 OFFSET 2"},
		{"select a limit all offset 1 + 1", "SELECT a OFFSET 1 + 1"},
		{"select a limit 1::bigint for update", "SELECT a LIMIT 1::bigint FOR UPDATE"},
		{"select a for share limit 1", "SELECT a LIMIT 1 FOR UPDATE"},
		{"select a for read only", "SELECT a FOR UPDATE"},
		{"values (1, default), (null, 2) order by 1 limit 1", "VALUES (1, DEFAULT), (NULL, 2) ORDER BY 1 LIMIT 1"},
		{"select 1 union select 2 union all (select 3 union select 4)", "SELECT 1 UNION SELECT 2 UNION ALL (SELECT 3 UNION SELECT 4)"},
		{"select 1 union all select 2 union all select 3", "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"},
		{"select 1 union all (select 2 union all select 3)", "SELECT 1 UNION ALL (SELECT 2 UNION ALL SELECT 3)"},
		{"(select 1 limit 1) union distinct (values (1)) order by 1", "(SELECT 1 LIMIT 1) UNION VALUES (1) ORDER BY 1"},
		{"(select 1) order by 1", "SELECT 1 ORDER BY 1"},
		{"((select 1 order by 1)) limit 2", "SELECT 1 ORDER BY 1 LIMIT 2"},
		{"with a as (select 1), b (x, y) as not materialized (values (1, 2)) select * from a, b", "WITH a AS (SELECT 1), b(x, y) AS (VALUES (1, 2)) SELECT * FROM a, b"},
		{"with recursive a as (select 1 union select n from a) select * from a", "WITH RECURSIVE a AS (SELECT 1 UNION SELECT n FROM a) SELECT * FROM a"},
		{"with recursive as (select 1) select 1", "WITH recursive AS (SELECT 1) SELECT 1"},
		{"select (with a as (select 1) select * from a)", "SELECT (WITH a AS (SELECT 1) SELECT * FROM a)"},
		{"select next value for update", `SELECT "next" AS value FOR UPDATE`},
	})
}

func TestFrom(t *testing.T) {
	testPrinted(t, PostgreSQL, "SELECT * FROM ", [][2]string{
		{"a, b.c d, e as f (g, h), only i", "a, b.c AS d, e AS f(g, h), i"},
		{"(select 1) a, (values (1)) as b (c), (select 2)", "(SELECT 1) AS a, (VALUES (1)) AS b(c), (SELECT 2)"},
		{"((select 1) union select 2) a, ((select 1)) b", "(SELECT 1 UNION SELECT 2) AS a, (SELECT 1) AS b"},
		{"a join b on x inner join c using (d, e)", "a JOIN b ON x JOIN c USING (d, e)"},
		{"a left outer join b on x inner join c on y cross join d", "a LEFT JOIN b ON x JOIN c ON y CROSS JOIN d"},
		{"a join (b left join c on x) on y", "a JOIN (b LEFT JOIN c ON x) ON y"},
		{"a left join b using (x) cross join c", "a LEFT JOIN b USING (x) CROSS JOIN c"},
		{"(a join b on x), ((e cross join f))", "a JOIN b ON x, e CROSS JOIN f"},
		{"((select 1) a join b on x) join c on y", "(SELECT 1) AS a JOIN b ON x JOIN c ON y"},
		{"a join (b join c on x) on y", "a JOIN (b JOIN c ON x) ON y"},
		{"f(1), a.f() b, f() as c (d, e), f() with ordinality g", "f(1), a.f() AS b, f() AS c(d, e), f() WITH ORDINALITY AS g"},
		{"a, lateral (select 1) b, lateral f(a.x) c", "a, LATERAL (SELECT 1) AS b, LATERAL f(a.x) AS c"},
		{"current_schema() s", `"current_schema"() AS s`},
		{"name, kind, rows, first", `name, kind, "rows", first`},
		{"ids time where id = 1", `ids AS "time" WHERE id = 1`},
	})
}

func TestTargetsKeepTheirText(t *testing.T) {
	core := one(t, "select  a+ 1 , f( x )  as y, * , t.*", PostgreSQL).(*Select).Body.(*SelectCore)
	for i, want := range []string{"a+ 1", "f( x )", "*", "t.*"} {
		if got := core.Targets[i].Text; got != want {
			t.Errorf("target %d has text %q, want %q", i, got, want)
		}
	}
}

func TestPositionsAreOffsetsIntoTheWholeText(t *testing.T) {
	const sql = "select 1; select 'é', foo(bar, $1) + baz from tab"
	parsed, err := Parse(sql, PostgreSQL)
	if err != nil {
		t.Fatal(err)
	}
	core := parsed[1].Statement.(*Select).Body.(*SelectCore)
	sum := core.Targets[1].Expr.(*Binary)
	call := sum.L.(*FuncCall)
	for at, pos := range map[string]Pos{
		"'é'": core.Targets[0].Expr.Position(), "foo(": call.Pos, "bar": call.Args[0].Value.Position(),
		"$1": call.Args[1].Value.Position(), "+ baz": sum.Pos, "baz": sum.R.Position(), "tab": core.From[0].(*Table).Pos,
	} {
		if got := sql[pos:]; len(got) < len(at) || got[:len(at)] != at {
			t.Errorf("position %d is at %q, want %q", pos, got, at)
		}
	}
}
