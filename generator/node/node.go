// Package node says how this server stands: beside the others on its store
// (Nodes), beside the clock of the store's database (ClockWatch), and whether it
// should get new clients (Ready).
//
// Nodes are the servers that share a store, for operators: SELECT * FROM
// nextid.nodes. A server takes the first place whose holder is gone, and writes there every
// few seconds: a reservation of time under the key "node/<number>", whose
// owner is a short description of the server. Nothing depends on it. Its one
// side effect is wanted: a server that issues no ids notices as well when the
// store does not answer, and when it went back.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"nextid/generator"
)

// Config configures Nodes. Store and Self are required.
type Config struct {
	Store  generator.Store
	Clock  generator.Runtime // nil: the system's
	Logger *slog.Logger      // nil: slog.Default()

	// Self describes this server. Number, State, Rate, Seen, Until and
	// ClockAhead are not used.
	Self func() generator.Node
}

const (
	// renewEvery sets how often a server writes, and lease for how long that is
	// good: two writes may fail.
	renewEvery = 10 * time.Second
	lease      = 3 * renewEvery

	storeTimeout = 5 * time.Second
	// clockAlarm is a difference of clocks that is logged: ids of several
	// servers are in the order of time only as far as their clocks agree.
	clockAlarm = 5 * time.Second
	claimTries = 8
)

// Nodes is this server's place in the list.
type Nodes struct {
	cfg      Config
	instance string // tells this process from all others

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	number int   // -1 for none
	first  int64 // begin of the reservations in one piece that end at until
	until  int64
	last   map[int]observation // what the others wrote when we looked last
	looked int64               // Unix ms
	warned map[string]bool     // instances whose clock was logged
}

// observation holds what a server wrote and by how much its clock was ahead then.
type observation struct {
	instance   string
	seen       int64
	noticed    int64 // by our clock; 0 if it stood there when we looked first
	rate       float64
	issued     int64
	clockAhead time.Duration
}

