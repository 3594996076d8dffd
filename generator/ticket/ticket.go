// Package ticket draws numbers from auto-increment tables of several databases,
// after Flickr's ticket servers. Each database has a series of its own (1, 3, 5, …
// and 2, 4, 6, …). So the databases need not know each other, and one of them may
// be down. They are MySQL or MariaDB (a table with one row that is replaced),
// PostgreSQL (a sequence) and Redis (a key).
//
// A Generator is a counter.Queue over a source. The source draws from one database
// at a time; node is its access to one. Two invariants go beyond Flickr's:
//
//   - The numbers of a server rise, also when it changes to another database. A
//     database that is behind is raised first.
//   - A database that forgets numbers, such as a standby that was behind or a
//     restored backup, never repeats one. The store holds a ceiling above every
//     issued number. Each new connection raises its database above the ceiling
//     before anything is drawn.
//
// TakeOver fences another id system and returns its position, from which a generator
// goes on.
package ticket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/counter"
)

// Generator issues the numbers of one name.
type Generator struct {
	*counter.Queue
	source *source
}

// Config holds the dependencies of the kind.
type Config struct {
	Store     generator.Reserver
	Runtime   generator.Runtime
	Owner     string    // shown to operators
	Passwords Passwords // of the databases; nil for none
	Logger    *slog.Logger
}

