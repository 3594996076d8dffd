package main

import (
	"database/sql"

	"clients/verdict"

	sq "github.com/Masterminds/squirrel"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func main() {
	verdict.Version("github.com/Masterminds/squirrel")
	db, err := sql.Open("pgx", verdict.DSN())
	if err != nil {
		verdict.Fail("Open", err)
		verdict.Done()
	}
	cached := sq.NewStmtCache(db)
	for what, runner := range map[string]sq.BaseRunner{"a query": db, "a cached statement": cached} {
		build := sq.StatementBuilder.PlaceholderFormat(sq.Dollar).RunWith(runner)
		verdict.Check(what, func() (a, b int64, err error) {
			if err = build.Select().Column("next_id(?)", "orders").QueryRow().Scan(&a); err == nil {
				err = build.Select("id").From("ids").Where(sq.Eq{"name": "orders"}).QueryRow().Scan(&b)
			}
			return a, b, err
		})
	}
	_ = db.Close()
	verdict.Done()
}
