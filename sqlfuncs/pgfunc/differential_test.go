package pgfunc_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
)

// differentialSeed is fixed, so that each run has the same calls. Other seeds make
// other calls.
var differentialSeed = flag.Uint64("seed", 1, "seed of the random expressions, 0: a new one")

// generated makes random calls of functions. Each returns one expression.
var generated = map[string]func(r *rand.Rand) string{
	"times": func(r *rand.Rand) string {
		return randomTimestamp(r) + pick(r, " + ", " - ") + randomInterval(r)
	},
	"text": func(r *rand.Rand) string {
		s, t, n := randomText(r), randomText(r), r.IntN(12)-4
		return pick(r,
			fmt.Sprintf("substring(%s, %d, %d)", s, n, r.IntN(6)),
			fmt.Sprintf("replace(%s, %s, 'x')", s, t),
			fmt.Sprintf("btrim(%s, %s)", s, t),
			fmt.Sprintf("quote_ident(%s)", s), fmt.Sprintf("quote_literal(%s)", s), fmt.Sprintf("format('%%s|%%I|%%L', %s, %s, %s)", s, t, s),
			fmt.Sprintf("to_json(%s::text)", s), fmt.Sprintf("concat(%s, %s, %d, NULL, true)", t, s, n))
	},
	"regular expressions": func(r *rand.Rand) string {
		s, p := randomText(r), randomPattern(r)
		return fmt.Sprintf("%s ~ '%s'", s, p)
	},
}

func pick(r *rand.Rand, options ...string) string { return options[r.IntN(len(options))] }

func randomTimestamp(r *rand.Rand) string {
	year := 500 + r.IntN(2500)
	return fmt.Sprintf("timestamp '%04d-%02d-%02d %02d:%02d:%02d.%06d'", year, 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000000))
}

func randomInterval(r *rand.Rand) string {
	n := func(limit int) int { return r.IntN(2*limit) - limit }
	return fmt.Sprintf("interval '%d years %d mons %d days %d hours %d.%03d secs'", n(300), n(20), n(60), n(80), n(5000), r.IntN(1000))
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(pick(r, "a", "b", "ab", " ", ",", "A", "1", "é", "_", `\`, "''", "€"))
	}
	return "'" + b.String() + "'"
}

func randomPattern(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(pick(r, "a", "b", ".", "[ab]", "(a|b)", "(?:ab|a)", `\w`, `\s`, "a|b", "^", "$", "x"))
		if s := b.String(); !strings.HasSuffix(s, "^") && !strings.HasSuffix(s, "$") {
			b.WriteString(pick(r, "", "", "*", "+", "?", "{1,2}"))
		}
	}
	return b.String()
}

// TestFunctionsAnswerAsPostgreSQL compares answers to random calls. A
// failure names the seed and the expression.
func TestFunctionsAnswerAsPostgreSQL(t *testing.T) {
	const calls = 400
	dsn := dbtest.QuickPostgres(t)
	conn, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	s := sqltest.NewServer(t).Session(t)
	seed := *differentialSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	for name, call := range generated {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			for range calls {
				sql := "SELECT " + call(r) + " AS x"
				want := sqltest.PostgreSQL(t, conn, sql)
				if got := sqltest.Ours(t, s, sql); got != want {
					t.Errorf("seed %d: %s\ngot\n%s\nPostgreSQL answers\n%s", seed, sql, got, want)
				}
			}
		})
	}
}
