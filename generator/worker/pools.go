package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Config configures Pools. Store is required.
type Config struct {
	Store generator.Store
	// Grants is the store as a TimeGranter, which may refuse time after a failover. It
	// is nil for a store that never does.
	Grants generator.TimeGranter
	// Keeper is the store's clock. Before the first claim on a store with Grants, the
	// wall clock may be ahead of it by ClockLimit. nil or 0: no limit.
	Keeper     generator.Timekeeper
	ClockLimit time.Duration

	Clock  generator.Runtime // nil: the operating system's
	Source Source            // of the preferred worker id; nil: none preferred
	Owner  string            // this server, as holder of the slices, for operators

	// Seed sets the first worker id used in a new store of this process alone. Two
	// servers that do not know each other should not both use the same one.
	Seed uint64

	// Slice is the time that is reserved ahead. 0: 3 s on a store of this process
	// alone, 60 s on a shared one. Ids can be issued for that long without the store,
	// and a crash blocks a worker id for as long.
	Slice time.Duration
	// StartWait bounds how long a claim waits for a free worker id. 0: 15 s.
	StartWait time.Duration
	// Borrow lets a claim that finds no free worker id take one that was not renewed
	// for a while, as after a crash. Its ids are unique, but carry times up to a Slice
	// ahead of the clock.
	Borrow bool
	Logger *slog.Logger // nil: slog.Default()
}

// Defaults of Config.
const (
	exclusiveSlice   = 3 * time.Second
	sharedSlice      = time.Minute
	defaultStartWait = 15 * time.Second
)

// Pools holds the worker ids of one process: one Pool per width of the worker
// field. All generators of a width use the same one.
type Pools struct {
	cfg  Config
	time timeline

	ctx  context.Context // of all background work; canceled by Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	wishes map[Width]Wish
	pools  map[poolKey]*Pool
	// stricts has one Strict for each unit of grants.
	stricts map[strictKey]*Strict
	used    map[uint8]*atomic.Int64 // by width, see Pool.used
	closed  bool
}

// poolKey identifies a pool of a process. A pair of datacenter and worker can be
// different ids in two layouts of one width.
type poolKey struct {
	bits uint8
	firm int64 // the only id that the pool may claim, or None
}

// New returns Pools. It claims nothing yet. The caller must call Close.
func New(cfg Config) *Pools {
	cfg.Clock = cmp.Or[generator.Runtime](cfg.Clock, generator.SystemClock{})
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Source = cmp.Or[Source](cfg.Source, Any{})
	slice := sharedSlice
	if cfg.Store.Exclusive() {
		slice = exclusiveSlice
	}
	cfg.Slice, cfg.StartWait = cmp.Or(cfg.Slice, slice), cmp.Or(cfg.StartWait, defaultStartWait)
	p := &Pools{
		cfg: cfg, wishes: map[Width]Wish{}, pools: map[poolKey]*Pool{},
		stricts: map[strictKey]*Strict{}, used: map[uint8]*atomic.Int64{},
	}
	p.time.init(cfg.Clock, cfg.Logger)
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.cfg.Clock.Go(&p.work, p.watchClock)
	return p
}

// begin compares the wall clock with the store's before the first claim. It returns
// ErrNotNow while the wall clock is more than ClockLimit ahead. Otherwise, if the
// server died and a failover lost the claim, its ids would lie in time that is
// granted again (rule R7).
func (p *Pools) begin(ctx context.Context) error {
	if p.cfg.Keeper == nil || p.cfg.ClockLimit == 0 {
		return nil
	}
	wall, mono, ok := p.time.unpinned()
	if !ok {
		return nil
	}
	_, latest, err := p.cfg.Keeper.Time(ctx)
	if err != nil {
		return err
	}
	if ahead := time.Duration(wall-latest.UnixMicro()) * time.Microsecond; ahead > p.cfg.ClockLimit {
		return generator.Errorf(generator.ReasonWorkerID, "",
			"Set the clock right that is wrong, this machine's or the database's. clock_limit says how much they may differ.",
			"this server's clock is %v ahead of the store's: it claims no worker id", ahead.Round(time.Millisecond))
	}
	p.time.begin(wall, mono)
	return nil
}

// watchClock compares the clocks regularly until Close.
func (p *Pools) watchClock() {
	for p.cfg.Clock.Sleep(p.ctx, compareEvery) == nil {
		p.time.compare()
	}
}

// Wall returns the wall clock.
func (p *Pools) Wall() time.Time { return time.Unix(0, p.cfg.Clock.Wall()) }

