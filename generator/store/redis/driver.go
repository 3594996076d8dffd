package redis

import (
	"context"

	"nextid/generator/store/shared"
)

// Driver returns the plug-in.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"}, Example: "redis://HOST:6379", Failover: shared.Skip,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) {
			return Open(Config{URL: url, Unsafe: unsafe})
		},
		Schema: func(url string) (shared.Schema, error) { return OpenSchema(Config{URL: url}) },
	}
}
