// Package generator is the core of nextid: what an id generator is, what it
// needs of a store, and the registry that maps names to running generators.
//
// It knows no SQL text and no wire protocol. The engines (snowflake, segment,
// …) and the stores (sqlite, memory, …) live in packages below this one and
// are wired together by package server only.
package generator

import (
	"context"
	"time"
)

// Range is an arithmetic run of ids: First, First+Step, …, Count of them.
// Every id of a Range lies inside a reservation that the store acknowledged.
type Range struct {
	First int64
	Step  int64
	Count int64
}

// Last returns the last id of the run. Count must be at least 1.
func (r Range) Last() int64 { return r.First + (r.Count-1)*r.Step }

// AppendRun appends a run of ids to others. It prolongs the last of them where it
// goes on with the next id.
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
// allowed: callers that need exactly n ask again for the rest. Next may wait
// for a tick or a reservation until ctx ends; what it returns is gone for
// good, also when the caller never uses it. Ids of one Generator value are
// strictly increasing in the order in which Next calls return on one
// goroutine (strictly decreasing for a descending sequence).
//
// Errors are *Error values that wrap one of this package's sentinels.
// Implementations are safe for concurrent use.
type Generator interface {
	Next(ctx context.Context, n int64) (Range, error)
}

// TryGenerator is a Generator that can also answer without waiting.
//
// TryNext takes no lock, allocates nothing and never blocks. ok is false
// when only Next can decide: no reservation left, the next one is due, tick
// used up, an error.
type TryGenerator interface {
	Generator
	TryNext(n int64) (r Range, ok bool)
}

// AllGenerator is a Generator that can draw all ids of a request at once. A
// request that asks for more than is left then costs nothing.
type AllGenerator interface {
	Generator

	// Ends reports whether requests are to be drawn by NextAll: the ids have a
	// maximum, or none may be left out.
	Ends() bool

	// NextAll draws exactly n ids, as runs in their order. After an error
	// nothing was drawn: ErrExhausted where fewer than n are left.
	NextAll(ctx context.Context, n int64) ([]Range, error)

	// GiveBack takes back the end of what NextAll returned, which was not handed out.
	// What other draws have passed by is lost.
	GiveBack(runs []Range)
}

// Converter is an AllGenerator whose NextAll counts in other numbers than ids.
// Convert returns the ids of a run, or of its first numbers.
type Converter interface {
	Convert(run Range) Range
}

// Raiser is a Generator whose position can be moved up (setval).
//
// Raise makes every later id lie beyond v, or, where used is false, not
// before v: v itself may be the next. Beyond is below for a generator that
// descends. It never turns back: raising to a value that was already passed
// changes nothing.
type Raiser interface {
	Raise(ctx context.Context, v int64, used bool) error
}

// Peeker is a Generator that can say which number it would give now. Peek gives
// none, but may reserve some.
type Peeker interface {
	Peek(ctx context.Context) (int64, error)
}

// Restarter is a Generator whose option restart is where its numbers go on,
// whatever its increment: setval and ALTER SEQUENCE as PostgreSQL has them.
//
// Free returns the first number that no server can have given: none that lies
// there or beyond was.
type Restarter interface {
	Free(ctx context.Context) (int64, error)
}

// Fielder is a Generator whose ids have a field for the caller: bits that are 0
// in what Next and TryNext draw, and that a caller may set to a value of its
// own, such as the shard of a row. Ids are unique without those bits already.
type Fielder interface {
	// Field returns where the field lies; bits is 0 where the layout has none.
	Field() (shift, bits uint8)
}

// PastGenerator is a Generator that also issues ids of times that are over, for
// rows that are older than it. They are unique among all its ids, and not in
// their order.
type PastGenerator interface {
	// NextAt returns an id that carries the time at, or the next later one that has
	// an id left. A time that is not over is ErrOption.
	NextAt(ctx context.Context, at time.Time) (int64, error)
}

// Closer is a Generator that holds something to give back: reservations
// are returned to the store as far as they are unused. After Close, Next
// answers ErrNotNow.
type Closer interface {
	Close(ctx context.Context) error
}

// Reporter is a Generator that can say how it stands, for operators.
type Reporter interface {
	Stats() Stats
}

// Stats holds what nextid.generators shows of one running generator. A field
// that an engine does not have is zero.
type Stats struct {
	Issued        int64 // ids handed out by this process
	ReservedUntil int64 // end (exclusive) of the reservation in hand: a number for segments, Unix ms for time slices
	Buffered      int64 // ids that can be issued without asking the store
	Step          int64 // present size of a reservation
	Waits         int64 // calls that had to wait for a tick or the store
	ClockBack     int64 // times the wall clock was seen behind the ids

	Refills      int64 // reservations that the store granted
	RefillErrors int64 // and those that it did not

	// Lasts is for how long ids go on without the store, at the rate of the
	// last minutes. 0 for generators that ask the store for every id.
	Lasts time.Duration

	// Left counts how many ids remain below the maximum of a generator that has one
	// (Bounded): those in hand, and those that are not reserved as far as
	// this server knows.
	Left    int64
	Bounded bool

	Direct bool // it asks for every id, and keeps none in hand
	Ended  bool // the time of its ids is beyond the last that they can hold
}

// Stamper is a Generator whose ids carry the worker id that this server has.
type Stamper interface {
	// WorkerID returns what the fields of the ids hold now; the datacenter is 0
	// where a layout has none.
	WorkerID() (datacenter, worker int64)
}

// Unwrap is the generator inside one that changes its ids, else g itself: for
// what it alone can say.
func Unwrap(g Generator) Generator {
	if w, ok := g.(interface{ Unwrap() Generator }); ok {
		return w.Unwrap()
	}
	return g
}