// Store returns the store of the time lines.
func (p *Pools) Store() generator.Store { return p.cfg.Store }

// Open returns the pool of a width. The first call claims a worker id. unit is the
// layout's tick. The caller must call Leave when it issues no more ids.
func (p *Pools) Open(ctx context.Context, width Width, unit time.Duration) (*Pool, error) {
	if err := p.fits(unit); err != nil {
		return nil, err
	}
	wish, err := p.wish(ctx, width)
	if err != nil {
		return nil, err
	}
	pool, err := p.pool(width, wish)
	if err != nil {
		return nil, err
	}
	raiseTo(&pool.unitMs, (unit + time.Millisecond - 1).Milliseconds())
	if pool.lease.Load() == nil {
		if err := pool.Extend(ctx, 0); err != nil {
			return nil, err
		}
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if pool.closed {
		return nil, generator.ShutdownError("")
	}
	pool.users++
	return pool, nil
}

// fits refuses ticks longer than half a slice. Reserving whole ticks would reach
// further than other servers wait after a failover; see Pool.Furthest.
func (p *Pools) fits(unit time.Duration) error {
	if p.cfg.Store.Exclusive() || 2*unit <= p.cfg.Slice {
		return nil
	}
	return generator.Errorf(generator.ErrOption, "",
		"Start all servers with a --worker-slice of at least two ticks, or use a layout with a smaller unit.",
		"a slice of time of %v is too short for ticks of %v", p.cfg.Slice, unit)
}

// wish asks the source once for each width.
func (p *Pools) wish(ctx context.Context, width Width) (Wish, error) {
	p.mu.Lock()
	wish, known := p.wishes[width]
	p.mu.Unlock()
	if known {
		return wish, nil
	}
	wish, err := p.wished(ctx, width)
	if err != nil {
		return Wish{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, known := p.wishes[width]; known {
		return first, nil
	}
	p.wishes[width] = wish
	return wish, nil
}

// wished asks the source. A wish that a width does not have is refused if it is firm.
// Otherwise it becomes None.
func (p *Pools) wished(ctx context.Context, width Width) (Wish, error) {
	last := width.IDs() - 1
	switch w, err := p.cfg.Source.Wish(ctx, width); {
	case err != nil || w.ID <= last:
		return w, err
	case !w.Firm:
		return Wish{ID: None}, nil
	default:
		return w, generator.Errorf(generator.ErrOption, "", fmt.Sprintf("It comes from --worker-id %s. Give a smaller one, or auto.", p.cfg.Source),
			"worker id %d does not fit the %d worker bits of this layout (0 to %d)", w.ID, width.Bits(), last)
	}
}

func (p *Pools) pool(width Width, wish Wish) (*Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, generator.ShutdownError("")
	}
	key := poolKey{width.Bits(), None}
	if wish.Firm {
		key.firm = wish.ID
	}
	pool := p.pools[key]
	if pool == nil {
		for s := range p.stricts {
			if wish.Firm && s.bits == key.bits {
				return nil, errBothWays(wish.ID)
			}
		}
		pool = newPool(p, width, wish)
		pool.used = p.usedLocked(key.bits)
		p.pools[key] = pool
		p.cfg.Clock.Go(&p.work, pool.keep)
		if !p.cfg.Store.Exclusive() {
			p.cfg.Clock.Go(&p.work, pool.remind)
		}
	}
	return pool, nil
}

// usedLocked returns Pool.used of a width. The caller holds mu.
func (p *Pools) usedLocked(bits uint8) *atomic.Int64 {
	u := p.used[bits]
	if u == nil {
		u = &atomic.Int64{}
		p.used[bits] = u
	}
	return u
}

// mine returns the worker ids of a width that other pools of this process use.
func (p *Pools) mine(except *Pool) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []int64
	for key, pool := range p.pools {
		if l := pool.lease.Load(); l != nil && pool != except && key.bits == except.bits {
			ids = append(ids, l.Worker)
		}
	}
	for key, s := range p.stricts {
		if id := s.worker.Load(); id != None && s.Pool != except && key.bits == except.bits {
			ids = append(ids, id)
		}
	}
	return ids
}

// IssuedUntil returns an instant (Unix ms) after every id that was ever issued in
// the given width: by other processes, and by generators of this process that have
// left. For worker ids that Repair gave up, it counts only names that were created
// before.
func (p *Pools) IssuedUntil(ctx context.Context, width Width, created time.Time) (int64, error) {
	pool := newPool(p, width, Wish{}) // only to read the time lines
	end, claimed := int64(0), false
	p.mu.Lock()
	for key, pool := range p.pools {
		if key.bits == width.Bits() && pool.lease.Load() != nil {
			claimed = true
			end = max(end, pool.claimed.Load(), pool.used.Load())
		}
	}
	p.mu.Unlock()
	if !claimed || !p.cfg.Store.Exclusive() {
		m, err := pool.marks(ctx)
		if err != nil {
			return 0, err
		}
		end = m.end
	}
	spent, err := pool.spentBefore(ctx, created)
	return max(end, spent), err
}

// Now returns id time. It never goes back.
func (p *Pools) Now() time.Time { return time.UnixMicro(p.time.now()) }

// Slice returns how much time is reserved ahead.
func (p *Pools) Slice() time.Duration { return p.cfg.Slice }

// Held describes a worker id in hand.
type Held struct {
	Bits   uint8 // width of the worker field
	Worker int64
	Strict bool          // used by strict generators: it holds no slice
	Until  time.Time     // end of the slice in hand
	Lasts  time.Duration // rest of the slice, by id time; 0 if it has passed
}

// Held lists the worker ids in hand, by width.
func (p *Pools) Held() []Held {
	p.mu.Lock()
	defer p.mu.Unlock()
	var held []Held
	for _, pool := range p.pools {
		if l := pool.lease.Load(); l != nil {
			held = append(held, Held{
				Bits: pool.bits, Worker: l.Worker, Until: time.UnixMilli(l.Hi),
				Lasts: time.Duration(max(l.Hi*1000-pool.Now(), 0)) * time.Microsecond,
			})
		}
	}
	for _, s := range p.stricts {
		if id := s.worker.Load(); id != None {
			held = append(held, Held{Bits: s.bits, Worker: id, Strict: true, Until: time.UnixMicro(s.Now())})
		}
	}
	slices.SortFunc(held, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.Worker, b.Worker))
	})
	return held
}

