// Package torture injects faults while many clients draw ids from nextid servers
// over both SQL protocols. Several servers use one store. The faults hit the
// servers, their clocks, their connections and the stores. Bad clients misuse the
// servers meanwhile.
//
// A ledger logs every id that a client got. At the end of the run the log is
// checked: no id may occur twice, and the ids of each connection must be in order.
// One server of each store is never killed, and its use of resources must not grow.
//
// Run owns all servers and stops them. A place has one goroutine for its faults and
// one for its bad clients. Each client has a goroutine of its own.
package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Config configures a run.
type Config struct {
	load.Setup
	Nodes    int      // servers of each store
	Clients  int      // of all stores together
	Stores   []string // names of Stores and Clusters, which Run starts
	Duration time.Duration
	Each     int           // least number of each fault; may make the run longer than Duration
	Pause    time.Duration // between two draws of a client
	Log      string        // file for the log of ids; "": it is kept only if an error was found
}

// ErrBroken is returned by Run, with its report, if an id was given twice or out of
// order, a server did not answer at the end, or its use of a resource grew.
var ErrBroken = errors.New("the servers broke a guarantee")

// run is the state of one Run.
type run struct {
	*load.Stage
	cfg       Config
	places    []*place
	nodes     []*node // of all places
	ledger    *ledger
	skewclock string // path of the tool, see buildSkewclock
	clocks    string // why clocks cannot be moved, "" if they can

	mu     sync.Mutex
	bad    map[string]int // number of bad clients by name
	silent []string       // servers that ended by themselves or did not answer at the end, and why
}

// Run starts stores, servers and clients, and injects faults. The report is not nil
// if ids were checked.
func Run(ctx context.Context, cfg Config) (*report.Report, error) {
	var verdict error
	out, err := cfg.Measure(ctx, &report.Report{Title: "Torture of nextid"}, func(s *load.Stage) {
		r := &run{Stage: s, cfg: cfg, bad: map[string]int{}}
		r.skewclock, r.clocks = r.buildSkewclock()
		for _, store := range cfg.Stores {
			r.newPlace(store)
		}
		var err error
		r.ledger, err = newLedger(cfg.Log)
		r.Must(err)
		var took, back time.Duration
		if err := r.Do(func(testing.TB) { took, back = r.torture() }); err != nil {
			r.Must(errors.Join(err, r.keep()))
		}
		r.Progress.Print("check")
		broken := r.ledger.history.Check() // no id twice, and the ids of each connection in order
		flat := r.report(took, back, broken)
		switch {
		case broken != nil || len(r.silent) > 0 || !flat:
			verdict = errors.Join(fmt.Errorf("%w: see %s", ErrBroken, r.ledger.file.Name()), r.keep())
		case cfg.Log != "":
			r.Must(r.keep())
		default:
			r.Must(os.Remove(r.ledger.file.Name()))
		}
	})
	return out, errors.Join(err, verdict)
}

// keep writes the rest of the log of ids, and the logs of the servers beside it.
func (r *run) keep() error {
	err := r.ledger.out.Flush()
	for _, n := range r.nodes {
		err = errors.Join(err, os.WriteFile(r.ledger.file.Name()+"."+n.String(), []byte(n.Log()), 0o600))
	}
	return err
}

// torture runs clients and faults, and then waits until all servers answer. back is
// the duration of that wait, 0 after an interruption, negative if a server does not
// answer.
func (r *run) torture() (took, back time.Duration) {
	drawing, stop := context.WithCancel(r.Ctx)
	var clients sync.WaitGroup
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
	injectors, injecting := errgroup.WithContext(r.Ctx) // an error ends the faults of all places
	for _, p := range r.places {
		injectors.Go(func() error { return r.Do(func(testing.TB) { p.inject(injecting) }) })
	}
	if err := injectors.Wait(); r.Ctx.Err() == nil {
		r.Must(err)
		back = r.recovered()
	}
	took = r.ledger.end()
	stop()
	clients.Wait()
	for _, n := range r.nodes {
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

// one injects one fault. Between faults, all servers run.
func (p *place) one(ctx context.Context, f *fault, longest time.Duration) {
	r := p.run
	for _, n := range p.nodes {
		if !n.Running() {
			r.fails(fmt.Sprintf("%s has ended by itself, before: %s", n, f.name))
			n.Start()
		}
	}
	r.Progress.Printf("%d ids; %s: %s", r.ledger.count(), p.kind, f.name)
	began := time.Now()
	err := r.Do(func(testing.TB) { f.do(ctx, p, f.victim(p), longest/4+rand.N(longest/2+1)) })
	if err != nil && ctx.Err() == nil {
		r.Fatalf("%s: %s: %w", p.kind, f.name, err)
	}
	load.Rest(ctx, longest/5)
	p.times[f]++
	p.lasts[f] += time.Since(began)
}

// fails notes that a server has ended or does not answer.
func (r *run) fails(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent = append(r.silent, what)
}

// recovered waits until every server answers draws from all generators, and returns
// how long that took: 0 if interrupted, -1 if a server does not answer within
// dbtest.Patience, or has ended by itself.
func (r *run) recovered() time.Duration {
	r.Progress.Print("wait until all servers answer")
	began := time.Now()
	limited, cancel := context.WithTimeout(r.Ctx, dbtest.Patience)
	defer cancel()
	var asking sync.WaitGroup
	for _, n := range r.nodes {
		asking.Go(func() {
			if err := n.awaitAnswers(limited); err != nil && r.Ctx.Err() == nil {
				r.fails(err.Error())
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
