package worker

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// maxWishes bounds how often a claim asks the source for another worker id.
const maxWishes = 16

// claim is rule R1: it finds a free worker id and reserves time on it. old is the
// lease to replace, or nil.
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
		m, now, err := p.look(p.pools.ctx, &wish, &wishes)
		if err != nil {
			return err
		}
		base := now
		if old != nil {
			base = max(base, old.Hi) // ids of a name keep growing
		}
		if cfg.Store.Exclusive() {
			base = max(base, m.greatest)
			if wait := p.crashWait(base, deadline); wait > 0 {
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
			p.unsure = false // a lost reservation is on a line that is not free, or has ended
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
			p.giveBack(id, lo, hi) // another server claimed the id first
			m.hi[id] = lo
		}
		if id == None || m.hi[id] == ours {
			return p.noneFree(id, m)
		}
		until := m.hi[id]
		if cfg.Borrow {
			until -= p.patience()
		}
		wait := time.UnixMilli(until).Sub(time.UnixMilli(now))
		if free && !wish.Firm {
			wait = 0 // other ids may be free
		}
		if wait > deadline-cfg.Clock.Monotonic() {
			return p.noneFree(id, m)
		}
		if err := p.Sleep(p.pools.ctx, wait); err != nil {
			return generator.ShutdownError("")
		}
	}
}

// look reads the time lines and the clock (Unix ms). It asks the source for another wish,
// at most maxWishes times, while another server has the preferred worker id.
func (p *Pool) look(ctx context.Context, wish *Wish, wishes *int) (m marks, now int64, err error) {
	for {
		if m, err = p.marks(ctx); err != nil {
			return m, 0, err
		}
		now = p.Now() / 1000
		if wish.Firm || wish.ID == None || p.free(m, wish.ID, now) {
			return m, now, nil
		}
		p.pools.cfg.Logger.Warn("the worker id that this server would like to have is taken; it claims another one",
			"source", p.pools.cfg.Source.String(), "bits", p.bits, "worker", wish.ID,
			"held_by", m.owner[wish.ID], "until", time.UnixMilli(m.hi[wish.ID]).UTC(), "note", wish.Note)
		if !wish.Again || *wishes >= maxWishes {
			*wish = Wish{ID: None}
			continue
		}
		*wishes++
		bounded, cancel := context.WithTimeout(ctx, storeTimeout)
		*wish, err = p.pools.wished(bounded, p.width)
		if cancel(); err != nil {
			return m, 0, err
		}
	}
}

// presentTick returns the moment (Unix ms, at most now) from which time on a free
// worker id is reserved. It is the begin of the present tick of the longest tick of
// all layouts that use the pool. It is not before the end of what was reserved, or
// may have been, on the line.
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

// maxAhead bounds how far ahead of the clock crashes may take the id time of an
// embedded store. Each crash adds the rest of its slice, see minPiece.
const maxAhead = 10 * time.Second

// crashWait returns how long a server should wait before it continues at base (Unix
// ms). Without the wait, id time of a server that crashes in a loop would run ahead
// further and further. If the wait would last beyond deadline, the clock was set
// back, and no draw waits for it.
func (p *Pool) crashWait(base int64, deadline time.Duration) time.Duration {
	lead := time.UnixMilli(base).Sub(time.UnixMilli(p.Wall() / 1000))
	wait := lead - maxAhead
	if wait > deadline-p.Monotonic() {
		return 0
	}
	return wait
}

// patience is the rest of a slice (ms) at which its holder has missed a renewal.
// Renewals are due after each third of a slice.
func (p *Pool) patience() int64 { return p.pools.cfg.Slice.Milliseconds() * 7 / 12 }

// abandoned reports whether a worker id may be borrowed.
func (p *Pool) abandoned(m marks, id, now int64) bool {
	return p.pools.cfg.Borrow && id != None && m.hi[id] != ours && m.hi[id]-now <= p.patience()
}

// report logs a claim. It warns if id time is ahead of the wall clock.
func (p *Pool) report(id, lo int64) {
	log := p.pools.cfg.Logger
	if ahead := time.Duration(lo-p.Wall()/1000) * time.Millisecond; ahead > 0 {
		log.Warn("claimed a worker id; ids carry times ahead of the clock, because earlier ones reach that far",
			"bits", p.bits, "worker", id, "ahead", ahead)
		return
	}
	log.Info("claimed a worker id", "bits", p.bits, "worker", id)
}

