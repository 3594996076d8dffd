package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/sqlfuncs/sqltest"
)

// TestRandomQueries compares the answers to random queries with those of a real
// PostgreSQL for 3 seconds, or for TEST_QUERIES_TIME. A query that differs prints its seed
// for TEST_QUERIES.
func TestRandomQueries(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("TEST_QUERIES"), 10, 64)
	repeat := err != nil
	if repeat {
		seed = rand.Uint64() >> 16
	}
	lasts, err := time.ParseDuration(os.Getenv("TEST_QUERIES_TIME"))
	if err != nil {
		lasts = 3 * time.Second
	}
	conn, err := pgconn.Connect(t.Context(), dbtest.QuickPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	s := sqltest.NewServer(t).Session(t)
	for end := time.Now().Add(lasts); ; seed++ {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 0))}
		sql := w.query()
		got, want := sqltest.Ours(t, s, sql), sqltest.PostgreSQL(t, conn, sql)
		if got != want {
			t.Fatalf("TEST_QUERIES=%d: %s\ngot\n%s\nwant\n%s", seed, sql, got, want)
		}
		if !repeat || time.Now().After(end) {
			return
		}
	}
}

// writer writes random queries over tables of values.
type writer struct {
	*rand.Rand
	tables int
}

// column is a column of a kind: i for integer, t for text, b for boolean, n for numeric.
type column struct {
	name string
	kind byte
}

var values = map[byte][]string{
	'i': {"1", "2", "3", "0", "-1", "NULL::integer", "2"},
	't': {"'a'", "'b'", "'A'", "''", "NULL::text", "'ab'"},
	'b': {"true", "false", "NULL::boolean"},
	'n': {"1.5", "2.0", "0.10", "NULL::numeric"},
}

func (w *writer) one(all ...string) string { return all[w.IntN(len(all))] }
func (w *writer) chance(of int) bool       { return w.IntN(100) < of }
func (w *writer) kind() byte               { return "itbn"[w.IntN(4)] }
func (w *writer) alias() string            { w.tables++; return fmt.Sprint("t", w.tables) }

// table writes an entry of FROM.
func (w *writer) table() (string, []column) {
	a := w.alias()
	switch {
	case w.chance(20):
		return fmt.Sprintf("generate_series(%d, %d) %s(i)", w.IntN(3), 1+w.IntN(4), a), []column{{a + ".i", 'i'}}
	case w.chance(10):
		return fmt.Sprintf("unnest(ARRAY[%s, %s]) %s(t)", w.one(values['t']...), w.one(values['t']...), a), []column{{a + ".t", 't'}}
	}
	columns := make([]column, 1+w.IntN(3))
	names, rows := make([]string, len(columns)), make([]string, 1+w.IntN(5))
	for i := range columns {
		names[i] = fmt.Sprint("c", i)
		columns[i] = column{a + "." + names[i], w.kind()}
	}
	for i := range rows {
		row := make([]string, len(columns))
		for j, c := range columns {
			row[j] = w.one(values[c.kind]...)
		}
		rows[i] = "(" + strings.Join(row, ", ") + ")"
	}
	return fmt.Sprintf("(VALUES %s) %s(%s)", strings.Join(rows, ", "), a, strings.Join(names, ", ")), columns
}

// value writes an expression of a kind.
func (w *writer) value(kind byte, columns []column, depth int) string {
	part := func(kind byte) string { return w.value(kind, columns, depth-1) }
	if depth > 0 && w.chance(35) {
		switch kind {
		case 'i':
			return w.one("("+part('i')+" + "+part('i')+")", "("+part('i')+" * 2)", "length("+part('t')+")", "COALESCE("+part('i')+", "+part('i')+")",
				"CASE WHEN "+part('b')+" THEN "+part('i')+" ELSE "+part('i')+" END")
		case 't':
			return w.one("("+part('t')+" || "+part('t')+")", "upper("+part('t')+")", "COALESCE("+part('t')+", '-')", "("+part('i')+")::text")
		case 'n':
			return w.one("("+part('n')+" + "+part('i')+")", "("+part('n')+" * "+part('n')+")")
		}
		return w.condition(columns, depth-1)
	}
	var same []string
	for _, c := range columns {
		if c.kind == kind {
			same = append(same, c.name)
		}
	}
	if len(same) > 0 && w.chance(80) {
		return w.one(same...)
	}
	return w.one(values[kind]...)
}