// Refused returns the error of the latest attempt to reserve a slice if none is in
// hand. It returns nil if ids are issued, or if no slice was needed yet.
func (p *Pools) Refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pool := range p.pools {
		pool.mu.Lock()
		refused, l := pool.refused, pool.lease.Load()
		pool.mu.Unlock()
		if refused != nil && (l == nil || l.Hi*1000 <= pool.Now()) {
			return refused
		}
	}
	return nil
}

// ClockBack returns how often the wall clock was seen to go back.
func (p *Pools) ClockBack() int64 { return p.time.backs.Load() }

// Doubt reports a comparison with the store's clock. While the wall clock is ahead,
// id time follows the monotonic clock only. A jump of the wall clock is not
// followed before a comparison after it.
func (p *Pools) Doubt(ahead bool) { p.time.compared(ahead) }

// ClockLead returns by how much id time is ahead of a wall clock that was set back.
// It is negative while id time follows a wall clock that jumped ahead.
func (p *Pools) ClockLead() time.Duration {
	return time.Duration(p.time.now()-p.time.wall()) * time.Microsecond
}

// Close ends the background work and gives back the unused end of every slice (rule
// R6), except of pools with a generator that has not left.
func (p *Pools) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	pools := slices.Collect(maps.Values(p.pools)) // the maps are not changed after this
	for _, pool := range pools {
		pool.mu.Lock()
		pool.closed = true
		pool.mu.Unlock()
	}
	p.stop()
	for _, s := range p.stricts {
		s.rounds.Close(p.stop)
	}
	p.cfg.Clock.Join(&p.work)
	var errs []error
	for _, pool := range pools {
		errs = append(errs, pool.release(ctx))
	}
	return errors.Join(errs...)
}

// errTooFar returns the error of a slice that would begin at lo (Unix ms), beyond
// Furthest.
func (p *Pool) errTooFar(id, lo int64, unsure bool) error {
	if unsure {
		return generator.Errorf(generator.ReasonSlice, "",
			"Ids go on when it has come. Look at the way to the store; --worker-id auto would take another id.",
			"the time of worker id %d is reserved until %s, for answers that were lost", id, time.UnixMilli(lo).UTC().Format(time.RFC3339))
	}
	return generator.Errorf(generator.ReasonSlice, "",
		"Give each server a worker id of its own, or let it claim one: --worker-id auto.",
		"another server stamps with worker id %d as well and has used up its time", id)
}
