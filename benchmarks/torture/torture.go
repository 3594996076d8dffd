package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// Config is what a run is told.
type Config struct {
	Binary       string // nextid
	Nodes        int
	Clients      int
	Store        string // a URL, or one of Stores: it is started here
	StoreRestart string // shell command that restarts a store that was given by its URL
	Duration     time.Duration
	Each         int    // every fault happens at least so often, if that takes longer
	Log          string // where the log of ids stays; "" for nowhere, unless it shows a mistake
	Progress     *report.Progress
}

// ErrBroken is what Run returns, beside its report, when an id was given
// twice or out of order, or a server did not come back.
var ErrBroken = errors.New("the servers broke a promise")

// run is one torture.
type run struct {
	cfg        Config
	rig        *rig.Rig
	dir        string
	place      *place
	nodes      []*node
	names      []string // two, and
	strict     string   // one that holds nothing in memory
	ledger     *ledger
	skewclock  string
	clocks     string // why clocks cannot be moved, "" if they can
	namespaces string // why there are none, "" if there are

	mu    sync.Mutex
	times map[*fault]int
	lasts map[*fault]time.Duration
}

// Run tortures servers. The report is not nil if any id was drawn.
func Run(ctx context.Context, cfg Config) (out *report.Report, err error) {
	r := &run{cfg: cfg, times: map[*fault]int{}, lasts: map[*fault]time.Duration{}}
	if r.dir, err = os.MkdirTemp("", "nextid-torture"); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	if r.rig, err = rig.New(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.rig.Close()) }()
	defer func() {
		for _, n := range r.nodes {
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
	if verdict != nil || back < 0 {
		return out, errors.Join(ErrBroken, r.keep())
	}
	if cfg.Log != "" {
		return out, r.keep()
	}
	return out, nil
}

// path is where the log of ids is written.
func (r *run) path() string { return filepath.Join(r.dir, "ids.log") }

// keep saves the log of ids, and what the servers said.
func (r *run) keep() error {
	to := cmp.Or(r.cfg.Log, "torture-ids.log")
	errs := []error{move(r.path(), to)}
	for _, n := range r.nodes {
		errs = append(errs, move(filepath.Join(n.dir, "stderr"), fmt.Sprintf("%s.server%d", to, n.index)))
	}
	return errors.Join(errs...)
}

func move(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// prepare starts store and servers, and makes the generators.
func (r *run) prepare(ctx context.Context) error {
	r.cfg.Progress.Part("start " + strings.SplitN(r.cfg.Store, "://", 2)[0])
	if err := r.openStore(ctx); err != nil {
		return err
	}
	r.namespaces = canMakeNamespaces(ctx)
	r.skewclock, r.clocks = buildSkewclock(ctx, r.dir)
	for i := range r.cfg.Nodes {
		n, err := r.newNode(i)
		if n != nil {
			r.nodes = append(r.nodes, n)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range r.nodes {
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	var err error
	if r.ledger, err = newLedger(r.path(), len(r.nodes)); err != nil {
		return err
	}
	return r.generators(ctx)
}

// generators makes one of each kind, of names that no run had before.
func (r *run) generators(ctx context.Context) error {
	conn, err := r.nodes[0].connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // everything was answered
	run := strconv.FormatInt(time.Now().UnixMilli(), 36)
	for _, g := range []struct{ name, kind, options string }{
		{"flakes", "snowflake", "{}"}, {"numbers", "segment", `{"step":1000}`}, {"strict", "segment", `{"strict":true}`},
	} {
		name := "torture_" + g.name + "_" + run
		if _, err := conn.Exec(ctx, "SELECT create_generator($1, $2, $3)", name, g.kind, g.options); err != nil {
			return err
		}
		r.names = append(r.names, name)
	}
	r.strict, r.names = r.names[2], r.names[:2]
	return nil
}

// torture lets the clients draw while things go wrong, and then waits until
// all servers answer again: back is how long that took, negative for never.
func (r *run) torture(ctx context.Context) (took, back time.Duration, err error) {
	drawing, stop := context.WithCancel(ctx)
	defer stop()
	var clients sync.WaitGroup
	r.ledger.begin()
	for i := range r.cfg.Clients {
		clients.Go(func() { r.draw(drawing, i) })
	}
	err = r.hurt(ctx)
	if err == nil && ctx.Err() == nil {
		back = r.recovered(ctx)
	}
	took = r.ledger.end()
	stop()
	clients.Wait()
	for _, n := range r.nodes {
		n.end(syscall.SIGTERM)
	}
	return took, back, errors.Join(err, r.ledger.close())
}

// hurt makes faults, one after the other, each kind as often as the others.
func (r *run) hurt(ctx context.Context) error {
	var kinds []*fault
	for _, f := range faults {
		if f.possible(r) == "" {
			kinds = append(kinds, f)
		}
	}
	r.cfg.Progress.Expect(r.cfg.Duration)
	rest(ctx, min(r.cfg.Duration/20, time.Second))
	// So that each kind comes twice in the time, if starting takes none.
	longest := min(r.cfg.Duration/time.Duration(2*len(kinds)), 5*time.Second)
	end := time.Now().Add(r.cfg.Duration)
	for round := 0; ; round++ {
		rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		for _, f := range kinds {
			enough := round >= r.cfg.Each && time.Now().After(end)
			if enough || r.interrupted(ctx) {
				return nil
			}
			if err := r.one(ctx, f, longest); err != nil {
				return err
			}
		}
	}
}

// interrupted reports whether Ctrl-C was pressed.
func (r *run) interrupted(ctx context.Context) bool { return ctx.Err() != nil }

// one is one fault.
func (r *run) one(ctx context.Context, f *fault, longest time.Duration) error {
	ids, _ := r.ledger.count()
	r.cfg.Progress.Part(fmt.Sprintf("%d ids; %s", ids, f.name))
	began := time.Now()
	err := f.do(ctx, r, f.victim(r), longest/4+rand.N(longest/2+1))
	if err != nil && !r.interrupted(ctx) {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	rest(ctx, longest/5)
	took := time.Since(began)
	r.cfg.Progress.Did(took)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[f]++
	r.lasts[f] += took
	return nil
}

// recovered waits until every server gives ids of every kind.
func (r *run) recovered(ctx context.Context) time.Duration {
	r.cfg.Progress.Part("wait until all servers answer")
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for i := range r.nodes {
		for _, name := range append([]string{r.strict}, r.names...) {
			for !r.answers(limited, i, name) {
				switch {
				case r.interrupted(ctx):
					return 0
				case limited.Err() != nil:
					return -1
				}
				rest(limited, 100*time.Millisecond)
			}
		}
	}
	return max(time.Since(began), 1)
}

// answers draws once from a server.
func (r *run) answers(ctx context.Context, index int, name string) bool {
	conn, err := r.nodes[index].connect(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(ctx) }() // the server may be gone again
	ids, err := ask(ctx, conn, "SELECT next_id($1)", name)
	if len(ids) > 0 {
		r.ledger.got(r.ledger.connection(), index, name, ids)
	}
	return err == nil
}

// report says what happened.
func (r *run) report(began time.Time, took, back time.Duration, ids int64, verdict error) *report.Report {
	l := r.ledger
	out := &report.Report{
		Title: "Torture of nextid", Began: began, Took: took.Seconds(), Machine: report.ThisMachine(), Versions: []string{r.place.name},
		Settings: []string{fmt.Sprintf("%d servers, %d clients, faults for %v", len(r.nodes), r.cfg.Clients, r.cfg.Duration)},
	}
	found := "none"
	if verdict != nil {
		found = "FOUND"
		out.Notes = append(out.Notes, strings.Split(verdict.Error(), "\n")...)
	}
	again := "not asked"
	switch {
	case back < 0:
		again = "no"
	case back > 0:
		again = "yes, after " + back.Round(10*time.Millisecond).String()
	}
	out.Sections = append(out.Sections, report.Section{
		Title: "Verdict",
		Table: report.Table{First: "", Columns: []report.Column{{Name: ""}}, Rows: []report.Row{
			row("ids given twice or out of order", report.Text(found)),
			row("ids in the log, all checked", report.Number(float64(ids))),
			row("ids a second", report.Number(float64(ids)/took.Seconds())),
			row("connections", report.Number(float64(l.clients))),
			row("longest time in which no server answered", report.Text(fmt.Sprintf("%v, %v after the beginning",
				l.gap.Round(time.Millisecond), l.gapAt.Sub(l.began).Round(100*time.Millisecond)))),
			row("all servers answer at the end", report.Text(again)),
		}},
	})
	survived := report.Section{
		Title: "Faults survived", Table: report.Table{First: "fault", Columns: []report.Column{{Name: "times"}, {Name: "seconds in all"}}},
	}
	for _, f := range faults {
		if n := r.times[f]; n > 0 {
			survived.Table.Rows = append(survived.Table.Rows,
				row(f.name, report.Number(float64(n)), report.Number(r.lasts[f].Seconds())))
		} else if why := f.possible(r); why != "" {
			out.Notes = append(out.Notes, "left out: "+f.name+": "+why)
		}
	}
	out.Sections = append(out.Sections, survived)
	if len(l.refusals) > 0 {
		s := report.Section{Title: "What clients were told instead of an id", Table: report.Table{First: "SQLSTATE", Columns: []report.Column{{Name: "times"}}}}
		for _, what := range slices.Sorted(maps.Keys(l.refusals)) {
			s.Table.Rows = append(s.Table.Rows, row(what, report.Number(float64(l.refusals[what]))))
		}
		out.Sections = append(out.Sections, s)
	}
	return out
}

func row(name string, cells ...report.Cell) report.Row { return report.Row{Name: name, Cells: cells} }
