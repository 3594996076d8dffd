package zookeeper

import (
	"context"

	"nextid/generator/store/shared"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"zookeeper", "zookeepers"}, Example: "zookeeper://HOST:2181,HOST:2181", Failover: shared.Stop,
		Open: func(_ context.Context, url string, _ []string) (shared.Engine, error) {
			return Open(Config{URL: url})
		},
		Schema: func(url string) (shared.Schema, error) { return OpenSchema(Config{URL: url}) },
	}
}
