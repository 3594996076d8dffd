package generator

import (
	"context"
	"sync"
	"sync/atomic"
)

// Entry is the stable place of one name in a process. Plans keep pointers to
// it: it stays the same value while the generator behind it is opened,
// altered, dropped and created again, so that at most one live generator of
// a name exists in a process at any time.
type Entry struct {
	name     string
	registry *Registry

	live atomic.Pointer[live] // nil: not opened, dropped or altered

	mu sync.Mutex // serialises open, alter and drop of this name
}

// live is what the warm path needs of an open generator.
type live struct {
	gen        Generator
	try        TryGenerator // nil when gen cannot answer without waiting
	definition Definition
}

// Name returns the generator's name.
func (e *Entry) Name() string { return e.name }

// TryNext draws up to n ids without waiting; see TryGenerator.
func (e *Entry) TryNext(n int64) (Range, bool) {
	l := e.live.Load()
	if l == nil || l.try == nil {
		return Range{}, false
	}
	return l.try.TryNext(n)
}

// Next draws up to n ids, opening or creating the generator first where
// needed; see Generator.
func (e *Entry) Next(ctx context.Context, n int64) (Range, error) {
	if r, ok := e.TryNext(n); ok {
		return r, nil
	}
	for {
		l, err := e.open(ctx)
		if err != nil {
			return Range{}, err
		}
		r, err := l.gen.Next(ctx, n)
		if err != nil && e.live.Load() != l && ctx.Err() == nil {
			continue // altered or dropped meanwhile: ask its successor
		}
		return r, err
	}
}

// Definition returns the definition behind the entry, opening it if needed.
func (e *Entry) Definition(ctx context.Context) (Definition, error) {
	l, err := e.open(ctx)
	if err != nil {
		return Definition{}, err
	}
	return l.definition, nil
}

// Generator returns the running generator, opening it if needed, for the
// abilities that callers find by assertion (Raiser, Explainer, Reporter).
func (e *Entry) Generator(ctx context.Context) (Generator, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.gen, nil
}

// Running returns the generator if it is open in this process, else nil.
func (e *Entry) Running() Generator {
	if l := e.live.Load(); l != nil {
		return l.gen
	}
	return nil
}

func (e *Entry) open(ctx context.Context) (*live, error) {
	if l := e.live.Load(); l != nil {
		return l, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.live.Load(); l != nil {
		return l, nil
	}
	d, err := e.registry.load(ctx, e.name)
	if err != nil {
		return nil, err
	}
	return e.startLocked(ctx, d)
}

func (e *Entry) startLocked(ctx context.Context, d Definition) (*live, error) {
	k, err := e.registry.kind(d.Kind)
	if err != nil {
		return nil, err
	}
	if err := e.registry.checkDeclared(k, d); err != nil {
		return nil, err
	}
	if e.registry.closed.Load() {
		return nil, errClosed(e.name)
	}
	gen, err := k.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	l := &live{gen: gen, definition: d}
	l.try, _ = gen.(TryGenerator)
	e.live.Store(l)
	return l, nil
}

// stopLocked takes the generator out of service.
func (e *Entry) stopLocked(ctx context.Context) error {
	l := e.live.Swap(nil)
	if l == nil {
		return nil
	}
	if c, ok := l.gen.(Closer); ok {
		return c.Close(ctx)
	}
	return nil
}