// newGenerator returns a generator and starts to connect to all its databases. Each
// server starts with a random one, so that servers spread their draws.
func newGenerator(name string, o Options, cfg Config) (*Generator, error) {
	s := &source{cfg: cfg, name: name, options: o, last: o.Start - 1, changed: make(chan struct{})}
	s.home = rand.IntN(len(o.Databases))
	for i, text := range o.Databases {
		l, err := ParseLocation(text)
		if err != nil {
			return nil, err
		}
		series := series{offset: int64(i) + 1, increment: o.Increment}
		n, err := newNode(l, o.table(name), series, cfg.Passwords)
		if err != nil {
			return nil, err
		}
		s.databases = append(s.databases, &database{series: series, location: l, node: n})
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for _, d := range s.databases {
		s.revive(d, 0)
	}
	return &Generator{Queue: counter.NewQueue(name, s, cfg.Runtime, time.Duration(o.Deadline), false), source: s}, nil
}

// Close implements generator.Closer.
func (g *Generator) Close(ctx context.Context) error {
	err := g.Queue.Close(ctx)
	return errors.Join(err, g.source.close(ctx))
}

// Raise implements generator.Raiser. It raises the databases that are up. The
// others are raised before they are used again.
func (g *Generator) Raise(ctx context.Context, v int64, used bool) error {
	if !used {
		v--
	}
	return g.Queue.Raise(ctx, v+1, func(ctx context.Context) error { return g.source.raise(ctx, v) })
}

// Place implements generator.Placer. It returns the place in the series of the
// database that issued the number. The ceiling is above all numbers that may have
// been issued.
func (g *Generator) Place(id int64) generator.Place {
	o := g.source.options
	p := generator.NewPlace(series{id, o.Increment}.from(o.Start), o.Increment, id)
	p.Reserved = p.Number > 0 && id < g.source.ceiling.Load()
	return p
}

// Stats implements generator.Reporter.
func (g *Generator) Stats() generator.Stats {
	st := generator.Stats{Direct: true, ReservedUntil: g.source.ceiling.Load(), Step: g.source.options.Step}
	g.Fill(&st)
	return st
}

// source draws tickets from one database at a time. It implements counter.Source.
type source struct {
	cfg       Config
	name      string
	options   Options
	databases []*database
	home      int // index of the database that is asked first

	ctx  context.Context // of the goroutines in the background; ends with close
	stop context.CancelFunc
	work sync.WaitGroup

	// Owned by the Queue, which makes one call at a time.
	last int64 // newest number that was drawn
	lo   int64 // begin of the last reservation

	closed  atomic.Bool
	ceiling atomic.Int64 // upper bound of the numbers that may be issued; the store has it

	mu      sync.Mutex    // guards changed and the health of each database
	changed chan struct{} // closed and replaced when the state of a database changes
}

// database is one of the databases from which tickets come. While it is down, only
// the goroutine of revive uses its node.
type database struct {
	series
	location Location
	node     node
	newest   int64 // newest number that was drawn or passed by connect; used like node

	health // guarded by source.mu
}

const (
	// ceilingStep is how far the ceiling is moved at a time, in numbers of a series.
	ceilingStep = 10_000

	reviveFirst = 200 * time.Millisecond
	reviveMost  = 5 * time.Second
)

func (s *source) Draw(ctx context.Context, n, _ int64) ([]generator.Range, error) {
	for {
		d, err := s.choose(ctx)
		if err != nil {
			return nil, err
		}
		runs, err := s.from(ctx, d, max(n, s.options.Step))
		down, ok := errors.AsType[*downError](err)
		if !ok {
			return runs, err
		}
		s.fail(d, down.error)
	}
}

// downError is an error of a database. The source then draws from the next one.
type downError struct{ error }

// choose returns a database that is up: the server's first one, or the next. If
// none is up, it waits for those that have not been tried yet.
func (s *source) choose(ctx context.Context) (*database, error) {
	for {
		s.mu.Lock()
		untried := false
		for i := range s.databases {
			d := s.databases[(s.home+i)%len(s.databases)]
			if d.up {
				s.mu.Unlock()
				return d, nil
			}
			untried = untried || d.err == nil
		}
		changed, err := s.changed, s.errAllDownLocked()
		s.mu.Unlock()
		if !untried {
			return nil, err
		}
		if err := s.cfg.Runtime.Receive(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// from draws from one database. It checks that all numbers are of its series, and
// greater than all earlier ones of this server. It moves the ceiling above them.
func (s *source) from(ctx context.Context, d *database, n int64) ([]generator.Range, error) {
	const attempts = 3
	for range attempts {
		var runs []generator.Range
		if err := s.ask(ctx, func(ctx context.Context) (err error) {
			runs, err = d.node.draw(ctx, n)
			return err
		}); err != nil {
			return nil, err
		}
		s.answered(d)
		for _, r := range runs {
			if !d.holds(r.First) {
				return nil, s.errSeries(d, r.First)
			}
		}
		if runs[0].First <= d.newest { // it was emptied or restored; connect raises it above the ceiling
			return nil, &downError{fmt.Errorf("the database has forgotten numbers: it gave %d after %d", runs[0].First, d.newest)}
		}
		d.newest = runs[len(runs)-1].Last()
		if runs[0].First <= s.last { // it is behind another one, or was emptied before this server used it
			floor, err := s.floor(ctx)
			if err == nil {
				err = s.lift(ctx, d, max(floor, s.last))
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		newest := runs[len(runs)-1].Last()
		if newest < s.last || newest < runs[0].First {
			return nil, &downError{fmt.Errorf("numbers that do not rise: %v", runs)}
		}
		if err := s.cover(ctx, newest); err != nil {
			return nil, err
		}
		s.last = newest
		return runs, nil
	}
	return nil, &downError{errors.New("the database repeats numbers")}
}

// ask bounds a request to a database, and turns its errors into downError.
func (s *source) ask(ctx context.Context, f func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	err := f(bounded)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &downError{err}
	}
	return nil
}

// lift raises a database above v.
func (s *source) lift(ctx context.Context, d *database, v int64) error {
	return s.ask(ctx, func(ctx context.Context) error { return d.node.raise(ctx, v) })
}

// cover moves the store's ceiling above v.
func (s *source) cover(ctx context.Context, v int64) error {
	if v < s.ceiling.Load() {
		return nil
	}
	// For the greatest int64, which has no successor, this is ErrExhausted.
	lo, hi, err := s.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(s.name), AtLeast: min(v, math.MaxInt64-1) + 1, N: ceilingStep * s.options.Increment, Limit: generator.NoLimit, Owner: s.cfg.Owner,
	})
	if err != nil {
		return err
	}
	s.lo = lo
	s.ceiling.Store(hi)
	return nil
}

// fail takes a database out of use and starts revive.
func (s *source) fail(d *database, err error) {
	s.set(d, err)
	s.revive(d, reviveFirst)
}

// revive tries to connect to a database until it can be used. It runs in a
// goroutine of the source.
func (s *source) revive(d *database, pause time.Duration) {
	s.cfg.Runtime.Go(&s.work, func() {
		for {
			if pause > 0 && s.cfg.Runtime.Pause(s.ctx, pause) != nil {
				return
			}
			err := s.connect(d)
			if s.ctx.Err() != nil {
				return
			}
			s.set(d, err)
			if err == nil {
				return
			}
			pause = min(max(2*pause, reviveFirst), reviveMost)
		}
	})
}

// connect makes a database ready. All its later numbers are above those that were
// ever issued.
func (s *source) connect(d *database) error {
	ctx, cancel := context.WithTimeout(s.ctx, 2*nodeTimeout)
	defer cancel()
	if err := d.node.prepare(ctx); err != nil {
		return err
	}
	floor, err := s.floor(ctx) // read once the connection is there
	if err == nil {
		err = d.node.raise(ctx, floor)
	}
	if err == nil {
		d.newest = max(d.newest, floor)
	}
	return err
}

// floor returns a number that is at least as great as all that were ever issued.
func (s *source) floor(ctx context.Context) (int64, error) {
	m, ok, err := s.cfg.Store.Mark(ctx, generator.NameKey(s.name))
	if err != nil {
		return 0, fmt.Errorf("cannot read the ceiling in the store: %w", err)
	}
	if !ok {
		return s.options.Start - 1, nil
	}
	return max(s.options.Start, m.Hi) - 1, nil
}

// raise makes all later numbers greater than v.
func (s *source) raise(ctx context.Context, v int64) error {
	if v <= s.last {
		return nil
	}
	if err := s.cover(ctx, v); err != nil {
		return err
	}
	s.last = v
	for _, d := range s.databases {
		s.mu.Lock()
		up := d.up
		s.mu.Unlock()
		if !up {
			continue
		}
		if err := s.lift(ctx, d, v); err != nil {
			if down, ok := errors.AsType[*downError](err); ok {
				s.fail(d, down.error)
				continue
			}
			return err
		}
	}
	return nil
}

func (s *source) Renew(r generator.Range) generator.Range { return r }

// Return implements counter.Source. Databases take no number back.
func (s *source) Return(context.Context, generator.Range) error { return nil }

// close ends the goroutines and lowers the ceiling to the last issued number. The
// ceiling stays above lo, the end of other servers' reservations: to them it could go
// back again, and this server may have issued numbers below it.
func (s *source) close(ctx context.Context) error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	s.cfg.Runtime.Join(&s.work)
	for _, d := range s.databases {
		d.node.close()
	}
	hi := s.ceiling.Load()
	to := max(s.lo, s.last) + 1
	if hi == 0 || to >= hi {
		return nil
	}
	return s.cfg.Store.Release(ctx, generator.NameKey(s.name), hi, to)
}

// errAllDownLocked returns the error for draws while no database is up. Called with
// mu.
func (s *source) errAllDownLocked() error {
	var causes []error
	var names []string
	for _, d := range s.databases {
		names = append(names, d.location.String())
		causes = append(causes, d.err)
	}
	return generator.CausedError(errors.Join(causes...), generator.ReasonStore, s.name,
		"They are retried every few seconds. Passwords come from the file of the setting database_passwords.",
		"no database of generator %q answers (%s)", s.name, strings.Join(names, ", "))
}

// errSeries returns the error for a database that uses another series.
func (s *source) errSeries(d *database, v int64) error {
	return generator.Errorf(generator.ErrRegressed, s.name,
		"Another increment is set there. Give the table or sequence the offset and the increment of this generator, "+
			"in PostgreSQL with ALTER SEQUENCE … INCREMENT BY and setval.",
		"%s gave %d, which is not one of its numbers: %d, %d, …", d.location, v, d.offset, d.offset+d.increment)
}
