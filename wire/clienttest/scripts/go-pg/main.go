package main

import (
	"clients/verdict"
	"context"
	"io"
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
	verdict.Twice("QueryOne", func(id *int64) error { _, err := db.QueryOne(pg.Scan(id), "SELECT next_id(?)", "orders"); return err })
	verdict.Check("Prepare", func() (int64, int64, error) {
		s, err := db.Prepare("SELECT next_id($1)")
		if err != nil {
			return 0, 0, err
		}
		defer s.Close()
		return verdict.Two(func(id *int64) error { _, err := s.QueryOne(pg.Scan(id), "orders"); return err })
	})
	verdict.Check("RunInTransaction", func() (a, b int64, err error) {
		err = db.RunInTransaction(ctx, func(tx *pg.Tx) (err error) {
			a, b, err = verdict.Two(func(id *int64) error { _, err := tx.QueryOne(pg.Scan(id), "SELECT next_id('orders')"); return err })
			return err
		})
		return a, b, err
	})
	verdict.Twice("ColumnExpr", func(id *int64) error { return db.Model().ColumnExpr("next_id(?)", "orders").Select(pg.Scan(id)) })
	verdict.Twice("Model", func(id *int64) error {
		return db.Model().Table("ids").Column("id").Where("name = ?", "orders").Select(pg.Scan(id))
	})
	verdict.Succeed("CopyTo", func() error {
		_, err := db.CopyTo(io.Discard, "COPY (SELECT next_id('orders')) TO STDOUT")
		return err
	})
	_ = db.Close()
	verdict.Done()
}
