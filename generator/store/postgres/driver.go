package postgres

import (
	"context"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver returns the plug-in.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"postgres", "postgresql"}, Example: "postgres://USER@HOST:5432/DATABASE", Failover: shared.Stop,
		Open: func(ctx context.Context, url string, unsafe []string) (shared.Engine, error) {
			return Open(ctx, Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) { return migrations.Open("store/postgres", "pgx", url) },
	}
}
