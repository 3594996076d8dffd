package main

import (
	"clients/verdict"
	"context"
	"os"

	"github.com/go-pg/pg/v10"
)

func main() {
	verdict.Version("github.com/go-pg/pg/v10")
	db := pg.Connect(&pg.Options{
		Addr: verdict.Addr(), User: os.Getenv("USER"), Password: os.Getenv("PASSWORD"),
		Database: os.Getenv("DB"), ApplicationName: "check",
	})
	ctx := context.Background()
	verdict.Succeed("Ping", func() error { return db.Ping(ctx) })
	verdict.Check("QueryOne", func() (a, b int64, err error) {
		if _, err = db.QueryOne(pg.Scan(&a), "SELECT next_id(?)", "orders"); err == nil {
			_, err = db.QueryOne(pg.Scan(&b), "SELECT next_id('orders')")
		}
		return a, b, err
	})
	verdict.Check("Prepare", func() (a, b int64, err error) {
		s, err := db.Prepare("SELECT next_id($1)")
		if err != nil {
			return 0, 0, err
		}
		defer s.Close()
		if _, err = s.QueryOne(pg.Scan(&a), "orders"); err == nil {
			_, err = s.QueryOne(pg.Scan(&b), "orders")
		}
		return a, b, err
	})
	verdict.Check("RunInTransaction", func() (a, b int64, err error) {
		err = db.RunInTransaction(ctx, func(tx *pg.Tx) error {
			if _, err := tx.QueryOne(pg.Scan(&a), "SELECT next_id('orders')"); err != nil {
				return err
			}
			_, err := tx.QueryOne(pg.Scan(&b), "SELECT next_id('orders')")
			return err
		})
		return a, b, err
	})
	verdict.Check("Model, ColumnExpr", func() (a, b int64, err error) {
		if err = db.Model().ColumnExpr("next_id(?)", "orders").Select(pg.Scan(&a)); err == nil {
			err = db.Model().Table("ids").Column("id").Where("name = ?", "orders").Select(pg.Scan(&b))
		}
		return a, b, err
	})
	verdict.Succeed("CopyTo", func() error {
		_, err := db.CopyTo(discard{}, "COPY (SELECT next_id('orders')) TO STDOUT")
		return err
	})
	_ = db.Close()
	verdict.Done()
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
