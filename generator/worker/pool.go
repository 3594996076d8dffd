package worker

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Lease is a slice in hand. It is never changed; extending makes a new one.
type Lease struct {
	Worker int64
	Lo, Hi int64 // Unix ms, Hi exclusive
	Soon   int64 // from this ms on Wake should be called
}

// Pool is the worker id of one width.
type Pool struct {
	pools *Pools
	width Width
	bits  uint8
	wish  Wish

	lease   atomic.Pointer[Lease]
	claimed atomic.Int64            // Lo of the first lease, Unix ms
	used    *atomic.Int64           // end (exclusive, Unix ms) of what generators of the width that left have stamped
	unitMs  atomic.Int64            // longest tick of the layouts that use the pool, in ms
	refused atomic.Pointer[attempt] // the last one, where the store or the rules said no
	wake    chan struct{}           // asks keep for an extension
	overdue atomic.Bool             // keep extends even a slice that lasts for long yet

	mu      sync.Mutex
	attempt *attempt // to extend, on its way
	users   int      // generators that have not left
	closed  bool

	shared bool // libraries lease on the lines, see LeaseWorker

	unsure bool // belongs to the attempt: an answer was lost, so a gap may be our own
}

// attempt is one question to the store, shared by all who wait for it.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

func newPool(p *Pools, width Width, wish Wish) *Pool {
	return &Pool{pools: p, width: width, bits: width.Bits(), wish: wish, used: &atomic.Int64{}, wake: make(chan struct{}, 1)}
}

// Lease returns the slice in hand. It is one atomic load.
func (p *Pool) Lease() *Lease { return p.lease.Load() }

// Now is the time to stamp ids with, in Unix microseconds. It never goes
// back.
func (p *Pool) Now() int64 { return p.pools.time.now() }

// Monotonic is the clock that Now follows.
func (p *Pool) Monotonic() time.Duration { return p.pools.time.monotonic() }

// At returns what Now is at a moment of Monotonic.
func (p *Pool) At(mono time.Duration) int64 { return p.pools.time.anchor.Load().at(mono) }

// Wall is the wall clock in Unix microseconds. It may jump.
func (p *Pool) Wall() int64 { return p.pools.time.wall() }

// ClockBack returns how often the wall clock was seen to go back.
func (p *Pool) ClockBack() int64 { return p.pools.time.backs.Load() }

// Sleep waits for d, or for the end of ctx, whose error it returns then.
func (p *Pool) Sleep(ctx context.Context, d time.Duration) error {
	return p.pools.cfg.Clock.Sleep(ctx, d)
}

// Wake asks for an extension in the background. It never blocks.
func (p *Pool) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Leave tells the pool that a generator stamps no more, and that it stamped
// ids up to end (exclusive, Unix ms).
func (p *Pool) Leave(end int64) {
	p.raiseUsed(end)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
}

func (p *Pool) raiseUsed(end int64) {
	for old := p.used.Load(); end > old && !p.used.CompareAndSwap(old, end); old = p.used.Load() {
	}
}

// UsedUntil is the end (exclusive, Unix ms) of what generators that left
// have stamped.
func (p *Pool) UsedUntil() int64 { return p.used.Load() }

// unit makes sure that slices are long enough for ticks of d.
func (p *Pool) unit(d time.Duration) {
	ms := (d + time.Millisecond - 1).Milliseconds()
	for old := p.unitMs.Load(); ms > old && !p.unitMs.CompareAndSwap(old, ms); old = p.unitMs.Load() {
	}
}

// Bounds of the work in the background.
const (
	storeTimeout = 5 * time.Second // of one question to the store
	retryFirst   = 100 * time.Millisecond
	retryMost    = 5 * time.Second
	logEvery     = 10 * time.Second
)

// keep extends the slice when Wake asks for it.
func (p *Pool) keep() {
	for p.pools.cfg.Clock.Receive(p.pools.ctx, p.wake) == nil {
		overdue := p.overdue.Swap(false)
		if p.lease.Load() != nil {
			p.renew(func(l *Lease) bool { return overdue || p.Now() >= l.Soon*1000 })
		}
	}
}

// remind has the slice extended also while no ids are drawn: the other
// servers on the store would take an id that looks unused.
func (p *Pool) remind() {
	for p.pools.cfg.Clock.Sleep(p.pools.ctx, p.pools.cfg.Slice/3) == nil {
		p.overdue.Store(true)
		p.Wake()
	}
}

