package mysql

import (
	"context"
	"database/sql"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	"nextid/dsn"
	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"mysql", "mariadb"}, Example: "mysql://USER@HOST:3306/DATABASE", Failover: shared.Stop,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			return Open(Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) {
			db, err := open(url)
			if err != nil {
				return nil, err
			}
			return migrations.Open("store/mysql", goose.DialectMySQL, db)
		},
	}
}

// open opens a database for its migrations.
func open(url string) (*sql.DB, error) {
	c, err := dsn.MySQL(url)
	if err != nil {
		return nil, err
	}
	c.ParseTime = true // goose's table has times
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
