package generator

import (
	"context"
	"encoding/json"
	"time"
)

// Kind is the plug-in of one sort of generator: one value per kind, handed
// to the Registry by package server.
type Kind struct {
	Name string // as create_generator's second argument and Definition.Kind
	Help string // one line

	// Codes says that the ids are no numbers: its generators are
	// CodeGenerators.
	Codes bool

	// Normalize checks the options of a new generator and returns them as
	// canonical JSON with everything filled in that must never change under
	// the name (its layout above all). nil or "{}" means all defaults.
	Normalize func(options json.RawMessage) (json.RawMessage, error)

	// Alter merges change into the stored options. Changes that could make
	// an old id appear again (layout, epoch, direction) are ErrOption.
	Alter func(stored, change json.RawMessage) (json.RawMessage, error)

	// Complete fills in what must be made once for a new generator, such as a
	// random key, in options that Normalize returned. The store keeps the
	// result. It refuses a name whose earlier numbers could come again. nil:
	// nothing to fill in.
	Complete func(ctx context.Context, d Definition) (json.RawMessage, error)

	// Public returns stored options as they may be shown: without secrets,
	// and with what Complete made as Normalize wrote it. nil: as they are.
	Public func(stored json.RawMessage) json.RawMessage

	// Coder returns the text form that stored options ask for. nil, or a nil
	// Coder: the generator's own, else decimal numbers.
	Coder func(stored json.RawMessage) (Coder, error)

	// IDBits is how many bits the ids of stored options have; all of them
	// are 0 to 1<<IDBits - 1. nil: 63.
	IDBits func(stored json.RawMessage) (int, error)

	// Ends says when the ids of stored options run out because their time does.
	// nil, or the zero time: never.
	Ends func(stored json.RawMessage) time.Time

	// Numbers says how many numbers stored options have below their maximum, and
	// how many of them are left when everything below past was reserved. nil, or
	// no All: there is no maximum.
	Numbers func(stored json.RawMessage, past int64) Left

	// WorkerBits is how wide the worker field of stored options is. nil: ids hold
	// no worker.
	WorkerBits func(stored json.RawMessage) int

	// Rate is how many ids a second the layout of stored options has for one
	// server: more has to wait. nil, or 0: as many as are asked for.
	Rate func(stored json.RawMessage) int64

	// Open starts the engine of a definition. An earlier generator of the
	// name may have run in this process (altered, or dropped and created
	// again); it was closed before. The new one goes on above it.
	Open func(ctx context.Context, d Definition) (Generator, error)

	// Retire is called before the definition of a dropped generator is
	// removed, after it was closed in this process, and once more when it is
	// gone, if other servers may have gone on until then (see Guard). It moves
	// the key NameKey(d.Name) above the absolute value of every id that the
	// name may have had, so that whatever is created under the name later, of
	// this kind or another, goes on above them.
	Retire func(ctx context.Context, d Definition) error

	// Recover starts a name again that the store has stopped (Recoverer):
	// its ids go on at atLeast or beyond. The generator was closed before in
	// this process. nil for kinds whose names are never stopped.
	Recover func(ctx context.Context, d Definition, atLeast int64) error
}

// Parts is an id taken apart. What a layout does not have is nil.
type Parts struct {
	Kind       string // generator kind, e.g. "snowflake"
	Layout     string // layout name, "" where the kind has none
	Time       *time.Time
	Datacenter *int64
	Worker     *int64
	Rollback   *int64
	Sequence   *int64
	Field      *int64 // the caller's own bits
}

// Explainer is a Generator whose ids say something.
//
// Floor and Ceil return the least and the greatest id that an instant can
// have; kinds whose ids hold no time answer ErrWrongKind.
type Explainer interface {
	Explain(id int64) (Parts, error)
	Floor(t time.Time) (int64, error)
	Ceil(t time.Time) (int64, error)
}
