package clienttest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// client is one program or library that talks to a server. Its checks are in
// scripts/NAME. For NAME-mysql they are in scripts/NAME if there is no folder of its
// own.
type client struct {
	name   string
	title  string // in docs/clients.md
	debian string // the packages it needs on Debian
	quick  bool   // runs in a plain go test, too
	npm    bool   // of scripts/package.json
	module string // the Go module of one that has an example but no checks
	mysql  bool   // speaks MySQL's protocol
	app    string // the database of an application that it lives in: postgres or mariadb
}

const (
	java      = " default-jdk-headless libpostgresql-jdbc-java"
	javaMySQL = "default-jdk-headless libmariadb-java libslf4j-java"
)

var clients = []client{
	{name: "psql", title: "psql", debian: "postgresql-client python3", quick: true},
	{name: "pgbench", title: "pgbench", debian: "postgresql", quick: true},
	{name: "libpq", title: "libpq (C)", debian: "gcc libc6-dev libpq-dev", quick: true},
	{name: "libpq-18", title: "libpq 18 (C)", debian: "gcc libc6-dev libpq-dev", npm: true},
	{name: "libpq-pipeline", title: "libpq's pipeline mode (C)", debian: "gcc libc6-dev libpq-dev", quick: true},

	{name: "pgx", title: "pgx (Go)", debian: "golang-go", quick: true},
	{name: "lib-pq", title: "lib/pq (Go)", debian: "golang-go", quick: true},
	{name: "sqlx", title: "sqlx (Go)", debian: "golang-go"},
	{name: "gorm", title: "GORM (Go)", debian: "golang-go"},
	{name: "bun", title: "Bun (Go)", debian: "golang-go"},
	{name: "go-pg", title: "go-pg (Go)", debian: "golang-go"},
	{name: "xorm", title: "Xorm (Go)", debian: "golang-go"},

	{name: "squirrel", title: "squirrel (Go)", debian: "golang-go"},
	{name: "goqu", title: "goqu (Go)", debian: "golang-go"},
	{name: "dbr", title: "dbr (Go)", debian: "golang-go"},
	{name: "jet", title: "go-jet (Go)", debian: "golang-go"},
	{name: "ent", title: "Ent (Go)", debian: "golang-go", module: "entgo.io/ent"},

	{name: "pgjdbc", title: "PostgreSQL JDBC", debian: java},
	{name: "hikaricp", title: "HikariCP (Java)", debian: java + " libhikaricp-java libslf4j-java"},
	{name: "dbcp2", title: "Commons DBCP (Java)", debian: java + " libcommons-dbcp2-java"},
	{name: "c3p0", title: "c3p0 (Java)", debian: java + " libc3p0-java"},
	{name: "openjpa", title: "OpenJPA (Java)", debian: java + " libopenjpa-java"},
	{name: "hibernate", title: "Hibernate (Java)", debian: java + " libhibernate3-java libjavassist-java libslf4j-java"},

	{name: "psycopg2", title: "psycopg2 (Python)", debian: "python3-psycopg2", quick: true},
	{name: "psycopg3", title: "Psycopg 3 (Python)", debian: "python3-psycopg python3-psycopg-pool", quick: true},
	{name: "asyncpg", title: "asyncpg (Python)", debian: "python3-asyncpg"},
	{name: "aiopg", title: "aiopg (Python)", debian: "python3-aiopg python3-async-timeout python3-sqlalchemy"},
	{name: "databases", title: "databases (Python)", debian: "python3-databases python3-sqlalchemy python3-asyncpg python3-aiopg python3-async-timeout"},
	{name: "pg8000", title: "pg8000 (Python)", debian: "python3-pg8000"},
	{name: "sqlalchemy", title: "SQLAlchemy (Python)", debian: "python3-sqlalchemy python3-psycopg2 python3-asyncpg"},
	{name: "alembic", title: "Alembic (Python)", debian: "alembic python3-psycopg2"},
	{name: "django", title: "Django (Python)", debian: "python3-django python3-psycopg2"},

	{name: "storm", title: "Storm (Python)", debian: "python3-storm python3-psycopg2"},
	{name: "csvkit", title: "csvkit (Python)", debian: "csvkit python3-psycopg2"},
	{name: "peewee", title: "Peewee (Python)", debian: "python3-peewee python3-psycopg2"},
	{name: "pony", title: "Pony (Python)", debian: "python3-pony python3-psycopg2"},
	{name: "sqlobject", title: "SQLObject (Python)", debian: "python3-sqlobject python3-psycopg2"},
	{name: "qt", title: "Qt (QPSQL)", debian: "python3-pyqt5.qtsql libqt5sql5-psql"},
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
	{name: "dataobjects", title: "DataObjects (Ruby)", debian: "ruby ruby-dataobjects-postgres ruby-dataobjects-mysql"},
	{name: "php", title: "PDO and pgsql (PHP)", debian: "php-cli php-pgsql"},
	{name: "doctrine", title: "Doctrine DBAL (PHP)", debian: "php-cli php-pgsql php-doctrine-dbal"},
	{name: "eloquent", title: "Illuminate, Laravel's (PHP)", debian: "php-cli php-pgsql php-mbstring php-illuminate-database"},
	{name: "perl", title: "DBD::Pg (Perl)", debian: "perl libdbd-pg-perl"},
	{name: "r", title: "RPostgreSQL (R)", debian: "r-base-core r-cran-rpostgresql"},
	{name: "dbix-class", title: "DBIx::Class (Perl)", debian: "perl libdbd-pg-perl libdbix-class-perl"},
	{name: "rose-db", title: "Rose::DB (Perl)", debian: "perl libdbd-pg-perl librose-db-object-perl"},
	{name: "tcl", title: "tdbc::postgres (Tcl)", debian: "tcl tcl8.6-tdbc-postgres"},
	{name: "lua", title: "LuaSQL", debian: "lua5.3 lua-sql-postgres"},
	{name: "luadbi", title: "LuaDBI", debian: "lua5.3 lua-dbi-postgresql"},
	{name: "erlang", title: "p1_pgsql (Erlang)", debian: "erlang-base erlang-p1-pgsql"},
	{name: "libpqxx", title: "libpqxx (C++)", debian: "g++ libpqxx-dev"},
	{name: "soci", title: "SOCI (C++)", debian: "g++ libsoci-dev libboost-dev"},
	{name: "ecpg", title: "ECPG (embedded SQL in C)", debian: "gcc libc6-dev libecpg-dev"},
	{name: "odbc", title: "psqlODBC", debian: "odbc-postgresql unixodbc python3-pyodbc"},

	{name: "postgres_fdw", title: "postgres_fdw", debian: "postgresql postgresql-client", app: "postgres"},
	{name: "dblink", title: "dblink", debian: "postgresql postgresql-client", app: "postgres"},
	{name: "pgbouncer", title: "PgBouncer", debian: "pgbouncer postgresql-client"},
	{name: "sysbench", title: "sysbench", debian: "sysbench"},

	{name: "pg_dump", title: "pg_dump", debian: "postgresql-client", quick: true},
	{name: "monitoring-plugins", title: "Monitoring plugins (check_pgsql)", debian: "monitoring-plugins-standard"},
	{name: "haproxy", title: "HAProxy (pgsql-check)", debian: "haproxy python3"},
	{name: "postfix", title: "Postfix", debian: "postfix postfix-pgsql"},
	{name: "adminer", title: "Adminer", debian: "adminer php-cli php-pgsql curl"},
	{name: "kysely-codegen", title: "kysely-codegen", npm: true},
	{name: "sequelize-auto", title: "sequelize-auto", npm: true},
	{name: "drizzle-kit", title: "drizzle-kit", npm: true},
	{name: "pgtyped", title: "PgTyped", npm: true},
	{name: "postgraphile", title: "PostGraphile", npm: true},
	{name: "zapatos", title: "zapatos", npm: true},

	{name: "mysql-cli", title: "mysql and mysqladmin (MariaDB's)", debian: "mariadb-client python3", mysql: true, quick: true},
	{name: "mysqldump", title: "mysqldump (MariaDB's)", debian: "mariadb-client", mysql: true, quick: true},
	{name: "mydumper", title: "mydumper", debian: "mydumper", mysql: true},
	{name: "monitoring-plugins-mysql", title: "Monitoring plugins (check_mysql)", debian: "monitoring-plugins-standard", mysql: true},
	{name: "mysqld-exporter", title: "mysqld_exporter (Prometheus)", debian: "prometheus-mysqld-exporter python3", mysql: true},
	{name: "adminer-mysql", title: "Adminer, MySQL", debian: "adminer php-cli php-mysql curl", mysql: true},
	{name: "connector-cpp", title: "MySQL Connector/C++", debian: "g++ libmysqlcppconn-dev libboost-dev", mysql: true},
	{name: "postfix-mysql", title: "Postfix over MySQL", debian: "postfix postfix-mysql", mysql: true},
	{name: "phpmyadmin-mysql", title: "phpMyAdmin", debian: "phpmyadmin php-cli php-mysql curl", mysql: true},
	{name: "haproxy-mysql", title: "HAProxy (mysql-check)", debian: "haproxy python3", mysql: true},
	{name: "kysely-codegen-mysql", title: "kysely-codegen, MySQL", npm: true, mysql: true},
	{name: "sequelize-auto-mysql", title: "sequelize-auto, MySQL", npm: true, mysql: true},
	{name: "drizzle-kit-mysql", title: "drizzle-kit, MySQL", npm: true, mysql: true},
	{name: "mysqlslap", title: "mysqlslap (MariaDB's)", debian: "mariadb-client", mysql: true},
	{name: "mycli", title: "mycli", debian: "mycli", mysql: true},
	{name: "libmariadb", title: "MariaDB Connector/C", debian: "gcc libc6-dev libmariadb-dev", mysql: true, quick: true},
	{name: "soci-mysql", title: "SOCI, MySQL (C++)", debian: "g++ libsoci-dev libboost-dev", mysql: true},
	{name: "odbc-mysql", title: "MariaDB Connector/ODBC", debian: "odbc-mariadb unixodbc python3-pyodbc", mysql: true},
	{name: "go-mysql", title: "go-sql-driver/mysql (Go)", debian: "golang-go", mysql: true, quick: true},
	{name: "gorm-mysql", title: "GORM, MySQL (Go)", debian: "golang-go", mysql: true},
	{name: "bun-mysql", title: "Bun, MySQL (Go)", debian: "golang-go", mysql: true},
	{name: "xorm-mysql", title: "Xorm, MySQL (Go)", debian: "golang-go", mysql: true},
	{name: "mariadb-jdbc", title: "MariaDB Connector/J", debian: javaMySQL, mysql: true},
	{name: "hikaricp-mysql", title: "HikariCP, MariaDB (Java)", debian: javaMySQL + " libhikaricp-java", mysql: true},
	{name: "pymysql", title: "PyMySQL and aiomysql (Python)", debian: "python3-pymysql python3-aiomysql", mysql: true, quick: true},
	{name: "mysqldb", title: "mysqlclient, MySQLdb (Python)", debian: "python3-mysqldb", mysql: true},
	{name: "sqlalchemy-mysql", title: "SQLAlchemy, MySQL (Python)", debian: "python3-sqlalchemy python3-pymysql python3-mysqldb", mysql: true},
	{name: "django-mysql", title: "Django, MySQL (Python)", debian: "python3-django python3-mysqldb", mysql: true},
	{name: "databases-mysql", title: "databases, MySQL (Python)", debian: "python3-databases python3-sqlalchemy python3-aiomysql", mysql: true},
	{name: "peewee-mysql", title: "Peewee, MySQL (Python)", debian: "python3-peewee python3-pymysql", mysql: true},
	{name: "sqlobject-mysql", title: "SQLObject, MySQL (Python)", debian: "python3-sqlobject python3-pymysql", mysql: true},
	{name: "qt-mysql", title: "Qt (QMYSQL)", debian: "python3-pyqt5.qtsql libqt5sql5-mysql", mysql: true},
	{name: "node-mysql", title: "mysql (Node.js)", npm: true, mysql: true},
	{name: "node-mysql2", title: "mysql2 (Node.js)", npm: true, mysql: true},
	{name: "node-mariadb", title: "mariadb (Node.js)", npm: true, mysql: true},
	{name: "knex-mysql", title: "Knex, MySQL", npm: true, mysql: true},
	{name: "kysely-mysql", title: "Kysely, MySQL", npm: true, mysql: true},
	{name: "drizzle-mysql", title: "Drizzle, MySQL", npm: true, mysql: true},
	{name: "sequelize-mysql", title: "Sequelize, MySQL", npm: true, mysql: true},
	{name: "typeorm-mysql", title: "TypeORM, MySQL", npm: true, mysql: true},
	{name: "mikro-orm-mysql", title: "MikroORM, MySQL", npm: true, mysql: true},
	{name: "prisma-mysql", title: "Prisma, MySQL", npm: true, mysql: true},
	{name: "php-mysql", title: "PDO and mysqli (PHP)", debian: "php-cli php-mysql", mysql: true},
	{name: "doctrine-mysql", title: "Doctrine DBAL, MySQL (PHP)", debian: "php-cli php-mysql php-doctrine-dbal", mysql: true},
	{name: "eloquent-mysql", title: "Illuminate, MySQL (PHP)", debian: "php-cli php-mysql php-mbstring php-illuminate-database", mysql: true},
	{name: "perl-mysql", title: "DBD::mysql (Perl)", debian: "perl libdbd-mysql-perl", mysql: true},
	{name: "dbd-mariadb", title: "DBD::MariaDB (Perl)", debian: "perl libdbd-mariadb-perl", mysql: true},
	{name: "rose-db-mysql", title: "Rose::DB, MySQL (Perl)", debian: "perl libdbd-mysql-perl librose-db-object-perl", mysql: true},
	{name: "ruby-mysql2", title: "mysql2 (Ruby)", debian: "ruby ruby-mysql2", mysql: true},
	{name: "activerecord-mysql", title: "ActiveRecord, MySQL (Ruby)", debian: "ruby ruby-mysql2 ruby-activerecord", mysql: true},
	{name: "sequel-mysql", title: "Sequel, MySQL (Ruby)", debian: "ruby ruby-mysql2 ruby-sequel", mysql: true},
	{name: "dataobjects-mysql", title: "DataObjects, MySQL (Ruby)", debian: "ruby ruby-dataobjects-postgres ruby-dataobjects-mysql", mysql: true},
	{name: "r-mysql", title: "RMySQL (R)", debian: "r-base-core r-cran-rmysql", mysql: true},
	{name: "lua-mysql", title: "LuaSQL, MySQL", debian: "lua5.3 lua-sql-mysql", mysql: true},
	{name: "luadbi-mysql", title: "LuaDBI, MySQL", debian: "lua5.3 lua-dbi-mysql", mysql: true},
	{name: "tcl-mysql", title: "tdbc::mysql (Tcl)", debian: "tcl tcl8.6-tdbc-mysql", mysql: true},
	{name: "erlang-mysql", title: "p1_mysql (Erlang)", debian: "erlang-base erlang-p1-mysql", mysql: true},
	{name: "sysbench-mysql", title: "sysbench, MySQL", debian: "sysbench", mysql: true},
	{name: "federatedx", title: "FederatedX (MariaDB)", debian: "mariadb-server mariadb-client", mysql: true, app: "mariadb"},
	{name: "connect", title: "CONNECT (MariaDB)", debian: "mariadb-server mariadb-client mariadb-plugin-connect", mysql: true, app: "mariadb"},
	{name: "spider", title: "SPIDER (MariaDB)", debian: "mariadb-server mariadb-client mariadb-plugin-spider", mysql: true, app: "mariadb"},
	{name: "mysql_fdw", title: "mysql_fdw (PostgreSQL)", debian: "postgresql postgresql-client postgresql-15-mysql-fdw", mysql: true, app: "postgres"},
}

// probes are commands that succeed when a package is installed. They are for
// packages that may be installed without dpkg; dpkg lists the others.
var probes = map[string]string{
	"postgresql-client":    "psql --version",
	"mariadb-client":       "mariadb --version",
	"mariadb-server":       "ls /usr/sbin/mariadbd",
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

// missing returns the packages of a client that are not installed.
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
	if c.debian == "golang-go" {
		_ = goModules() // go build reports a module that is missing
	}
}

// goModules downloads the modules of all Go clients once. The time limits of the
// clients are too short for that.
var goModules = sync.OnceValue(func() error { return run("scripts", "go", "mod", "download") })

// installAll installs the missing packages of all clients, as far as it can. Clients
// with packages that stay missing are skipped by name.
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

// unchanged reports whether scripts/node_modules was installed from this
// package-lock.json: npm writes its own copy of that file there.
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
