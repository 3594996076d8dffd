package sqlfuncs_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqltest"
)

// selectsAsked and selectsSeed make a long run: go test ./sqlfuncs -run TestSelects -selects 1000000 -seed 7
var (
	selectsAsked = flag.Int("selects", 150, "how many SELECTs TestSelects asks in each dialect")
	selectsSeed  = flag.Uint64("seed", 1, "the seed of the first one")
)

// selectDifferences lists the answers that may differ, with the reason.
var selectDifferences = []struct {
	mysql        bool
	ours, theirs string // how the answers begin
	why          string
}{
	{false, "error 0A000", "", "nextid says that it does not know the form"},
	{false, "", "error 42883", "nextid reads NULL as of any type, where PostgreSQL takes it for text"},
	{true, "error 1235", "", "nextid says that it does not know the form"},
	{true, "error 1054", "", "MariaDB lets a subquery in ON read the tables before a comma"},
	{true, "", "error 1406", "MariaDB cuts the texts of a recursion to the length of the first ones"},
	{true, "", "error 1055", "MariaDB takes a column of an outer query for one that is not grouped"},
	{true, "", "error 1054", "MariaDB lets a subquery in a UNION read fewer of the outer queries"},
	{true, "", "error 1146", "MariaDB does not find a WITH item in some subqueries"},
	{true, "", "error 1235", "MariaDB knows no LIMIT below IN, ANY and ALL"},
	{false, "error 53200", "", "nextid sorts in memory, which is limited, PostgreSQL on disk"},
	{true, "error 1041", "", "nextid sorts in memory, which is limited, MariaDB on disk"},
	{false, "error 57014", "", "nextid takes too long: it runs a subquery for each row"},
	{true, "error 1969", "", "nextid takes too long: it runs a subquery for each row"},
	{false, "", "error 57014", "PostgreSQL takes too long"},
	{true, "", "error 1969", "MariaDB takes too long"},
}

// comparison sends the same SELECTs to nextid and to a real server.
type comparison struct {
	mysql        bool
	ours, theirs func(t *testing.T, sql string) string
	third        func(t *testing.T, sql string) string // PostgreSQL's answer to a SELECT of MySQL's dialect
	written      int                                   // differences found that are known or explained by third
}

