package redis

import (
	"context"

	"github.com/redis/go-redis/v9/logging"

	"nextid/generator/store/shared"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"}, Example: "redis://HOST:6379", Failover: shared.Skip,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			logging.Disable() // for the whole process; go-redis returns as an error what it logs
			return Open(Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) {
			logging.Disable()
			return OpenSchema(Config{URL: url})
		},
	}
}
