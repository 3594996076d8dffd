package clienttest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// client is one program or library that talks to a server; its checks are in
// scripts/NAME.
type client struct {
	name   string
	title  string // in docs/clients.md
	debian string // the packages it needs on Debian
	quick  bool   // runs in a plain go test, too
	npm    bool   // of scripts/package.json
	module string // the Go module of one that has an example but no checks
	app    bool   // lives in an application's PostgreSQL
}

const java = " default-jdk-headless libpostgresql-jdbc-java"

var clients = []client{
	{name: "psql", title: "psql", debian: "postgresql-client python3", quick: true},
	{name: "pgbench", title: "pgbench", debian: "postgresql", quick: true},
	{name: "libpq", title: "libpq (C)", debian: "gcc libc6-dev libpq-dev", quick: true},
	{name: "libpq-pipeline", title: "libpq's pipeline mode (C)", debian: "gcc libc6-dev libpq-dev", quick: true},

	{name: "pgx", title: "pgx (Go)", debian: "golang-go", quick: true},
	{name: "lib-pq", title: "lib/pq (Go)", debian: "golang-go", quick: true},
	{name: "sqlx", title: "sqlx (Go)", debian: "golang-go"},
	{name: "gorm", title: "GORM (Go)", debian: "golang-go"},
	{name: "bun", title: "Bun (Go)", debian: "golang-go"},
	{name: "go-pg", title: "go-pg (Go)", debian: "golang-go"},
	{name: "xorm", title: "Xorm (Go)", debian: "golang-go"},

	{name: "ent", title: "Ent (Go)", debian: "golang-go", module: "entgo.io/ent"},

	{name: "pgjdbc", title: "PostgreSQL JDBC", debian: java},
	{name: "hikaricp", title: "HikariCP (Java)", debian: java + " libhikaricp-java libslf4j-java"},
	{name: "dbcp2", title: "Commons DBCP (Java)", debian: java + " libcommons-dbcp2-java"},
	{name: "c3p0", title: "c3p0 (Java)", debian: java + " libc3p0-java"},
	{name: "hibernate", title: "Hibernate (Java)", debian: java + " libhibernate3-java libjavassist-java libslf4j-java"},

	{name: "psycopg2", title: "psycopg2 (Python)", debian: "python3-psycopg2", quick: true},
	{name: "psycopg3", title: "Psycopg 3 (Python)", debian: "python3-psycopg python3-psycopg-pool", quick: true},
	{name: "asyncpg", title: "asyncpg (Python)", debian: "python3-asyncpg"},
	{name: "pg8000", title: "pg8000 (Python)", debian: "python3-pg8000"},
	{name: "sqlalchemy", title: "SQLAlchemy (Python)", debian: "python3-sqlalchemy python3-psycopg2 python3-asyncpg"},
	{name: "django", title: "Django (Python)", debian: "python3-django python3-psycopg2"},

	{name: "peewee", title: "Peewee (Python)", debian: "python3-peewee python3-psycopg2"},
	{name: "pony", title: "Pony (Python)", debian: "python3-pony python3-psycopg2"},
	{name: "pygresql", title: "PyGreSQL (Python)", debian: "python3-pygresql"},
	{name: "pgcli", title: "pgcli (Python)", debian: "pgcli"},

	{name: "node-pg", title: "node-postgres", npm: true},
	{name: "postgres-js", title: "Postgres.js", npm: true},
	{name: "pg-promise", title: "pg-promise", npm: true},
	{name: "knex", title: "Knex", npm: true},
	{name: "objection", title: "Objection", npm: true},
	{name: "kysely", title: "Kysely", npm: true},
	{name: "drizzle", title: "Drizzle", npm: true},
	{name: "sequelize", title: "Sequelize", npm: true},
	{name: "typeorm", title: "TypeORM", npm: true},
	{name: "mikro-orm", title: "MikroORM", npm: true},
	{name: "prisma", title: "Prisma", npm: true},

	{name: "ruby-pg", title: "pg (Ruby)", debian: "ruby ruby-pg"},
	{name: "activerecord", title: "ActiveRecord (Ruby)", debian: "ruby ruby-pg ruby-activerecord"},
	{name: "sequel", title: "Sequel (Ruby)", debian: "ruby ruby-pg ruby-sequel"},
	{name: "php", title: "PDO and pgsql (PHP)", debian: "php-cli php-pgsql"},
	{name: "perl", title: "DBD::Pg (Perl)", debian: "perl libdbd-pg-perl"},
	{name: "r", title: "RPostgreSQL (R)", debian: "r-base-core r-cran-rpostgresql"},
	{name: "dbix-class", title: "DBIx::Class (Perl)", debian: "perl libdbd-pg-perl libdbix-class-perl"},
	{name: "tcl", title: "tdbc::postgres (Tcl)", debian: "tcl tcl8.6-tdbc-postgres"},
	{name: "lua", title: "LuaSQL", debian: "lua5.3 lua-sql-postgres"},
	{name: "erlang", title: "p1_pgsql (Erlang)", debian: "erlang-base erlang-p1-pgsql"},
	{name: "libpqxx", title: "libpqxx (C++)", debian: "g++ libpqxx-dev"},
	{name: "ecpg", title: "ECPG (embedded SQL in C)", debian: "gcc libc6-dev libecpg-dev"},
	{name: "odbc", title: "psqlODBC", debian: "odbc-postgresql unixodbc python3-pyodbc"},

	{name: "postgres_fdw", title: "postgres_fdw", debian: "postgresql postgresql-client", app: true},
	{name: "dblink", title: "dblink", debian: "postgresql postgresql-client", app: true},
	{name: "pgbouncer", title: "PgBouncer", debian: "pgbouncer postgresql-client"},
	{name: "sysbench", title: "sysbench", debian: "sysbench"},
}

