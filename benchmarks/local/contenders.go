package local

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
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

// Contenders are all of them: by kind, ours first.
func Contenders() []Contender {
	const wide = `{"bits":"time 41, worker 1, sequence 21"}`
	return []Contender{
		limited(numbers("nextid snowflake", Snowflake, 1, "snowflake", `{}`, "4096 ids a millisecond by its layout")),
		{Name: "bwmarrin/snowflake", Kind: Snowflake, Least: limitedLength, Note: "4096 ids a millisecond by its layout", New: newBwmarrin(10, 12)},
		{Name: "sony/sonyflake v2", Kind: Snowflake, Least: limitedLength, Note: "256 ids in 10 ms by its layout", New: newSonyflake},

		numbers("nextid snowflake", WideSnowflake, 1, "snowflake", wide, "exact clock"),
		numbers("nextid snowflake, sequence_start random", WideSnowflake, 1, "snowflake", `{"bits":"time 41, worker 1, sequence 21","sequence_start":"random"}`, "exact clock"),
		{Name: "bwmarrin/snowflake", Kind: WideSnowflake, Note: "exact clock", New: newBwmarrin(1, 21)},

		numbers("nextid segment", Number, 1, "segment", `{"step":1000000,"max_step":10000000}`, ""),
		numbers("nextid segment, scattered", Number, 1, "segment", `{"step":1000000,"max_step":10000000,"scatter":true}`, "a keyed permutation of 63 bits"),

		numbers("nextid snowflake", Batch, 1000, "snowflake", `{"bits":"time 39, worker 1, sequence 23"}`, "exact clock"),
		numbers("nextid segment", Batch, 1000, "segment", `{"step":10000000,"max_step":100000000}`, ""),

		uuids("nextid uuid, version 4", UUID4, (*uuid.Source).V4),
		{Name: "google/uuid v4", Kind: UUID4, New: newGoogle(google.NewRandom, false)},
		{Name: "google/uuid v4, pool", Kind: UUID4, Note: "random bytes from a pool in memory", New: newGoogle(google.NewRandom, true)},

		uuids("nextid uuid, version 7", UUID7, (*uuid.Source).V7),
		{Name: "google/uuid v7", Kind: UUID7, New: newGoogle(google.NewV7, false)},
		{Name: "google/uuid v7, pool", Kind: UUID7, Note: "random bytes from a pool in memory", New: newGoogle(google.NewV7, true)},

		texts("nextid ulid", ULID, "ulid"),
		{Name: "oklog/ulid Make", Kind: ULID, Note: "with its text", New: loopText(func() string { return ulid.Make().String() })},

		texts("nextid xid", XID, "xid"),
		{Name: "rs/xid", Kind: XID, Note: "with its text", New: loopText(func() string { return xid.New().String() })},
	}
}

// limitedLength is long beside the 5 ms that ours may be ahead of the clock, and
// the 10 ms of Sonyflake's ticks.
const limitedLength = 50 * time.Millisecond

func limited(c Contender) Contender {
	c.Least = limitedLength
	return c
}

// constructor is Contender.New.
type constructor = func(context.Context) (func(int) (int64, error), func(), error)

// loop makes a constructor of a call that makes one id.
func loop(call func() error) constructor {
	return func(context.Context) (func(int) (int64, error), func(), error) {
		return func(calls int) (int64, error) {
			for range calls {
				if err := call(); err != nil {
					return 0, err
				}
			}
			return int64(calls), nil
		}, nil, nil
	}
}

// loopText makes a constructor of a call that makes one id with its text. The
// text is returned: one that nobody can see would not even be allocated.
func loopText(call func() string) constructor {
	return loop(func() error {
		if call() == "" {
			return errNoText
		}
		return nil
	})
}

var errNoText = errors.New("no text")

