package segment

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// schedule holds what happens to the servers that share a name.
type schedule struct {
	t       *rapid.T
	store   *generatortest.Faulty
	kind    generator.Kind
	def     generator.Definition
	log     history.Log
	running map[int]*Generator
	servers int
	raised  map[int]int64 // position that a server raised to
}

func (s *schedule) boot() {
	g, err := s.kind.Open(context.Background(), s.def)
	if err != nil {
		s.t.Fatal(err)
	}
	s.servers++
	s.running[s.servers] = g.(*Generator)
}

func (s *schedule) draw(server int, g *Generator) {
	ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
	defer cancel()
	for range rapid.IntRange(1, 4).Draw(s.t, "draws") {
		r, err := g.Next(ctx, rapid.SampledFrom([]int64{1, 1, 2, 7, 100}).Draw(s.t, "n"))
		if err != nil {
			return
		}
		s.log.Add(history.Event{Name: "orders", Client: server, Range: r})
		if why := covered(s.store, g, r); why != "" {
			s.t.Fatal(why)
		}
		if to, ok := s.raised[server]; ok && g.position(r.First) <= to {
			s.t.Fatalf("server %d gave %d after it was raised to %d", server, r.First, g.direction*to)
		}
	}
}

func (s *schedule) raise(server int, g *Generator) {
	ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
	defer cancel()
	s.store.Clear()
	g.mu.Lock()
	base := max(g.end, g.first)
	g.mu.Unlock()
	to := base + rapid.Int64Range(-50, 200).Draw(s.t, "raise to")
	if err := g.Raise(ctx, g.direction*to, true); err != nil {
		return // promised nothing
	}
	if before, ok := s.raised[server]; !ok || to > before {
		s.raised[server] = to
	}
}

func (s *schedule) fault() {
	fault := rapid.SampledFrom([]generatortest.Fault{generatortest.FailBefore(nil), generatortest.FailAfter(nil), generatortest.Hang(), generatortest.HangAfter()}).Draw(s.t, "fault")
	op := rapid.SampledFrom([]generatortest.Op{generatortest.Reserve, generatortest.Reserve, generatortest.Release}).Draw(s.t, "operation")
	s.store.Inject(op, rapid.IntRange(1, 3).Draw(s.t, "calls"), fault)
}

// alter gives all servers new options, in the order of Registry.Alter.
func (s *schedule) alter() {
	change := fmt.Sprintf(`{"increment":%d,"offset":%d,"step":%d,"strict":%v}`,
		rapid.Int64Range(1, 12).Draw(s.t, "increment")*s.direction(), rapid.Int64Range(-5, 15).Draw(s.t, "offset"),
		rapid.SampledFrom([]int64{1, 3, 10}).Draw(s.t, "step"), rapid.Bool().Draw(s.t, "strict"))
	options, err := s.kind.Alter(s.def.Options, json.RawMessage(change))
	if err != nil {
		s.t.Fatal(err)
	}
	s.def.Options = options
	for id, g := range s.running {
		s.stop(id, g)
		s.boot()
	}
}

func (s *schedule) direction() int64 {
	o, err := Kind(nil, nil, "").(kind).Read(s.def.Options)
	if err != nil {
		s.t.Fatal(err)
	}
	if o.Increment < 0 {
		return -1
	}
	return 1
}

func (s *schedule) stop(id int, g *Generator) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g.Close(ctx)
	delete(s.running, id)
}

// crash ends a server without giving anything back.
func (s *schedule) crash(id int, g *Generator) {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.work.Wait()
	delete(s.running, id)
}

func (s *schedule) event() {
	time.Sleep(time.Duration(rapid.IntRange(0, 2000).Draw(s.t, "sleep")) * time.Second)
	what := rapid.SampledFrom([]string{"draw", "draw", "draw", "draw", "fault", "alter", "crash", "stop", "raise", "boot"}).Draw(s.t, "event")
	switch what {
	case "fault":
		s.fault()
		return
	case "alter":
		s.alter()
		return
	case "boot":
		if len(s.running) < 3 {
			s.boot()
		}
		return
	}
	for id := range s.servers + 1 {
		g := s.running[id]
		if g == nil {
			continue
		}
		switch what {
		case "draw":
			s.draw(id, g)
		case "crash":
			s.crash(id, g)
		case "stop":
			s.stop(id, g)
		case "raise":
			s.raise(id, g)
		}
	}
}

// Whatever stores and servers do, and however the options change: no number
// twice, those of a server in order, every one in a reservation that was
// acknowledged, and none below what the server was raised to.
func TestNoScheduleRepeatsANumber(t *testing.T) {
	generatortest.CheckInBubbles(t, func(t *rapid.T) {
		s := &schedule{t: t, running: map[int]*Generator{}, raised: map[int]int64{}}
		s.store = generatortest.NewFaulty(memory.New(memory.Config{}))
		s.kind = Kind(s.store, generatortest.NewClock(start), "test")
		options := rapid.SampledFrom([]string{
			`{"step":5,"max_step":20}`, `{"step":5,"increment":-3,"start":40}`, `{"strict":true}`,
			`{"step":10,"prefetch_at":0.5,"increment":7,"offset":2}`, `{"step":1,"max_step":1}`,
		}).Draw(t, "options")
		o, err := s.kind.Normalize(json.RawMessage(options))
		if err != nil {
			t.Fatal(err)
		}
		s.def = generator.Definition{Name: "orders", Options: o}
		defer func() {
			s.store.Clear()
			for id, g := range s.running {
				s.crash(id, g)
			}
		}()
		s.boot()
		for range rapid.IntRange(3, 40).Draw(t, "events") {
			s.event()
		}
		if err := s.log.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