// renew extends the slice in hand as long as that one is due, with growing
// pauses while the store fails (rule R3).
func (p *Pool) renew(due func(*Lease) bool) {
	pause, logged := retryFirst, -logEvery
	l := p.lease.Load()
	for p.lease.Load() == l && due(l) {
		err := p.Extend(p.pools.ctx, l.Hi)
		if err == nil || p.pools.ctx.Err() != nil {
			return
		}
		if now := p.pools.cfg.Clock.Monotonic(); logged < 0 || now-logged >= logEvery {
			logged = now
			p.pools.cfg.Logger.Warn("cannot extend the time slice of the worker id", "bits", p.bits,
				"worker", l.Worker, "ids_until", time.UnixMilli(l.Hi).UTC(), "error", err)
		}
		if p.pools.cfg.Clock.Pause(p.pools.ctx, pause) != nil {
			return
		}
		pause = min(2*pause, retryMost)
	}
}

// Extend makes sure that the slice in hand reaches beyond need (Unix ms),
// asking the store if it does not. The error is ErrNotNow when no worker id
// is free, or what the store answered.
func (p *Pool) Extend(ctx context.Context, need int64) error {
	for {
		p.mu.Lock()
		if l := p.lease.Load(); l != nil && l.Hi > need {
			p.mu.Unlock()
			return nil
		}
		if p.closed {
			p.mu.Unlock()
			return generator.ShutdownError("")
		}
		a := p.attempt
		if a == nil {
			a = &attempt{done: make(chan struct{})}
			p.attempt = a
			p.pools.cfg.Clock.Go(&p.pools.work, func() { p.run(a, need) })
		}
		p.mu.Unlock()
		if err := p.pools.cfg.Clock.Receive(ctx, a.done); err != nil {
			return err
		}
		if a.err != nil {
			return a.err
		}
	}
}

// run carries out an attempt. Only one is on its way at a time.
func (p *Pool) run(a *attempt, need int64) {
	if l := p.lease.Load(); l == nil {
		a.err = p.claim(nil)
	} else {
		a.err = p.extend(l, need)
	}
	if a.err != nil {
		p.refused.Store(a)
	} else {
		p.refused.Store(nil)
	}
	p.mu.Lock()
	p.attempt = nil
	p.mu.Unlock()
	close(a.done)
}

// maxRaise bounds how far ahead catchUp takes the time of a server that stamps
// ids. More shows a clock that is wrong, and it may be the store's.
const maxRaise = time.Hour