// probes are the commands that succeed when a package is there, for those
// that may have come another way. Others are asked of dpkg.
var probes = map[string]string{
	"postgresql-client":    "psql --version",
	"postgresql":           "ls /usr/lib/postgresql/*/bin/initdb && pgbench --version",
	"gcc":                  "cc --version",
	"libc6-dev":            "test -f /usr/include/stdio.h",
	"libpq-dev":            "test -f /usr/include/postgresql/libpq-fe.h",
	"default-jdk-headless": "javac -version",
	"golang-go":            "go version",
	"nodejs":               "node --version",
	"npm":                  "npm --version",
	"python3":              "python3 --version",
	"python3-psycopg2":     "/usr/bin/python3 -c 'import psycopg2'",
	"python3-psycopg":      "/usr/bin/python3 -c 'import psycopg'",
	"python3-psycopg-pool": "/usr/bin/python3 -c 'import psycopg_pool'",
}

// missing returns the packages of a client that are not there.
func (c *client) missing() []string {
	packages := strings.Fields(c.debian)
	if c.npm {
		packages = append(packages, "nodejs", "npm")
	}
	return slices.DeleteFunc(packages, func(p string) bool {
		probe, ok := probes[p]
		if !ok {
			probe = "dpkg-query -W -f '${Status}' " + p + " | grep -q 'install ok installed'"
		}
		return exec.Command("sh", "-c", probe).Run() == nil
	})
}

// skipWithout skips the test when packages are missing, and names them.
func (c *client) skipWithout(t *testing.T) {
	t.Helper()
	if m := c.missing(); len(m) > 0 {
		t.Skipf("%s: not installed here, on Debian: apt-get install %s", c.title, strings.Join(m, " "))
	}
	if _, err := os.Stat("scripts/node_modules/.package-lock.json"); c.npm && err != nil {
		t.Skipf("%s: not installed here: npm ci --ignore-scripts in wire/clienttest/scripts", c.title)
	}
}

// installAll installs what is missing for all clients, as far as it can:
// what stays missing is skipped by name.
func installAll() error {
	var packages []string
	npm := false
	for _, c := range clients {
		packages = append(packages, c.missing()...)
		npm = npm || c.npm
	}
	slices.Sort(packages)
	if packages = slices.Compact(packages); len(packages) > 0 {
		if err := run("../..", ".ci/apt-install", packages...); err != nil {
			return err
		}
	}
	if _, missing := exec.LookPath("npm"); missing != nil || !npm || unchanged() {
		return nil //nolint:nilerr // the clients of Node.js are left out
	}
	if err := run("scripts", "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"); err != nil {
		fmt.Fprintln(os.Stderr, "going on without the clients of Node.js: npm ci:", err)
	}
	return nil
}

// unchanged reports whether scripts/node_modules is of this package-lock.json:
// npm writes its own copy of it there.
func unchanged() bool {
	lock, err := os.Stat("scripts/package-lock.json")
	if err != nil {
		return false
	}
	installed, err := os.Stat("scripts/node_modules/.package-lock.json")
	return err == nil && installed.ModTime().After(lock.ModTime())
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	return cmd.Run()
}
