package kinds

import (
	"context"
	"sync"
	"time"

	"nextid/generator"
)

// Batches makes one request for all draws that wait at the same time (group commit).
// The ids of a request go to the draws that were there before it began. At most one
// request runs at a time.
type Batches struct {
	Name  string // of the generator
	Clock generator.Runtime
	// Fill makes a request for draws of these numbers of ids. It returns a run for each
	// draw, in order. A draw with an empty run takes part in the next batch.
	Fill func(wants []int64) ([]generator.Range, error)

	Patience time.Duration                   // longest wait of a draw
	Late     func(ctx context.Context) error // the error after that; ctx is the draw's

	work    sync.WaitGroup
	mu      sync.Mutex
	next    *batch // waiting draws, or nil
	sending bool   // the goroutine send runs
	closed  bool
}

// batch holds the draws of one request.
type batch struct {
	wants []int64
	done  chan struct{}
	runs  []generator.Range // set before done is closed
	err   error             // set before done is closed
}

// Draw draws up to n ids.
func (b *Batches) Draw(ctx context.Context, n int64) (generator.Range, error) {
	patient, cancel := context.WithTimeout(ctx, b.Patience)
	defer cancel()
	for {
		next, place, err := b.join(n)
		if err == nil {
			if err = b.Clock.Receive(patient, next.done); err == nil {
				err = next.err
			}
		}
		if err != nil && patient.Err() != nil {
			err = b.Late(ctx)
		}
		if err != nil {
			return generator.Range{}, err
		}
		if r := next.runs[place]; r.Count > 0 {
			return r, nil
		}
	}
}

// join adds a draw to the next batch.
func (b *Batches) join(n int64) (next *batch, place int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, 0, generator.ClosedError(b.Name)
	}
	if b.next == nil {
		b.next = &batch{done: make(chan struct{})}
	}
	b.next.wants = append(b.next.wants, n)
	if !b.sending {
		b.sending = true
		b.Clock.Go(&b.work, b.send)
	}
	return b.next, len(b.next.wants) - 1, nil
}

// send sends batches, one after the other, until no draw waits.
func (b *Batches) send() {
	for {
		b.mu.Lock()
		now := b.next
		b.next = nil
		b.sending = now != nil
		b.mu.Unlock()
		if now == nil {
			return
		}
		now.runs, now.err = b.Fill(now.wants)
		close(now.done)
	}
}

// Close refuses later draws. It calls stop, and waits for the request under way.
func (b *Batches) Close(stop func()) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	stop()
	b.Clock.Join(&b.work)
}
