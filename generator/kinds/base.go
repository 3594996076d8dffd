// Package kinds holds what several kinds of generators do in the same way.
package kinds

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"nextid/generator"
)

// Base is the part of a generator.Kind that handles options of type O. A kind embeds
// it. The options of a user are decoded over those in hand: a missing option and
// null keep a value, and null removes one that is a pointer.
type Base[O any] struct {
	Called   string // name of the kind
	Title    string // in messages about stored options: "a counter"
	Hint     string // lists the options
	Defaults O
	Fill     func(*O) error // completes the options of a new generator; nil: Check does
	Check    func(*O) error
	Keep     func(before, after *O) error // refuses changes after which an old id could appear again; nil: none
	Make     func(name string, o O) (generator.Generator, error)
}

// Name implements generator.Kind.
func (b Base[O]) Name() string { return b.Called }

// Open implements generator.Kind by Make.
func (b Base[O]) Open(_ context.Context, d generator.Definition) (generator.Generator, error) {
	o, err := b.Read(d.Options)
	if err != nil {
		return nil, err
	}
	return b.Make(d.Name, o)
}

// Read decodes and checks stored options. An error is ErrRegressed, since only the kind
// writes them.
func (b Base[O]) Read(stored json.RawMessage) (o O, err error) {
	if err = json.Unmarshal(stored, &o); err == nil {
		err = b.Check(&o)
	}
	if err != nil {
		err = generator.CausedError(err, generator.ErrRegressed, "", "", "the stored options of %s cannot be used", b.Title)
	}
	return o, err
}

// Normalize implements generator.Kind.
func (b Base[O]) Normalize(given json.RawMessage) (json.RawMessage, error) {
	o := b.Defaults
	err := generator.DecodeOptions(given, &o, b.Hint)
	if err == nil && b.Fill != nil {
		err = b.Fill(&o)
	}
	return b.written(&o, err)
}

// Alter implements generator.Kind.
func (b Base[O]) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	before, err := b.Read(stored)
	if err != nil {
		return nil, err
	}
	after, err := b.Read(stored) // has no pointer in common with before
	if err == nil {
		err = generator.DecodeOptions(change, &after, b.Hint)
	}
	if err == nil && b.Keep != nil {
		err = b.Keep(&before, &after)
	}
	return b.written(&after, err)
}

// written checks options, unless there is an error already, and returns their stored
// form. An ErrOption without a hint gets that of the kind.
func (b Base[O]) written(o *O, err error) (json.RawMessage, error) {
	if err == nil {
		err = b.Check(o)
	}
	if e, ok := errors.AsType[*generator.Error](err); ok && e.Kind == generator.ErrOption && e.Hint == "" { //nolint:errorlint // kinds are not wrapped
		return nil, generator.OptionError(b.Hint, "%s", e.Message)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// DefaultDeadline is the default of the option deadline: the longest wait of a draw
// for the store.
const DefaultDeadline = generator.Duration(5 * time.Second)

// CheckDeadline checks the option deadline, and the option description.
func CheckDeadline(d generator.Duration, description string) error {
	return cmp.Or(generator.Within("deadline", d, generator.Duration(10*time.Millisecond), generator.Duration(time.Minute)),
		generator.CheckDescription(description))
}

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
