// Package node describes one server beside others. It has three parts, which do not
// use each other:
//
//   - Nodes is the list of the servers that share a store, for operators: SELECT *
//     FROM nextid.nodes.
//   - ClockWatch compares the wall clock with the clock of the store's database.
//   - Ready decides whether the server should get new clients.
package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

	// Self describes this server. Number, State, Rate, Seen and Until are not used.
	Self func() generator.Node
}

const (
	renewEvery = 10 * time.Second // interval of a server's writes
	lease      = 3 * renewEvery   // time for which a write is valid; two may fail

	storeTimeout = 5 * time.Second
	claimTries   = 8
)

// Nodes is the list of servers, and this server's entry in it. An entry is a
// reservation of time under the key "node/<number>", whose owner is a short
// description of the server. A server takes the first number whose holder is gone,
// and writes every renewEvery. No ids depend on it. With these writes a server that
// issues no ids notices a store that does not answer, or that went back.
type Nodes struct {
	cfg      Config
	instance string // random, differs between processes

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	number int   // -1 for none
	first  int64 // Unix ms; begin of the contiguous reservations that end at until
	until  int64
	last   map[int]observation // by number: what all had written at looked
	looked int64               // Unix ms
}

// observation holds what a server wrote.
type observation struct {
	instance string
	seen     int64
	late     int64 // when this server saw it, Unix ms, if the other's clock is behind; else 0
	rate     float64
	issued   int64
}

