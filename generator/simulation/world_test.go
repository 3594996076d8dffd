package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/store/shared"
	"nextid/generator/worker"
)

// beginning is the true time at the start, in Unix ns.
var beginning = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).UnixNano()

// length is the length of a schedule in virtual time.
const length = 12 * time.Second

// name is a generator that the servers have in common.
type name struct {
	generator.Definition
	flake   bool // ids have a time and a worker id; else they are numbers
	strict  bool
	falling bool
	layout  *layout.Layout
}

// names are the generators to choose from. Their ticks are long and their sequences
// short, so that ids soon collide if they can.
var names = []*name{
	newName("flakes", true, `{"bits":"time 41, worker 2, sequence 2","sequence_start":"zero"}`),
	newName("coarse", true, `{"bits":"time 35, worker 2, sequence 2","unit":"100ms","sequence_start":"zero","epoch":"2024-01-01"}`),
	newName("refusing", true, `{"bits":"time 35, worker 2, sequence 3","unit":"100ms","on_rollback":"refuse","sequence_start":"zero","epoch":"2024-01-01"}`),
	newName("waiting", true, `{"bits":"time 35, worker 2, sequence 3","unit":"50ms","on_rollback":"wait","sequence_start":"carry","epoch":"2024-01-01"}`),
	newName("numbers", false, `{"step":3,"max_step":12}`),
	newName("falling", false, `{"step":5,"max_step":10,"increment":-3,"start":1000}`),
	newName("strict", false, `{"strict":true}`),
	newName("sworn", true, `{"bits":"time 41, worker 2, sequence 2","sequence_start":"zero","strict":true}`),
}

func newName(called string, flake bool, options string) *name {
	kind := segment.Kind(nil, nil, "")
	if flake {
		kind = snowflake.Kind(nil, "twitter")
	}
	normal, err := kind.Normalize(json.RawMessage(options))
	if err != nil {
		panic(err)
	}
	n := &name{flake: flake, strict: strings.Contains(options, "strict"), Definition: generator.Definition{
		Name: called, Kind: kind.Name(), Options: normal, Version: 1, Created: time.Unix(0, beginning),
	}}
	if !flake {
		n.falling = strings.Contains(options, `"increment":-`)
		return n
	}
	var o snowflake.Options
	if err := json.Unmarshal(normal, &o); err != nil {
		panic(err)
	}
	if n.layout, err = layout.New(o.Layout, o.Fields, time.Time(o.Epoch), time.Duration(o.Unit)); err != nil {
		panic(err)
	}
	return n
}

// plan selects the faults of a schedule. It keeps to the assumptions of each
// guarantee. While failovers lose commits, either the clocks of the servers may be
// wrong or that of the database. But no server starts with a clock that is ahead.
type plan struct {
	embedded  bool // one server with its own disk, else several on a database
	network   bool // messages are lost, late or repeated
	clocks    bool // the clocks of servers step, stop and differ freely
	wrongDB   bool // the database's clock steps, and differs after each failover
	lossy     bool // failovers lose the newest commits
	clones    bool // running servers are copied
	restores  bool // a backup is restored, following the runbook
	static    bool // two servers are configured with the same worker id
	wishes    bool // all servers wish for the same worker id
	borrow    bool // servers take worker ids whose holders seem to have crashed
	numbers   bool // only names without times; then clocks may be wrong also if the store forgets
	lostClaim bool // a failover loses the claim of a server that still uses it, while one clock is wrong
	silence   bool // one server gets no answers for long, and dies after a failover that loses its grants
	recovers  bool // the store fails over again while names are recovered
	failover  shared.Failover
}

