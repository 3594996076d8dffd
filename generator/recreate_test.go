package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/counter"
	"nextid/generator/history"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// definitions hold what a name can be created as. Numbers are near one another, so
// that what can come twice soon does.
var definitions = []struct{ kind, options string }{
	{"segment", `{}`},
	{"segment", `{"step":3,"max_step":3}`},
	{"segment", `{"increment":-1,"start":50}`},
	{"segment", `{"increment":-7}`},
	{"segment", `{"start":-100,"increment":3,"step":4}`},
	{"segment", `{"start":9223372036854775700,"increment":2}`},
	{"segment", `{"start":-9223372036854775700,"increment":-3,"step":2}`},
	{"segment", `{"strict":true}`},
	{"segment", `{"scatter":{"bits":16}}`},
	{"counter", `{}`},
	{"counter", `{"start":-20,"increment":6}`},
	{"counter", `{"max":30}`},
	{"auto_random", `{"shard_bits":1,"range_bits":32}`},
	{"dated", `{}`},
	{"dated", `{"pattern":"yy","width":3,"period":"year"}`},
	{"dated", `{"pattern":"yyyyMM","width":4}`},
	{"snowflake", `{"bits":"time 41, worker 2, sequence 2","epoch":"1999-12-31"}`},
	{"snowflake", `{"bits":"time 41, sequence 2, worker 2","epoch":"1999-12-31"}`},
	{"snowflake", `{"bits":"time 33, worker 1, sequence 1","epoch":"1999-12-31","unit":"10ms"}`},
	{"snowflake", `{"bits":"time 41, worker 2, sequence 2","epoch":"1999-12-31","strict":true}`},
	{"snowflake", `{"bits":"time 38, worker 2, rollback 2, sequence 2","epoch":"1999-12-31","on_rollback":"bits"}`},
	{"ring", `{"bits":"time 30, worker 2, sequence 2","epoch":"1999-12-31","unit":"100ms","max_borrow":"4s"}`},
}

// changesOf hold what alter_generator may be asked for, of any kind.
var changesOf = []string{
	`{"increment":5}`, `{"increment":-2}`, `{"increment":1,"offset":3}`, `{"step":7}`, `{"strict":true}`, `{"strict":false}`, `{"max":40}`, `{"max":null}`, `{"width":7}`,
	`{"time_zone":"Asia/Tokyo"}`, `{"start":0}`, `{"max_borrow":"2s"}`, `{"sequence_start":"carry"}`, `{"on_rollback":"wait"}`, `{"bits":"time 41, worker 3, sequence 1"}`,
}

// nameUnderTest is one name and all that happens to it, on a server that is stopped,
// killed and started again.
type nameUnderTest struct {
	t        *testing.T
	rand     *rand.Rand
	store    generator.Store
	pools    *worker.Pools
	registry *generator.Registry
	log      history.Log
	client   int // another one whenever the order of the ids may begin anew
	last     int64
	does     []string
	killed   []*generator.Registry
}

func (l *nameUnderTest) boot() {
	quiet := slog.New(slog.DiscardHandler)
	clock := generator.SystemClock{}
	l.pools = worker.New(worker.Config{Store: l.store, Slice: 2 * time.Second, Logger: quiet})
	numbers := segment.Kind(l.store, clock, "test")
	kinds := append(code.WrapAll(l.store, numbers, counter.Kind(l.store, clock, "test"), segment.AutoRandom(l.store, numbers),
		snowflake.Kind(l.pools, "twitter"), ring.Kind(l.pools)), counter.Dated(l.store, clock, "test"))
	var err error
	if l.registry, err = generator.NewRegistry(generator.Config{Store: l.store, Kinds: kinds}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *nameUnderTest) shutdown() {
	if err := errors.Join(l.registry.Close(context.Background()), l.pools.Close(context.Background())); err != nil {
		l.t.Error(err)
	}
}

func (l *nameUnderTest) did(format string, args ...any) {
	l.does = append(l.does, fmt.Sprintf(format, args...))
}

func (l *nameUnderTest) draw() {
	e, err := l.registry.Existing(l.t.Context(), "orders")
	if err != nil {
		return
	}
	d, err := e.Definition(l.t.Context())
	ordered := err == nil && d.Kind != "auto_random" && !strings.Contains(string(d.Options), "scatter")
	for range 1 + l.rand.IntN(6) {
		if !ordered {
			l.client++
		}
		r, err := e.Next(l.t.Context(), 1+l.rand.Int64N(9))
		if err != nil {
			l.did("%v", err)
			return
		}
		l.did("%d by %d, %d of them", r.First, r.Step, r.Count)
		l.log.Add(history.Event{Name: "orders", Client: l.client, Range: r})
		l.last = r.Last()
	}
}

func (l *nameUnderTest) event() {
	ctx := l.t.Context()
	time.Sleep(time.Duration(l.rand.Int64N(int64(time.Second))))
	switch l.rand.IntN(12) {
	case 0:
		l.did("drop: %v", l.registry.Drop(ctx, "orders"))
		l.client++
	case 1, 2:
		d := definitions[l.rand.IntN(len(definitions))]
		l.did("create %v: %v", d, l.registry.Create(ctx, "orders", d.kind, json.RawMessage(d.options)))
	case 3:
		change := changesOf[l.rand.IntN(len(changesOf))]
		l.did("alter %s: %v", change, l.registry.Alter(ctx, "orders", json.RawMessage(change)))
		l.client++
	case 4:
		e, err := l.registry.Existing(ctx, "orders")
		if err != nil {
			return
		}
		g, err := e.Generator(ctx)
		if r, ok := g.(generator.Raiser); ok && err == nil {
			v := l.last + l.rand.Int64N(40) - 10
			if v < l.last-10 { // at the end of int64
				v = l.last
			}
			used := l.rand.IntN(2) == 0
			l.did("setval %d %v: %v", v, used, r.Raise(ctx, v, used))
		}
	case 5:
		l.did("killed")
		l.pools.Close(ctx) // ends its goroutines; nothing of generators that run is given back
		l.killed = append(l.killed, l.registry)
		l.boot()
		l.client++
	case 6:
		l.did("stopped")
		l.shutdown()
		l.boot()
		l.client++
	default:
		l.draw()
	}
}

// Whatever a name is made to be, one after the other, and however it is
// changed, moved, dropped and made again: no number comes twice under it.
func TestANameThroughAllItsLives(t *testing.T) {
	seeds := 3000
	if testing.Short() {
		seeds = 300
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			l := &nameUnderTest{t: t, rand: rand.New(rand.NewPCG(uint64(seed), 1)), store: memory.New(memory.Config{Exclusive: seed%3 > 0})}
			l.boot()
			first := definitions[l.rand.IntN(len(definitions))]
			l.did("create %v: %v", first, l.registry.Create(t.Context(), "orders", first.kind, json.RawMessage(first.options)))
			for range 30 {
				l.event()
			}
			l.shutdown()
			for _, r := range l.killed { // their goroutines
				_ = r.Close(context.Background())
			}
			if err := l.log.Check(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
				for _, what := range l.does {
					t.Log(what)
				}
			}
		})
		if t.Failed() {
			return
		}
	}
}