// New returns running Nodes. On a store of this process alone they write only to find
// out whether a store that failed works again. The caller must call Close.
func New(cfg Config) *Nodes {
	cfg.Clock = cmp.Or[generator.Runtime](cfg.Clock, generator.SystemClock{})
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	n := &Nodes{cfg: cfg, instance: strconv.FormatUint(rand.Uint64(), 36), number: -1, last: map[int]observation{}}
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

// needed reports whether there is a reason to write. A server that is out of service
// because its store failed has no clients whose draws would show that it works again.
func (n *Nodes) needed() bool {
	if !n.cfg.Store.Exclusive() {
		return true
	}
	p, ok := n.cfg.Store.(generator.Prober)
	return ok && p.Probe() != nil
}

func (n *Nodes) now() int64 { return n.cfg.Clock.Wall() / int64(time.Millisecond) }

// row is an entry of the list.
type row struct {
	until int64
	description
}

// rows reads the list. The index of a row is its number: numbers are taken from 0 on
// and never removed. Listing the keys would make ZooKeeper read the names of all.
func (n *Nodes) rows(ctx context.Context) (all []row, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for {
		m, ok, err := n.cfg.Store.Mark(ctx, key(len(all)))
		if err != nil || !ok {
			return all, err
		}
		all = append(all, row{m.Hi, decode(m.Owner)})
	}
}

func key(number int) string { return generator.NodeKeyPrefix + strconv.Itoa(number) }

// write takes a number, or renews the entry under the present one.
func (n *Nodes) write(ctx context.Context) error {
	for range claimTries {
		rows, err := n.rows(ctx)
		if err != nil {
			return err
		}
		now := n.now()
		n.look(rows, now)
		number, base := n.place(rows, now)
		length := max(now+lease.Milliseconds()-base, 1)
		bounded, cancel := context.WithTimeout(ctx, storeTimeout)
		lo, _, err := n.cfg.Store.Reserve(bounded, generator.Reservation{
			Key: key(number), AtLeast: base, N: length,
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
		n.number, n.until = number, lo+length
		n.mu.Unlock()
		if lo == base {
			return nil
		}
	}
	return errors.New("other servers were faster each time")
}

// place returns the number to write under, and from when on: the present number, else
// the first whose holder is gone.
func (n *Nodes) place(rows []row, now int64) (number int, base int64) {
	number = len(rows)
	for i, r := range rows {
		if r.Instance == n.instance {
			return i, max(now, r.until)
		}
		if r.until <= now {
			number = min(number, i)
		}
	}
	return number, now
}

// look compares what the servers have written with the look before.
func (n *Nodes) look(rows []row, now int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for number, r := range rows {
		before, known := n.last[number]
		if r.Seen == before.seen && r.Instance == before.instance {
			continue
		}
		s := observation{instance: r.Instance, seen: r.Seen, issued: r.Issued}
		if r.Seen < n.looked { // it was written since, by this server's clock
			s.late = now
		}
		if known && before.instance == r.Instance && r.Seen > before.seen {
			s.rate = float64(r.Issued-before.issued) / float64(r.Seen-before.seen) * 1000
		}
		n.last[number] = s
	}
	n.looked = now
}

// List returns the list as it is in the store now, by number. On a store of this
// process alone it is this server.
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
	for number, r := range rows {
		node := r.node()
		node.Number, node.Self, node.Until = number, r.Instance == n.instance, time.UnixMilli(r.until)
		writes := r.until > now
		if s := n.last[number]; s.instance == r.Instance {
			node.Rate = s.rate
			writes = writes || s.late > now-lease.Milliseconds()
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

// Close ends the writes and gives back the rest of the entry's time. Time before first
// is not this server's own, however far its clock was set back: to others the store
// would seem to have gone back.
func (n *Nodes) Close(ctx context.Context) error {
	n.stop()
	n.cfg.Clock.Join(&n.work)
	n.mu.Lock()
	number, to, until := n.number, max(n.first, n.now()), n.until
	n.mu.Unlock()
	if number < 0 || until <= to {
		return nil
	}
	return n.cfg.Store.Release(ctx, key(number), until, to)
}

// description holds the JSON that a server writes about itself. Its names are short: a
// store keeps 255 bytes for an owner.
type description struct {
	Instance string `json:"i"`
	Host     string `json:"h"`
	PID      int    `json:"p"`
	Version  string `json:"v"`
	Address  string `json:"a"`
	Workers  string `json:"w"`
	Ready    bool   `json:"r"`
	Issued   int64  `json:"n"`
	Started  int64  `json:"s"`           // Unix ms
	Seen     int64  `json:"t"`           // Unix ms
	Ahead    *int64 `json:"c,omitempty"` // of the store's clock, ms
}

// maxOwner is the shortest that the stores allow.
const maxOwner = 255

func describe(n generator.Node, instance string, now int64) description {
	d := description{
		Instance: instance, Host: n.Host, PID: n.PID, Version: n.Version, Address: n.Address, Workers: n.Workers,
		Ready: n.Ready, Issued: n.Issued, Started: n.Started.UnixMilli(), Seen: now,
	}
	if n.StoreAhead != nil {
		ms := n.StoreAhead.Milliseconds()
		d.Ahead = &ms
	}
	return d
}

// encode shortens texts until they fit, the longest of them first.
func (d description) encode() string {
	for {
		b, err := json.Marshal(d)
		if err != nil {
			panic(err) // texts and numbers always encode
		}
		if len(b) <= maxOwner {
			return string(b)
		}
		longest := &d.Host
		for _, t := range []*string{&d.Version, &d.Address, &d.Workers} {
			if len(*t) > len(*longest) {
				longest = t
			}
		}
		*longest = (*longest)[:len(*longest)-min(len(*longest), max(1, (len(b)-maxOwner)/6))]
	}
}

// decode reads what encode wrote. Of other texts the result is empty.
func decode(text string) description {
	var d description
	if json.Unmarshal([]byte(text), &d) != nil {
		return description{}
	}
	return d
}

func (d description) node() generator.Node {
	n := generator.Node{
		Host: d.Host, PID: d.PID, Version: d.Version, Address: d.Address, Workers: d.Workers,
		Ready: d.Ready, Issued: d.Issued, Started: time.UnixMilli(d.Started), Seen: time.UnixMilli(d.Seen),
	}
	if d.Ahead != nil {
		ahead := time.Duration(*d.Ahead) * time.Millisecond
		n.StoreAhead = &ahead
	}
	return n
}
