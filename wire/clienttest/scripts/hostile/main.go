// Hostile values through a Go driver that puts them into the text; see main.py.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"

	"clients/verdict"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

func main() {
	protocol := os.Getenv("PROTOCOL")
	db, mark := open(protocol)
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	check(err)
	for i, setting := range lines("settings-" + protocol) {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			fmt.Println(i, "refused:", setting)
			continue
		}
		for j, line := range lines("values") {
			value, err := url.PathUnescape(line)
			check(err)
			var echo string
			var count int
			err = conn.QueryRowContext(ctx, "SELECT "+mark, value).Scan(&echo)
			if err == nil {
				err = conn.QueryRowContext(ctx,
					"SELECT count(*) FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'plain') AS t WHERE name = "+mark, value).Scan(&count)
			}
			if err != nil {
				fmt.Println(i, j, "error")
				continue
			}
			fmt.Printf("%d %d %x %d\n", i, j, echo, count)
		}
	}
}

// open connects; mark stands for a parameter.
func open(protocol string) (db *sql.DB, mark string) {
	if protocol == "mysql" {
		db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/?interpolateParams=true&charset=utf8mb4",
			os.Getenv("USER"), os.Getenv("PASSWORD"), verdict.Addr()))
		check(err)
		return db, "?"
	}
	config, err := pgx.ParseConfig(verdict.DSN())
	check(err)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	return stdlib.OpenDB(*config), "$1"
}

func lines(file string) []string {
	b, err := os.ReadFile(file)
	check(err)
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
