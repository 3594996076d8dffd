package main

import (
	"clients/verdict"
	"context"
	"database/sql"

	_ "github.com/go-sql-driver/mysql"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
)

// IDs is the table ids: reading the row of a name draws an id.
type IDs struct {
	bun.BaseModel `bun:"table:ids"`
	Name          string `bun:",pk"`
	ID            int64
}

func main() {
	verdict.Version("github.com/uptrace/bun")
	ctx := context.Background()
	pool, err := sql.Open("mysql", verdict.MySQL(""))
	if err != nil {
		verdict.Fail("open", err)
		verdict.Done()
	}
	db := bun.NewDB(pool, mysqldialect.New())
	verdict.Succeed("Ping", db.Ping)
	verdict.Check("NewRaw", func() (a, b int64, err error) {
		if err = db.NewRaw("SELECT next_id(?)", "orders").Scan(ctx, &a); err == nil {
			err = db.NewRaw("SELECT next_id(?)", "orders").Scan(ctx, &b)
		}
		return a, b, err
	})
	verdict.Check("NewSelect, ColumnExpr", func() (a, b int64, err error) {
		if err = db.NewSelect().ColumnExpr("next_id(?)", "orders").Scan(ctx, &a); err == nil {
			err = db.NewSelect().ColumnExpr("nextval(?)", bun.Ident("orders")).Scan(ctx, &b)
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
		s, err := pool.Prepare("SELECT next_id(?)")
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
