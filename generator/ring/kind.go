package ring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
)

// Kind returns the plug-in. pools are the process's worker ids.
func Kind(pools *worker.Pools) generator.Kind { return kind{pools: pools} }

type kind struct {
	layout.Timed
	pools *worker.Pools
}

// Name implements generator.Kind.
func (kind) Name() string { return KindName }

// Help implements generator.Kind.
func (kind) Help() string {
	return "time-ordered ids made ahead of their use, after Baidu's cached uid-generator"
}

// Normalize implements generator.Kind.
func (kind) Normalize(raw json.RawMessage) (json.RawMessage, error) { return normalize(raw) }

// Alter implements generator.Kind.
func (kind) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	return alter(stored, change)
}

// Complete implements generator.Completer.
func (k kind) Complete(_ context.Context, d generator.Definition) (json.RawMessage, error) {
	return d.Options, layout.CheckNow(d.Options, k.pools.Wall())
}

// Open implements generator.Kind. The ring is full when it returns.
func (k kind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, l, err := read(d.Options)
	if err != nil {
		return nil, err
	}
	above, err := l.Above(ctx, k.pools.Store(), d.Name)
	if err != nil {
		return nil, err
	}
	width := worker.Width{Datacenter: l.DatacenterBits(), Worker: l.WorkerBits() - l.DatacenterBits()}
	pool, err := k.pools.Open(ctx, width, l.Unit)
	if err != nil {
		return nil, err
	}
	first := above>>l.SequenceBits() + 1
	if pool.Exclusive() {
		// Only this server uses the store: ids go on above those of its last
		// start, unless a loop of crashes has borrowed too much. They are
		// unique either way.
		end, err := k.pools.LinesEnd(ctx, d.Name)
		if err != nil {
			pool.Leave(0)
			return nil, err
		}
		if end < pool.Now()/1000+time.Duration(o.MaxBorrow).Milliseconds()/2 {
			first = max(first, tickFrom(l, end))
		}
	}
	g := newGenerator(d.Name, o, l, pool, first)
	if err := g.pad(ctx, start); err != nil && !errors.Is(err, generator.ErrExhausted) {
		if _, late := errorsAsBorrowed(err); !late {
			_ = g.Close(ctx) // the store does not answer: nothing to give back
			return nil, err
		}
	}
	g.startPadding()
	return g, nil
}

// Retire implements generator.Retirer.
func (k kind) Retire(ctx context.Context, d generator.Definition) error {
	_, l, err := read(d.Options)
	if err != nil {
		return err
	}
	end, err := k.pools.LinesEnd(ctx, d.Name)
	if err != nil {
		return err
	}
	return l.Bury(ctx, k.pools.Store(), d.Name, end)
}

func (g *Generator) fail(kind error, hint, format string, args ...any) error {
	return &generator.Error{Kind: kind, Name: g.name, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (g *Generator) errEmpty() error {
	return g.fail(generator.ErrRetry, "Try again; alter the generator to reject_take wait, or to a greater max_borrow.",
		"the ring of generator %q is empty, and its ids are %v ahead of the clock already", g.name, g.borrow)
}

func (g *Generator) errAhead(wait time.Duration) error {
	return &generator.Error{
		Kind: generator.ErrNotNow, Reason: generator.ReasonClock, Name: g.name, Hint: "Wait until then, or use a generator with another name.",
		Message: fmt.Sprintf("the ids of generator %q are ahead of the clock; it issues again in %v", g.name, wait.Round(time.Millisecond)),
	}
}
