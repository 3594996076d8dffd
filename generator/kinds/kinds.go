// Package kinds holds what several kinds of generators do in the same way.
package kinds

import (
	"context"
	"errors"
	"time"

	"nextid/generator"
)

// LateError returns the error of a draw that has waited for the store for patience. ctx
// is the caller's.
func LateError(ctx context.Context, name, hint string, patience time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return generator.Errorf(generator.ErrRetry, name, "Try again. If it lasts, look at the store"+hint,
		"no id was granted to generator %q within %v", name, patience)
}

// StoreError returns the error of a draw whose request to the store, or to the database
// of its ids, failed. It returns an error about the generator unchanged.
func StoreError(name string, err error) error {
	kind := error(generator.ReasonStore)
	if errors.Is(err, generator.ErrRetry) {
		kind = generator.ErrRetry
	}
	e, ok := errors.AsType[*generator.Error](err)
	if err == nil || ok && (e.Name != "" || !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry)) {
		return err
	}
	return generator.CausedError(err, kind, name, "Look at the store. Another nextid server may answer.", "no number is granted to generator %q", name)
}

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