// condition writes a boolean expression, perhaps with a query inside.
func (w *writer) condition(columns []column, depth int) string {
	kind := w.kind()
	part := func() string { return w.value(kind, columns, depth) }
	not := w.one("", "NOT ")
	switch w.IntN(9) {
	case 0:
		return "(" + part() + " IS " + not + "NULL)"
	case 1:
		return "(" + part() + " " + not + "IN (" + part() + ", " + part() + "))"
	case 2:
		if depth > 0 {
			return "(" + w.condition(columns, depth-1) + w.one(" AND ", " OR ") + w.condition(columns, depth-1) + ")"
		}
	case 3:
		if depth > 0 {
			return "(NOT " + w.condition(columns, depth-1) + ")"
		}
	case 4:
		from, inner := w.table()
		where := w.condition(append(inner, columns...), 0)
		if c := inner[0]; w.chance(60) {
			return "(" + w.value(c.kind, columns, 0) + " " + not + "IN (SELECT " + c.name + " FROM " + from + " WHERE " + where + "))"
		}
		return "(" + not + "EXISTS (SELECT 1 FROM " + from + " WHERE " + where + "))"
	}
	return "(" + part() + w.one(" = ", " <> ", " < ", " >= ", " IS DISTINCT FROM ") + part() + ")"
}

// selection writes a SELECT with columns c0, c1, … of the given kinds; "": of any.
func (w *writer) selection(kinds string, depth int) (sql, of string) {
	from, columns := w.table()
	for range w.one("", "", "j", "j", "jj") {
		next, more := w.table()
		if depth > 0 && w.chance(15) {
			inner, of := w.selection("", depth-1)
			a := w.alias()
			next, more = "("+inner+") "+a, nil
			for i := range of {
				more = append(more, column{fmt.Sprint(a, ".c", i), of[i]})
			}
		}
		columns = append(columns, more...)
		if w.chance(30) {
			from += " CROSS JOIN " + next
		} else {
			from += w.one(" JOIN ", " LEFT JOIN ") + next + " ON " + w.condition(columns, 0)
		}
	}
	if w.chance(50) {
		from += " WHERE " + w.condition(columns, 1)
	}
	if kinds == "" && w.chance(30) {
		return w.grouped(from, columns)
	}
	for kinds == "" || len(kinds) < 3 && w.chance(50) {
		kinds += string(w.kind())
	}
	items := make([]string, len(kinds))
	for i := range items {
		items[i] = w.value(kinds[i], columns, 1)
		if depth > 0 && kinds[i] == 'i' && w.chance(20) {
			t, inner := w.table()
			items[i] = "(SELECT count(*)::integer FROM " + t + " WHERE " + w.condition(append(inner, columns...), 0) + ")"
		}
		items[i] += fmt.Sprint(" AS c", i)
	}
	return "SELECT " + w.one("", "", "", "DISTINCT ") + strings.Join(items, ", ") + " FROM " + from, kinds
}

// grouped writes a SELECT with GROUP BY.
func (w *writer) grouped(from string, columns []column) (sql, kinds string) {
	by := w.kind()
	i, t := w.value('i', columns, 1), w.value('t', columns, 0)
	aggregate := w.one("count(*)::integer", "count(DISTINCT "+t+")::integer", "min("+i+")", "max("+i+")", "sum("+i+")::integer")
	sql = "SELECT " + w.value(by, columns, 1) + " AS c0, " + aggregate + " AS c1, string_agg(" + t + ", ',' ORDER BY " + t + ") AS c2 FROM " + from + " GROUP BY 1"
	if w.chance(30) {
		sql += " HAVING " + w.one("count(*) > 1", "max("+i+") > 1", "min("+t+") IS NOT NULL")
	}
	return sql, string(by) + "it"
}

// query writes a query whose rows have one order.
func (w *writer) query() string {
	sql, kinds := w.selection("", 1)
	if len(kinds) == 3 && w.chance(50) {
		second, _ := w.selection(kinds, 1)
		sql += w.one(" UNION ", " UNION ALL ") + second
	}
	if w.chance(15) {
		sql = "WITH w AS (" + sql + ") SELECT * FROM w" + w.one("", " WHERE c0 IS NOT NULL")
	}
	order := make([]string, len(kinds))
	for i := range order {
		order[i] = fmt.Sprint(i+1, w.one("", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
	}
	sql += " ORDER BY " + strings.Join(order, ", ")
	if w.chance(40) {
		sql += fmt.Sprintf(" LIMIT %d OFFSET %d", w.IntN(5), w.IntN(3))
	}
	return sql
}
