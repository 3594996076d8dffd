package sqlfuncs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// selects makes SELECTs of the forms that nextid knows. Their rows do not depend on
// the server: LIMIT has an ORDER BY of all columns, and nothing divides, overflows
// or depends on a collation.
type selects struct {
	*rand.Rand
	mysql  bool
	names  int
	depth  int // of queries
	scopes [][]selectColumn
	inner  []selectColumn // columns that aggregates may read in a grouped query, nil elsewhere
	ctes   []selectTable

	numbered bool // row_number() was used
}

// selectType is the type of an expression.
type selectType int

const (
	number selectType = iota
	decimal
	letters
	truth
)

// selectColumn is a column that an expression may read.
type selectColumn struct {
	text string
	typ  selectType
}

// selectTable is a WITH item.
type selectTable struct {
	name  string
	types []selectType
}

// newSelects returns a generator of SELECTs with a seed.
func newSelects(seed uint64, mysql bool) *selects {
	return &selects{Rand: rand.New(rand.NewPCG(seed, 1)), mysql: mysql}
}

func (g *selects) chance(percent int) bool { return g.IntN(100) < percent }

// pick returns one of several texts.
func (g *selects) pick(of ...string) string { return of[g.IntN(len(of))] }

// either calls one of several functions.
func (g *selects) either(of ...func() string) string { return of[g.IntN(len(of))]() }

func (g *selects) name(prefix string) string {
	g.names++
	return prefix + strconv.Itoa(g.names)
}

func (g *selects) types() []selectType {
	types := make([]selectType, 1+g.IntN(3))
	for i := range types {
		types[i] = g.typ()
	}
	return types
}

func (g *selects) typ() selectType {
	t := []selectType{number, number, number, decimal, letters, letters, truth}[g.IntN(7)]
	if g.mysql && t == truth {
		return number // it has no such type
	}
	return t
}

// statement makes a whole statement. ordered reports whether its rows have an order.
func (g *selects) statement() (text string, ordered bool) {
	types := g.types()
	with := ""
	if g.chance(35) {
		with = g.with()
	}
	if g.chance(10) {
		g.scopes = [][]selectColumn{nil}
		return with + "SELECT * FROM " + g.from() + " WHERE " + g.condition(2), false
	}
	if g.chance(50) {
		return with + g.query(types) + g.orderAll(len(types)) + g.limit(20), true
	}
	return with + g.query(types), false
}

// with makes the items of a WITH, which the queries after it read.
func (g *selects) with() string {
	recursive := g.chance(50)
	var items []string
	for range 1 + g.IntN(2) {
		t := selectTable{g.name("w"), g.types()}
		outer := g.scopes
		g.scopes = nil
		var item string
		if recursive && g.chance(70) {
			item = g.recursion(t)
		} else {
			item = t.name + " (" + columnNames(len(t.types)) + ") AS (" + g.query(t.types) + ")"
		}
		g.scopes = outer
		items, g.ctes = append(items, item), append(g.ctes, t)
	}
	return map[bool]string{true: "WITH RECURSIVE ", false: "WITH "}[recursive] + strings.Join(items, ", ") + " "
}

// columnNames returns a list of n column names.
func columnNames(n int) string { return strings.Join([]string{"a", "b", "c", "d"}[:n], ", ") }

// recursion makes an item that reads itself. Its first column counts.
func (g *selects) recursion(t selectTable) string {
	t.types[0] = number
	g.depth += 2
	defer func() { g.depth -= 2 }()
	first := "SELECT " + g.list(t.types, true)
	from, alias := t.name, t.name
	if g.chance(30) {
		alias = g.name("t")
		from += " AS " + alias
	}
	scope := columnsOf(alias, t.types)
	if g.chance(40) {
		table, columns := g.table()
		from = g.pick(table+", "+from, from+" JOIN "+table+" ON TRUE", table+" CROSS JOIN "+from)
		scope = append(scope, columns...)
	}
	g.scopes = [][]selectColumn{scope}
	step := make([]string, len(t.types))
	for i, typ := range t.types {
		step[i] = g.cast(g.expr(typ, 1), typ)
	}
	step[0] = alias + ".a + 1"
	where := fmt.Sprintf(" WHERE %s.a < %d", alias, 2+g.IntN(3))
	if g.chance(30) {
		where += " AND " + g.condition(1)
	}
	return t.name + " (" + columnNames(len(t.types)) + ") AS (" + first + g.pick(" UNION ", " UNION ALL ") +
		"SELECT " + g.pick("", "", "DISTINCT ") + strings.Join(step, ", ") + " FROM " + from + where + ")"
}

