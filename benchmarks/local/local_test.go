// Package local measures id generators in one process, without a server: nextid's
// and those of other Go libraries.
//
//	go test -bench . -cpu 1,2 ./benchmarks/local
package local

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	bwmarrin "github.com/bwmarrin/snowflake"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/sony/sonyflake/v2"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/uuid"
	"nextid/generator/worker"
)

// draw makes one or more ids and returns their number.
type draw func() (ids int64, err error)

// contenders lists the generators by kind, in the order of the report. Those of one
// kind do the same work. Layouts with 12 bits of sequence allow only 4096 ids per
// millisecond, 244 ns each. Wide layouts do not exhaust their tick: that of batches
// allows 15 ps an id, and lasts for two years.
var contenders = []struct {
	kind, name string
	set        func(tb testing.TB) draw
}{
	{"snowflake", "nextid snowflake", numbers(1, "snowflake", `{}`)},
	{"snowflake", "bwmarrin/snowflake", bwmarrinWith(10, 12)},
	{"snowflake", "sony/sonyflake v2", func(tb testing.TB) draw { // 256 ids in 10 ms
		s, err := sonyflake.New(sonyflake.Settings{
			StartTime: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), MachineID: func() (int, error) { return 1, nil },
		})
		must(tb, err)
		return func() (int64, error) { _, err := s.NextID(); return 1, err }
	}},

	{"snowflake, wide sequence", "nextid snowflake", numbers(1, "snowflake", `{"bits":"time 41, worker 1, sequence 21"}`)},
	{"snowflake, wide sequence", "nextid snowflake, sequence_start random", numbers(1, "snowflake", `{"bits":"time 41, worker 1, sequence 21","sequence_start":"random"}`)},
	{"snowflake, wide sequence", "bwmarrin/snowflake", bwmarrinWith(1, 21)},

	{"number", "nextid segment", numbers(1, "segment", `{"step":1000000,"max_step":10000000}`)},
	{"number", "nextid segment, scattered", numbers(1, "segment", `{"step":1000000,"max_step":10000000,"scatter":true}`)},

	{"batch of 1000", "nextid snowflake", numbers(1000, "snowflake", `{"bits":"time 36, worker 1, sequence 26","epoch":"`+time.Now().UTC().Format("2006-01-02")+`"}`)},
	{"batch of 1000", "nextid segment", numbers(1000, "segment", `{"step":10000000,"max_step":100000000}`)},

	{"UUID 4", "nextid uuid, version 4", uuids((*uuid.Source).V4)},
	{"UUID 4", "google/uuid v4", googleWith(google.NewRandom, false)},
	{"UUID 4", "google/uuid v4, pool", googleWith(google.NewRandom, true)},

	{"UUID 7", "nextid uuid, version 7", uuids((*uuid.Source).V7)},
	{"UUID 7", "google/uuid v7", googleWith(google.NewV7, false)},
	{"UUID 7", "google/uuid v7, pool", googleWith(google.NewV7, true)},

	{"ULID", "nextid ulid", texts("ulid")},
	{"ULID", "oklog/ulid Make", text(func() string { return ulid.Make().String() })},

	{"XID", "nextid xid", texts("xid")},
	{"XID", "rs/xid", text(func() string { return xid.New().String() })},
}

// BenchmarkGenerators draws with one goroutine for each processor (-cpu). Its figure
// is the time per id of all goroutines together.
func BenchmarkGenerators(b *testing.B) {
	for _, c := range contenders {
		b.Run(c.kind+"/"+c.name, func(b *testing.B) {
			draw := c.set(b)
			var all atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				ids := int64(0)
				for pb.Next() {
					n, err := draw()
					if err != nil {
						b.Error(err)
						return
					}
					ids += n
				}
				all.Add(ids)
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(all.Load()), "ns/id")
		})
	}
}

// TestContendersDraw draws from each contender.
func TestContendersDraw(t *testing.T) {
	for _, c := range contenders {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			draw := c.set(t)
			for range 10 {
				if n, err := draw(); err != nil || n < 1 {
					t.Fatal(n, err)
				}
			}
		})
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// open opens a nextid generator on a store in memory.
func open(tb testing.TB, kind, options string) generator.Generator {
	tb.Helper()
	ctx := context.Background()
	store := memory.New(memory.Config{Exclusive: true})
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	clock := generator.SystemClock{}
	kinds := append(
		code.WrapAll(store, snowflake.Kind(pools, "twitter"), segment.Kind(store, clock, "benchmark")),
		uuid.Kinds(clock)...,
	)
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: kinds})
	must(tb, err)
	tb.Cleanup(func() { must(tb, errors.Join(registry.Close(ctx), pools.Close(ctx), store.Close())) })
	must(tb, registry.Create(ctx, "bench", kind, json.RawMessage(options)))
	e, err := registry.Get(ctx, "bench")
	must(tb, err)
	g, err := e.Generator(ctx)
	must(tb, err)
	return g
}

// numbers returns a nextid generator of which each call draws n ids.
func numbers(n int64, kind, options string) func(testing.TB) draw {
	return func(tb testing.TB) draw {
		g := open(tb, kind, options).(generator.TryGenerator)
		return func() (int64, error) {
			r, ok := g.TryNext(n)
			if ok {
				return r.Count, nil
			}
			r, err := g.Next(context.Background(), n)
			return r.Count, err
		}
	}
}

// texts returns a nextid generator of texts.
func texts(kind string) func(testing.TB) draw {
	return func(tb testing.TB) draw {
		g := open(tb, kind, `{}`).(generator.CodeGenerator)
		return func() (int64, error) { _, err := g.NextCode(context.Background()); return 1, err }
	}
}

// text returns a draw that makes an id as a text. It uses the text: otherwise the
// compiler would not allocate it.
func text(call func() string) func(testing.TB) draw {
	return func(testing.TB) draw {
		return func() (int64, error) {
			if call() == "" {
				return 0, errors.New("no text")
			}
			return 1, nil
		}
	}
}

func uuids(version func(*uuid.Source) uuid.UUID) func(testing.TB) draw {
	return func(testing.TB) draw {
		s := uuid.NewSource(generator.SystemClock{})
		return func() (int64, error) { _ = version(s); return 1, nil }
	}
}

// bwmarrinWith sets the library's numbers of bits. They are package variables, which
// NewNode reads.
func bwmarrinWith(node, step uint8) func(testing.TB) draw {
	return func(tb testing.TB) draw {
		oldNode, oldStep := bwmarrin.NodeBits, bwmarrin.StepBits
		bwmarrin.NodeBits, bwmarrin.StepBits = node, step
		n, err := bwmarrin.NewNode(1)
		bwmarrin.NodeBits, bwmarrin.StepBits = oldNode, oldStep
		must(tb, err)
		return func() (int64, error) { _ = n.Generate(); return 1, nil }
	}
}

// googleWith sets whether the library takes random bytes from a pool. That is a
// setting of the process.
func googleWith(call func() (google.UUID, error), pool bool) func(testing.TB) draw {
	return func(tb testing.TB) draw {
		if pool {
			google.EnableRandPool()
			tb.Cleanup(google.DisableRandPool)
		}
		return func() (int64, error) { _, err := call(); return 1, err }
	}
}
