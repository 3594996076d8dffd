// Package kinds holds what several kinds of generators do in the same way.
package kinds

import (
	"context"

	"nextid/generator"
)

// Recover implements generator.Recoverable for a kind whose key holds its numbers:
// they go on with next.
func Recover(ctx context.Context, store generator.Reserver, name string, next int64) error {
	return generator.Recover(ctx, store, generator.NameKey(name), next)
}

// Bury moves the key of a dropped name above greatest; see generator.Retirer.
func Bury(ctx context.Context, store generator.Reserver, name string, greatest int64) error {
	_, _, err := store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(name), AtLeast: greatest, N: 1, Limit: generator.NoLimit, Owner: "drop_generator",
	})
	return err
}
