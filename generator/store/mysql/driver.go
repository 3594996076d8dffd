package mysql

import (
	"context"

	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver returns the plug-in.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"mysql", "mariadb"}, Example: "mysql://USER@HOST:3306/DATABASE", Failover: shared.Stop,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			return Open(Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) {
			dsn, err := DSN(url)
			if err != nil {
				return nil, err
			}
			return migrations.Open("store/mysql", "mysql", dsn)
		},
	}
}
