package worker

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// Leases of worker ids for libraries in applications. A library that issues ids
// only inside [Lo, Hi) of its Lease follows the protocol of this package. Its time
// is reserved on the same line as a server's. So no server and no other library has
// the same time, whatever their clocks say. The library passes the end of its lease
// with each call. If the line ends elsewhere, it has another holder.

const (
	// libraryGrid is the unit of begins and ends of leases: whole ticks of every
	// layout whose tick divides a second.
	libraryGrid = 1000 // ms
	// librarySlice is the length of leases on a store of this process alone. On a
	// shared store it is Config.Slice, because of Pool.Furthest.
	librarySlice = time.Minute
	// libraryPrefix begins the owner of a leased line. The Unix ms of the lease's
	// begin and the holder follow.
	libraryPrefix = "lease "
)

// LibraryLease is a worker id that a library holds.
type LibraryLease struct {
	Bits    int
	Holder  string
	Renewed time.Time // by the store's clock
	Lease
}

// Leased decodes the mark of a worker id's line. ok is false if the latest
// reservation on it is not a library's.
func Leased(m generator.WorkerMark) (l LibraryLease, ok bool) {
	since, holder, ok := libraryOwner(m.Owner)
	return LibraryLease{Bits: m.Bits, Holder: holder, Renewed: m.Updated, Lease: Lease{Worker: m.ID, Lo: since, Hi: m.Hi}}, ok
}

func libraryOwner(owner string) (since int64, holder string, ok bool) {
	text, ok := strings.CutPrefix(owner, libraryPrefix)
	from, holder, _ := strings.Cut(text, " ")
	since, err := strconv.ParseInt(from, 10, 64)
	return since, holder, ok && err == nil
}

// LeaseWorker claims a worker id of a width for a library (rule R1).
func (p *Pools) LeaseWorker(ctx context.Context, bits uint8, holder string) (Lease, error) {
	line := p.library(bits)
	deadline := p.cfg.Clock.Monotonic() + p.cfg.StartWait
	for {
		earliest, err := line.catchUp(true)
		if err != nil {
			return Lease{}, err
		}
		m, err := line.marks(ctx)
		if err != nil {
			return Lease{}, err
		}
		now := p.time.now() / 1000
		id, free := line.choose(m, line.wish, now)
		if !free {
			return Lease{}, line.noneFree(id, m)
		}
		from := floorGrid(now)
		for _, end := range []int64{m.hi[id], earliest} { // long past if nothing was reserved
			if end > from {
				from = onGrid(end)
			}
		}
		l, err := line.lend(ctx, id, from, from, holder)
		if err != nil || l.Lo == from {
			return l, err
		}
		// Another holder claimed the id first.
		if p.cfg.Store.Exclusive() { // this process did, and its line must not look leased
			if lo, hi, err := line.ask(id, l.Hi, 1); err == nil && lo == l.Hi {
				l.Hi = hi
			}
		}
		line.giveBack(id, l.Lo, l.Hi)
		if p.cfg.Clock.Monotonic() > deadline {
			return Lease{}, errContended()
		}
	}
}

// RenewWorker reserves the time after the end (Unix ms) of a lease (rule R2). After
// an error the library has only the lease in hand (rule R3).
func (p *Pools) RenewWorker(ctx context.Context, bits uint8, id, until int64) (Lease, error) {
	line := p.library(bits)
	since, holder, err := line.leased(ctx, id, until)
	if err != nil {
		return Lease{}, err
	}
	if _, err := line.catchUp(true); err != nil {
		return Lease{}, err
	}
	l, err := line.lend(ctx, id, until, since, holder)
	if err == nil && l.Lo != until { // rule R4
		line.giveBack(id, l.Lo, l.Hi)
		return Lease{}, errLeaseLost(id, until, "another holder")
	}
	return l, err
}

// ReleaseWorker gives back the time of a lease after used (Unix ms), the end of
// what the library has used (rule R6).
func (p *Pools) ReleaseWorker(ctx context.Context, bits uint8, id, until, used int64) (Lease, error) {
	line := p.library(bits)
	since, _, err := line.leased(ctx, id, until)
	if err != nil {
		return Lease{}, err
	}
	l := Lease{Worker: id, Lo: since, Hi: min(onGrid(max(used, since)), until)}
	return l, line.ReleaseLine(ctx, line.key(id), until, l.Hi)
}

// library returns a Pool of a width for access to its time lines. It holds no
// worker id.
func (p *Pools) library(bits uint8) *Pool {
	line := newPool(p, Width{Worker: bits}, Wish{ID: None})
	line.shared = true
	return line
}

func onGrid(ms int64) int64 { return ms + generator.Gap(0, libraryGrid, ms) }

func floorGrid(ms int64) int64 { return ms - generator.Modulo(ms, libraryGrid) }

// leased checks that a lease ends where its line does. It returns the begin and the
// holder of the lease.
func (p *Pool) leased(ctx context.Context, id, until int64) (since int64, holder string, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	m, ok, err := p.pools.cfg.Store.Mark(ctx, p.key(id))
	if err != nil {
		return 0, "", err
	}
	since, holder, library := libraryOwner(m.Owner)
	if !ok || !library || m.Hi != until || id < 0 || id >= p.width.IDs() {
		return 0, "", errLeaseLost(id, until, m.Owner)
	}
	return since, holder, nil
}

// errLeaseLost names the owner of the latest reservation, "" if there is none.
func errLeaseLost(id, until int64, owner string) error {
	last := "nothing is reserved on it"
	if owner != "" {
		last = fmt.Sprintf("%q has reserved on it last", owner)
	}
	return generator.Errorf(generator.ReasonWorkerID, "",
		"Issue ids up to the end of the lease in hand, and lease another worker id with lease_worker.",
		"no lease of worker id %d ends at %s: %s", id, time.UnixMilli(until).UTC().Format(time.RFC3339Nano), last)
}

// lend reserves time on a line from a moment on, for the length of a lease. since
// is the begin of the first lease of this holder.
func (p *Pool) lend(ctx context.Context, id, from, since int64, holder string) (Lease, error) {
	slice := p.pools.cfg.Slice
	if p.pools.cfg.Store.Exclusive() {
		slice = max(slice, librarySlice)
	}
	end := floorGrid(p.pools.time.unpushed()/1000 + slice.Milliseconds())
	if end <= from {
		return Lease{}, generator.Errorf(generator.ReasonSlice, "",
			"Renew a lease when a third of its time is over.",
			"worker id %d has time until %s, and no more is reserved yet", id, time.UnixMilli(from).UTC().Format(time.RFC3339))
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	lo, hi, err := p.pools.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: p.key(id), AtLeast: from, N: end - from, Limit: math.MaxInt64,
		Owner: libraryPrefix + strconv.FormatInt(since, 10) + " " + holder,
	})
	return Lease{Worker: id, Lo: lo, Hi: hi}, err
}
