package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures a run.
type Config struct {
	Binary       string   // nextid
	Nodes        int      // servers of each store
	Clients      int      // of all stores together
	Stores       []string // URLs, or names of Stores and Clusters, which Run starts
	StoreRestart string   // shell command that restarts a store given by its URL
	Duration     time.Duration
	Each         int           // least number of each fault; may make the run longer than Duration
	Pause        time.Duration // between two draws of a client
	Log          string        // file for the log of ids; "": it is kept only if an error was found
	Progress     *report.Progress
}

// ErrBroken is returned by Run, with its report, if an id was given twice or out of
// order, a server did not answer at the end, or its use of a resource grew.
var ErrBroken = errors.New("the servers broke a guarantee")

// run is the state of one Run.
type run struct {
	cfg        Config
	rig        *dbtest.Rig
	dir        string
	places     []*place
	ledger     *ledger
	skewclock  string // path of the tool, see buildSkewclock
	clocks     string // why clocks cannot be moved, "" if they can
	namespaces string // why network namespaces cannot be made, "" if they can

	mu     sync.Mutex
	times  map[occasion]int         // number of faults
	lasts  map[*fault]time.Duration // total duration
	bad    map[string]int           // number of bad clients by name
	silent []string                 // servers that did not answer at the end, and why
}

// occasion is a fault at a place.
type occasion struct {
	fault *fault
	place *place
}

// Run starts stores, servers and clients, and injects faults. The report is not nil
// if ids were checked.
func Run(ctx context.Context, cfg Config) (out *report.Report, err error) {
	r := &run{cfg: cfg, times: map[occasion]int{}, lasts: map[*fault]time.Duration{}, bad: map[string]int{}}
	if r.dir, err = os.MkdirTemp("", "nextid-torture"); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	r.rig = dbtest.NewRig()
	defer func() { err = errors.Join(err, r.rig.Close()) }()
	defer func() {
		for n := range r.nodes() {
			n.close()
		}
	}()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	took, back, err := r.torture(ctx)
	if err != nil {
		return nil, errors.Join(err, r.keep())
	}
	cfg.Progress.Part("check")
	ids, verdict := check(r.path())
	out = r.report(began, took, back, ids, verdict)
	out.Interrupted = ctx.Err() != nil
	if verdict != nil || back < 0 || r.grown() {
		return out, errors.Join(ErrBroken, r.keep())
	}
	if cfg.Log != "" {
		return out, r.keep()
	}
	return out, nil
}

// path returns the path of the log of ids.
func (r *run) path() string { return filepath.Join(r.dir, "ids.log") }