func newPlan(r *rand.Rand) plan {
	p := plan{failover: shared.Lossless, clocks: r.IntN(100) < 60, network: r.IntN(100) < 70}
	switch kind := r.IntN(100); {
	case kind < 15:
		p.embedded = true
	case kind < 40:
		p.lossy = true
		p.failover = []shared.Failover{shared.Stop, shared.Skip}[r.IntN(2)]
	case kind < 60:
		p.clones = true
	case kind < 70:
		p.restores = true
	}
	switch {
	case p.lossy && r.IntN(100) < 30:
		p.numbers = p.clocks
	case p.lossy && p.clocks && r.IntN(100) < 30:
		p.clocks, p.wrongDB = false, true
	case p.restores:
		p.numbers = p.clocks && r.IntN(100) < 50
		p.clocks = p.numbers
	}
	p.static = !p.embedded && r.IntN(100) < 20
	p.wishes = r.IntN(100) < 20
	p.borrow = !p.embedded && r.IntN(100) < 20
	if p.lossy && !p.numbers && r.IntN(100) < 20 {
		p.silence, p.static, p.network, p.borrow = true, true, false, false
	}
	if p.lossy && !p.numbers && !p.silence && r.IntN(100) < 40 {
		p.lostClaim, p.network, p.static, p.wishes, p.clocks, p.wrongDB = true, false, false, false, false, false
	}
	if p.failover == shared.Stop && !p.silence && !p.lostClaim && r.IntN(100) < 20 {
		p.recovers, p.numbers, p.network, p.clocks = true, true, false, false
	}
	return p
}

// world is one schedule.
type world struct {
	loop
	plan      plan
	database  database
	backups   []state // states that failovers and restores may bring back
	failed    bool    // a failover has happened
	restoring bool
	seats     []*server
	clones    []*server
	servers   int
	names     []*name
	log       io.Writer // nil: none
	judge     judge
	idle      []*thread
}

// Result is the outcome of one schedule.
type Result struct {
	IDs    int
	Clones int   // ids that a clone repeated, which is a documented limit
	Faults int   // number of injected faults
	Err    error // the first violated guarantee
}

// Run runs the schedule of a seed. It writes the events to log unless that is nil.
func Run(seed uint64, log io.Writer) (result Result) {
	w := &world{loop: loop{rand: rand.New(rand.NewPCG(seed, 0x6e657874))}, log: log}
	w.plan = newPlan(w.rand)
	w.names = w.pick(1 + w.rand.IntN(3))
	w.judge.init(w)
	w.database = database{
		state: state{epoch: "epoch 1", rows: map[string]shared.Row{}, names: map[string]shared.Entry{}},
		ever:  map[string]int64{}, disk: memory.New(memory.Config{Exclusive: true}),
	}
	for _, n := range w.names {
		w.database.names[n.Name] = shared.Entry{Definition: n.Definition}
	}
	defer func() {
		for _, s := range append(w.seats, w.clones...) {
			if s != nil {
				s.kill()
			}
		}
		for _, th := range w.idle {
			th.stop()
		}
		result = Result{IDs: w.judge.count, Clones: w.judge.tolerated, Faults: w.judge.faults, Err: w.judge.err}
	}()
	w.note("plan %+v", w.plan)
	w.seats = make([]*server, 1)
	if !w.plan.embedded {
		w.seats = make([]*server, 2+w.rand.IntN(2))
		w.replicate()
	}
	end := length
	if w.plan.lostClaim {
		w.lostClaim()
		end *= 2
	} else {
		for seat := range w.seats {
			w.after(w.between(0, 2*time.Second), func() { w.seat(seat) })
		}
	}
	switch {
	case w.plan.lostClaim:
	case w.plan.silence:
		w.silence()
		end *= 2
	default:
		if w.plan.lossy && !w.plan.numbers {
			end = end * 3 / 2 // servers wait for await after each failover
		}
		for range 2 + w.rand.IntN(8) {
			w.after(time.Duration(w.rand.Int64N(int64(length))), w.fault)
		}
	}
	w.runUntil(end, func() bool { return w.judge.err == nil })
	return
}

// silence schedules the faults of a plan with silence. Seats 0 and 1 have the same
// worker id.
func (w *world) silence() {
	const begins = 3 * time.Second
	lasts := w.between(time.Second, 4*time.Second)
	w.judge.faults++
	w.after(begins, func() {
		if s := w.seats[0]; s != nil {
			w.note("server %d gets no answers for %v", s.id, lasts)
			s.mute = true
			w.after(lasts, func() { s.mute = false })
		}
	})
	var lost *state // state of a replica that is behind until then
	w.after(begins, func() { s := w.database.state.copy(); lost = &s })
	w.after(begins+lasts+w.between(200*time.Millisecond, 1500*time.Millisecond), func() {
		w.backups = append(w.backups, *lost)
		w.failOver()
		if s := w.seats[0]; s != nil {
			w.note("server %d is killed", s.id)
			w.remove(s, time.Minute)
		}
	})
}

