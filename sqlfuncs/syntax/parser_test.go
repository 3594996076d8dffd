package syntax

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqlstate"
)

func TestTextsOfSeveralStatements(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string // the statements' own texts
	}{
		{"", nil},
		{" ; ;; ", nil},
		{"-- only a comment", nil},
		{"/* a */ ; -- b", nil},
		{"select 1", []string{"select 1"}},
		{" select 1 ; ", []string{"select 1"}},
		{"/* a */ select 1 /* b */; -- c\n;select 2--", []string{"select 1", "select 2"}},
		{"set x = 'a;b'; select $$;$$, \";\"", []string{"set x = 'a;b'", `select $$;$$, ";"`}},
		{"insert into t values (1); select 'é' -- x", []string{"insert into t values (1)", "select 'é'"}},
		{"begin; select 1; commit", []string{"begin", "select 1", "commit"}},
	} {
		parsed, err := Parse(c.sql, PostgreSQL)
		if err != nil {
			t.Errorf("%q: %v", c.sql, err)
			continue
		}
		var got []string
		for _, p := range parsed {
			got = append(got, c.sql[p.Start:p.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q has statements %q, want %q", c.sql, got, c.want)
		}
	}
}

func TestParametersAreCountedByStatement(t *testing.T) {
	for _, c := range []struct {
		sql  string
		d    Dialect
		want []int
	}{
		{"select $1; select 1; select $3 + $2", PostgreSQL, []int{1, 0, 3}},
		{"declare c cursor for select $1", PostgreSQL, []int{1}},
		{"prepare p as select $2; execute p ($1)", PostgreSQL, []int{0, 1}},
		{"select ?, ?; select ?", MySQL, []int{2, 1}},
		{"select '?', `?` -- ?", MySQL, []int{0}},
		{"prepare p from 'select ?'", MySQL, []int{0}},
	} {
		parsed, err := Parse(c.sql, c.d)
		if err != nil {
			t.Errorf("%q: %v", c.sql, err)
			continue
		}
		var got []int
		for _, p := range parsed {
			got = append(got, p.Params)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q has %v parameters, want %v", c.sql, got, c.want)
		}
	}
}

func TestDeepTextsAreTooComplex(t *testing.T) {
	deep := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	for name, shape := range map[string]func(n int) string{
		"parentheses":     func(n int) string { return "select " + deep("(", "1", ")", n) },
		"open ones":       func(n int) string { return "select " + strings.Repeat("(", n) },
		"prefixes":        func(n int) string { return "select " + strings.Repeat("- ", n) + "1" },
		"negations":       func(n int) string { return "select " + strings.Repeat("not ", n) + "a" },
		"calls":           func(n int) string { return "select " + deep("f(", "1", ")", n) },
		"arrays":          func(n int) string { return "select " + deep("array[", "1", "]", n) },
		"subscripts":      func(n int) string { return "select " + deep("a[", "1", "]", n) },
		"cases":           func(n int) string { return "select " + deep("case when ", "a", " then 1 end", n) },
		"subqueries":      func(n int) string { return "select " + deep("(select ", "1", ")", n) },
		"queries":         func(n int) string { return deep("(", "select 1", ")", n) },
		"in FROM":         func(n int) string { return deep("select * from (", "select 1", ") a", n) },
		"joins":           func(n int) string { return "select * from " + deep("(", "a cross join b", ")", n) },
		"WITH":            func(n int) string { return deep("with a as (", "select 1", ") select 1", n) },
		"set operations":  func(n int) string { return deep("select 1 union (", "select 1", ")", n) },
		"operator chains": func(n int) string { return "select 1" + strings.Repeat("+1", 20*n) },
		"cast chains":     func(n int) string { return "select 1" + strings.Repeat("::int", 20*n) },
		"union chains":    func(n int) string { return "select 1" + strings.Repeat(" union select 1", 20*n) },
		"join chains":     func(n int) string { return "select * from a" + strings.Repeat(" cross join a", 20*n) },
		"index chains":    func(n int) string { return "select a" + strings.Repeat("[1]", 20*n) },
		"chains in chains": func(n int) string {
			return "select " + strings.Repeat("(", n/10) + "1" + strings.Repeat(strings.Repeat("+1", 200)+")", n/10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(shape(100_000/20), PostgreSQL)
			var e *sqlstate.Error
			if !errors.As(err, &e) || e.Code != sqlstate.TooComplex {
				t.Errorf("deep: %v, want 54001", err)
			}
			if name == "open ones" {
				return
			}
			parsed, err := Parse(shape(100), PostgreSQL)
			if err != nil {
				t.Fatalf("shallow: %v", err)
			}
			checkFixedPoint(t, parsed, PostgreSQL)
		})
	}
}

func TestLongTextsThatDoNotNestParse(t *testing.T) {
	const n = 20_000
	for name, sql := range map[string]string{
		"statements": strings.Repeat("select 1;", n),
		"targets":    "select 1" + strings.Repeat(", a+1", n),
		"IN":         "select a in (1" + strings.Repeat(", -1", n) + ")",
		"rows":       "values (1)" + strings.Repeat(", (1)", n),
		"arguments":  "select f(1" + strings.Repeat(", g(2)", n) + ")",
		"names":      "select a" + strings.Repeat(".a", n),
		"semicolons": strings.Repeat(";", n),
		"quotes":     "select '" + strings.Repeat("''", n) + "'",
		"comments":   strings.Repeat("/*", n) + strings.Repeat("*/", n) + "select 1",
	} {
		if _, err := Parse(sql, PostgreSQL); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseAllocatesInProportionToTheText finds quadratic parsing without measuring
// time: ten times the text may take little more than ten times the memory.
func TestParseAllocatesInProportionToTheText(t *testing.T) {
	allocated := func(n int) uint64 {
		sql := "select a.b + f('x''y', $1)" + strings.Repeat(", case when a between 1 and 2 then (select 1 from t where b in (1, 2)) end", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Parse(sql, PostgreSQL); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated(100), allocated(1000); large > 12*small {
		t.Errorf("%d bytes for 100 expressions, %d for 1000", small, large)
	}
}

func BenchmarkParse(b *testing.B) {
	for name, sql := range map[string]string{
		"next_id": "SELECT next_id('orders')",
		"catalog": slices.MaxFunc(corpus(b, PostgreSQL), func(x, y string) int { return len(x) - len(y) }),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(sql)))
			for b.Loop() {
				if _, err := Parse(sql, PostgreSQL); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
