package main

import (
	"database/sql"
	"errors"

	"clients/verdict"

	"github.com/doug-martin/goqu/v9"
	_ "github.com/doug-martin/goqu/v9/dialect/postgres"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func main() {
	verdict.Version("github.com/doug-martin/goqu/v9")
	conn, err := sql.Open("pgx", verdict.DSN())
	if err != nil {
		verdict.Fail("Open", err)
		verdict.Done()
	}
	db := goqu.New("postgres", conn)
	one := func(q *goqu.SelectDataset) (id int64, err error) {
		found, err := q.ScanVal(&id)
		if err == nil && !found {
			err = errors.New("no row")
		}
		return id, err
	}
	for what, prepared := range map[string]bool{"literals": false, "parameters": true} {
		verdict.Check("ScanVal with "+what, func() (a, b int64, err error) {
			if a, err = one(db.Select(goqu.Func("next_id", "orders")).Prepared(prepared)); err == nil {
				b, err = one(db.From("ids").Select("id").Where(goqu.C("name").Eq("orders")).Prepared(prepared))
			}
			return a, b, err
		})
	}
	verdict.Check("ScanVals in a transaction", func() (a, b int64, err error) {
		err = db.WithTx(func(tx *goqu.TxDatabase) error {
			var ids []int64
			err := tx.From(goqu.Func("next_ids", "orders", 3)).ScanVals(&ids)
			if err == nil && len(ids) == 3 {
				a, b = ids[0], ids[2]
			}
			return err
		})
		return a, b, err
	})
	_ = conn.Close()
	verdict.Done()
}
