package generator

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Scheduler runs the background work and the waits of generators and stores.
// Goroutines is the normal one. The simulator (generator/simulation) has its own:
// it runs the same code one step at a time, in an order that depends on a seed.
type Scheduler interface {
	// Go runs f concurrently as a part of group.
	Go(group *sync.WaitGroup, f func())

	// Join waits until every function of group has returned.
	Join(group *sync.WaitGroup)

	// Receive waits for a value or the closing of ch. If ctx ends first, it returns
	// ctx's error.
	Receive(ctx context.Context, ch <-chan struct{}) error

	// Sleep waits for d. If ctx ends first, it returns ctx's error.
	Sleep(ctx context.Context, d time.Duration) error

	// Pause sleeps for a random time between d/2 and 3d/2. Servers that failed
	// together then do not retry together.
	Pause(ctx context.Context, d time.Duration) error
}

// Runtime is a Clock with the Scheduler that waits for it.
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
