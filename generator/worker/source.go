package worker

import (
	"context"
	"strconv"
)

// Width is the worker field of a layout: the bits of its datacenter and of its
// worker, which together are the worker id.
type Width struct{ Datacenter, Worker uint8 }

// Bits returns the width of the worker id.
func (w Width) Bits() uint8 { return w.Datacenter + w.Worker }

// IDs returns the number of worker ids.
func (w Width) IDs() int64 { return 1 << w.Bits() }

// Source tells which worker id a server prefers. The server has an id only once the
// store has reserved time on it. So a source that names the same id to two servers
// does no harm.
type Source interface {
	// Wish is called when a layout of a width is first used. It is called again if
	// that id is taken and the Wish has Again set. It may ask another server.
	Wish(ctx context.Context, w Width) (Wish, error)
	// String returns the source as a --worker-id, without secrets.
	String() string
}

// Wish is the worker id that a server prefers.
type Wish struct {
	ID int64 // None for no preference

	// Firm means this id only. Otherwise the server claims another id if this one is
	// taken.
	Firm bool
	// Again means to ask the source once more before that.
	Again bool
	// Note is logged when the id is taken: the effect that the collision would have
	// without a store.
	Note string
}

// None is the Wish.ID of a server without a preference.
const None = -1

// Any is the Source of a server without a preference.
type Any struct{}

// Wish implements Source.
func (Any) Wish(context.Context, Width) (Wish, error) { return Wish{ID: None}, nil }

// String implements Source.
func (Any) String() string { return "auto" }

// Fixed is the Source of a server with a configured worker id.
type Fixed struct{ ID int64 }

// Wish implements Source.
func (f Fixed) Wish(context.Context, Width) (Wish, error) { return Wish{ID: f.ID, Firm: true}, nil }

// String implements Source.
func (f Fixed) String() string { return strconv.FormatInt(f.ID, 10) }