// comparisons returns one comparison for each dialect.
func comparisons(t testing.TB) []*comparison {
	t.Helper()
	server := sqltest.NewServer(t, sqltest.Config{Memory: account.Limits{Session: 64 << 20}})
	conn, err := pgconn.Connect(t.Context(), dbtest.QuickPostgres(t, "statement_timeout=2s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	addr, _ := dbtest.QuickMariaDB(t, "sql-mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", "max-statement-time=1")
	maria := sqltest.DialMariaDB(t, addr)
	if _, err := conn.Exec(t.Context(), asMySQL).ReadAll(); err != nil {
		t.Fatal(err)
	}
	pg, my := server.Session(t), server.MySQLSession(t)
	pg.Must(t, "SET statement_timeout = '20s'") // many times what the real servers may take
	my.Must(t, "SET max_statement_time = 20")
	return []*comparison{
		{
			ours:   func(t *testing.T, sql string) string { return sqltest.Ours(t, pg, sql) },
			theirs: func(t *testing.T, sql string) string { return sqltest.PostgreSQL(t, conn, sql) },
		},
		{
			mysql:  true,
			ours:   func(t *testing.T, sql string) string { return sqltest.Ours(t, my, sql) },
			theirs: func(t *testing.T, sql string) string { return sqltest.MariaDB(t, maria, sql) },
			third:  func(t *testing.T, sql string) string { return sqltest.PostgreSQL(t, conn, asPostgreSQL(sql)) },
		},
	}
}

// asMySQL defines functions of MySQL in PostgreSQL. With asPostgreSQL they let
// PostgreSQL answer SELECTs in MySQL's dialect. A difference from MariaDB is accepted
// if PostgreSQL agrees with nextid: MariaDB's optimizer has known bugs, such as with
// ANY and with DISTINCT of a constant.
const asMySQL = `CREATE FUNCTION my_concat(text, text) RETURNS text STRICT IMMUTABLE LANGUAGE sql AS 'SELECT $1 || $2';
CREATE FUNCTION my_if(boolean, bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT CASE WHEN $1 THEN $2 ELSE $3 END'`

var (
	mysqlWords = strings.NewReplacer("/*", "", "*/", "", " AS SIGNED)", " AS integer)", "CONCAT(", "my_concat(", " <=> ", " IS NOT DISTINCT FROM ", "BY NULL, ", "BY 1 + 1, ")
	mysqlIf    = regexp.MustCompile(`\bIF\(`)
)

func asPostgreSQL(sql string) string {
	return mysqlIf.ReplaceAllString(mysqlWords.Replace(sql), "my_if(")
}

// rowsOf returns an answer without its columns.
func rowsOf(answer string) string {
	_, rows, _ := strings.Cut(answer, "\n")
	return rows
}

// zeros matches zeros at the end of a fraction. Of values such as 1.0 and 1.00, which
// are equal, a group or a UNION may show either.
var zeros = regexp.MustCompile(`(?m)(^|\|)(-?\d+)(?:\.0+|(\.\d*[1-9])0+)($|\|)`)

// normal removes from an answer what may differ between servers.
func normal(answer string, ordered bool) string {
	if code, ok := strings.CutPrefix(answer, sqltest.ErrorPrefix); ok {
		code, _, _ = strings.Cut(code, " ")
		return sqltest.ErrorPrefix + code
	}
	for range 2 { // matches share a |
		answer = zeros.ReplaceAllString(answer, "$1$2$3$4")
	}
	if lines := strings.Split(answer, "\n"); !ordered {
		slices.Sort(lines[1:])
		answer = strings.Join(lines, "\n")
	}
	return answer
}

// digits matches numbers with three decimals or more.
var digits = regexp.MustCompile(`-?\d+\.\d{3,}`)

// rounded returns an answer whose numbers have at most two decimals. Inside an
// expression MariaDB keeps nine digits of avg, nextid those that it shows, and
// PostgreSQL sixteen.
func rounded(answer string, ordered bool) string {
	return normal(digits.ReplaceAllStringFunc(answer, func(number string) string {
		f, _ := strconv.ParseFloat(number, 64) // the expression matched
		return strings.Replace(fmt.Sprintf("%.2f", f), "-0.00", "0.00", 1)
	}), ordered)
}

// check compares the answers to one SELECT. It returns the difference, or "".
func (c *comparison) check(t *testing.T, seed uint64) string {
	sql, ordered := newSelects(seed, c.mysql).statement()
	theirs := normal(c.theirs(t, sql), ordered)
	ours := normal(c.ours(t, sql), ordered)
	if ours == theirs || strings.HasPrefix(ours, sqltest.ErrorPrefix) && strings.HasPrefix(theirs, sqltest.ErrorPrefix) {
		return ""
	}
	for _, d := range selectDifferences {
		if d.mysql == c.mysql && strings.HasPrefix(ours, d.ours) && strings.HasPrefix(theirs, d.theirs) {
			c.written++
			return ""
		}
	}
	if c.third != nil && !strings.HasPrefix(ours, sqltest.ErrorPrefix) {
		ours := rounded(ours, ordered)
		third := c.third(t, sql)
		if ours == rounded(theirs, ordered) || !strings.HasPrefix(third, sqltest.ErrorPrefix) && rowsOf(rounded(third, ordered)) == rowsOf(ours) {
			c.written++
			return ""
		}
	}
	return fmt.Sprintf("%s\nnextid (seed %d) answers\n%s\nthe real server\n%s", sql, seed, ours, theirs)
}

// TestSelects compares a few SELECTs, always the same.
func TestSelects(t *testing.T) {
	for _, c := range comparisons(t) {
		var found []string
		for i := range *selectsAsked {
			if difference := c.check(t, *selectsSeed+uint64(i)); difference != "" {
				found = append(found, difference)
			}
		}
		slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) })
		for _, difference := range found[:min(len(found), 10)] { // the shortest ones
			t.Error(difference)
		}
		t.Logf("%d of %d differ, %d more as is written down", len(found), *selectsAsked, c.written)
	}
}

// FuzzSelects compares SELECTs of other seeds.
func FuzzSelects(f *testing.F) {
	both := comparisons(f)
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, c := range both {
			if difference := c.check(t, seed); difference != "" {
				t.Error(difference)
			}
		}
	})
}
