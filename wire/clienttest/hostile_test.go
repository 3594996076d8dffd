package clienttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// hostile is a driver that puts values into the text itself. It quotes them for the
// settings that it believes the server to have.
type hostile struct {
	driver  string
	client  string // has the packages that it needs
	command string // in scripts/hostile
	wide    bool   // it speaks another character set: errors are as good as the value
}

var hostiles = []hostile{
	{driver: "PyMySQL", client: "pymysql", command: "/usr/bin/python3 -W ignore main.py pymysql"},
	{driver: "mysqlclient", client: "mysqldb", command: "/usr/bin/python3 -W ignore main.py MySQLdb"},
	{driver: "go-sql-driver/mysql", client: "go-mysql", command: `go build -o "$BIN/hostile-go" main.go && "$BIN/hostile-go"`},
	{driver: "MariaDB Connector/J", client: "mariadb-jdbc", command: `mkdir -p "$BIN" && javac -d "$BIN/hostile-mariadb" Main.java && java -cp "$BIN/hostile-mariadb:/usr/share/java/mariadb-java-client.jar:/usr/share/java/slf4j-api.jar" Main mariadb`},
	{driver: "mysql (Node.js)", client: "node-mysql", command: "node --no-warnings main.js mysql"},
	{driver: "mysql2 (Node.js)", client: "node-mysql2", command: "node --no-warnings main.js mysql2"},
	{driver: "mariadb (Node.js)", client: "node-mariadb", command: "node --no-warnings main.js mariadb"},
	{driver: "MariaDB Connector/C", client: "libmariadb", command: hostileC},
	{driver: "MariaDB Connector/C in GBK", client: "libmariadb", command: hostileC + " gbk", wide: true},
	{driver: "MariaDB Connector/C in SJIS", client: "libmariadb", command: hostileC + " sjis", wide: true},
	{driver: "MariaDB Connector/C in Big5", client: "libmariadb", command: hostileC + " big5", wide: true},
	{driver: "psycopg2", client: "psycopg2", command: "/usr/bin/python3 -W ignore main.py psycopg2"},
	{driver: "pgx", client: "pgx", command: `go build -o "$BIN/hostile-go" main.go && "$BIN/hostile-go"`},
	{driver: "PostgreSQL JDBC", client: "pgjdbc", command: `mkdir -p "$BIN" && javac -d "$BIN/hostile-postgresql" Main.java && java -cp "$BIN/hostile-postgresql:/usr/share/java/postgresql.jar" Main postgresql`},
}

const hostileC = `mkdir -p "$BIN" && cc -O1 -Wall main.c -o "$BIN/hostile-c" $(cat ../libmariadb/libraries) && "$BIN/hostile-c"`

// TestHostileValues sends values that would end their own quotes if the server read
// texts by other settings than the driver believes. It does so under every setting
// that changes how texts are read. Each value must come back as it was and select
// its own rows, or the same rows as in a MariaDB with the same setting.
func TestHostileValues(t *testing.T) {
	server := newServer(t)
	mariadb, _ := dbtest.QuickMariaDB(t)
	_, mariadbPort, err := net.SplitHostPort(mariadb)
	if err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile("scripts/hostile/values")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hostiles {
		t.Run(h.driver, func(t *testing.T) {
			c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == h.client })]
			if !wanted(&c) {
				t.Skip("make test-clients runs it")
			}
			c.skipWithout(t)
			if !c.mysql {
				h.check(t, h.run(t, "postgresql", server.port), nil, strings.Fields(string(values)))
				return
			}
			theirs := map[string]string{}
			for _, line := range h.run(t, "mysql", mariadbPort) {
				theirs[hostileKey(line)] = line
			}
			h.check(t, h.run(t, "mysql", server.mysql), theirs, strings.Fields(string(values)))
		})
	}
}

// hostileKey returns the numbers of the setting and the value of a line, or the
// number of a setting that was refused.
func hostileKey(line string) string {
	f := strings.Fields(line)
	return f[0] + " " + f[1]
}

// run returns the lines that the driver's program prints.
func (h *hostile) run(t *testing.T, protocol, port string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", h.command)
	cmd.Dir = "scripts/hostile"
	user := map[string]string{"mysql": "root", "postgresql": "postgres"}[protocol]
	cmd.Env = append(os.Environ(), "PROTOCOL="+protocol, "HOST=127.0.0.1", "PORT="+port, "USER="+user, "PASSWORD=", "DB=nextid",
		"BIN="+filepath.Join(programs, "hostile", h.client)) // beside the checks' own
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Logf("%s", exit.Stderr)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// check checks the lines "setting value echo rows". theirs are MariaDB's lines by
// hostileKey, nil in the PostgreSQL dialect.
func (h *hostile) check(t *testing.T, lines []string, theirs map[string]string, values []string) {
	t.Helper()
	compared, right := 0, 0
	for _, line := range lines {
		f := strings.Fields(line)
		if f[1] == "refused:" {
			continue
		}
		number := 0
		for _, digit := range f[1] {
			number = number*10 + int(digit-'0')
		}
		value, err := url.PathUnescape(values[number])
		if err != nil {
			t.Fatal(err)
		}
		rows := "0"
		if value == "plain" {
			rows = "1"
		}
		want := f[0] + " " + f[1] + " " + hexOf(value) + " " + rows
		compared++
		switch their, known := theirs[hostileKey(line)]; {
		case line == want:
			right++
		case f[2] == "error" && (h.wide || theirs == nil):
		case known && !h.wide && line == their: // the driver's own mistake, which MariaDB suffers, too
		default:
			t.Errorf("setting %s, value %q: %q, MariaDB %q", f[0], value, line, their)
		}
	}
	t.Logf("%d answers, %d of them the value as it was", compared, right)
	if compared < 2*len(values) || right < len(values) {
		t.Errorf("only %d answers, %d right", compared, right)
	}
}

func hexOf(s string) string { return fmt.Sprintf("%x", s) }