// keep copies the log of ids, and the logs of the servers.
func (r *run) keep() error {
	to := cmp.Or(r.cfg.Log, "torture-ids.log")
	errs := []error{copyFile(r.path(), to)}
	for n := range r.nodes() {
		errs = append(errs, copyFile(filepath.Join(n.Dir, "log"), to+"."+n.String()))
	}
	return errors.Join(errs...)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// nodes iterates over all servers.
func (r *run) nodes() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for _, p := range r.places {
			for _, n := range p.nodes {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// prepare starts stores and servers, and makes the generators.
func (r *run) prepare(ctx context.Context) (err error) {
	r.namespaces = canMakeNamespaces(ctx)
	r.skewclock, r.clocks = buildSkewclock(ctx, r.dir)
	for _, store := range r.cfg.Stores {
		if _, err := r.newPlace(ctx, store); err != nil {
			return err
		}
	}
	for n := range r.nodes() {
		if err := n.do(func() { n.Begin() }); err != nil {
			return err
		}
	}
	for _, p := range r.places {
		if err := p.generators(ctx); err != nil {
			return err
		}
	}
	r.ledger, err = newLedger(r.path())
	return err
}

// torture runs clients and faults, and then waits until all servers answer. back is
// the duration of that wait, negative if a server does not answer.
func (r *run) torture(ctx context.Context) (took, back time.Duration, err error) {
	drawing, stop := context.WithCancel(ctx)
	defer stop()
	var clients sync.WaitGroup
	r.ledger.begin()
	for i := range r.cfg.Clients {
		p := r.places[i%len(r.places)]
		clients.Go(func() { p.draw(drawing, i/len(r.places)) })
	}
	for _, p := range r.places {
		clients.Go(func() { p.misbehave(drawing) })
		for _, n := range p.nodes {
			if n.steady {
				clients.Go(func() { n.watch(drawing, r.ledger.began) })
			}
		}
	}
	injecting, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var injectors sync.WaitGroup
	for _, p := range r.places {
		injectors.Go(func() {
			if err := p.inject(injecting); err != nil {
				fail(err) // ends the faults of the other places
			}
		})
	}
	injectors.Wait()
	if ctx.Err() == nil {
		err = context.Cause(injecting)
	}
	if err == nil && ctx.Err() == nil {
		back = r.recovered(ctx)
	}
	took = r.ledger.end()
	stop()
	clients.Wait()
	for n := range r.nodes() {
		err = errors.Join(err, n.do(n.Stop))
	}
	return took, back, errors.Join(err, r.ledger.close())
}

// inject injects faults, one after the other, each kind equally often.
func (p *place) inject(ctx context.Context) error {
	var kinds []*fault
	for _, f := range faults {
		if f.possible(p) == "" {
			kinds = append(kinds, f)
		}
	}
	duration := p.run.cfg.Duration
	rest(ctx, min(duration/20, time.Second))
	// Each kind should occur twice, without the time that servers need to start.
	longest := min(duration/time.Duration(2*len(kinds)), 5*time.Second)
	end := time.Now().Add(duration)
	for round := 0; ; round++ {
		rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, f := range kinds {
			enough := round >= p.run.cfg.Each && time.Now().After(end)
			if enough || ctx.Err() != nil {
				return nil //nolint:nilerr // the report says that the run was interrupted
			}
			if err := p.one(ctx, f, longest); err != nil {
				return err
			}
		}
	}
}

// one injects one fault.
func (p *place) one(ctx context.Context, f *fault, longest time.Duration) error {
	r := p.run
	r.cfg.Progress.Part(fmt.Sprintf("%d ids; %s: %s", r.ledger.count(), p.kind, f.name))
	began := time.Now()
	err := f.do(ctx, p, f.victim(p), longest/4+rand.N(longest/2+1))
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %s: %w", p.kind, f.name, err)
	}
	rest(ctx, longest/5)
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[occasion{f, p}]++
	r.lasts[f] += took
	return nil
}

// recovered waits until every server answers draws from all generators, and returns
// how long that took: 0 if interrupted, -1 if a server does not answer within
// dbtest.Patience.
func (r *run) recovered(ctx context.Context) time.Duration {
	r.cfg.Progress.Part("wait until all servers answer")
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, dbtest.Patience)
	defer cancel()
	var asking sync.WaitGroup
	for n := range r.nodes() {
		asking.Go(func() {
			if err := n.awaitAnswers(limited); err != nil {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.silent = append(r.silent, err.Error())
			}
		})
	}
	asking.Wait()
	switch {
	case ctx.Err() != nil: // Ctrl-C
		return 0
	case len(r.silent) > 0:
		return -1
	}
	return max(time.Since(began), 1)
}

// awaitAnswers waits until the server answers draws from all generators.
func (n *node) awaitAnswers(ctx context.Context) error {
	for _, name := range slices.Concat(n.place.strict, n.place.names) {
		for why := error(nil); ; rest(ctx, 100*time.Millisecond) {
			err := n.answers(ctx, name)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%s does not answer for %s: %w", n, name, cmp.Or(why, err))
			}
			why = err
		}
	}
	return nil
}

// answers draws once from a server.
func (n *node) answers(ctx context.Context, name string) error {
	conn, err := n.dial(ctx, postgres)
	if err != nil {
		return err
	}
	defer conn.close()
	ids, err := conn.ask(ctx, name, 1)
	if l := n.place.run.ledger; len(ids) > 0 {
		l.got(l.connection(postgres), name, ids)
	}
	return err
}
