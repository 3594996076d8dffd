package generator

import (
	"context"
	"encoding/json"
	"time"
)

// Kind is the plug-in of one sort of generator: one value per kind, handed
// to the Registry by package server. A Kind may implement more: TextKind,
// Completer, Publisher, CoderKind, Sized, Ender, Numbered, WorkerKind, Rater,
// Retirer, Recoverable.
type Kind interface {
	Name() string // as create_generator's second argument and Definition.Kind
	Help() string // one line

	// Normalize checks the options of a new generator and returns them as
	// canonical JSON with everything filled in that must never change under
	// the name (its layout above all). nil or "{}" means all defaults.
	Normalize(options json.RawMessage) (json.RawMessage, error)

	// Alter merges change into the stored options. Changes that could make
	// an old id appear again (layout, epoch, direction) are ErrOption.
	Alter(stored, change json.RawMessage) (json.RawMessage, error)

	// Open starts the engine of a definition. An earlier generator of the
	// name may have run in this process (altered, or dropped and created
	// again); it was closed before. The new one goes on above it.
	Open(ctx context.Context, d Definition) (Generator, error)
}

// TextKind is a Kind whose ids are texts: its generators are CodeGenerators.
type TextKind interface {
	Kind
	Texts()
}

// Completer is a Kind that makes something once for a new generator, such as a
// random key.
type Completer interface {
	// Complete fills it into options that Normalize returned. The store keeps
	// the result. It refuses a name whose earlier numbers could come again.
	Complete(ctx context.Context, d Definition) (json.RawMessage, error)
}

// Publisher is a Kind whose stored options hold secrets.
type Publisher interface {
	// Public returns stored options as they may be shown: without secrets,
	// and with what Complete made as Normalize wrote it.
	Public(stored json.RawMessage) json.RawMessage
}

// CoderKind is a Kind whose options can ask for a text form.
type CoderKind interface {
	// Coder returns it. nil: the generator's own, else decimal numbers.
	Coder(stored json.RawMessage) (Coder, error)
}

// Sized is a Kind whose ids may have fewer than 63 bits.
type Sized interface {
	// IDBits returns how many bits the ids of stored options have; all of them
	// are 0 to 1<<IDBits - 1.
	IDBits(stored json.RawMessage) (int, error)
}

// Ender is a Kind whose ids run out because their time does.
type Ender interface {
	// Ends is when, for stored options; the zero time: never.
	Ends(stored json.RawMessage) time.Time
}

// Numbered is a Kind whose numbers may have a maximum.
type Numbered interface {
	// Numbers returns how many numbers stored options have below their maximum, and
	// how many of them are left when everything below past was reserved. Without
	// All there is no maximum.
	Numbers(stored json.RawMessage, past int64) Left
}

// Movable is a Kind whose generators setval and ALTER SEQUENCE move.
type Movable interface {
	// Position names the options that say where a generator was moved to. A
	// configuration does not contradict them.
	Position() []string
}

// Earlier is a Kind whose defaults were others in earlier versions.
type Earlier interface {
	// Earlier is Normalize with the defaults of earlier versions. A configuration
	// agrees with what they stored.
	Earlier(options json.RawMessage) (json.RawMessage, error)
}

// WorkerKind is a Kind whose ids hold a worker id.
type WorkerKind interface {
	// WorkerBits returns how wide the worker field of stored options is.
	WorkerBits(stored json.RawMessage) int
}

// Rater is a Kind whose layouts bound the rate of one server.
type Rater interface {
	// Rate returns how many ids a second the layout of stored options has: more has
	// to wait. 0: as many as are asked for.
	Rate(stored json.RawMessage) int64
}

// Retirer is a Kind that has something to do when a generator is dropped.
type Retirer interface {
	// Retire is called before the definition of a dropped generator is
	// removed, after it was closed in this process, and once more when it is
	// gone, if other servers may have gone on until then (see Guard). It moves
	// the key NameKey(d.Name) above the absolute value of every id that the
	// name may have had, so that whatever is created under the name later, of
	// this kind or another, goes on above them.
	Retire(ctx context.Context, d Definition) error
}

// Recoverable is a Kind whose names the store may stop (Recoverer).
type Recoverable interface {
	// Recover starts a name again: its ids go on at atLeast or beyond. The
	// generator was closed before in this process.
	Recover(ctx context.Context, d Definition, atLeast int64) error
}

// KindAs finds what a Kind may implement, in it or in the Kinds that it wraps:
// a Kind that wraps another one has a method Unwrap() Kind.
func KindAs[T any](k Kind) (found T, ok bool) {
	for k != nil {
		if found, ok = k.(T); ok {
			return found, true
		}
		w, wraps := k.(interface{ Unwrap() Kind })
		if !wraps {
			break
		}
		k = w.Unwrap()
	}
	return found, false
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
	ID         int64  // that was taken apart, of a layout

	Name  string // of the generator
	Text  string // text form of the id, "" where it is the number
	Place *Place
	Owned []string // generators whose reserved numbers contain the id
}

// Place describes where a number lies in the series start, start + increment, ….
type Place struct {
	Start     int64
	Increment int64
	Offset    int64 // the numbers agree with it modulo the increment
	Number    int64 // 1 is the first; 0: the series does not have the number
	Reserved  bool  // by some server, as far as this one knows
	Block     Range // numbers of the reservation in this server's hands that holds it; without a Count: none does
}

// NewPlace returns the place of v in the series whose first number is first.
func NewPlace(first, increment, v int64) Place {
	p := Place{Start: first, Increment: increment}
	step := max(increment, -increment)
	p.Offset = (first%step + step) % step
	if increment < 0 {
		first, v = -first, -v
	}
	if gap := uint64(v) - uint64(first); v >= first && gap%uint64(step) == 0 {
		p.Number = int64(gap/uint64(step)) + 1
	}
	return p
}

// Placer is a Generator whose ids are numbers of a series.
type Placer interface {
	Place(id int64) Place
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
