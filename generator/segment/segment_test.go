package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world is a store, a clock, and the history of all that was drawn.
type world struct {
	t      *testing.T
	clock  *generatortest.Clock
	store  *generatortest.Faulty
	kind   generator.Kind
	log    history.Log
	opened []*Generator
}

// inWorld runs f in a bubble of virtual time, and checks the history.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, clock: generatortest.NewClock(start)}
		w.store = generatortest.NewFaulty(memory.New(memory.Config{Clock: w.clock}))
		w.kind = Kind(w.store, w.clock, "test")
		defer func() {
			w.store.Clear()
			for _, g := range w.opened {
				g.Close(context.Background())
			}
			if err := w.log.Check(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// open opens a generator of the name orders with options.
func (w *world) open(options string) *Generator {
	w.t.Helper()
	return w.reopen(define(w.t, w.kind, options))
}

func (w *world) reopen(d generator.Definition) *Generator {
	w.t.Helper()
	g, err := w.kind.Open(w.t.Context(), d)
	if err != nil {
		w.t.Fatal(err)
	}
	w.opened = append(w.opened, g.(*Generator))
	return g.(*Generator)
}

func define(t testing.TB, k generator.Kind, options string) generator.Definition {
	t.Helper()
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return generator.Definition{Name: "orders", Kind: KindName, Options: o}
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

// draw draws exactly n ids and returns them.
func (w *world) draw(g *Generator, n int64) (ids []int64) {
	w.t.Helper()
	for int64(len(ids)) < n {
		r := w.next(g, n-int64(len(ids)))
		for i := range r.Count {
			ids = append(ids, r.First+i*r.Step)
		}
	}
	return ids
}

// record writes a run into the history, and checks that it lies in one
// acknowledged reservation.
func (w *world) record(g *Generator, r generator.Range) {
	w.t.Helper()
	w.log.Add(history.Event{Name: g.name, Range: r})
	if why := covered(w.store, g, r); why != "" {
		w.t.Error(why)
	}
}

func covered(s *generatortest.Faulty, g *Generator, r generator.Range) string {
	from, to := g.position(r.First), g.position(r.Last())
	for _, grant := range s.Grants() {
		if grant.Lo <= from && to < grant.Hi {
			return ""
		}
	}
	return fmt.Sprintf("the run %+v is in no acknowledged reservation: %+v", r, s.Grants())
}

// hi is the end of the name's line in the store.
func (w *world) hi() int64 {
	w.t.Helper()
	marks, err := w.store.Reserved(w.t.Context(), generator.NameKey("orders"))
	if err != nil || len(marks) != 1 {
		w.t.Fatalf("marks %+v, %v", marks, err)
	}
	return marks[0].Hi
}

// other reserves n numbers as another server would.
func (w *world) other(n int64) {
	w.t.Helper()
	_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: generator.NameKey("orders"), N: n, Limit: generator.NoLimit})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close(g *Generator) {
	w.t.Helper()
	if err := g.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func wantIDs(t *testing.T, got []int64, want ...int64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("ids %v, want %v", got, want)
	}
}

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
