package shared

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"nextid/generator"
)

// Value is a text under a key, with its version in the database. Version 0 means
// that the key does not exist.
type Value struct {
	Text    string
	Version int64
}

// Swapper is a database whose only way to write is compare-and-set.
type Swapper interface {
	// Epoch is Engine.Epoch. It asks the database.
	Epoch(ctx context.Context) (string, error)

	// Load reads a row's value. The value may be out of date.
	Load(ctx context.Context, key string) (Value, error)

	// Latest reads the latest confirmed value of a row.
	Latest(ctx context.Context, key string) (Value, error)

	// Swap writes text as the row's value if its version is still was.Version.
	// Otherwise now is the present value.
	Swap(ctx context.Context, key string, was Value, text string) (now Value, swapped bool, err error)
}

// CAS implements Advance and Lower of an Engine on a Swapper. It caches the values
// that it read last, so a key that no other server moves costs one round trip. It
// grants nothing from the cache alone: every grant is a successful Swap.
type CAS struct {
	swapper Swapper

	mu    sync.Mutex
	epoch string
	seen  map[string]Value
}

const (
	casMemory   = 100_000 // values that a CAS remembers
	casParallel = 16      // swaps of one round at a time
	casTries    = 20
)

// NewCAS returns a CAS on a Swapper.
func NewCAS(s Swapper) *CAS { return &CAS{swapper: s, seen: map[string]Value{}} }

// Epoch implements Engine.
func (c *CAS) Epoch(ctx context.Context) (string, error) {
	epoch, err := c.swapper.Epoch(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		c.epoch = epoch
		clear(c.seen)
	}
	return epoch, nil
}

// Forget drops everything cached, as after a reconnection to what may be another
// database.
func (c *CAS) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = ""
	clear(c.seen)
}

// present returns the epoch, and asks for it if it is not cached.
func (c *CAS) present(ctx context.Context) (string, error) {
	c.mu.Lock()
	epoch := c.epoch
	c.mu.Unlock()
	if epoch != "" {
		return epoch, nil
	}
	return c.Epoch(ctx)
}

func (c *CAS) remember(key string, v Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= casMemory {
		clear(c.seen)
	}
	c.seen[key] = v
}

func (c *CAS) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, key)
}

func (c *CAS) known(key string) Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[key]
}

// Row implements Engine.
func (c *CAS) Row(ctx context.Context, key string) (*Row, error) {
	v, err := c.swapper.Latest(ctx, key)
	if err != nil || v.Version == 0 {
		return nil, err
	}
	return DecodeRow(key, v.Text)
}

// Advance implements Engine. The swaps of a round run concurrently; the database
// commits them together.
func (c *CAS) Advance(ctx context.Context, asks []Ask) ([]Answer, error) {
	epoch, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	answers, errs := make([]Answer, len(asks)), make([]error, len(asks))
	Parallel(len(asks), func(i int) {
		answers[i], errs[i] = c.change(ctx, asks[i].Key, func(old *Row) (Answer, *Row) { return asks[i].Decide(old, epoch) })
	})
	failed := 0
	for i, err := range errs {
		if answers[i].Err = err; err != nil {
			failed++
		}
	}
	if failed == len(asks) {
		return nil, errs[0]
	}
	return answers, nil
}

// Lower implements Engine.
func (c *CAS) Lower(ctx context.Context, r Return) error {
	_, err := c.change(ctx, r.Key, func(old *Row) (Answer, *Row) {
		if old == nil || old.Hi != r.Hi || old.Seq != r.Seq || old.Epoch != r.Epoch {
			return Answer{}, nil
		}
		row := *old
		row.Lo, row.Hi, row.Updated = min(row.Lo, r.To), r.To, r.Now
		return Answer{}, &row
	})
	return err
}

// change swaps the row of a key for the row that decide returns. If decide returns
// nil, it writes nothing.
func (c *CAS) change(ctx context.Context, key string, decide func(old *Row) (Answer, *Row)) (Answer, error) {
	was := c.known(key)
	fresh := false // a cached value may be out of date
	for try := range casTries {
		var old *Row
		if was.Version != 0 {
			var err error
			if old, err = DecodeRow(key, was.Text); err != nil {
				return Answer{}, err
			}
		}
		answer, next := decide(old)
		switch {
		case next == nil && fresh:
			return answer, nil
		case next == nil:
			var err error
			if was, err = c.swapper.Load(ctx, key); err != nil {
				return Answer{}, err
			}
			c.remember(key, was)
			fresh = true
			continue
		}
		now, swapped, err := c.swapper.Swap(ctx, key, was, EncodeRow(next))
		if err != nil {
			c.forget(key)
			return Answer{}, err
		}
		c.remember(key, now)
		if swapped {
			return answer, nil
		}
		was, fresh = now, true
		if try > 2 { // many servers change the key
			if err := pause(ctx, rand.N(time.Duration(try)*time.Millisecond)); err != nil {
				return Answer{}, err
			}
		}
	}
	return Answer{Outcome: Again}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return generator.StoreLateError(ctx)
	}
}

// Parallel calls f(0) … f(n-1), casParallel at a time, and waits for all.
func Parallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, casParallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			f(i)
			<-slots
		})
	}
	wg.Wait()
}
