package zookeeper

import (
	"context"

	"nextid/generator/store/shared"
)

// Driver returns the plug-in.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"zookeeper", "zookeepers"}, Example: "zookeeper://HOST:2181,HOST:2181", Failover: shared.Stop,
		Open: func(_ context.Context, url string, _ []string) (shared.Engine, error) {
			return Open(Config{URL: url})
		},
		Schema: func(url string) (shared.Schema, error) { return OpenSchema(Config{URL: url}) },
	}
}