// catchUp makes our time at least the moment (Unix ms) from which the store
// grants any, and returns that moment (rule R7). The error is ErrNotNow while
// the store grants none.
func (p *Pool) catchUp(running bool) (earliest int64, err error) {
	if p.pools.cfg.Grants == nil {
		return math.MinInt64, nil
	}
	ctx, cancel := context.WithTimeout(p.pools.ctx, storeTimeout)
	defer cancel()
	if err := p.pools.begin(ctx); err != nil {
		return 0, err
	}
	now := p.Now() / 1000
	earliest, err = p.pools.cfg.Grants.EarliestTime(ctx, now)
	if err != nil || earliest <= now {
		return earliest, err
	}
	by := time.Duration(min(earliest-now, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	if running && by > maxRaise {
		return 0, &generator.Error{
			Kind: generator.ErrNotNow, Reason: generator.ReasonSlice,
			Message: fmt.Sprintf("the store was failed over or restored, and its clock is %v ahead of this server's time", by.Round(time.Second)),
			Hint:    "Set the clock right that is wrong: the database's, or this machine's, and then restart this server.",
		}
	}
	p.pools.time.raise(earliest * 1000)
	p.pools.cfg.Logger.Warn("ids carry the time of the store, which was failed over or restored: this server's is behind", "by", by)
	return earliest, nil
}

// extend is rule R2.
func (p *Pool) extend(l *Lease, need int64) error {
	if _, err := p.catchUp(true); err != nil {
		return err
	}
	now := p.Now()
	base := max(l.Hi, now/1000)
	unsure := p.unsure
	lo, hi, err := p.reserve(l.Worker, base, base, need)
	if err != nil {
		return err
	}
	if lo > base && !p.pools.cfg.Store.Exclusive() {
		tooFar := hi > p.Furthest()
		if !unsure { // R4: somebody else stamps with this id, too
			p.pools.cfg.Logger.Warn("the worker id is in use by another server", "bits", p.bits, "worker", l.Worker)
		}
		switch {
		case !p.wish.Firm && (tooFar || !unsure):
			p.giveBack(l.Worker, lo, hi)
			return p.claim(l)
		case tooFar:
			p.giveBack(l.Worker, lo, hi)
			p.unsure = unsure
			return p.errTooFar(l.Worker, lo, unsure)
		}
	}
	p.adopt(l, l.Worker, lo, hi, now)
	return nil
}

// Furthest (Unix ms) bounds how far ahead time is reserved on a store that
// several servers use; on a store of this process alone nothing does.
//
// The rule for a store that goes back rests on it (rule R7, and the runbook
// of a restore): what the store forgot is over when the servers have waited
// for a slice. So nothing that is used may reach further, whatever pushed the
// line ahead: servers that share a planned worker id, and reservations whose
// answers were lost, which the store has and no server uses. Of those each would
// push by a slice; reserve asks for no more than a piece where one was lost.
func (p *Pool) Furthest() int64 {
	if p.Exclusive() {
		return math.MaxInt64
	}
	return p.pools.time.unpushed()/1000 + (p.pools.cfg.Slice + 2*minPiece).Milliseconds()
}

// minPiece is the least that is reserved at a time. On an embedded store
// whose line is ahead of the wall clock nothing more is: a crash adds what is
// left of it to the lead. Nor is it where another server's slice has pushed
// our time ahead: after a failover of the store the servers wait for slices
// that are no longer than Slice (rule R7).
const minPiece = 250 * time.Millisecond

// reserve asks for time on a worker id from the moment from on, which is at
// most base: until a slice from now, or, when base lies beyond that, a piece
// after base. It always reaches beyond need.
func (p *Pool) reserve(id, from, base, need int64) (lo, hi int64, err error) {
	now := p.pools.time.unpushed()
	if p.pools.cfg.Store.Exclusive() {
		now = min(now, p.Wall())
	}
	piece := max(min(p.pools.cfg.Slice, minPiece).Milliseconds(), 2*p.unitMs.Load())
	end := max(now/1000+p.pools.cfg.Slice.Milliseconds(), base+piece, need+1)
	if p.unsure && !p.Exclusive() { // see Furthest
		end = max(base+piece, need+1)
	}
	lo, hi, err = p.ask(id, from, end-from)
	p.unsure = err != nil // R3
	return lo, hi, err
}

// ask is one question to the store: n ms of a worker id's time line.
func (p *Pool) ask(id, from, n int64) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(p.pools.ctx, storeTimeout)
	defer cancel()
	return p.pools.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: p.key(id), AtLeast: from, N: n, Limit: generator.NoLimit, Owner: p.pools.cfg.Owner,
	})
}

// adopt makes a granted slice the one in hand. old is the one before, or nil;
// asked is what our time was (Unix µs) when it was asked for.
func (p *Pool) adopt(old *Lease, worker, lo, hi, asked int64) {
	next := &Lease{Worker: worker, Lo: lo, Hi: hi}
	if old != nil && old.Worker == worker && old.Hi == lo {
		next.Lo = old.Lo
	}
	p.pools.time.pin(next.Lo*1000, asked)
	next.Soon = hi - (hi-max(lo, p.Now()/1000))/2
	if old == nil {
		p.claimed.Store(lo)
	}
	p.lease.Store(next)
}

// giveBack returns a slice of which nothing was used. It may fail: then the
// slice is lost.
func (p *Pool) giveBack(id, lo, hi int64) {
	ctx, cancel := context.WithTimeout(p.pools.ctx, storeTimeout)
	defer cancel()
	if err := p.pools.cfg.Store.Release(ctx, p.key(id), hi, lo); err != nil {
		p.pools.cfg.Logger.Warn("cannot give back a time slice", "bits", p.bits, "worker", id, "error", err)
	}
}

func (p *Pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// release is rule R6. No attempt is on its way any more.
func (p *Pool) release(ctx context.Context) error {
	p.mu.Lock()
	users := p.users
	p.mu.Unlock()
	l := p.lease.Load()
	if l == nil || users > 0 {
		return nil
	}
	to := min(max(p.used.Load(), l.Lo), l.Hi)
	return p.pools.cfg.Store.Release(ctx, p.key(l.Worker), l.Hi, to)
}

func (p *Pool) prefix() string { return generator.WorkerKeyPrefix + strconv.Itoa(int(p.bits)) + "/" }

func (p *Pool) key(id int64) string { return p.prefix() + strconv.FormatInt(id, 10) }
