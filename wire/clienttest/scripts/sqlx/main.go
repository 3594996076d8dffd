package main

import (
	"clients/verdict"
	"errors"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

func main() {
	verdict.Version("github.com/jmoiron/sqlx")
	db, err := sqlx.Connect("pgx", verdict.DSN())
	verdict.Must("Connect", err)
	verdict.Twice("Get", func(id *int64) error { return db.Get(id, db.Rebind("SELECT next_id(?)"), "orders") })
	verdict.Three("Select into a slice", func() (ids []int64, err error) {
		err = db.Select(&ids, "SELECT * FROM next_ids($1, $2)", "orders", 3)
		return ids, err
	})
	verdict.Twice("NamedQuery into structs", func(id *int64) error {
		rows, err := db.NamedQuery("SELECT name, id FROM ids WHERE name = :name OR name = :name", map[string]any{"name": "orders"})
		if err != nil {
			return err
		}
		defer rows.Close()
		var row struct {
			Name string
			ID   int64
		}
		rows.Next()
		err = rows.StructScan(&row)
		*id = row.ID
		return err
	})
	verdict.Check("Preparex in a transaction", func() (int64, int64, error) {
		tx, err := db.Beginx()
		if err != nil {
			return 0, 0, err
		}
		s, err := tx.Preparex("SELECT next_id($1)")
		if err != nil {
			return 0, 0, err
		}
		a, b, err := verdict.Two(func(id *int64) error { return s.Get(id, "orders") })
		return a, b, errors.Join(err, tx.Commit())
	})
	_ = db.Close()
	verdict.Done()
}
