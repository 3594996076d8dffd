package snowflake

import (
	"context"
	"encoding/json"
	"sync"

	"nextid/generator"
	"nextid/generator/kinds"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// KindName is the name of the kind.
const KindName = "snowflake"

// Kind returns the snowflake kind. pools holds the worker ids of the process.
// defaultLayout is the layout of generators whose options name none.
func Kind(pools *worker.Pools, defaultLayout string) generator.Kind {
	return &kind{kinds.Base[Options]{
		Called: KindName, About: "time, worker id and sequence, after Twitter's Snowflake", Title: "a snowflake generator", Hint: hint,
		Defaults: Options{Pinned: layout.Unpinned, MaxAhead: generator.Duration(defaultMaxAhead)},
		Fill:     func(o *Options) error { return o.fill(defaultLayout) }, Check: (*Options).check, Keep: keep,
	}, layout.Timed{Wall: pools.Wall}, pools, sync.Mutex{}, map[string]*timing{}}
}

type kind struct {
	kinds.Base[Options]
	layout.Timed
	pools *worker.Pools

	mu      sync.Mutex
	timings map[string]*timing // by stored options; guarded by mu
}

func (k *kind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, above, err := layout.Open(ctx, k.Base, k.pools.Store(), d)
	if err != nil {
		return nil, err
	}
	if o.Strict {
		time, err := k.pools.Strict(ctx, Width(l), l.Unit, l.Epoch)
		if err != nil {
			return nil, err
		}
		return newStrict(newGenerator(d.Name, newTiming(o, l, nil), time.UsedUntil(), above), time), nil
	}
	pool, err := k.pools.Open(ctx, Width(l), l.Unit)
	if err != nil {
		return nil, err
	}
	g := newGenerator(d.Name, k.timing(d.Options, o, l, pool), pool.UsedUntil(), above)
	if o.OnRollback == Bits {
		g.rewind = newRewind(g, above, k.pools.Slice())
	}
	return g, nil
}

// maxTimings is the number of cached timings. Few different options are in use at a
// time.
const maxTimings = 64

// timing returns the timing of stored options. o and l are those options, decoded.
func (k *kind) timing(stored json.RawMessage, o Options, l *layout.Layout, pool *worker.Pool) *timing {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.timings[string(stored)]; t != nil && t.pool == pool {
		return t
	}
	if len(k.timings) >= maxTimings {
		clear(k.timings)
	}
	t := newTiming(o, l, pool)
	k.timings[string(stored)] = t
	return t
}

// Retire implements generator.Retirer. The ids of the name, of any server, lie
// inside slices of the layout's width. So it moves the key above the end of those.
func (k *kind) Retire(ctx context.Context, d generator.Definition) error {
	l, err := layout.Stored(d.Options)
	if err != nil {
		return err
	}
	end, err := k.pools.IssuedUntil(ctx, Width(l), d.Created)
	if err != nil {
		return err
	}
	return Retire(ctx, k.pools, d, end)
}

// Retire implements generator.Retirer for a kind whose ids lie before end (Unix ms), or on
// the lines of the name: those of a ring, or of times when a clock was set back.
func Retire(ctx context.Context, pools *worker.Pools, d generator.Definition, end int64) error {
	l, err := layout.Stored(d.Options)
	if err != nil {
		return err
	}
	lines, err := pools.LinesEnd(ctx, d.Name)
	if err != nil {
		return err
	}
	return l.Bury(ctx, pools.Store(), d.Name, max(end, lines))
}
