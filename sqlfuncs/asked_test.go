package sqlfuncs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/pgcatalog"
)

// askers lists the sources that a line of asked.tsv may name besides the clients of
// wire/clienttest. true: the line must give a reason after a colon.
var askers = map[string]bool{
	"the contract": false, "recorded clients": false, "recorded tools": false, "shapes of tools": false, "psql's backslash commands": false,
	"administrators": true, "docs": true, "existing tables": true, "language": true, "operators": true, "product": true, "tests": true,
}

// TestEverythingIsAskedFor checks that each function, table and statement has a line
// in asked.tsv, which names the clients that use it, and that no line is outdated.
func TestEverythingIsAskedFor(t *testing.T) {
	asked := readAsked(t)
	has := map[string]bool{}
	for _, f := range newCatalog().AllFunctions() {
		has[f.Name] = true
	}
	dialect := mysql.NewDialect(nil)
	for name := range dialect.Own {
		has["mysql "+name] = true
	}
	for words := range dialect.Shows {
		has["SHOW "+words] = true
	}
	for table := range dialect.Rows {
		has["mysql table "+table] = true
	}
	for _, relation := range pgcatalog.Sources() {
		has["relation "+relation] = true
	}
	nodes, err := os.ReadFile("syntax/ast.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`func \(\*(\w+)\) statement\(\)`).FindAllStringSubmatch(string(nodes), -1) {
		has["statement "+m[1]] = true
	}
	for name := range has {
		if asked[name] == "" {
			t.Errorf("%s: no client uses it; remove it, or name a client in asked.tsv", name)
		}
	}
	for name, who := range asked {
		if !has[name] {
			t.Errorf("%s is asked for by %s, and nextid does not have it", name, who)
		}
	}
}

// readAsked reads asked.tsv and checks its lines. It returns the sources by name.
func readAsked(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("asked.tsv")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../wire/clienttest/client_test.go")
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]bool{}
	for _, m := range regexp.MustCompile(`\{name: "([^"]+)"`).FindAllStringSubmatch(string(list), -1) {
		clients[m[1]], clients[strings.TrimSuffix(m[1], "-mysql")] = true, true
	}
	asked := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, who, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		who, tier, _ := strings.Cut(who, "\t")
		if who == "" || asked[name] != "" {
			t.Errorf("%q: a name needs one line with the clients that use it", line)
		}
		asked[name] = who
		sources, reason, _ := strings.Cut(who, ":")
		least := '3'
		for source := range strings.SplitSeq(sources, ", ") {
			least = min(least, tierOf(source))
			if why, known := askers[source]; !clients[source] && !known || why && reason == "" {
				t.Errorf("%s: %q is no client of wire/clienttest, and no source with its reason", name, source)
			}
		}
		if tier != string(least) {
			t.Errorf("%s is of tier %s, not %q", name, string(least), tier)
		}
	}
	return asked
}

// tierOf returns the tier of a source, see asked.tsv.
func tierOf(source string) rune {
	switch source {
	case "the contract", "product", "docs", "existing tables", "language":
		return '1'
	case "pg_dump", "monitoring-plugins", "haproxy", "adminer", "kysely-codegen", "sequelize-auto", "drizzle-kit", "pgtyped", "mysqldump", "mydumper",
		"mysqld-exporter", "phpmyadmin", "recorded tools", "shapes of tools", "administrators", "operators", "tests":
		return '3'
	}
	return '2'
}
