package main

import (
	"clients/verdict"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

func main() {
	verdict.Version("github.com/jmoiron/sqlx")
	db, err := sqlx.Connect("pgx", verdict.DSN())
	if err != nil {
		verdict.Fail("Connect", err)
		verdict.Done()
	}
	verdict.Check("Get", func() (a, b int64, err error) {
		if err = db.Get(&a, "SELECT next_id($1)", "orders"); err == nil {
			err = db.Get(&b, db.Rebind("SELECT next_id(?)"), "orders")
		}
		return a, b, err
	})
	verdict.Check("Select into a slice", func() (int64, int64, error) {
		var ids []int64
		if err := db.Select(&ids, "SELECT * FROM next_ids($1, $2)", "orders", 3); err != nil || len(ids) != 3 {
			return 0, 0, err
		}
		return ids[0], ids[2], nil
	})
	verdict.Check("NamedQuery into structs", func() (int64, int64, error) {
		rows, err := db.NamedQuery("SELECT name, id FROM ids WHERE name = :name OR name = :name", map[string]any{"name": "orders"})
		if err != nil {
			return 0, 0, err
		}
		defer rows.Close()
		var row struct {
			Name string
			ID   int64
		}
		rows.Next()
		err = rows.StructScan(&row)
		return 1, row.ID, err
	})
	verdict.Check("Preparex in a transaction", func() (a, b int64, err error) {
		tx, err := db.Beginx()
		if err != nil {
			return 0, 0, err
		}
		s, err := tx.Preparex("SELECT next_id($1)")
		if err != nil {
			return 0, 0, err
		}
		if err = s.Get(&a, "orders"); err == nil {
			err = s.Get(&b, "orders")
		}
		if err != nil {
			return 0, 0, err
		}
		return a, b, tx.Commit()
	})
	_ = db.Close()
	verdict.Done()
}
