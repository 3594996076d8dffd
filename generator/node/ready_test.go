package node

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/memory"
)

// probed is a store whose database can be away.
type probed struct {
	generator.Store
	err error
}

func (p *probed) Probe() error { return p.err }

// lasting is a generator that lasts for a while without the store.
type lasting time.Duration

// Those that ask the store for every id, and those whose time is over.
const (
	direct lasting = -1
	over   lasting = -2
)

// WorkerID implements generator.WorkerIDHolder.
func (lasting) WorkerID() (datacenter, worker int64) { return 0, 0 }

func (lasting) Next(context.Context, int64) (generator.Range, error) {
	return generator.Range{First: 1, Step: 1, Count: 1}, nil
}

func (l lasting) Stats() generator.Stats {
	return generator.Stats{Lasts: max(time.Duration(l), 0), Direct: l == direct, Ended: l == over}
}

// opener is a kind without options, whose generators it makes.
type opener func() generator.Generator

func (opener) Name() string { return "test" }

func (opener) Normalize(json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{}"), nil }

func (opener) Alter(stored, _ json.RawMessage) (json.RawMessage, error) { return stored, nil }

func (o opener) Open(context.Context, generator.Definition) (generator.Generator, error) {
	return o(), nil
}

func TestCheck(t *testing.T) {
	away := errors.New("the store is away")
	now := time.Now()
	since := func(d time.Duration) error { return &generator.StoreDown{Since: now.Add(-d), Err: away} }
	for name, c := range map[string]struct {
		err   error
		lasts []time.Duration
		want  string // part of the answer, "" for ready
	}{
		"the store answers":           {nil, []time.Duration{0}, ""},
		"nothing in use":              {away, nil, "nothing is reserved"},
		"enough is reserved":          {away, []time.Duration{time.Hour, 16 * time.Second}, ""},
		"little is left of one":       {away, []time.Duration{time.Hour, 15 * time.Second}, "lasts for 15s, and the store is away"},
		"nothing is left of one":      {away, []time.Duration{time.Hour, 0}, "is used up, and the store is away"},
		"the store answers, idle too": {nil, nil, ""},
		"a counter beside others":     {since(time.Minute), []time.Duration{time.Hour, time.Duration(direct)}, ""},
		"only counters, for a moment": {since(time.Second), []time.Duration{time.Duration(direct)}, ""},
		"only counters":               {since(time.Minute), []time.Duration{time.Duration(direct)}, "nothing is reserved"},
		"the time is over":            {nil, []time.Duration{time.Duration(over), time.Duration(over)}, "nextid repair"},
		"the time of one is over":     {nil, []time.Duration{time.Duration(over), time.Hour}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store := &probed{memory.New(memory.Config{}), c.err}
			next := 0
			registry, err := generator.NewRegistry(generator.Config{
				Store: store, AutoCreate: "test",
				Kinds: []generator.Kind{opener(func() generator.Generator {
					next++
					return lasting(c.lasts[next-1])
				})},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.lasts {
				e, err := registry.Get(t.Context(), "name"+string(rune('a'+i)))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := e.Next(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
			switch err := Ready(store, registry, ReadyMargin(time.Minute), now); {
			case c.want == "" && err != nil:
				t.Errorf("not ready: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if m := ReadyMargin(8 * time.Second); m != 2*time.Second {
		t.Errorf("the margin of a slice of 8 s is %v", m)
	}
}
