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
	"sync"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures a run.
type Config struct {
	load.Setup
	Nodes        int      // servers of each store
	Clients      int      // of all stores together
	Stores       []string // URLs, or names of Stores and Clusters, which Run starts
	StoreRestart string   // shell command that restarts a store given by its URL
	Duration     time.Duration
	Each         int           // least number of each fault; may make the run longer than Duration
	Pause        time.Duration // between two draws of a client
	Log          string        // file for the log of ids; "": it is kept only if an error was found
}

// ErrBroken is returned by Run, with its report, if an id was given twice or out of
// order, a server did not answer at the end, or its use of a resource grew.
var ErrBroken = errors.New("the servers broke a guarantee")

// run is the state of one Run.
type run struct {
	*load.Stage
	cfg        Config
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
func Run(ctx context.Context, cfg Config) (*report.Report, error) {
	var verdict error
	out, err := cfg.Measure(ctx, &report.Report{Title: "Torture of nextid"}, func(s *load.Stage) {
		r := &run{Stage: s, cfg: cfg, times: map[occasion]int{}, lasts: map[*fault]time.Duration{}, bad: map[string]int{}}
		r.prepare()
		var took, back time.Duration
		if err := r.Do(func(testing.TB) { took, back = r.torture() }); err != nil {
			r.Must(errors.Join(err, r.keep()))
		}
		r.Progress.Part("check")
		ids, broken := check(r.path())
		flat := r.report(took, back, ids, broken)
		switch {
		case broken != nil || back < 0 || !flat:
			verdict = errors.Join(ErrBroken, r.keep())
		case cfg.Log != "":
			r.Must(r.keep())
		}
	})
	return out, errors.Join(err, verdict)
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
func (r *run) prepare() {
	var err error
	r.dir, err = os.MkdirTemp("", "nextid-torture")
	r.Must(err)
	r.Cleanup(func() { _ = os.RemoveAll(r.dir) })
	r.namespaces = canMakeNamespaces()
	r.skewclock, r.clocks = buildSkewclock(r.Ctx, r.dir)
	for _, store := range r.cfg.Stores {
		r.newPlace(store)
	}
	for n := range r.nodes() {
		n.Begin()
	}
	for _, p := range r.places {
		p.generators()
	}
	r.ledger, err = newLedger(r.path())
	r.Must(err)
}

// torture runs clients and faults, and then waits until all servers answer. back is
// the duration of that wait, 0 after an interruption, negative if a server does not
// answer.
func (r *run) torture() (took, back time.Duration) {
	drawing, stop := context.WithCancel(r.Ctx)
	var clients, injectors sync.WaitGroup
	defer clients.Wait()
	defer stop()
	for i := range r.cfg.Clients {
		p := r.places[i%len(r.places)]
		clients.Go(func() { p.draw(drawing, i/len(r.places)) })
	}
	for _, p := range r.places {
		clients.Go(func() { p.misbehave(drawing) })
		for _, n := range p.nodes {
			if n.steady {
				clients.Go(func() { n.watch(drawing) })
			}
		}
	}
	injecting, fail := context.WithCancelCause(r.Ctx)
	defer fail(nil)
	for _, p := range r.places {
		injectors.Go(func() {
			if err := r.Do(func(testing.TB) { p.inject(injecting) }); err != nil {
				fail(err) // ends the faults of the other places
			}
		})
	}
	injectors.Wait()
	if r.Ctx.Err() == nil {
		r.Must(context.Cause(injecting))
		back = r.recovered()
	}
	took = r.ledger.end()
	stop()
	clients.Wait()
	for n := range r.nodes() {
		n.Stop()
	}
	r.Must(errors.Join(r.ledger.out.Flush(), r.ledger.file.Close()))
	return took, back
}

// inject injects faults, one after the other, each kind equally often, until the
// run's Duration is over or ctx ends.
func (p *place) inject(ctx context.Context) {
	var kinds []*fault
	for _, f := range faults {
		if f.possible(p) == "" {
			kinds = append(kinds, f)
		}
	}
	duration := p.run.cfg.Duration
	load.Rest(ctx, min(duration/20, time.Second))
	// Each kind should occur twice, without the time that servers need to start.
	longest := min(duration/time.Duration(2*len(kinds)), 5*time.Second)
	end := time.Now().Add(duration)
	for round := 0; ; round++ {
		rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, f := range kinds {
			if enough := round >= p.run.cfg.Each && time.Now().After(end); enough || ctx.Err() != nil {
				return
			}
			p.one(ctx, f, longest)
		}
	}
}

// one injects one fault.
func (p *place) one(ctx context.Context, f *fault, longest time.Duration) {
	r := p.run
	r.Progress.Part(fmt.Sprintf("%d ids; %s: %s", r.ledger.count(), p.kind, f.name))
	began := time.Now()
	err := r.Do(func(testing.TB) { f.do(ctx, p, f.victim(p), longest/4+rand.N(longest/2+1)) })
	if err != nil && ctx.Err() == nil {
		r.Fatalf("%s: %s: %w", p.kind, f.name, err)
	}
	load.Rest(ctx, longest/5)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[occasion{f, p}]++
	r.lasts[f] += time.Since(began)
}

// recovered waits until every server answers draws from all generators, and returns
// how long that took: 0 if interrupted, -1 if a server does not answer within
// dbtest.Patience.
func (r *run) recovered() time.Duration {
	r.Progress.Part("wait until all servers answer")
	began := time.Now()
	limited, cancel := context.WithTimeout(r.Ctx, dbtest.Patience)
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
	case r.Ctx.Err() != nil: // Ctrl-C
		return 0
	case len(r.silent) > 0:
		return -1
	}
	return max(time.Since(began), 1)
}
