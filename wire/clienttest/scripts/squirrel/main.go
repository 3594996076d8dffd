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
	verdict.Must("Open", err)
	for what, runner := range map[string]sq.BaseRunner{"query": db, "cached statement": sq.NewStmtCache(db)} {
		build := sq.StatementBuilder.PlaceholderFormat(sq.Dollar).RunWith(runner)
		verdict.Twice("a "+what, func(id *int64) error { return build.Select().Column("next_id(?)", "orders").QueryRow().Scan(id) })
		verdict.Twice("a "+what+" over the table ids", func(id *int64) error {
			return build.Select("id").From("ids").Where(sq.Eq{"name": "orders"}).QueryRow().Scan(id)
		})
	}
	_ = db.Close()
	verdict.Done()
}