// lostClaim schedules the faults of a plan with lostClaim. Seat 0 claims a worker
// id, and the failover forgets it. Seat 1 runs during the failover, seat 2 starts
// after it.
func (w *world) lostClaim() {
	w.judge.faults++
	w.seats = make([]*server, 3)
	w.after(0, func() { w.seat(1) })
	replicated := w.between(time.Second, 2*time.Second)
	var lost *state
	w.after(replicated, func() { s := w.database.state.copy(); lost = &s })
	w.after(replicated+w.between(time.Microsecond, 300*time.Millisecond), func() { w.seat(0) })
	failed := replicated + w.between(400*time.Millisecond, 2500*time.Millisecond)
	w.after(failed-w.between(0, 200*time.Millisecond), func() {
		s := w.seats[0]
		switch {
		case s == nil:
		case w.chance(25):
			w.note("server %d is killed", s.id)
			w.remove(s, time.Minute)
		case w.chance(33):
			s.cut = true
			w.after(w.between(0, 6*time.Second), func() { s.cut = false })
		case w.chance(80):
			w.halt(s, w.chance(30))
		}
	})
	wrong := w.rand.IntN(5) // none, seat 0 … 2, the database
	by := w.between(0, 10*time.Second)
	if w.chance(50) {
		by = w.between(0, time.Hour)
	}
	if w.chance(70) {
		by = -by
	}
	w.after(failed, func() {
		if len(lost.rows) == 0 {
			return // see replicate
		}
		w.backups = append(w.backups, *lost)
		w.failOver()
		if wrong == 4 {
			w.database.offset = by
			w.note("the clock of the database is wrong by %v", by)
		}
	})
	w.after(failed-w.between(0, time.Second), func() {
		for seat := range 2 {
			if s := w.seats[seat]; s != nil && wrong == seat+1 {
				s.offset += int64(by)
				w.note("the clock of server %d steps by %v", s.id, by)
			}
		}
	})
	w.after(failed+w.between(0, 3*time.Second), func() {
		w.seat(2)
		if wrong == 3 && w.seats[2] != nil {
			w.seats[2].offset -= int64(by.Abs())
			w.note("the clock of server %d is wrong by %v", w.seats[2].id, -by.Abs())
		}
	})
	w.after(failed+w.between(0, length), w.fault)
}

// pick returns n names that fit the plan.
func (w *world) pick(n int) []*name {
	var picked []*name
	for _, i := range w.rand.Perm(len(names)) {
		if len(picked) < n && !(w.plan.numbers && names[i].flake) && !((w.plan.silence || w.plan.lostClaim) && (!names[i].flake || names[i].strict)) {
			picked = append(picked, names[i])
		}
	}
	return picked
}

func (w *world) note(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, "%9.3f %s\n", w.now.Seconds(), fmt.Sprintf(format, args...))
	}
}

// source returns the source of a seat's worker id.
func (w *world) source(seat int) worker.Source {
	switch {
	case w.plan.static && seat < 2:
		return worker.Fixed{ID: 1}
	case w.plan.wishes:
		return wish{}
	}
	return nil
}

// wish is the Source of servers that all wish for the same worker id.
type wish struct{}

// Wish implements worker.Source.
func (wish) Wish(context.Context, worker.Width) (worker.Wish, error) { return worker.Wish{ID: 1}, nil }

// String implements worker.Source.
func (wish) String() string { return "wish" }