// open opens a generator as a server does, on a store in memory.
func open(ctx context.Context, kind, options string) (*generator.Entry, func(), error) {
	store := memory.New(memory.Config{Exclusive: true})
	pools := worker.New(worker.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	clock := generator.SystemClock{}
	kinds := append(
		code.WrapAll(store, snowflake.Kind(pools, "twitter"), segment.Kind(store, clock, "benchmark")),
		uuid.TextKinds(clock)...,
	)
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: kinds})
	if err != nil {
		return nil, nil, err
	}
	done := func() { // what it cannot give back goes with the store
		_ = registry.Close(ctx)
		_ = pools.Close(ctx)
		_ = store.Close()
	}
	err = registry.Create(ctx, "bench", kind, json.RawMessage(options))
	var e *generator.Entry
	if err == nil {
		e, err = registry.Get(ctx, "bench")
	}
	if err == nil {
		_, err = e.Generator(ctx)
	}
	if err != nil {
		done()
	}
	return e, done, err
}

// numbers is one of our generators, n ids a call.
func numbers(name, group string, n int64, kind, options, note string) Contender {
	return Contender{Name: name, Kind: group, Ours: true, Note: note, New: func(ctx context.Context) (func(int) (int64, error), func(), error) {
		e, done, err := open(ctx, kind, options)
		if err != nil {
			return nil, nil, err
		}
		gen, err := e.Generator(ctx)
		if err != nil {
			return nil, nil, err
		}
		g := gen.(generator.TryGenerator)
		return func(calls int) (ids int64, err error) {
			for range calls {
				r, ok := g.TryNext(n)
				if !ok {
					if r, err = g.Next(ctx, n); err != nil {
						return ids, err
					}
				}
				ids += r.Count
			}
			return ids, nil
		}, done, nil
	}}
}

// uuids is one of our versions.
func uuids(name, group string, version func(*uuid.Source) uuid.UUID) Contender {
	return Contender{Name: name, Kind: group, Ours: true, New: func(context.Context) (func(int) (int64, error), func(), error) {
		s := uuid.NewSource(generator.SystemClock{})
		return func(calls int) (int64, error) {
			for range calls {
				_ = version(s)
			}
			return int64(calls), nil
		}, nil, nil
	}}
}

// texts is one of our kinds of texts.
func texts(name, group, kind string) Contender {
	return Contender{Name: name, Kind: group, Ours: true, Note: "with its text", New: func(ctx context.Context) (func(int) (int64, error), func(), error) {
		e, done, err := open(ctx, kind, `{}`)
		if err != nil {
			return nil, nil, err
		}
		g, err := e.Generator(ctx)
		if err != nil {
			return nil, nil, err
		}
		c := g.(generator.CodeGenerator)
		return func(calls int) (int64, error) {
			for range calls {
				if _, err := c.NextCode(ctx); err != nil {
					return 0, err
				}
			}
			return int64(calls), nil
		}, done, nil
	}}
}

// newBwmarrin sets the library's bits, which are package variables that
// NewNode reads.
func newBwmarrin(node, step uint8) constructor {
	return func(context.Context) (func(int) (int64, error), func(), error) {
		oldNode, oldStep := bwmarrin.NodeBits, bwmarrin.StepBits
		bwmarrin.NodeBits, bwmarrin.StepBits = node, step
		n, err := bwmarrin.NewNode(1)
		bwmarrin.NodeBits, bwmarrin.StepBits = oldNode, oldStep
		return func(calls int) (int64, error) {
			for range calls {
				_ = n.Generate()
			}
			return int64(calls), nil
		}, nil, err
	}
}

func newSonyflake(context.Context) (func(int) (int64, error), func(), error) {
	s, err := sonyflake.New(sonyflake.Settings{
		StartTime: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		MachineID: func() (int, error) { return 1, nil },
	})
	return func(calls int) (int64, error) {
		for i := range calls {
			if _, err := s.NextID(); err != nil {
				return int64(i), err
			}
		}
		return int64(calls), nil
	}, nil, err
}

// newGoogle sets whether the library draws its random bytes from a pool, which
// is one setting of the process.
func newGoogle(call func() (google.UUID, error), pool bool) constructor {
	return func(context.Context) (func(int) (int64, error), func(), error) {
		if pool {
			google.EnableRandPool()
		}
		return func(calls int) (int64, error) {
			for i := range calls {
				if _, err := call(); err != nil {
					return int64(i), err
				}
			}
			return int64(calls), nil
		}, google.DisableRandPool, nil
	}
}
