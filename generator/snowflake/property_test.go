package snowflake

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// names are generators of the schedules: layouts with long and short ticks,
// with the sequence at the end and in the middle, and without one.
var names = map[string]string{
	"twitter": `{}`, "random": `{"sequence_start":"random","max_ahead":0}`, "carry": `{"sequence_start":"carry","max_ahead":"200ms"}`,
	"sony": `{"layout":"sonyflake"}`, "roach": `{"layout":"cockroach"}`, "baidu": `{"layout":"baidu","epoch":"2024-01-01"}`,
	"small": `{"bits":"time 41, worker 2, sequence 1"}`, "wait": `{"on_rollback":"wait"}`, "refuse": `{"on_rollback":"refuse"}`,
	"bits": `{"layout":"rollback"}`,
}

// process is one server of a schedule.
type process struct {
	pools *worker.Pools
	kind  generator.Kind
	open  map[string]*Generator
}

// schedule holds what happens to the servers of one store.
type schedule struct {
	t         *rapid.T
	exclusive bool
	clock     *generatortest.Clock
	store     *generatortest.Faulty
	log       history.Log
	running   []*process
	clients   int
	names     []string // of the generators that are drawn from; nil: all that keep their order
	raised    int      // runs with a rollback value
}

func (s *schedule) boot() {
	p := worker.New(worker.Config{Store: s.store, Clock: s.clock, Logger: discard})
	s.running = append(s.running, &process{pools: p, kind: Kind(p, layout.Default), open: map[string]*Generator{}})
}

func (s *schedule) generator(ctx context.Context, p *process, name string) *Generator {
	if g := p.open[name]; g != nil {
		return g
	}
	o, err := p.kind.Normalize(json.RawMessage(names[name]))
	if err != nil {
		s.t.Fatal(err)
	}
	g, err := p.kind.Open(ctx, generator.Definition{Name: name, Options: o})
	if err != nil {
		return nil // a fault, or no free worker id
	}
	p.open[name] = g.(*Generator)
	return p.open[name]
}

// draw draws with one server. On an embedded store all servers follow one
// another, so that ids must grow over restarts, too.
func (s *schedule) draw(server int, p *process, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	g := s.generator(ctx, p, name)
	if g == nil {
		return
	}
	client := 0
	if !s.exclusive {
		client = server + 1
	}
	n := rapid.Int64Range(1, 6000).Draw(s.t, "n")
	for range rapid.IntRange(1, 5).Draw(s.t, "draws") {
		r, err := g.Next(ctx, n)
		if err != nil {
			return
		}
		if g.rewind != nil {
			client = int(s.log.Len()) // no order over a clock that is set back
			if _, _, bits, _ := g.Layout.Unpack(r.First); bits > 0 {
				s.raised++
			}
			if why := coveredRewound(s.store, g, r); why != "" {
				s.t.Fatal(why)
			}
		} else if why := covered(s.store, g.Layout, r); why != "" {
			s.t.Fatal(why)
		}
		s.log.Add(history.Event{Name: name, Client: client, Range: r})
	}
}

// end stops all servers, cleanly or not.
func (s *schedule) end(clean bool) {
	for _, p := range s.running {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if clean {
			for _, g := range p.open {
				g.Close(ctx)
			}
		}
		p.pools.Close(ctx) // gives nothing back while a generator is open
		cancel()
	}
	s.running = nil
}

func (s *schedule) event() {
	t := s.t
	time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(t, "sleep")) * time.Millisecond)
	switch rapid.SampledFrom([]string{"draw", "draw", "draw", "draw", "step", "freeze", "fault", "alter", "crash", "stop"}).Draw(t, "event") {
	case "step":
		s.clock.Step(time.Duration(rapid.Int64Range(-1e11, 1e11).Draw(t, "by")))
	case "freeze":
		s.clock.Freeze(rapid.Bool().Draw(t, "frozen"))
	case "fault":
		fault := rapid.SampledFrom([]generatortest.Fault{generatortest.FailBefore(nil), generatortest.FailAfter(nil), generatortest.Hang(), generatortest.HangAfter()}).Draw(t, "fault")
		op := rapid.SampledFrom([]generatortest.Op{generatortest.Reserve, generatortest.Reserve, generatortest.Reserved, generatortest.Release}).Draw(t, "operation")
		s.store.Inject(op, rapid.IntRange(1, 3).Draw(t, "calls"), fault)
	case "alter": // closed, and opened again at the next draw
		for _, p := range s.running {
			for name, g := range p.open {
				g.Close(context.Background())
				delete(p.open, name)
			}
		}
	case "crash":
		s.end(false)
	case "stop":
		s.end(true)
	default:
		if len(s.running) == 0 || (!s.exclusive && len(s.running) < 3) {
			s.boot()
			s.clients++
		}
		for i, p := range s.running {
			all := s.names
			if all == nil {
				all = []string{"twitter", "random", "carry", "sony", "roach", "baidu", "small", "wait", "refuse"}
			}
			name := rapid.SampledFrom(all).Draw(t, "name")
			s.draw(s.clients<<4|i, p, name)
		}
	}
}

// Whatever clocks, stores and servers do: no id twice, ids of a server in
// order (on an embedded store those of all servers), every id inside a slice
// that was acknowledged.
func TestNoScheduleRepeatsAnID(t *testing.T) {
	drawn := int64(0)
	generatortest.CheckInBubbles(t, func(t *rapid.T) {
		s := &schedule{t: t, exclusive: rapid.Bool().Draw(t, "embedded store"), clock: generatortest.NewClock(start)}
		s.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: s.exclusive, Clock: s.clock}))
		defer func() {
			s.store.Clear()
			s.end(false)
		}()
		for range rapid.IntRange(3, 30).Draw(t, "events") {
			s.event()
		}
		if err := s.log.Check(); err != nil {
			t.Fatal(err)
		}
		drawn += s.log.Len()
	})
	if drawn == 0 {
		t.Error("no schedule drew an id")
	}
}