// New returns Nodes. On a store that only this process uses it writes only to
// find out whether a store that failed works again. Close it.
func New(cfg Config) *Nodes {
	if cfg.Clock == nil {
		cfg.Clock = generator.SystemClock{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	n := &Nodes{
		cfg: cfg, instance: strconv.FormatUint(rand.Uint64(), 36), number: -1,
		last: map[int]observation{}, warned: map[string]bool{},
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	cfg.Clock.Go(&n.work, n.renew)
	return n
}

// renew writes until Close.
func (n *Nodes) renew() {
	for {
		if n.needed() {
			if err := n.write(n.ctx); err != nil && n.ctx.Err() == nil {
				n.cfg.Logger.Debug("cannot tell the other servers that this one runs", "error", err)
			}
		}
		if n.cfg.Clock.Sleep(n.ctx, renewEvery) != nil {
			return
		}
	}
}

// needed reports whether there is a reason to write. A server that is taken
// out of service because its store failed has no clients, who would notice
// that it works again.
func (n *Nodes) needed() bool {
	if !n.cfg.Store.Exclusive() {
		return true
	}
	p, ok := n.cfg.Store.(generator.Prober)
	return ok && p.Probe() != nil
}

func (n *Nodes) now() int64 { return n.cfg.Clock.Wall() / int64(time.Millisecond) }

// row holds what stands under one key.
type row struct {
	number int
	until  int64
	description
}

// rows reads the list.
func (n *Nodes) rows(ctx context.Context) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	var all []row
	// Places are taken from 0 on and never removed. ZooKeeper would read the
	// names of all its keys to list those that begin with a prefix.
	for number := 0; ; number++ {
		m, ok, err := n.cfg.Store.Mark(ctx, generator.NodeKeyPrefix+strconv.Itoa(number))
		if err != nil || !ok {
			return all, err
		}
		all = append(all, row{number, m.Hi, decode(m.Owner)})
	}
}

var errNoPlace = errors.New("other servers were faster each time")

// write takes a place, or keeps the one that it has.
func (n *Nodes) write(ctx context.Context) error {
	for range claimTries {
		rows, err := n.rows(ctx)
		if err != nil {
			return err
		}
		now := n.now()
		n.look(rows, now)
		number, base := n.place(rows, now)
		hi := max(now+lease.Milliseconds(), base+1)
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		lo, _, err := n.cfg.Store.Reserve(ctx, generator.Reservation{
			Key: generator.NodeKeyPrefix + strconv.Itoa(number), AtLeast: base, N: hi - base,
			Limit: generator.NoLimit, Owner: describe(n.cfg.Self(), n.instance, now).encode(),
		})
		cancel()
		if err != nil {
			return err
		}
		n.mu.Lock()
		if number != n.number || lo != n.until {
			n.first = lo
		}
		n.number, n.until = number, lo+hi-base
		n.mu.Unlock()
		if lo == base {
			return nil
		}
	}
	return errNoPlace
}

// place is the number to write under and from when on: our own, or the first
// whose holder is gone.
func (n *Nodes) place(rows []row, now int64) (number int, base int64) {
	free, freeBase := -1, now
	next := 0
	for _, r := range rows {
		if r.Instance == n.instance {
			return r.number, max(now, r.until)
		}
		if free < 0 && r.number > next { // a number that was never used
			free, freeBase = next, now
		}
		if free < 0 && r.until <= now {
			free, freeBase = r.number, now
		}
		next = r.number + 1
	}
	if free < 0 {
		return next, now
	}
	return free, freeBase
}

// look compares what the others write with what they wrote before. Something
// new was written between then and now, by our clock; by the writer's clock
// it was at Seen.
func (n *Nodes) look(rows []row, now int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range rows {
		before, known := n.last[r.number]
		if r.Seen == before.seen && r.Instance == before.instance {
			continue
		}
		s := observation{instance: r.Instance, seen: r.Seen, issued: r.Issued}
		if n.looked > 0 {
			s.noticed = now
		}
		if known && before.instance == r.Instance && r.Seen > before.seen {
			s.rate = float64(r.Issued-before.issued) / float64(r.Seen-before.seen) * 1000
		}
		switch {
		case r.Instance == n.instance:
		case r.Seen > now:
			s.clockAhead = time.Duration(r.Seen-now) * time.Millisecond
		case r.Seen < n.looked && n.looked > 0:
			s.clockAhead = -time.Duration(n.looked-r.Seen) * time.Millisecond
		}
		n.last[r.number] = s
		if s.clockAhead.Abs() >= clockAlarm && !n.warned[r.Instance] {
			n.warned[r.Instance] = true
			n.cfg.Logger.Warn("the clocks of two servers differ; ids stay unique, but their order across servers does not follow the time",
				"server", fmt.Sprintf("%s (process %d)", r.Host, r.PID), "ahead", s.clockAhead)
		}
	}
	n.looked = now
	if len(n.warned) > maxWarned {
		clear(n.warned)
	}
}

// maxWarned bounds what is remembered of servers that come and go.
const maxWarned = 1000

// List is the list as it stands in the store now, by number. On a store of
// this process alone it is this server.
func (n *Nodes) List(ctx context.Context) ([]generator.Node, error) {
	if n.cfg.Store.Exclusive() {
		return []generator.Node{n.Own()}, nil
	}
	rows, err := n.rows(ctx)
	if err != nil {
		return nil, err
	}
	now := n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]generator.Node, 0, len(rows))
	for _, r := range rows {
		node := r.node()
		node.Number, node.Self, node.Until = r.number, r.Instance == n.instance, time.UnixMilli(r.until)
		writes := r.until > now
		if s := n.last[r.number]; s.instance == r.Instance {
			node.Rate, node.ClockAhead = s.rate, s.clockAhead
			// A clock that is behind makes what is new look old.
			writes = writes || s.clockAhead < 0 && s.noticed > now-lease.Milliseconds()
		}
		switch {
		case r.until < r.Seen+lease.Milliseconds():
			node.State = generator.NodeStopped
		case writes:
			node.State = generator.NodeUp
		default:
			node.State = generator.NodeLost
		}
		if node.State != generator.NodeUp {
			node.Ready = false
		}
		all = append(all, node)
	}
	return all, nil
}

// Own returns this server without asking the store.
func (n *Nodes) Own() generator.Node {
	self := n.cfg.Self()
	now := time.UnixMilli(n.now())
	self.Self, self.State, self.Seen, self.Until = true, generator.NodeUp, now, now
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.number >= 0 {
		self.Number, self.Until = n.number, time.UnixMilli(n.until)
	}
	return self
}

// Close leaves the list. What lies before the reservations of this server is
// not its own to give back, however far its clock was set back: to others the
// store would seem to have gone back.
func (n *Nodes) Close(ctx context.Context) error {
	n.stop()
	n.cfg.Clock.Join(&n.work)
	n.mu.Lock()
	number, to, until := n.number, max(n.first, n.now()), n.until
	n.mu.Unlock()
	if number < 0 || until <= to {
		return nil
	}
	return n.cfg.Store.Release(ctx, generator.NodeKeyPrefix+strconv.Itoa(number), until, to)
}