// seat starts the server of a seat.
func (w *world) seat(seat int) {
	if w.seats[seat] != nil {
		return
	}
	if w.restoring {
		w.after(time.Second, func() { w.seat(seat) })
		return
	}
	s := w.newServer(seat)
	w.seats[seat] = s
	s.offset = w.rand.Int64N(int64(2*skew)) - int64(skew)
	if w.plan.clocks && w.chance(20) {
		s.offset = w.rand.Int64N(int64(time.Hour)) - int64(30*time.Minute)
		if w.plan.lossy && !w.plan.numbers {
			s.offset = -int64(w.between(0, time.Hour)) // clock_limit prevents the start of a server that is ahead
		}
	}
	w.note("server %d starts at seat %d, clock %v", s.id, seat, time.Duration(s.offset))
	s.launch((*server).boot)
}

// ended replaces a server that has left.
func (w *world) ended(s *server) {
	w.after(0, func() { w.remove(s, w.between(0, 3*time.Second)) })
}

// remove kills a server and starts its successor some time later.
func (w *world) remove(s *server, pause time.Duration) {
	if s.dead {
		return
	}
	s.kill()
	if w.seats[s.seat] == s {
		w.seats[s.seat] = nil
		w.after(pause, func() { w.seat(s.seat) })
	}
}

// replicate records a state for later failovers, which lack the newest commits. A
// store that loses everything in its first moments, with its first epoch, looks
// like a new store. That case is left out.
func (w *world) replicate() {
	w.after(w.between(100*time.Millisecond, 2*time.Second), func() {
		if len(w.database.rows) > 0 {
			w.backups = append(w.backups, w.database.state.copy())
		}
		w.replicate()
	})
}

// failOver makes another server of the database the primary.
func (w *world) failOver() {
	if n := len(w.backups); w.plan.lossy {
		if n == 0 {
			return
		}
		if w.plan.failover == shared.Skip && w.failed && !w.hasSkips(w.backups[n-1]) {
			return // a second failover that loses the skips of the first one is not covered
		}
		w.failed = true
		w.database.state = w.backups[n-1].copy()
		w.backups = w.backups[:n-1]
	}
	w.database.epoch = fmt.Sprint("epoch ", 2+w.rand.Uint64N(1<<40))
	w.note("failover: %s", w.database.epoch)
	if w.plan.wrongDB {
		w.moveDatabaseClock()
	}
}

// moveDatabaseClock sets the database's clock to a wrong time.
func (w *world) moveDatabaseClock() {
	by := w.between(0, 30*time.Second)
	if w.chance(20) {
		by = w.between(0, 30*time.Minute)
	}
	if w.chance(50) {
		by = -by
	}
	w.database.offset = by
	w.note("the clock of the database is wrong by %v", by)
}

// hasSkips reports whether a state contains all skips of earlier failovers.
func (w *world) hasSkips(s state) bool {
	for _, n := range w.names {
		key := generator.NameKey(n.Name)
		if row, ok := w.database.rows[key]; ok && s.rows[key].Epoch != row.Epoch {
			return false
		}
	}
	return true
}

// restore restores a backup as the runbook says: all servers are stopped, and every
// name is recovered above everything that was ever issued.
func (w *world) restore() {
	if len(w.backups) == 0 || w.restoring {
		return
	}
	w.restoring = true
	w.note("restore: all servers stop")
	for _, s := range append(append([]*server(nil), w.seats...), w.clones...) {
		if s != nil {
			w.remove(s, 4*time.Second)
		}
	}
	backup := w.backups[w.rand.IntN(len(w.backups))].copy()
	w.after(3*time.Second, func() { // all messages under way have arrived
		w.note("restored")
		w.database.state = backup
		for _, n := range w.names {
			key := generator.NameKey(n.Name)
			if r, ok := w.database.rows[key]; ok && !n.flake {
				r.Hi, r.Seq = max(r.Hi, w.database.ever[key]), r.Seq+1<<40
				w.database.rows[key] = r
			} else if !n.flake {
				w.database.rows[key] = shared.Row{Key: key, Hi: w.database.ever[key], Seq: 1 << 40, Epoch: w.database.epoch}
			}
		}
		w.backups, w.restoring = nil, false
	})
}

