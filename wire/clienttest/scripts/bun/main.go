package main

import (
	"clients/verdict"
	"context"
	"database/sql"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
)

// IDs is the table ids: reading the row of a name draws an id.
type IDs struct {
	bun.BaseModel `bun:"table:ids"`
	Name          string `bun:",pk"`
	ID            int64
}

func open() (*sql.DB, *bun.DB, error) {
	if verdict.OverMySQL() {
		pool, err := sql.Open("mysql", verdict.MySQL(""))
		return pool, bun.NewDB(pool, mysqldialect.New()), err
	}
	pool := sql.OpenDB(pgdriver.NewConnector(
		pgdriver.WithAddr(verdict.Addr()), pgdriver.WithUser(os.Getenv("USER")), pgdriver.WithPassword(os.Getenv("PASSWORD")),
		pgdriver.WithDatabase(os.Getenv("DB")), pgdriver.WithInsecure(true), pgdriver.WithTimeout(10*time.Second),
		pgdriver.WithApplicationName("check")))
	return pool, bun.NewDB(pool, pgdialect.New()), nil
}

func main() {
	verdict.Version("github.com/uptrace/bun")
	ctx := context.Background()
	pool, db, err := open()
	if err != nil {
		verdict.Fail("open", err)
		verdict.Done()
	}
	var sequence any = "orders"
	prepared := "SELECT next_id($1)"
	if verdict.OverMySQL() {
		sequence, prepared = bun.Ident("orders"), "SELECT next_id(?)"
	}
	verdict.Succeed("Ping", db.Ping)
	verdict.Check("NewRaw", func() (a, b int64, err error) {
		if err = db.NewRaw("SELECT next_id(?)", "orders").Scan(ctx, &a); err == nil {
			err = db.NewRaw("SELECT next_id(?)", "orders").Scan(ctx, &b)
		}
		return a, b, err
	})
	verdict.Check("NewSelect, ColumnExpr", func() (a, b int64, err error) {
		if err = db.NewSelect().ColumnExpr("next_id(?)", "orders").Scan(ctx, &a); err == nil {
			err = db.NewSelect().ColumnExpr("nextval(?)", sequence).Scan(ctx, &b)
		}
		return a, b, err
	})
	verdict.Check("model over the table ids", func() (int64, int64, error) {
		var a, b IDs
		err := db.NewSelect().Model(&a).Where("name = ?", "orders").Scan(ctx)
		if err == nil {
			err = db.NewSelect().Model(&b).Where("name = ?", "orders").Limit(1).Scan(ctx)
		}
		return a.ID, b.ID, err
	})
	verdict.Check("Prepare through database/sql", func() (a, b int64, err error) {
		s, err := pool.Prepare(prepared)
		if err != nil {
			return 0, 0, err
		}
		defer s.Close()
		if err = s.QueryRow("orders").Scan(&a); err == nil {
			err = s.QueryRow("orders").Scan(&b)
		}
		return a, b, err
	})
	verdict.Check("RunInTx, nested", func() (a, b int64, err error) {
		err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			if err := tx.NewRaw("SELECT next_id('orders')").Scan(ctx, &a); err != nil {
				return err
			}
			return tx.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
				return tx.NewRaw("SELECT next_id('orders')").Scan(ctx, &b)
			})
		})
		return a, b, err
	})
	_ = db.Close()
	verdict.Done()
}
