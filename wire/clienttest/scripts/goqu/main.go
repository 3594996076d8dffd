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
	verdict.Must("Open", err)
	db := goqu.New("postgres", conn)
	for what, prepared := range map[string]bool{"literals": false, "parameters": true} {
		for from, q := range map[string]*goqu.SelectDataset{
			"": db.Select(goqu.Func("next_id", "orders")), " from the table ids": db.From("ids").Select("id").Where(goqu.C("name").Eq("orders")),
		} {
			verdict.Twice("ScanVal with "+what+from, func(id *int64) error {
				found, err := q.Prepared(prepared).ScanVal(id)
				if err == nil && !found {
					err = errors.New("no row")
				}
				return err
			})
		}
	}
	verdict.Three("ScanVals in a transaction", func() (ids []int64, err error) {
		err = db.WithTx(func(tx *goqu.TxDatabase) error { return tx.From(goqu.Func("next_ids", "orders", 3)).ScanVals(&ids) })
		return ids, err
	})
	_ = conn.Close()
	verdict.Done()
}
