package worker

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"nextid/generator"
)

// Width is a layout's worker field: the bits of its datacenter and of its
// worker, which together are the worker id.
type Width struct{ Datacenter, Worker uint8 }

// Bits is the width of the worker id.
func (w Width) Bits() uint8 { return w.Datacenter + w.Worker }

// IDs is the number of worker ids.
func (w Width) IDs() int64 { return 1 << w.Bits() }

// Source says which worker id a server would like to have. Whatever it says,
// an id is this server's only when the store has reserved time on it: a
// source that tells two servers the same makes none of them wrong.
type Source interface {
	// Wish is asked when a layout of a width is first used, and where the
	// wish says so again when that id is taken. It may ask another server.
	Wish(ctx context.Context, w Width) (Wish, error)
	// String returns how the source is written as --worker-id, without secrets.
	String() string
}

// Wish is a worker id that a server would like to have.
type Wish struct {
	ID int64 // None for no wish

	// Firm means this id or none. Otherwise another is claimed when it is
	// taken.
	Firm bool
	// Again means to ask the source for another one first.
	Again bool
	// Note is said in the log when the id is taken: what would have happened
	// without a store.
	Note string
}

// None is the Wish.ID of a server that takes any worker id.
const None = -1

// Any is the Source of a server that takes any worker id.
type Any struct{}

// Wish implements Source.
func (Any) Wish(context.Context, Width) (Wish, error) { return Wish{ID: None}, nil }

// String implements Source.
func (Any) String() string { return "auto" }

// Fixed is the Source of a server that was given its worker id.
type Fixed struct {
	ID   int64
	From string // how it was written; "" for the number
}

// Wish implements Source.
func (f Fixed) Wish(context.Context, Width) (Wish, error) { return Wish{ID: f.ID, Firm: true}, nil }

// String implements Source.
func (f Fixed) String() string { return cmp.Or(f.From, strconv.FormatInt(f.ID, 10)) }

// check refuses a firm wish that a width does not have. One that is not firm
// is no wish then.
func (w Wish) check(s Source, width Width) (Wish, error) {
	last := width.IDs() - 1
	if w.ID <= last {
		return w, nil
	}
	if !w.Firm {
		return Wish{ID: None}, nil
	}
	return Wish{}, &generator.Error{
		Kind: generator.ErrOption,
		Message: fmt.Sprintf("worker id %d does not fit the %d worker bits of this layout (0 to %d)",
			w.ID, width.Bits(), last),
		Hint: fmt.Sprintf("It comes from --worker-id %s. Give a smaller one, or auto.", s),
	}
}