// held returns the ends of what a server may still issue, by key: positions, or
// Unix ms.
func (s *server) held() map[string]int64 {
	m := map[string]int64{}
	for key, granted := range s.granted {
		for _, g := range granted {
			if hi, ok := m[key]; !ok || g.hi > hi {
				m[key] = g.hi
			}
		}
	}
	return m
}

// clone copies a running server, like a snapshot of a virtual machine. The copy has
// no connections, and its clocks were right a moment ago.
func (w *world) clone(s *server) {
	if s.stopped || len(w.clones) > 1 {
		return
	}
	c := s.copied()
	s.born = &clone{parent: s.born, held: s.held()}
	c.born = s.born
	w.clones = append(w.clones, c)
	w.note("server %d is a clone of server %d: %v", c.id, s.id, s.born.held)
}

// fault injects one random fault.
func (w *world) fault() {
	w.judge.faults++
	if w.plan.recovers {
		w.failOver()
		return
	}
	all := append(append([]*server(nil), w.seats...), w.clones...)
	s := all[w.rand.IntN(len(all))]
	if s == nil || s.dead {
		return
	}
	if w.plan.clones && w.chance(25) {
		w.clone(s)
		return
	}
	if w.plan.restores && w.chance(25) {
		w.restore()
		return
	}
	if w.plan.clocks && w.chance(40) {
		w.moveClock(s)
		return
	}
	if w.plan.wrongDB && w.chance(20) {
		w.moveDatabaseClock()
		return
	}
	if !w.plan.embedded && w.chance(35) {
		w.storeFault()
		return
	}
	w.serverFault(s)
}

func (w *world) moveClock(s *server) {
	switch by := time.Duration(0); w.rand.IntN(5) {
	case 0:
		s.frozen = s.offset + beginning + int64(w.now-s.lag)
		w.note("the clock of server %d stops", s.id)
		w.after(w.between(0, 10*time.Second), func() { s.frozen = 0 })
	case 1:
		by = w.between(0, time.Hour)
		s.offset += int64(by)
		w.note("the clock of server %d steps by %v", s.id, by)
	case 2: // it comes back later
		by = w.between(-20*time.Second, 20*time.Second)
		s.offset += int64(by)
		w.note("the clock of server %d steps by %v", s.id, by)
		w.after(w.between(0, 5*time.Second), func() { s.offset -= int64(by) })
	default:
		by = -w.between(0, 30*time.Second)
		s.offset += int64(by)
		w.note("the clock of server %d steps by %v", s.id, by)
	}
}

func (w *world) storeFault() {
	if w.chance(50) || w.plan.restores {
		w.note("the store is down")
		w.database.down = true
		w.after(w.between(0, 5*time.Second), func() { w.database.down = false; w.note("the store is back") })
		return
	}
	w.failOver()
}

func (w *world) serverFault(s *server) {
	switch w.rand.IntN(8) {
	case 0:
		w.note("server %d is killed", s.id)
		w.remove(s, w.between(0, 3*time.Second))
	case 1:
		w.note("server %d is stopped in order", s.id)
		if !s.stopped && !s.leaving {
			s.launch((*server).leave)
		}
	case 2:
		w.halt(s, false)
	case 3:
		w.halt(s, true)
	case 4, 5:
		w.note("server %d gets no answers", s.id)
		s.mute = true
		w.after(w.between(0, 6*time.Second), func() { s.mute = false })
	default:
		w.note("server %d is cut off", s.id)
		s.cut = true
		w.after(w.between(0, 6*time.Second), func() { s.cut = false })
	}
}

// halt stops a process, whose clocks go on, or suspends a machine, whose clocks
// stand still, too.
func (w *world) halt(s *server, machine bool) {
	if s.stopped {
		return
	}
	pause := w.between(0, 7*time.Second)
	if (w.plan.wrongDB || w.plan.restores) && !w.plan.numbers {
		machine = false // clocks stay correct
	}
	w.note("server %d stands still for %v, its clocks too: %v", s.id, pause, machine)
	s.stopped = true
	w.after(pause, func() {
		s.stopped = false
		if machine {
			s.lag += pause
		}
		later := s.later
		s.later = nil
		for _, f := range later {
			f()
		}
	})
}