func columnsOf(table string, types []selectType) []selectColumn {
	columns := make([]selectColumn, len(types))
	for i, t := range types {
		columns[i] = selectColumn{table + "." + string(rune('a'+i)), t}
	}
	return columns
}

// cast casts an expression to a type, so that all servers agree on the type.
func (g *selects) cast(e string, t selectType) string {
	if g.mysql {
		return [...]string{"CAST(" + e + " AS SIGNED)", "(0.5 + " + e + ")", "CONCAT(" + e + ", '')"}[t]
	}
	return "CAST(" + e + " AS " + [...]string{"integer", "numeric", "text", "boolean"}[t] + ")"
}

// list makes a select list without names. If certain, it casts each expression.
func (g *selects) list(types []selectType, certain bool) string {
	list := make([]string, len(types))
	for i, t := range types {
		if list[i] = g.expr(t, 2); certain {
			list[i] = g.cast(list[i], t)
		}
	}
	return strings.Join(list, ", ")
}

// query makes a query with columns a, b, … of the given types.
func (g *selects) query(types []selectType) string {
	g.depth++
	defer func() { g.depth-- }()
	switch n := g.IntN(100); {
	case n < 15 && g.depth < 4:
		q := g.operand(types)
		for range 1 + g.IntN(2) {
			q += g.pick(" UNION ", " UNION ALL ") + g.operand(types)
		}
		return q
	case n < 20 && !g.mysql:
		rows := make([]string, 1+g.IntN(3))
		for i := range rows {
			rows[i] = "(" + g.list(types, i == 0) + ")"
		}
		return "SELECT " + g.pick("*", "*, 1 AS z")[:1] + " FROM (VALUES " + strings.Join(rows, ", ") + ") AS " + g.name("v") + " (" + columnNames(len(types)) + ")"
	}
	return g.core(types)
}

// operand makes one side of a UNION.
func (g *selects) operand(types []selectType) string {
	if g.chance(20) {
		return "(" + g.core(types) + g.orderAll(len(types)) + g.limit(100) + ")"
	}
	if g.chance(20) {
		return "(" + g.query(types) + ")"
	}
	return g.core(types)
}

