package foreign_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfThePage runs the commands and the SQL of docs/foreign.md. Addresses
// of the page are replaced by those of databases and a server of this test.
func TestCommandsOfThePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/foreign.md")
	if err != nil {
		t.Fatal(err)
	}
	s, cluster, app := startServer(t), startCluster(t), startMariaDB(t)
	dsn := cluster.database(t)
	connect(t, dsn, nil).exec("CREATE ROLE shop")
	words := strings.NewReplacer("postgres://postgres@db/shop", dsn, "nextid@ids:5433", "app@"+s.address, "mysql://root@db/shop", app.dsn, "nextid@ids:3307", "app@"+s.mysql)
	postgres, mysql, found := strings.Cut(string(text), "\n# MariaDB and MySQL\n")
	if !found {
		t.Fatal("the page has no part on MariaDB")
	}
	command := regexp.MustCompile(`(?m)^    nextid (migrate foreign .+)$`)
	run := func(part string, least int) {
		t.Helper()
		commands := command.FindAllStringSubmatch(part, -1)
		if len(commands) < least {
			t.Fatalf("a part of the page has %d commands", len(commands))
		}
		for _, c := range commands {
			if out, err := exec.CommandContext(t.Context(), binary, strings.Fields(words.Replace(c[1]))...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c[1], err, out)
			}
		}
	}
	statements := regexp.MustCompile("(?s)```sql\n(.*?)```")
	run(postgres, 3)
	shop := connect(t, dsn, nil)
	for _, block := range statements.FindAllStringSubmatch(postgres, -1) {
		shop.exec(block[1])
	}
	blocks := statements.FindAllStringSubmatch(mysql, -1)
	app.exec(blocks[0][1])
	byHand(t, app, words.Replace(command.FindStringSubmatch(mysql)[1]))
	app.exec(blocks[1][1])
	app.exec("DROP TRIGGER shop.nextid_orders_id; DROP DATABASE nextid; DROP SERVER nextid")
	run(mysql, 1)
	app.exec(blocks[1][1])
}

// byHand runs the output of print with MariaDB's own client instead of up.
func byHand(t *testing.T, app *mariadb, up string) {
	t.Helper()
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("needs the Debian package mariadb-client")
	}
	text, err := exec.CommandContext(t.Context(), binary, strings.Fields(strings.Replace(up, " up ", " print ", 1))...).Output()
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(app.dsn, "mysql://root@"), "/shop"), ":")
	cmd := exec.CommandContext(t.Context(), client, "--no-defaults", "-uroot", "-h"+host, "-P"+port)
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
}
