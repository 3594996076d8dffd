// Package kinds holds what several kinds of generators do in the same way.
package kinds

import (
	"context"

	"nextid/generator"
)

// Recover implements generator.Recoverable for a kind whose key holds its numbers:
// they go on with next. A store that is no Recoverer moves the key up.
func Recover(ctx context.Context, store generator.Reserver, name string, next int64) error {
	key := generator.NameKey(name)
	if r, ok := store.(generator.Recoverer); ok {
		return r.Recover(ctx, key, next)
	}
	_, _, err := store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: next - 1, N: 1, Limit: generator.NoLimit, Owner: "recover_generator"})
	return err
}

// Bury moves the key of a dropped name above greatest; see generator.Retirer.
func Bury(ctx context.Context, store generator.Reserver, name string, greatest int64) error {
	_, _, err := store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(name), AtLeast: greatest, N: 1, Limit: generator.NoLimit, Owner: "drop_generator",
	})
	return err
}