// orderAll sorts by all columns.
func (g *selects) orderAll(n int) string {
	keys := make([]string, n)
	for i, c := range g.Perm(n) {
		keys[i] = g.key(strconv.Itoa(c+1), "", "", " DESC", " ASC")
		if !g.mysql && g.chance(20) {
			keys[i] += g.pick(" NULLS FIRST", " NULLS LAST")
		}
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

// key makes a sort key of ORDER BY. In the MySQL dialect a comment holds
// PostgreSQL's words for the order of NULLs; asPostgreSQL uncomments it.
func (g *selects) key(column string, directions ...string) string {
	column += g.pick(directions...)
	switch {
	case !g.mysql:
		return column
	case strings.HasSuffix(column, " DESC"):
		return column + "/* NULLS LAST*/"
	}
	return column + "/* NULLS FIRST*/"
}

func (g *selects) limit(percent int) string {
	if !g.chance(percent) {
		return ""
	}
	return g.pick(" LIMIT 1", " LIMIT 2", " LIMIT 3", " LIMIT 0", " LIMIT 5") + g.pick("", "", " OFFSET 1", " OFFSET 2")
}

// core makes SELECT … FROM … WHERE … GROUP BY … HAVING.
func (g *selects) core(types []selectType) string {
	outer, inner := g.scopes, g.inner
	defer func() { g.scopes, g.inner = outer, inner }()
	g.inner = nil
	g.scopes = append(slices.Clip(outer), nil)
	text := ""
	if g.chance(90) {
		text = " FROM " + g.from()
	}
	if g.chance(50) && (text != "" || !g.mysql) {
		text += " WHERE " + g.condition(2)
	}
	here := len(g.scopes) - 1
	grouped := g.chance(25) && text != ""
	if grouped {
		text += g.grouping(here)
	}
	list := make([]string, len(types))
	for i, t := range types {
		if list[i] = g.expr(t, 2); t == number && g.chance(8) && !grouped && text != "" && !g.numbered {
			list[i] = g.window(g.scopes[here])
		}
		list[i] += " AS " + string(rune('a'+i))
	}
	if g.chance(5) && !g.mysql && !grouped && types[0] == number {
		list[0] = g.pick("generate_series(1, 2)", "generate_series(2, 1)", "unnest(ARRAY[1, NULL, 3])") + " AS a"
		return "SELECT " + strings.Join(list, ", ") + text
	}
	distinct := ""
	switch n := g.IntN(100); {
	case n < 15:
		distinct = "DISTINCT "
	}
	return "SELECT " + distinct + strings.Join(list, ", ") + text
}

// grouping makes GROUP BY and HAVING. What is made after it reads groups.
func (g *selects) grouping(here int) string {
	g.inner = g.scopes[here]
	if g.inner == nil {
		g.inner = []selectColumn{}
	}
	var keys []selectColumn
	var texts []string
	for range g.IntN(3) {
		if len(g.inner) > 0 {
			k := g.inner[g.IntN(len(g.inner))]
			keys, texts = append(keys, k), append(texts, k.text)
		}
	}
	g.scopes[here] = keys
	text := ""
	if len(texts) > 0 {
		text = " GROUP BY " + strings.Join(texts, ", ")
	}
	if g.chance(10) {
		text = strings.Replace(text, " BY ", " BY NULL, ", 1)
		if !g.mysql {
			text = strings.Replace(text, "NULL, ", "1 + 1, ", 1)
		}
	}
	if g.chance(30) {
		text += " HAVING " + g.condition(1)
	}
	return text
}

// window makes a row_number() whose rows are ordered by all columns. Equal rows are
// numbered in any order: two calls need not agree, so a statement has one.
func (g *selects) window(columns []selectColumn) string {
	g.numbered = true
	over := ""
	if len(columns) > 0 && g.chance(50) {
		over = "PARTITION BY " + columns[g.IntN(len(columns))].text
	}
	var keys []string
	for _, c := range columns {
		keys = append(keys, g.key(c.text, "", "", " DESC"))
	}
	if len(keys) == 0 {
		keys = []string{"NULL"}
	}
	return "row_number() OVER (" + over + " ORDER BY " + strings.Join(keys, ", ") + ")"
}

// from makes the items of FROM and puts their columns into the innermost scope.
func (g *selects) from() string {
	here := len(g.scopes) - 1
	text, columns := g.table()
	g.scopes[here] = columns
	for range []int{0, 0, 0, 1, 1, 2}[g.IntN(6)] {
		lateral := ""
		if !g.mysql && g.chance(25) {
			lateral = "LATERAL "
		}
		visible := g.scopes
		var table string
		if lateral != "" {
			table, columns = g.derived(lateral)
		} else {
			g.scopes = append(visible[:here:here], nil)
			table, columns = g.table()
		}
		left := visible[here]
		g.scopes = visible
		switch kind := g.pick(", ", " CROSS JOIN ", " JOIN ", " LEFT JOIN "); {
		case strings.HasPrefix(kind, ", ") && !strings.Contains(text, " JOIN "), kind == " CROSS JOIN ":
			text += kind + table
			g.scopes[here] = append(slices.Clip(left), columns...)
		default:
			if kind == ", " {
				kind = " JOIN "
			}
			g.scopes[here] = append(slices.Clip(left), columns...)
			on := " ON " + g.condition(1)
			if first := g.scopes[here][0]; !strings.Contains(text, " JOIN ") && !strings.Contains(text, ", ") && first.typ == columns[0].typ && g.chance(60) {
				on = " USING (a)"
			}
			text += kind + table + on
		}
	}
	return text
}

// table makes an item of FROM that reads no other item.
func (g *selects) table() (text string, columns []selectColumn) {
	if len(g.ctes) > 0 && g.chance(40) {
		t := g.ctes[g.IntN(len(g.ctes))]
		alias := g.name("t")
		return t.name + " AS " + alias, columnsOf(alias, t.types)
	}
	if !g.mysql && g.chance(8) {
		alias := g.name("t")
		return "generate_series(" + g.pick("1, 3", "0, 2", "3, 1", "1, 5, 2") + ") AS " + alias + " (a)", columnsOf(alias, []selectType{number})
	}
	if !g.mysql && g.chance(5) {
		alias := g.name("t")
		return "unnest(ARRAY['a', NULL, 'b']) WITH ORDINALITY AS " + alias + " (a, b)", columnsOf(alias, []selectType{letters, number})
	}
	if g.chance(15) && g.depth < 3 {
		if g.mysql { // a subquery in FROM must not read outer queries
			outer := g.scopes
			g.scopes = nil
			defer func() { g.scopes = outer }()
		} else {
			outer := g.scopes
			g.scopes = outer[:max(len(outer)-1, 0)]
			defer func() { g.scopes = outer }()
		}
		return g.derived("")
	}
	alias, types := g.name("t"), g.types()
	rows := make([]string, 1+g.IntN(4))
	for i := range rows {
		row := make([]string, len(types))
		for c, t := range types {
			if row[c] = g.constant(t); i == 0 {
				row[c] = g.cast(row[c], t) + " AS " + string(rune('a'+c))
			}
		}
		rows[i] = "SELECT " + strings.Join(row, ", ")
	}
	return "(" + strings.Join(rows, " UNION ALL ") + ") AS " + alias, columnsOf(alias, types)
}

// derived makes a subquery in FROM.
func (g *selects) derived(lateral string) (text string, columns []selectColumn) {
	alias, types := g.name("t"), g.types()
	ctes := g.ctes
	with := ""
	if g.chance(10) && g.depth < 3 {
		with = g.with()
	}
	text = with + g.query(types)
	g.ctes = ctes
	if g.chance(20) {
		text += g.orderAll(len(types)) + g.limit(100)
	}
	return lateral + "(" + text + ") AS " + alias, columnsOf(alias, types)
}

// constant makes a value or NULL.
func (g *selects) constant(t selectType) string {
	if g.chance(15) {
		if g.mysql {
			return [...]string{"CAST(NULL AS SIGNED)", "NULLIF(0.5, 0.5)", "NULLIF('a', 'a')"}[t]
		}
		return g.cast("NULL", t)
	}
	switch t {
	case number:
		return g.pick("0", "1", "2", "3", "-1", "1", "2")
	case decimal:
		return g.pick("0.5", "1.5", "2.5", "-1.5")
	case letters:
		return g.pick("'a'", "'b'", "'ab'", "''", "'c'")
	}
	return g.pick("true", "false")
}

// column returns a column of the type, or a constant if there is none.
func (g *selects) column(t selectType) string {
	var found []string
	for i, scope := range g.scopes {
		for _, c := range scope {
			if c.typ == t {
				found = append(found, c.text)
				if i == len(g.scopes)-1 { // more often
					found = append(found, c.text, c.text)
				}
			}
		}
	}
	if len(found) == 0 {
		return g.constant(t)
	}
	return found[g.IntN(len(found))]
}

// subquery makes a query of one column for an expression.
func (g *selects) subquery(t selectType, limit bool) string {
	ctes, inner := g.ctes, g.inner
	defer func() { g.ctes, g.inner = ctes, inner }()
	g.inner = nil
	with := ""
	if g.chance(8) && g.depth < 3 {
		with = g.with()
	}
	q := with + g.query([]selectType{t})
	if limit {
		return "(" + q + " ORDER BY " + g.key("1", "", " DESC") + " LIMIT 1)"
	}
	return "(" + q + ")"
}

// expr makes an expression of at most the given number of levels.
func (g *selects) expr(t selectType, levels int) string {
	if g.inner != nil && g.chance(50) {
		return g.aggregate(t)
	}
	if levels == 0 || g.chance(35) {
		if g.chance(75) {
			return g.column(t)
		}
		return g.constant(t)
	}
	if g.chance(7) && g.depth < 3 {
		return g.subquery(t, true)
	}
	x := func() string { return g.expr(t, levels-1) }
	if t == truth {
		return "(" + g.condition(levels) + ")"
	}
	return g.either(
		func() string { return "COALESCE(" + x() + ", " + x() + ")" },
		func() string { return "NULLIF(" + x() + ", " + x() + ")" },
		func() string { return "CASE WHEN " + g.condition(levels-1) + " THEN " + x() + " ELSE " + x() + " END" },
		func() string { return "CASE " + x() + " WHEN " + x() + " THEN " + x() + " END" },
		func() string { return g.operation(t, levels-1) },
		func() string { return g.operation(t, levels-1) },
	)
}

func (g *selects) operation(t selectType, levels int) string {
	x := func() string { return g.expr(t, levels) }
	switch t {
	case number:
		return g.either(
			func() string { return "(" + x() + g.pick(" + ", " - ", " * ") + x() + ")" },
			func() string { return "(- " + x() + ")" },
			func() string { return "(" + x() + " % 3)" },
			func() string {
				if g.mysql {
					return "IF(" + g.condition(levels) + ", " + x() + ", " + x() + ")"
				}
				return "length(" + g.expr(letters, levels) + ")"
			},
		)
	case decimal:
		return g.either(
			func() string { return "(" + x() + g.pick(" + ", " - ") + x() + ")" },
			func() string { return "(" + x() + " * " + g.expr(number, levels) + ")" },
		)
	}
	if g.mysql {
		return g.either(
			func() string { return "CONCAT(" + x() + ", " + x() + ")" },
			func() string { return "REPEAT(" + x() + ", 2)" },
		)
	}
	return g.either(
		func() string { return "(" + x() + " || " + x() + ")" },
		func() string { return g.pick("upper(", "lower(", "concat(") + x() + ")" },
		func() string { return "CAST(" + g.expr(number, levels) + " AS text)" },
	)
}

// aggregate makes an aggregate of the type.
func (g *selects) aggregate(t selectType) string {
	scopes, inner := g.scopes, g.inner
	g.scopes, g.inner = [][]selectColumn{inner}, nil
	if g.chance(5) { // also columns of outer queries
		g.scopes = append(scopes[:len(scopes)-1:len(scopes)-1], inner)
	}
	defer func() { g.scopes, g.inner = scopes, inner }()
	distinct := g.pick("", "", "", "DISTINCT ")
	depth := g.depth
	g.depth = 9 // no subqueries
	defer func() { g.depth = depth }()
	x := func(t selectType) string { return g.expr(t, 1) }
	text := ""
	switch t {
	case number:
		text = g.either(
			func() string { return "count(*)" },
			func() string { return "count(" + distinct + x(g.typ()) + ")" },
			func() string { return g.pick("min(", "max(") + distinct + x(number) + ")" },
		)
		if !g.mysql && g.chance(30) {
			text = "sum(" + distinct + x(number) + ")"
		}
	case decimal:
		text = g.pick("min(", "max(", "sum(") + distinct + x(decimal) + ")"
	case letters:
		text = g.pick("min(", "max(") + distinct + x(letters) + ")"
		if !g.mysql && g.chance(40) {
			v := g.column(letters)
			if strings.HasPrefix(v, "'") {
				v = g.cast(v, letters)
			}
			text = "string_agg(" + distinct + v + ", ',' ORDER BY " + v + g.pick("", " DESC") + ")"
		}
	case truth:
		return "(count(*) > 1)"
	}
	return text
}

// condition makes an expression of type boolean.
func (g *selects) condition(levels int) string {
	t := g.typ()
	x := func() string { return g.expr(t, max(levels-1, 0)) }
	compare := func() string { return x() + g.pick(" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") + x() }
	if levels <= 0 {
		return g.either(compare, func() string { return g.column(t) + g.pick(" IS NULL", " IS NOT NULL") })
	}
	forms := []func() string{
		compare, compare,
		func() string {
			return "(" + g.condition(levels-1) + g.pick(" AND ", " OR ") + g.condition(levels-1) + ")"
		},
		func() string { return "NOT (" + g.condition(levels-1) + ")" },
		func() string { return x() + g.pick(" IS NULL", " IS NOT NULL") },
		func() string { return x() + g.pick("", " NOT") + " IN (" + x() + ", " + x() + ")" },
		func() string { return x() + g.pick("", " NOT") + " BETWEEN " + x() + " AND " + x() },
		func() string {
			return "(" + g.condition(levels-1) + ")" + g.pick(" IS TRUE", " IS NOT FALSE", " IS UNKNOWN")
		},
		func() string {
			return g.expr(letters, levels-1) + g.pick("", " NOT") + " LIKE " + g.pick("'a%'", "'%b'", "'_'", "'%'")
		},
		func() string {
			if g.mysql {
				return x() + " <=> " + x()
			}
			return x() + g.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + x()
		},
	}
	if g.depth < 3 && g.chance(50) {
		sub := func() string { return g.subquery(t, !g.mysql && g.chance(15)) }
		forms = append(forms,
			func() string { return g.pick("", "NOT ") + "EXISTS " + sub() },
			func() string { return x() + g.pick(" IN ", " NOT IN ") + sub() },
			func() string { return x() + g.pick(" = ", " <> ", " < ", " >= ") + g.pick("ANY ", "ALL ") + sub() },
		)
	}
	if !g.mysql {
		forms = append(forms, func() string {
			return x() + g.pick(" = ", " <> ", " < ") + g.pick("ANY", "ALL") + " (ARRAY[" + g.cast(x(), t) + ", " + x() + "])"
		})
		if t == truth {
			forms = append(forms, x)
		}
	}
	return g.either(forms...)
}
