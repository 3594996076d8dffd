package kinds

import (
	"context"
	"sync"
	"time"

	"nextid/generator"
)

// Batches makes one request for all calls that wait at the same time (group commit). A
// request serves the calls that were there before it began. At most one runs at a time.
type Batches[W, R any] struct {
	Clock  generator.Runtime
	Before func()                       // waits before a request is made; nil: nothing
	Fill   func(wants []W) ([]R, error) // makes a request. It returns a result for each call, in order
	Closed error                        // of calls after Close

	work    sync.WaitGroup
	mu      sync.Mutex
	next    *batch[W, R] // waiting calls, or nil
	sending bool         // the goroutine send runs
	closed  bool
}

// batch holds the calls of one request.
type batch[W, R any] struct {
	wants   []W
	done    chan struct{}
	results []R   // set before done is closed
	err     error // set before done is closed
}

// Do adds a call to the next request, and waits for its result.
func (b *Batches[W, R]) Do(ctx context.Context, w W) (r R, err error) {
	next, place, err := b.join(w)
	if err == nil {
		if err = b.Clock.Receive(ctx, next.done); err == nil {
			err = next.err
		}
	}
	if err != nil {
		return r, err
	}
	return next.results[place], nil
}

func (b *Batches[W, R]) join(w W) (next *batch[W, R], place int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, 0, b.Closed
	}
	if b.next == nil {
		b.next = &batch[W, R]{done: make(chan struct{})}
	}
	b.next.wants = append(b.next.wants, w)
	if !b.sending {
		b.sending = true
		b.Clock.Go(&b.work, b.send)
	}
	return b.next, len(b.next.wants) - 1, nil
}

// send makes requests, one after the other, until no call waits.
func (b *Batches[W, R]) send() {
	for {
		if b.Before != nil {
			b.Before()
		}
		b.mu.Lock()
		now := b.next
		b.next = nil
		b.sending = now != nil
		b.mu.Unlock()
		if now == nil {
			return
		}
		now.results, now.err = b.Fill(now.wants)
		close(now.done)
	}
}

// Close refuses later calls. It calls stop, and waits for the request under way.
func (b *Batches[W, R]) Close(stop func()) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	stop()
	b.Clock.Join(&b.work)
}

// Draws are the Batches of a strict generator: numbers of ids, and a run for each.
type Draws = Batches[int64, generator.Range]

// Draw draws up to n ids. With an empty run the draw takes part in the next request. It
// waits at most for patience, then it returns late of ctx.
func Draw(ctx context.Context, b *Draws, n int64, patience time.Duration, late func(context.Context) error) (generator.Range, error) {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		r, err := b.Do(patient, n)
		if err != nil && patient.Err() != nil {
			err = late(ctx)
		}
		if err != nil || r.Count > 0 {
			return r, err
		}
	}
}