// scarce is the used part of the worker ids at which alarm warns.
const scarce = 0.8

// alarm warns before the worker ids of a shared store run out. There are too many
// servers, or one crashes in a loop.
func (p *Pool) alarm(m marks, now int64) {
	held := int64(1) // the one just claimed
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

// ours replaces the end of a worker id that another pool of this process uses. It
// equals the end of an id that was given up (Repair) or set aside for ids of the
// past, so none of them is ever free.
const ours = math.MaxInt64

// marks holds the state of the time lines of a width, in Unix ms: hi is the end for
// each worker id ever used, greatest the greatest end that is not ours.
type marks struct {
	hi       map[int64]int64
	owner    map[int64]string
	greatest int64
	end      int64           // the greatest of all ends
	leased   map[int64]int64 // begins of the leases of libraries, see LeaseWorker
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
			return marks{}, generator.CausedError(err, generator.ErrRegressed, "",
				"Something other than nextid wrote to the store. Restore it, or remove that row if you know that it is wrong.",
				"the store has a time line %q, which is not one of a worker id of %d bits", k.Key, p.bits)
		}
		if k.Hi >= pastEnd {
			k.Hi = spent
		}
		m.hi[id], m.owner[id] = k.Hi, k.Owner
		if since, _, library := libraryOwner(k.Owner); library {
			m.leased[id] = since
			if p.Exclusive() { // ids of this server on the line are older than the lease
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

// manyIDs is the number of worker ids of a width that are used before old ones are
// used again. Wide worker fields have millions of ids, and every start of a server
// uses one.
const manyIDs = 1024

// free reports whether no process holds a worker id.
func (p *Pool) free(m marks, id, now int64) bool {
	hi, used := m.hi[id]
	_, library := m.leased[id]
	return !used || hi <= now || hi != ours && p.alone() && !library
}

// alone reports whether all lines that this process has not claimed are free.
func (p *Pool) alone() bool { return p.pools.cfg.Store.Exclusive() && !p.shared }

// choose returns the worker id to claim: the preferred one; else one that was never
// used; else the least recently used. free is false if the id is held until hi[id].
// It is also false for None: this process uses all ids.
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
	free = id != None && p.free(m, id, now)
	all := int64(1) << p.bits
	if n := int64(len(m.hi)); n < all && (n < manyIDs || !free) {
		first, others := int64(0), max(all-1, 1)
		if p.alone() {
			first = int64(p.pools.cfg.Seed % uint64(others))
		}
		for i := range others {
			unused := (first + i) % others
			if _, used := m.hi[unused]; !used {
				return unused, true
			}
		}
		if !free {
			return all - 1, true // the last: ReservePast sets it aside
		}
	}
	return id, free
}

// noneFree returns the error of a claim that found no free id. id is the first to
// become free.
func (p *Pool) noneFree(id int64, m marks) error {
	if id == None {
		return generator.Errorf(generator.ReasonWorkerID, "",
			"Strict generators need a worker id of their own. Use a layout with more worker bits.",
			"this server uses all %d worker ids of the layout already", p.width.IDs())
	}
	if why := map[string]string{
		repairer: "was given up by nextid repair: its time is used up", pastOwner: "is set aside for ids of the past",
	}[m.owner[id]]; p.wish.Firm && why != "" {
		return generator.Errorf(generator.ReasonWorkerID, "", "Start with another --worker-id, or auto.", "worker id %d %s", id, why)
	}
	until := time.UnixMilli(m.hi[id]).UTC().Format(time.RFC3339)
	if p.wish.Firm {
		return generator.Errorf(generator.ReasonWorkerID, "",
			"Give every server a --worker-id of its own, or use auto. After a crash it becomes free at that time. "+
				"SELECT * FROM nextid.workers shows who holds which.",
			"worker id %d is held by another server (%s) until %s", id, m.owner[id], until)
	}
	return generator.Errorf(generator.ReasonWorkerID, "",
		"Run fewer servers, or use a layout with more worker bits.",
		"all %d worker ids are in use; the first becomes free at %s", p.width.IDs(), until)
}
