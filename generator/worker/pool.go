package worker

import (
	"context"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Lease is a time slice in hand. It is immutable; a renewal makes a new one.
type Lease struct {
	Worker int64
	Lo, Hi int64 // Unix ms, Hi exclusive
	Soon   int64 // from this ms on Wake should be called
}

// Pool manages the worker id of one width, and its time slices.
type Pool struct {
	pools *Pools
	width Width
	bits  uint8
	wish  Wish

	lease   atomic.Pointer[Lease]
	claimed atomic.Int64  // Lo of the first lease, Unix ms
	used    *atomic.Int64 // end (exclusive, Unix ms) of the ids of generators of this width that have left
	unitMs  atomic.Int64  // longest tick (ms) of the layouts that use the pool
	wake    chan struct{} // tells keep to renew
	overdue atomic.Bool   // keep renews even a slice that lasts long

	mu      sync.Mutex
	attempt *attempt // the running renewal, or nil
	refused error    // of the latest attempt
	users   int      // generators that have not left
	closed  bool

	shared bool // libraries lease worker ids of this width, see LeaseWorker

	unsure bool // owned by the attempt: an answer was lost, so a gap may be this process's own reservation
}

// attempt is one request to the store. All draws that need its result wait for it.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

func newPool(p *Pools, width Width, wish Wish) *Pool {
	return &Pool{pools: p, width: width, bits: width.Bits(), wish: wish, used: &atomic.Int64{}, wake: make(chan struct{}, 1)}
}

// Lease returns the slice in hand by one atomic load. It is nil before the first
// claim.
func (p *Pool) Lease() *Lease { return p.lease.Load() }

// ClockBack returns how often the wall clock was seen to go back.
func (p *Pool) ClockBack() int64 { return p.pools.time.backs.Load() }

// Sleep waits for d. If ctx ends first, it returns ctx's error.
func (p *Pool) Sleep(ctx context.Context, d time.Duration) error {
	return p.pools.cfg.Clock.Sleep(ctx, d)
}

// Wake asks for a renewal in the background. It never blocks.
func (p *Pool) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Leave records that a generator issues no more ids, and that its ids end before
// end (Unix ms).
func (p *Pool) Leave(end int64) {
	raiseTo(p.used, end)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
}

// UsedUntil returns the end (exclusive, Unix ms) of the ids of generators that have
// left.
func (p *Pool) UsedUntil() int64 { return p.used.Load() }

// raiseTo makes a number at least v.
func raiseTo(a *atomic.Int64, v int64) {
	for old := a.Load(); v > old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

// Bounds of the background work.
const (
	storeTimeout = 5 * time.Second // of one request to the store
	retryFirst   = 100 * time.Millisecond
	retryMost    = 5 * time.Second
	logEvery     = 10 * time.Second
)

// keep renews the slice when Wake asks for it. It is the pool's goroutine.
func (p *Pool) keep() {
	for p.pools.cfg.Clock.Receive(p.pools.ctx, p.wake) == nil {
		overdue := p.overdue.Swap(false)
		if p.lease.Load() != nil {
			p.renew(func(l *Lease) bool { return overdue || p.Now() >= l.Soon*1000 })
		}
	}
}

// remind renews the slice also while no ids are drawn. Otherwise other servers
// would take the id for unused and claim it.
func (p *Pool) remind() {
	for p.pools.cfg.Clock.Sleep(p.pools.ctx, p.pools.cfg.Slice/3) == nil {
		p.overdue.Store(true)
		p.Wake()
	}
}

// renew extends the slice in hand while due reports that it must. While the store
// fails it pauses, longer each time (rule R3).
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

// Extend makes sure that the slice in hand reaches beyond need (Unix ms), and asks
// the store if not. The error is ErrNotNow if no worker id is free, or the store's
// error.
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

// run carries out an attempt. At most one runs at a time.
func (p *Pool) run(a *attempt, need int64) {
	if l := p.lease.Load(); l == nil {
		a.err = p.claim(nil)
	} else {
		a.err = p.extend(l, need)
	}
	p.mu.Lock()
	p.attempt, p.refused = nil, a.err
	p.mu.Unlock()
	close(a.done)
}

// maxRaise bounds how far ahead catchUp moves the id time of a server that issues ids.
// A greater difference shows a wrong clock, possibly the store's.
const maxRaise = time.Hour

// catchUp makes id time at least the moment (Unix ms) from which the store grants
// time, and returns that moment (rule R7). It returns ErrNotNow while the store
// grants none.
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
	by := time.UnixMilli(earliest).Sub(time.UnixMilli(now))
	if running && by > maxRaise {
		return 0, generator.Errorf(generator.ReasonSlice, "",
			"Set the clock right that is wrong: the database's, or this machine's, and then restart this server.",
			"the store was failed over or restored, and its clock is %v ahead of this server's time", by.Round(time.Second))
	}
	p.pools.time.advance(earliest*1000, p.Now(), false)
	p.pools.cfg.Logger.Warn("ids carry the time of the store, which was failed over or restored: this server's is behind", "by", by)
	return earliest, nil
}

// extend is rule R2: it reserves time after the end of l.
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
		if !unsure { // R4: another server issues ids with this worker id
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

// Furthest returns the latest end (Unix ms) of a reservation on a store of several
// servers. On a store of this process alone there is no bound.
//
// Rule R7 depends on it, and so does the runbook's restore: when the servers have
// waited for the length of a slice, the time of every lost reservation has passed.
// So no used reservation may reach further, whatever moved the line ahead. Two
// things move it: servers with the same planned worker id, and reservations whose
// answers were lost, which no server uses. Each lost one would move the line by a
// slice; so reserve asks for only a piece after a lost answer.
func (p *Pool) Furthest() int64 {
	if p.Exclusive() {
		return math.MaxInt64
	}
	return p.pools.time.unpushed()/1000 + (p.pools.cfg.Slice + 2*minPiece).Milliseconds()
}

// minPiece is the least time that is reserved at once. Nothing more is reserved in
// two cases. On an embedded store whose line is ahead of the wall clock, a crash
// adds the rest of the reservation to the difference. Where another server's slice
// has pushed id time ahead, servers wait after a failover only for slices no longer
// than Slice (rule R7).
const minPiece = 250 * time.Millisecond

// reserve reserves time on a worker id from the moment from on, which is at most
// base. It reserves until a slice from now, or a piece after base if base lies
// beyond that. The range always reaches beyond need.
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

// ask sends one request to the store: n ms of a worker id's time line.
func (p *Pool) ask(id, from, n int64) (lo, hi int64, err error) {
	return p.ReserveLine(p.pools.ctx, p.key(id), from, n, generator.NoLimit)
}

// adopt makes a granted slice the one in hand. old is the one before, or nil. asked
// is the id time (Unix µs) at the request.
func (p *Pool) adopt(old *Lease, worker, lo, hi, asked int64) {
	next := &Lease{Worker: worker, Lo: lo, Hi: hi}
	if old != nil && old.Worker == worker && old.Hi == lo {
		next.Lo = old.Lo
	}
	p.pools.time.advance(next.Lo*1000, asked, true)
	next.Soon = hi - (hi-max(lo, p.Now()/1000))/2
	if old == nil {
		p.claimed.Store(lo)
	}
	p.lease.Store(next)
}

// giveBack returns a slice of which nothing was used. After an error the slice is
// lost.
func (p *Pool) giveBack(id, lo, hi int64) {
	if err := p.ReleaseLine(p.pools.ctx, p.key(id), hi, lo); err != nil {
		p.pools.cfg.Logger.Warn("cannot give back a time slice", "bits", p.bits, "worker", id, "error", err)
	}
}

// release is rule R6: it gives back the unused end of the slice. No attempt is
// running.
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
