package generator

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Scheduler is the one seam through which generators and stores work in the
// background and wait. Goroutines is the usual one. That of the simulator
// (generator/simulation) runs the same code one step at a time, in an order
// that it makes from a seed.
type Scheduler interface {
	// Go runs f beside the caller, as a part of group.
	Go(group *sync.WaitGroup, f func())

	// Join waits until everything in group has returned.
	Join(group *sync.WaitGroup)

	// Receive waits for a value or the end of ch, or for the end of ctx,
	// whose error it returns then.
	Receive(ctx context.Context, ch <-chan struct{}) error

	// Sleep waits for d, or for the end of ctx, whose error it returns then.
	Sleep(ctx context.Context, d time.Duration) error

	// Pause is a Sleep for half of d to three halves: servers that failed
	// together shall not try again together.
	Pause(ctx context.Context, d time.Duration) error
}

// Runtime is time and a way to wait for it.
type Runtime interface {
	Clock
	Scheduler
}

// Goroutines is the Scheduler of the Go runtime.
type Goroutines struct{}

// Go implements Scheduler.
func (Goroutines) Go(group *sync.WaitGroup, f func()) { group.Go(f) }

// Join implements Scheduler.
func (Goroutines) Join(group *sync.WaitGroup) { group.Wait() }

// Receive implements Scheduler.
func (Goroutines) Receive(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Sleep implements Scheduler.
func (Goroutines) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pause implements Scheduler.
func (g Goroutines) Pause(ctx context.Context, d time.Duration) error {
	return g.Sleep(ctx, d/2+rand.N(max(d, 1)))
}
