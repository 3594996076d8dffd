package syntax

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// corpus returns the statements of a file in testdata, which real clients sent.
func corpus(t testing.TB, d Dialect) []string {
	t.Helper()
	file := map[Dialect]string{PostgreSQL: "postgresql.sql", MySQL: "mysql.sql"}[d]
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n----\n")
}

func TestClientStatementsParseAndPrintToTheSameTree(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			statements := 0
			for _, sql := range slices.Concat(corpus(t, d), grammar(t, d)) {
				parsed, err := Parse(sql, d)
				if err != nil {
					t.Errorf("%v\n%s", err, sql)
					continue
				}
				statements += len(parsed)
				checkFixedPoint(t, parsed, d)
			}
			if statements < 100 {
				t.Errorf("corpus has %d statements", statements)
			}
		})
	}
}
