package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
	"nextid/generator/layout"
	"nextid/generator/ticket"
)

func TestSystemsPageListsEveryLayout(t *testing.T) {
	page := systemsPage(t)
	for _, l := range layout.Presets() {
		if !strings.Contains(page, "`"+l.Name+"`") {
			t.Errorf("the page does not name layout %s", l.Name)
		}
	}
}

func systemsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "systems.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestSystemsPageCommands runs the commands of docs/systems.md: statements in
// blocks, statements in the text that call nextid's functions, and every set of
// options as a generator.
func TestSystemsPageCommands(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	conn, page := s.connect(), systemsPage(t)
	alone := regexp.MustCompile(`(?m)^    (SELECT [^;]+);(?: +-- (\d+)$)?`).FindAllStringSubmatch(page, -1)
	within := regexp.MustCompile("`((?:SELECT )?(?:create_generator|next_id|next_code|get_id|get_worker_id|get_datacenter_id|get_timestamp|uuidv7|setval)\\([^`]*\\))`").FindAllStringSubmatch(page, -1)
	ran := 0
	for _, m := range append(alone, within...) {
		statement := m[1]
		if strings.Contains(statement, "import_generator") || strings.Contains(statement, "SELECT MAX") || // the next test; at databases of other systems
			strings.HasSuffix(statement, "next_id()") || strings.Contains(statement, ", shard)") { // their function, and a word for a number
			continue
		}
		if !strings.HasPrefix(statement, "SELECT") {
			statement = "SELECT " + statement
		}
		statement = strings.NewReplacer(": N + margin", ": 7", ": N", ": 7", "'orders'", fmt.Sprintf("'orders%d'", ran), "NAME", "discord").Replace(statement)
		var got string
		if err := conn.QueryRow(t.Context(), statement, pgx.QueryExecModeSimpleProtocol).Scan(&got); err != nil && !strings.Contains(err.Error(), "cannot scan") {
			t.Errorf("%s: %v", statement, err)
		} else if len(m) > 2 && m[2] != "" && got != m[2] {
			t.Errorf("%s: %s, and the page says %s", statement, got, m[2])
		}
		ran++
	}
	options := regexp.MustCompile("`(\\{\"[^`]+\\})`").FindAllStringSubmatch(page, -1)
	for i, m := range options {
		o := strings.NewReplacer(": N + margin", ": 7", ": N", ": 7").Replace(m[1])
		kind := "segment"
		if strings.Contains(o, `"layout"`) || strings.Contains(o, `"bits"`) {
			kind = "snowflake"
		}
		var id int64
		err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT next_id(create_generator('options%d', '%s', '%s'))", i, kind, o)).Scan(&id)
		if err != nil || id <= 0 {
			t.Errorf("%s %s: %d, %v", kind, o, id, err)
		}
	}
	if ran < 8 || len(options) < 5 {
		t.Errorf("the page has %d statements and %d sets of options", ran, len(options))
	}
}

// TestSystemsPageTakesOver runs the import_generator of docs/systems.md on a Leaf
// of the test. The answer is the one on the page.
func TestSystemsPageTakesOver(t *testing.T) {
	t.Parallel()
	page := systemsPage(t)
	for _, system := range ticket.TakeoverSystems() {
		if !strings.Contains(page, "`"+system+"`") {
			t.Errorf("the page does not name %s", system)
		}
	}
	shown := regexp.MustCompile(`(?m)^    (SELECT import_generator\('(\w+)', 'leaf', '(mysql://leaf@db/leaf)'\));\n    -- (.+)$`).FindAllStringSubmatch(page, -1)
	if len(shown) != 1 {
		t.Fatalf("the page shows %q", shown)
	}
	my := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", "root@tcp("+my.Addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE DATABASE leaf", "CREATE USER leaf@'127.0.0.1'", "GRANT SELECT, UPDATE, DELETE ON leaf.* TO leaf@'127.0.0.1'",
		"CREATE TABLE leaf.leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint NOT NULL, step int NOT NULL, description varchar(256))",
		"INSERT INTO leaf.leaf_alloc VALUES ('orders', 120001, 2000, '')",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	at := strings.NewReplacer(shown[0][3], my.MySQLURL("leaf", "leaf"))
	s := startServer(t, nil)
	if got, want := answerTo(t, s, at.Replace(shown[0][1])), at.Replace(shown[0][4]); got != want {
		t.Errorf("%s, and the page says %s", got, want)
	}
	if id := draw(t, s.connect(), shown[0][2]); id != 120001 {
		t.Errorf("the first id is %d", id)
	}
}
