package generator

import (
	"context"
	"encoding/json"
	"time"
)

// Kind is a type of generator, such as snowflake. Package server passes one value
// of each kind to the Registry. A Kind may implement optional interfaces: TextKind,
// Completer, Publisher, CoderKind, Shaped, Numbered, Movable, StoredExplainer, Retirer,
// Recoverable.
type Kind interface {
	Name() string // second argument of create_generator, and Definition.Kind

	// Normalize checks the options of a new generator and returns them as canonical
	// JSON. It fills in every option that must never change under the name, above all
	// the layout. nil and "{}" mean all defaults.
	Normalize(options json.RawMessage) (json.RawMessage, error)

	// Alter merges change into the stored options. It returns ErrOption for a change
	// after which an old id could appear again (layout, epoch, direction).
	Alter(stored, change json.RawMessage) (json.RawMessage, error)

	// Open starts the generator of a definition. It continues above the ids of earlier
	// generators of the name. An earlier one in this process was closed before.
	Open(ctx context.Context, d Definition) (Generator, error)
}

// TextKind is a Kind whose ids are texts: its generators implement CodeGenerator.
type TextKind interface {
	Kind
	Texts()
}

// Completer is a Kind that adds something random to the options of a new generator,
// such as a key.
type Completer interface {
	// Complete returns the options of d, as Normalize returned them, with the
	// addition. The store keeps the result. Complete returns an error for a name whose
	// earlier numbers could appear again.
	Complete(ctx context.Context, d Definition) (json.RawMessage, error)
}

// Publisher is a Kind whose stored options hold secrets.
type Publisher interface {
	// Public returns stored options without secrets. Values from Complete appear as
	// Normalize wrote them.
	Public(stored json.RawMessage) json.RawMessage
}

// CoderKind is a Kind whose options can ask for a text form.
type CoderKind interface {
	// Coder returns the text form that the options ask for. nil: the Generator's own,
	// else decimal numbers.
	Coder(stored json.RawMessage) (Coder, error)
}

// Shaped is a Kind whose ids are the fields of a layout with a time.
type Shaped interface {
	// Shape describes the ids of stored options.
	Shape(stored json.RawMessage) (Shape, error)
}

// Shape describes the ids of a layout.
type Shape struct {
	Bits       int       // width of the ids: they are 0 to 1<<Bits - 1
	WorkerBits int       // width of the worker field
	Ends       time.Time // end of the time range
	Rate       int64     // ids a second that one server can issue; requests above it wait
}

// Numbered is a Kind whose numbers may have a maximum.
type Numbered interface {
	// Numbers counts the numbers below the maximum of stored options, and those that
	// are left when everything below past was reserved. All is 0 if there is no
	// maximum.
	Numbers(stored json.RawMessage, past int64) Left
}

// Movable is a Kind whose generators can be moved by setval and ALTER SEQUENCE.
type Movable interface {
	// Position names the options that record such a move. They are ignored when a
	// stored definition is compared with the configuration.
	Position() []string
}

// StoredExplainer is a Kind that takes ids apart without a running generator.
type StoredExplainer interface {
	// ExplainStored returns the parts of an id or a code, by stored options alone.
	ExplainStored(stored json.RawMessage, id string) (Parts, error)
}

// Retirer is a Kind with work to do when a generator is dropped.
type Retirer interface {
	// Retire moves the key NameKey(d.Name) above the absolute value of every id that
	// the name may have had. A generator that is created under the name later, of any
	// kind, continues above them.
	//
	// It is called after the generator was closed in this process, before its
	// definition is removed. If other servers may have issued ids until then (see
	// Guard), it is called once more afterwards.
	Retire(ctx context.Context, d Definition) error
}

// Recoverable is a Kind whose names the store may stop; see Recoverer.
type Recoverable interface {
	// Recover starts a stopped name again: its ids continue at atLeast or beyond. Its
	// generator in this process was closed before.
	Recover(ctx context.Context, d Definition, atLeast int64) error
}

// KindAs finds an optional interface of a Kind, or of the Kinds that it wraps. A
// wrapping Kind has a method Unwrap() Kind.
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

// Parts holds the decoded fields of an id. A field that the layout does not have is
// nil.
type Parts struct {
	Kind       string // generator kind, e.g. "snowflake"
	Layout     string // "" for kinds without layouts
	Time       *time.Time
	Datacenter *int64
	Worker     *int64
	Rollback   *int64
	Sequence   *int64
	Field      *int64 // the caller's field
	ID         int64  // the decoded id, for layouts

	Name  string // generator name
	Text  string // text form of the id, "" for a plain number
	Place *Place
	Owned []string // generators whose reserved numbers contain the id
}

// Place describes the position of a number in the series start, start + increment,
// ….
type Place struct {
	Start     int64
	Increment int64
	Offset    int64 // remainder of all numbers of the series modulo the increment
	Number    int64 // 1 for the first number; 0 if the number is not in the series
	Reserved  bool  // by any server, as far as this one knows
	Block     Range // the reservation in hand that holds the number; Count is 0 for none
}

// Modulo returns a modulo m, which is not negative for m > 0.
func Modulo(a, m int64) int64 { return (a%m + m) % m }

// Gap returns how far the next number that equals offset modulo step lies above v.
func Gap(offset, step, v int64) int64 { return Modulo(Modulo(offset, step)-Modulo(v, step), step) }

// NewPlace returns the place of v in the series that begins with first.
func NewPlace(first, increment, v int64) Place {
	p := Place{Start: first, Increment: increment}
	step := max(increment, -increment)
	p.Offset = Modulo(first, step)
	if increment < 0 {
		first, v = -first, -v
	}
	if gap := uint64(v) - uint64(first); v >= first && gap%uint64(step) == 0 {
		p.Number = int64(min(gap/uint64(step), uint64(NoLimit)-1)) + 1
	}
	return p
}

// Placer is a Generator whose ids are numbers of a series.
type Placer interface {
	Place(id int64) Place
}

// Explainer is a Generator whose ids have decodable fields.
//
// Floor and Ceil return the least and the greatest id of an instant. Kinds whose
// ids hold no time return ErrWrongKind.
type Explainer interface {
	Explain(id int64) (Parts, error)
	Floor(t time.Time) (int64, error)
	Ceil(t time.Time) (int64, error)
}
