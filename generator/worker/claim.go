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

// maxWishes bounds how often a claim asks the source for another worker id.
const maxWishes = 16

// claim is rule R1: it finds a worker id that is free and reserves time
// on it. old is the lease that it replaces, or nil.
func (p *Pool) claim(old *Lease) error {
	cfg := &p.pools.cfg
	deadline := cfg.Clock.Monotonic() + cfg.StartWait
	wish := p.wish
	if old != nil && !wish.Firm {
		wish = Wish{ID: None} // another server has it
	}
	for wishes := 1; ; {
		earliest, err := p.catchUp(old != nil)
		if err != nil {
			return err
		}
		m, err := p.marks(p.pools.ctx)
		if err != nil {
			return err
		}
		now := p.Now() / 1000
		if !wish.Firm && wish.ID != None && !p.free(m, wish.ID, now) {
			p.reportCollision(wish, m)
			if wish, err = p.nextWish(wish, wishes); err != nil {
				return err
			}
			wishes++
			continue
		}
		base := now
		if old != nil {
			base = max(base, old.Hi) // ids of a name keep growing
		}
		if cfg.Store.Exclusive() {
			base = max(base, m.greatest)
			if wait := p.crashLead(base, deadline); wait > 0 {
				if err := p.Sleep(p.pools.ctx, wait); err != nil {
					return generator.ShutdownError("")
				}
				continue
			}
		}
		id, free := p.choose(m, wish, now)
		if !free && p.abandoned(m, id, now) {
			free = true
			base = max(base, m.hi[id])
		}
		if free {
			p.unsure = false // what was lost lies on a line that is not free, or is over
			from := base
			if base == now {
				from = p.presentTick(m, id, base, earliest)
			}
			if old != nil {
				from = max(from, old.Hi)
			}
			lo, hi, err := p.reserve(id, from, base, 0)
			if err != nil {
				return err
			}
			if lo == from {
				p.adopt(old, id, lo, hi, now*1000)
				p.report(id, lo)
				p.alarm(m, now)
				return nil
			}
			p.giveBack(id, lo, hi) // another server took the id in this moment
			m.hi[id] = lo
		}
		if id == None || m.hi[id] == ours {
			return p.noneFree(id, m)
		}
		until := m.hi[id]
		if cfg.Borrow {
			until -= p.patience()
		}
		wait := time.Duration(min(until-now, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
		if free && !wish.Firm {
			wait = 0 // there may be others
		}
		if cfg.Clock.Monotonic()+wait > deadline {
			return p.noneFree(id, m)
		}
		if err := p.Sleep(p.pools.ctx, wait); err != nil {
			return generator.ShutdownError("")
		}
	}
}

// presentTick returns a moment (Unix ms) at or before now from which a free
// worker id can be reserved: early enough for the whole present tick of every
// layout that uses the pool, and after all that was or may have been reserved
// on the line.
func (p *Pool) presentTick(m marks, id, now, earliest int64) int64 {
	from := max(now-max(p.unitMs.Load()-1, 0), min(earliest, now))
	if p.Exclusive() {
		from = max(from, m.greatest)
	}
	if hi, used := m.hi[id]; used {
		from = max(from, hi)
	}
	return min(from, now)
}

// maxLead bounds how far ahead of the clock the time of an embedded store may get
// by crashes. Each adds what was left of its slice, see minPiece.
const maxLead = 10 * time.Second

// crashLead is for how long a server should wait before it goes on at base
// (Unix ms): one that crashes in a loop would run further and further ahead.
// A lead that lasts longer than deadline is that of a clock that was set
// back, and no draw waits for it.
func (p *Pool) crashLead(base int64, deadline time.Duration) time.Duration {
	lead := time.Duration(min(base-p.Wall()/1000, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	wait := lead - maxLead
	if p.Monotonic()+wait > deadline {
		return 0
	}
	return wait
}

// patience is the time (ms) of a slice that is left when a holder has missed
// a renewal, which happens each third of a slice, by a good while.
func (p *Pool) patience() int64 { return p.pools.cfg.Slice.Milliseconds() * 7 / 12 }

// abandoned reports whether a worker id may be borrowed.
func (p *Pool) abandoned(m marks, id, now int64) bool {
	return p.pools.cfg.Borrow && id != None && m.hi[id] != ours && m.hi[id]-now <= p.patience()
}

// nextWish returns what a server would like to have instead of an id that is taken.
func (p *Pool) nextWish(wish Wish, asked int) (Wish, error) {
	if !wish.Again || asked >= maxWishes {
		return Wish{ID: None}, nil
	}
	ctx, cancel := context.WithTimeout(p.pools.ctx, storeTimeout)
	defer cancel()
	wish, err := p.pools.cfg.Source.Wish(ctx, p.width)
	if err != nil {
		return Wish{}, err
	}
	return wish.check(p.pools.cfg.Source, p.width)
}

// reportCollision tells the operator that two servers would like to have the
// same worker id.
func (p *Pool) reportCollision(wish Wish, m marks) {
	p.pools.cfg.Logger.Warn("the worker id that this server would like to have is taken; it claims another one",
		"source", p.pools.cfg.Source.String(), "bits", p.bits, "worker", wish.ID,
		"held_by", m.owner[wish.ID], "until", time.UnixMilli(m.hi[wish.ID]).UTC(), "note", wish.Note)
}

// report tells the operator about a claim, above all when our time is ahead
// of the wall clock.
func (p *Pool) report(id, lo int64) {
	log := p.pools.cfg.Logger
	if ahead := time.Duration(lo-p.Wall()/1000) * time.Millisecond; ahead > 0 {
		log.Warn("claimed a worker id; ids carry times ahead of the clock, because earlier ones reach that far",
			"bits", p.bits, "worker", id, "ahead", ahead)
		return
	}
	log.Info("claimed a worker id", "bits", p.bits, "worker", id)
}

// scarce is the part of the worker ids in use from which an operator is told.
const scarce = 0.8

// alarm warns before the worker ids of a shared store run out: there are too
// many servers, or one that crashes in a loop.
func (p *Pool) alarm(m marks, now int64) {
	held := int64(1) // ours
	for _, hi := range m.hi {
		if hi > now {
			held++
		}
	}
	if all := p.width.IDs(); !p.pools.cfg.Store.Exclusive() && float64(held) >= scarce*float64(all) && all > 1 {
		p.pools.cfg.Logger.Warn("the worker ids run out: too many servers, or one that crashes again and again",
			"bits", p.bits, "in_use", held, "of", all)
	}
}

// ours stands for the end of a worker id that this process uses otherwise.
// The end of one that was given up is the same, see Repair, and that of the one
// set aside for ids of the past.
const ours = math.MaxInt64

// marks describes where the time lines of a width stand: the end of each worker id
// that was ever used, in Unix ms, and the greatest of those that are not ours.
type marks struct {
	hi       map[int64]int64
	owner    map[int64]string
	greatest int64
	end      int64           // the greatest of all
	leased   map[int64]int64 // where leases of libraries began, see LeaseWorker
}

func (p *Pool) marks(ctx context.Context) (marks, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	list, err := p.pools.cfg.Store.Reserved(ctx, p.prefix())
	if err != nil {
		return marks{}, err
	}
	m := marks{
		hi: make(map[int64]int64, len(list)), owner: make(map[int64]string, len(list)), leased: map[int64]int64{},
		greatest: math.MinInt64, end: math.MinInt64,
	}
	for _, k := range list {
		id, err := strconv.ParseInt(strings.TrimPrefix(k.Key, p.prefix()), 10, 64)
		if err != nil || id < 0 || id >= 1<<p.bits {
			return marks{}, &generator.Error{
				Kind: generator.ErrRegressed, Cause: err,
				Message: fmt.Sprintf("the store has a time line %q, which is not one of a worker id of %d bits", k.Key, p.bits),
				Hint:    "Something other than nextid wrote to the store. Restore it, or remove that row if you know that it is wrong.",
			}
		}
		if k.Hi >= pastEnd {
			k.Hi = spent
		}
		m.hi[id], m.owner[id] = k.Hi, k.Owner
		if since, _, library := libraryOwner(k.Owner); library {
			m.leased[id] = since
			if p.Exclusive() { // a server's ids of the line are from before the lease
				k.Hi = min(k.Hi, since)
			}
		}
		if k.Hi != spent {
			m.end = max(m.end, k.Hi)
		}
	}
	for _, id := range p.pools.mine(p) {
		m.hi[id] = ours
	}
	for id, hi := range m.hi {
		if since, library := m.leased[id]; library {
			hi = min(hi, since)
		}
		if hi != ours {
			m.greatest = max(m.greatest, hi)
		}
	}
	return m, nil
}

// manyIDs sets how many worker ids of a width are taken into use before old
// ones are taken again: every start of a server uses one, and wide worker
// fields have millions.
const manyIDs = 1024

// free reports whether no process holds a worker id.
func (p *Pool) free(m marks, id, now int64) bool {
	hi, used := m.hi[id]
	_, library := m.leased[id]
	return !used || hi <= now || hi != ours && p.alone() && !library
}

// alone reports whether all lines that this process has not claimed are free.
func (p *Pool) alone() bool { return p.pools.cfg.Store.Exclusive() && !p.shared }

// choose picks the worker id to claim: the one that is wished for, or the
// least recently used, where ids that were never used come first. free is
// false when it is held until hi[id], and for None, when all are ours.
func (p *Pool) choose(m marks, wish Wish, now int64) (id int64, free bool) {
	if wish.ID != None {
		return wish.ID, p.free(m, wish.ID, now)
	}
	oldest := int64(ours)
	id = None
	for candidate, hi := range m.hi {
		if hi < oldest || (hi == oldest && hi != ours && candidate < id) {
			id, oldest = candidate, hi
		}
	}
	all := int64(1) << p.bits
	if n := int64(len(m.hi)); n < all && (n < manyIDs || id == None || !p.free(m, id, now)) {
		first := int64(0)
		if p.alone() {
			first = int64(p.pools.cfg.Seed % uint64(all))
		}
		for id = first; ; id = (id + 1) % all {
			if _, used := m.hi[id]; !used {
				return id, true
			}
		}
	}
	return id, id != None && p.free(m, id, now)
}

// noneFree says until when id, the one that frees first, is held.
func (p *Pool) noneFree(id int64, m marks) error {
	if id == None {
		return &generator.Error{
			Kind: generator.ErrNotNow, Reason: generator.ReasonWorkerID,
			Message: fmt.Sprintf("this server uses all %d worker ids of the layout already", p.width.IDs()),
			Hint:    "Strict generators need a worker id of their own. Use a layout with more worker bits.",
		}
	}
	if why := map[string]string{
		repairer: "was given up by nextid repair: its time is used up", pastOwner: "is set aside for ids of the past",
	}[m.owner[id]]; p.wish.Firm && why != "" {
		return &generator.Error{
			Kind:    generator.ErrNotNow,
			Message: fmt.Sprintf("worker id %d %s", id, why),
			Hint:    "Start with another --worker-id, or auto.",
		}
	}
	until := time.UnixMilli(m.hi[id]).UTC().Format(time.RFC3339)
	if p.wish.Firm {
		return &generator.Error{
			Kind: generator.ErrNotNow, Reason: generator.ReasonWorkerID,
			Message: fmt.Sprintf("worker id %d is held by another server (%s) until %s", id, m.owner[id], until),
			Hint: "Give every server a --worker-id of its own, or use auto. After a crash it becomes free at that time. " +
				"SELECT * FROM nextid.workers shows who holds which.",
		}
	}
	return &generator.Error{
		Kind: generator.ErrNotNow, Reason: generator.ReasonWorkerID,
		Message: fmt.Sprintf("all %d worker ids are in use; the first becomes free at %s", p.width.IDs(), until),
		Hint:    "Run fewer servers, or use a layout with more worker bits.",
	}
}
