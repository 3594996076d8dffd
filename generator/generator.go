// Package generator is the core of nextid. It defines the interfaces of generators,
// kinds and stores, and the Registry, which maps names to running generators.
//
// A Kind makes Generators of the stored Definitions. A Store keeps the definitions
// and the end of all reservations. The Registry has one Entry for each name that
// the process uses; sessions draw ids through it with Entry.TryNext and Entry.Next.
//
// Invariants: every id lies inside a reservation that the store acknowledged
// before. At most one generator of a name is live in a process. The layout of a
// name never changes.
//
// Locks: an Entry's lock is held while its generator is opened, altered or dropped,
// so possibly for long; its waiters stop with their context. Registry.changing is
// taken under it, when an opening reserves time, and above it, when closeChanged
// closes generators. That is no deadlock: closeChanged waits only for the lock of a
// live generator, whose holder closes the generator before it reserves, and goes on
// when the generator is closed. Registry.opening is taken last and never held while
// the store is asked. The fast path takes no lock.
//
// The package knows no SQL and no wire protocol. Kinds (snowflake, segment, …) and
// stores (sqlite, memory, …) are packages below this one; only package server and
// server/standard link them.
package generator

import (
	"context"
	"time"
)

// Range is an arithmetic run of ids: First, First+Step, …, Count ids in all. Every
// id of a Range lies inside a reservation that the store acknowledged.
type Range struct {
	First int64
	Step  int64
	Count int64
}

// Last returns the last id of the run. Count must be at least 1.
func (r Range) Last() int64 { return r.First + (r.Count-1)*r.Step }

// AppendRun appends r to runs. If r continues the last run, that run is extended
// instead.
func AppendRun(runs []Range, r Range) []Range {
	if i := len(runs) - 1; i >= 0 && runs[i].Step == r.Step && runs[i].Last()+r.Step == r.First {
		runs[i].Count += r.Count
		return runs
	}
	return append(runs, r)
}

// Generator hands out the ids of one name.
//
// Next draws a run of at least one and at most n ids, n ≥ 1. A short run is
// allowed: callers that need exactly n call again for the rest. Next may wait for a
// tick or a reservation until ctx ends. The ids that it returns are used up even if
// the caller drops them. Ids of one Generator rise in the order in which Next calls
// return on one goroutine; those of a descending sequence fall.
//
// Errors are *Error values that wrap one of this package's sentinels.
// Implementations are safe for concurrent use.
type Generator interface {
	Next(ctx context.Context, n int64) (Range, error)
}

// TryGenerator is a Generator with a fast path.
//
// TryNext takes no lock, allocates nothing and never blocks. ok is false if only
// Next can answer: no reservation is left, a renewal is due, the tick is used up,
// or there is an error.
type TryGenerator interface {
	Generator
	TryNext(n int64) (r Range, ok bool)
}

// AllGenerator is a Generator that draws all ids of a request at once. A request
// for more ids than are left uses none.
type AllGenerator interface {
	Generator

	// Ends reports whether requests must be drawn by NextAll: the ids have a maximum,
	// or none may be left out.
	Ends() bool

	// NextAll draws exactly n ids, as runs in their order. An error means that none
	// was drawn. It is ErrExhausted if fewer than n are left.
	NextAll(ctx context.Context, n int64) ([]Range, error)

	// GiveBack takes back the unused end of what NextAll returned. Ids below those of
	// other draws are lost.
	GiveBack(runs []Range)
}

// Converter is an AllGenerator whose NextAll returns internal numbers instead of
// ids. Convert returns the ids of a run of such numbers, or of its beginning.
type Converter interface {
	Convert(run Range) Range
}

// Raiser is a Generator whose position can be moved up (setval).
//
// Raise makes every later id greater than v. If used is false, v itself may be the
// next id. For a descending generator, read less instead of greater. Raise never
// moves back: a value that was already passed changes nothing.
type Raiser interface {
	Raise(ctx context.Context, v int64, used bool) error
}

// Peeker is a Generator that can return its next number without drawing it. Peek
// may reserve numbers.
type Peeker interface {
	Peek(ctx context.Context) (int64, error)
}

// Restarter is a Generator whose option restart sets its next number exactly,
// whatever its increment. setval and ALTER SEQUENCE need that to behave as in
// PostgreSQL.
//
// Free returns the first number from which on no server can have issued any.
type Restarter interface {
	Free(ctx context.Context) (int64, error)
}

// Fielder is a Generator whose ids have a field for the caller. Next and TryNext
// leave its bits 0. A caller may set them, for example to the shard of a row. Ids
// are unique without these bits.
type Fielder interface {
	// Field returns the position and width of the field; bits is 0 if the layout has
	// none.
	Field() (shift, bits uint8)
}

// PastGenerator is a Generator that also issues ids of past times, for rows that
// are older than the generator. They are unique among all its ids, but not ordered.
type PastGenerator interface {
	// NextAt returns an id that carries the time at, or the next later time with an id
	// left. A time that is not in the past is ErrOption.
	NextAt(ctx context.Context, at time.Time) (int64, error)
}

// Closer is a Generator that must be closed. Close returns the unused ends of
// reservations to the store. After Close, Next returns ErrNotNow.
type Closer interface {
	Close(ctx context.Context) error
}

// Reporter is a Generator with statistics for operators.
type Reporter interface {
	Stats() Stats
}

// Bound sets Left. limit bounds the numbers, or is NoLimit. Those from next on are not
// reserved.
func (s *Stats) Bound(next, limit, increment int64) {
	if s.Bounded = limit != NoLimit; s.Bounded {
		left := countNumbers(next, limit, increment)
		s.Left = left + min(s.Buffered, NoLimit-left)
	}
}

// Stats holds what nextid.generators shows of one running generator. A field that a
// kind does not have is zero.
type Stats struct {
	Issued        int64 // ids handed out by this process
	ReservedUntil int64 // end (exclusive) of the reservation in hand: a number, or Unix ms for time slices
	Buffered      int64 // ids that can be issued without asking the store
	Step          int64 // present size of a reservation
	Waits         int64 // calls that had to wait for a tick or the store
	ClockBack     int64 // times the wall clock was seen behind the ids

	Refills      int64 // reservations that the store granted
	RefillErrors int64 // reservations that the store refused or did not answer

	// Lasts is the time for which ids last without the store, at the rate of the last minutes. 0
	// for generators that ask the store for every id.
	Lasts time.Duration

	// Left is the number of ids below the maximum of a Bounded generator: those in
	// hand, and those that no server has reserved, as far as this server knows.
	Left    int64
	Bounded bool

	Direct bool // asks the store for every id
	Ended  bool // the time range of its layout has ended
}

// WorkerIDHolder is a Generator whose ids carry the worker id of this server.
type WorkerIDHolder interface {
	// WorkerID returns the present values of the fields of the ids. datacenter is 0
	// for layouts without that field.
	WorkerID() (datacenter, worker int64)
}

// Unwrap returns the generator inside a wrapper that changes its ids, or g itself.
// Callers use it for optional interfaces of the inner generator.
func Unwrap(g Generator) Generator {
	if w, ok := g.(interface{ Unwrap() Generator }); ok {
		return w.Unwrap()
	}
	return g
}
