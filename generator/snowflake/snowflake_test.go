package snowflake

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

var discard = slog.New(slog.DiscardHandler)

// world is a store, a clock, and the history of all that was drawn.
type world struct {
	t     *testing.T
	clock *generatortest.Clock
	store *generatortest.Faulty
	log   history.Log
	pools []*worker.Pools
}

// inWorld runs f in a bubble of virtual time, and checks the history.
func inWorld(t *testing.T, exclusive bool, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, clock: generatortest.NewClock(start)}
		w.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: exclusive, Clock: w.clock}))
		defer func() {
			w.store.Clear()
			for _, p := range w.pools {
				p.Close(context.Background())
			}
			if err := w.log.Check(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// kind starts a server.
func (w *world) kind(change ...func(*worker.Config)) generator.Kind {
	cfg := worker.Config{Store: w.store, Clock: w.clock, Owner: "test", Logger: discard}
	for _, c := range change {
		c(&cfg)
	}
	p := worker.New(cfg)
	w.pools = append(w.pools, p)
	return Kind(p, layout.Default)
}

func static(id int64) func(*worker.Config) {
	return func(c *worker.Config) { c.Source = worker.Fixed{ID: id} }
}

// open opens the generator of a name with options.
func (w *world) open(k generator.Kind, name, options string) *Generator {
	w.t.Helper()
	g, err := k.Open(w.t.Context(), define(w.t, k, name, options))
	if err != nil {
		w.t.Fatal(err)
	}
	return g.(*Generator)
}

func define(t testing.TB, k generator.Kind, name, options string) generator.Definition {
	t.Helper()
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return generator.Definition{Name: name, Kind: KindName, Options: o}
}

// next draws a run and writes it into the history.
func (w *world) next(g *Generator, n int64) generator.Range {
	w.t.Helper()
	r, err := g.Next(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.record(g, r)
	return r
}

// record writes a run into the history, and checks that it is one the
// generator may give: inside an acknowledged slice, and no negative id.
func (w *world) record(g *Generator, r generator.Range) {
	w.t.Helper()
	w.log.Add(history.Event{Name: g.name, Range: r})
	if why := covered(w.store, g.Layout, r); why != "" {
		w.t.Error(why)
	}
}

// covered says what is wrong with a run: ids whose tick is not wholly inside
// one acknowledged reservation of their worker id.
func covered(s *generatortest.Faulty, l *layout.Layout, r generator.Range) string {
	for _, id := range []int64{r.First, r.Last()} {
		if id < 0 {
			return "negative id"
		}
		tick, id, _, _ := l.Unpack(id)
		lo, hi := l.TimeOf(tick), l.TimeOf(tick+1)
		for _, g := range s.Grants() { // in the order of their answers, so adjacent ones join
			if g.Key == key(l, id) && !lo.Before(time.UnixMilli(g.Lo)) && lo.Before(time.UnixMilli(g.Hi)) {
				lo = time.UnixMilli(g.Hi)
			}
		}
		if lo.Before(hi) {
			return "an id of " + l.TimeOf(tick).String() + " is outside every acknowledged slice of " + key(l, id)
		}
	}
	return ""
}

func key(l *layout.Layout, id int64) string {
	digits := func(n int64) string { b, _ := json.Marshal(n); return string(b) }
	return generator.WorkerKeyPrefix + digits(int64(l.WorkerBits())) + "/" + digits(id)
}

// at is the time in an id, as a distance from the start of the test.
func (w *world) at(g *Generator, id int64) time.Duration {
	w.t.Helper()
	p, err := g.Explain(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return p.Time.Sub(start)
}

func (w *world) elapsed() time.Duration { return w.clock.Monotonic() }

func wantErr(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	var e *generator.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *Error of kind %q", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("error %q does not say %q", e.Message, p)
		}
	}
}
