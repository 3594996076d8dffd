package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"postgres", "postgresql"}, Example: "postgres://USER@HOST:5432/DATABASE", Failover: shared.Stop,
		Open: func(ctx context.Context, url string, unsafe []string) (shared.Engine, error) {
			return Open(ctx, Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) {
			c, err := pgx.ParseConfig(url)
			if err != nil {
				return nil, err // pgx hides the password
			}
			return migrations.Open("store/postgres", goose.DialectPostgres, stdlib.OpenDB(*c))
		},
	}
}
