package clienttest

import (
	"context"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// exampleBlock is a file of an example on the page: ```LANGUAGE NAME/FILE.
// An example has the name of its client, perhaps with -VARIANT.
var exampleBlock = regexp.MustCompile("(?ms)^```\\w+ ([\\w-]+)/(\\S+)\n(.*?)^```$")

// exampleJars are the class paths of the examples in Java.
var exampleJars = map[string]string{
	"pgjdbc":       "postgresql\n",
	"mariadb-jdbc": "mariadb-java-client\nslf4j-api\nslf4j-nop\n",
	"hibernate": "hibernate-core\nhibernate3\npostgresql\nhibernate-commons-annotations\ngeronimo-jpa_2.0_spec\ngeronimo-jta-1.2-spec\n" +
		"dom4j\ncommons-collections3\njavassist\nantlr\nslf4j-api\nslf4j-nop\n",
}

// TestExamples runs the examples of docs/clients.md, with other ports only. Each
// must print rising ids, one a line.
func TestExamples(t *testing.T) {
	if len(named) == 0 {
		t.Skip("make test-clients runs the examples")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	server, app := newServer(t), appDatabase(t)
	mariadb, socket := dbtest.QuickMariaDB(t)
	_, mariadbPort, _ := strings.Cut(mariadb, ":")
	ports := strings.NewReplacer("5433", server.port, "5432", app.Port(), "3307", server.mysql, "3306", mariadbPort)
	examples := map[string]map[string]string{}
	for _, m := range exampleBlock.FindAllStringSubmatch(string(text), -1) {
		if examples[m[1]] == nil {
			examples[m[1]] = map[string]string{}
		}
		examples[m[1]][m[2]] = ports.Replace(m[3])
	}
	nextid := "postgres://app@127.0.0.1:" + server.port + "/nextid"
	setup := writeExample(t, "setup", examples["setup"])
	runSetup(t, setup, "up.sh")
	runSQL(t, app.String(), filepath.Join(setup, "orders.sql"))
	runMariaDB(t, socket, "CREATE DATABASE shop; CREATE USER app@localhost; GRANT ALL ON shop.* TO app@localhost")
	runMariaDB(t, socket, "USE shop; "+examples["setup"]["orders-mysql.sql"])
	runSetup(t, setup, "up-mysql.sh")
	delete(examples, "setup")
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(t, name)
			if !wanted(c) {
				t.Skip("TEST_CLIENTS does not ask for it")
			}
			c.skipWithout(t)
			dir := writeExample(t, name, examples[name])
			if _, ok := examples[name]["nextid.sql"]; ok {
				runSQL(t, nextid, filepath.Join(dir, "nextid.sql"))
			}
			if _, ok := examples[name]["app.sql"]; ok {
				runSQL(t, app.String(), filepath.Join(dir, "app.sql"))
			}
			output := runExample(t, name, dir)
			wantRisingIDs(t, output)
			if first, _, _ := strings.Cut(output, "\n"); slices.Contains(ownTables, name) && len(first) < 15 {
				t.Errorf("%s is an id of the database's own sequence", first)
			}
		})
	}
}

// ownTables are the examples with migrations for a table of their own. A wrong
// example would get the ids from a sequence of the database.
var ownTables = []string{"django", "mikro-orm"}

func runSetup(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", filepath.Join(dir, script))
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func runMariaDB(t *testing.T, socket, sql string) {
	t.Helper()
	if out, err := exec.Command("mariadb", "--no-defaults", "-S", socket, "-u", "root", "-e", sql).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, out)
	}
}

// appDatabase starts the PostgreSQL of an application, with the database
// shop of the user app.
func appDatabase(t *testing.T) *url.URL {
	t.Helper()
	dsn := dbtest.QuickPostgres(t)
	for _, sql := range []string{"CREATE ROLE app LOGIN", "CREATE DATABASE shop OWNER app"} {
		if out, err := exec.Command("psql", "-X", "-q", "-c", sql, dsn).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, out)
		}
	}
	app, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	app.User, app.Path = url.User("app"), "/shop"
	return app
}

func clientOf(t *testing.T, example string) *client {
	t.Helper()
	for name := example; name != ""; name = name[:max(strings.LastIndex(name, "-"), 0)] {
		for i := range clients {
			if clients[i].name == name {
				return &clients[i]
			}
		}
	}
	t.Fatalf("the example %s has no client of its name", example)
	return nil
}

// quietGORM turns off GORM's log on standard output, which has statements of over 200
// ms. wantRisingIDs would take them for ids.
const quietGORM = `package main

import "gorm.io/gorm/logger"

func init() { logger.Default = logger.Discard }
`

// writeExample writes the files of an example into a directory of its own, with the
// files that its language needs.
func writeExample(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if jars := exampleJars[name]; jars != "" {
		files["jars"] = jars
	}
	if files["main.c"] != "" {
		libraries, err := os.ReadFile("scripts/" + name + "/libraries")
		if err != nil {
			t.Fatal(err)
		}
		files["libraries"] = string(libraries)
	}
	if files["main.go"] != "" {
		for _, file := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile("scripts/" + file)
			if err != nil {
				t.Fatal(err)
			}
			files[file] = strings.Replace(string(text), "module clients\n", "module shop\n", 1)
		}
		if strings.Contains(files["main.go"], `"gorm.io/gorm"`) {
			files["quiet.go"] = quietGORM
		}
	}
	for file, text := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if files["main.js"] != "" {
		modules, err := filepath.Abs("scripts/node_modules")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runSQL(t *testing.T, dsn, file string) {
	t.Helper()
	out, err := exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, dsn).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(file), err, out)
	}
}

func runExample(t *testing.T, name, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "scripts/run", name)
	cmd.Env = append(os.Environ(), "EXAMPLE="+dir, "BIN="+programs, "GOFLAGS=-mod=mod")
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	return string(out)
}

// wantRisingIDs reads ids, one a line. It ignores the line of the run script about
// versions.
func wantRisingIDs(t *testing.T, output string) {
	t.Helper()
	last, n := int64(0), 0
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "version ") {
			continue
		}
		id, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			t.Fatalf("not an id: %q in\n%s", line, output)
		}
		if id <= last {
			t.Errorf("id %d after %d", id, last)
		}
		last, n = id, n+1
	}
	if n == 0 {
		t.Error("the example printed no ids")
	}
}
