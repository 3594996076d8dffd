package main

import (
	"clients/verdict"
	"context"
	"database/sql"
	"errors"
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

// open returns the database, the argument of nextval, and a parameter of a statement.
func open() (db *bun.DB, sequence any, mark string) {
	if verdict.OverMySQL() {
		pool, err := sql.Open("mysql", verdict.MySQL(""))
		verdict.Must("open", err)
		return bun.NewDB(pool, mysqldialect.New()), bun.Ident("orders"), "?"
	}
	pool := sql.OpenDB(pgdriver.NewConnector(
		pgdriver.WithAddr(verdict.Addr()), pgdriver.WithUser(os.Getenv("USER")), pgdriver.WithPassword(os.Getenv("PASSWORD")),
		pgdriver.WithDatabase(os.Getenv("DB")), pgdriver.WithInsecure(true), pgdriver.WithTimeout(10*time.Second),
		pgdriver.WithApplicationName("check")))
	return bun.NewDB(pool, pgdialect.New()), "orders", "$1"
}

func main() {
	verdict.Version("github.com/uptrace/bun")
	ctx := context.Background()
	db, sequence, mark := open()
	verdict.SQL(db.DB, mark, " through database/sql")
	verdict.Twice("NewRaw", func(id *int64) error { return db.NewRaw("SELECT next_id(?)", "orders").Scan(ctx, id) })
	verdict.Twice("NewSelect, ColumnExpr", func(id *int64) error { return db.NewSelect().ColumnExpr("next_id(?)", "orders").Scan(ctx, id) })
	verdict.Succeed("NewSelect, nextval", func() error { return db.NewSelect().ColumnExpr("nextval(?)", sequence).Scan(ctx, new(int64)) })
	verdict.Twice("model over the table ids", func(id *int64) error {
		var row IDs
		err := db.NewSelect().Model(&row).Where("name = ?", "orders").Limit(1).Scan(ctx)
		*id = row.ID
		return err
	})
	verdict.Check("RunInTx, nested", func() (a, b int64, err error) {
		draw := func(tx bun.Tx, id *int64) error { return tx.NewRaw("SELECT next_id('orders')").Scan(ctx, id) }
		err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			err := draw(tx, &a)
			return errors.Join(err, tx.RunInTx(ctx, nil, func(_ context.Context, tx bun.Tx) error { return draw(tx, &b) }))
		})
		return a, b, err
	})
	_ = db.Close()
	verdict.Done()
}
