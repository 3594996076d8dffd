package shared

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"nextid/generator"
)

// Value is a text under a key, and its version in the database. Version 0
// stands for a key that does not exist.
type Value struct {
	Text    string
	Version int64
}

// Swapper is a database whose one way to write is to compare and set.
type Swapper interface {
	// Epoch is as in Engine. It asks the database.
	Epoch(ctx context.Context) (string, error)

	// Load reads a row's value. It may be an older one.
	Load(ctx context.Context, key string) (Value, error)

	// Latest is Load, but of what was confirmed last.
	Latest(ctx context.Context, key string) (Value, error)

	// Swap writes text as the row's value if that still has was.Version. If
	// it has not, now is the present value.
	Swap(ctx context.Context, key string, was Value, text string) (now Value, swapped bool, err error)
}

// CAS makes Advance and Lower of an Engine of a Swapper. It remembers the
// values that it saw last, so that a key which no other server moves costs
// one round trip. Nothing is granted from memory alone: every grant is a Swap
// that succeeded.
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

// Forget makes the CAS ask again for everything, as after a reconnection to
// what may be another database.
func (c *CAS) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = ""
	clear(c.seen)
}

// present is the epoch, asked for if it is not known.
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

// Advance implements Engine. The swaps of a round run at the same time; the
// database makes one commit of them.
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

// change swaps the row of a key for the one that decide makes of it, which
// may be nil for none.
func (c *CAS) change(ctx context.Context, key string, decide func(old *Row) (Answer, *Row)) (Answer, error) {
	was := c.known(key)
	fresh := false // what is remembered may be old
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
		if try > 2 { // many servers want the key
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

// Parallel calls f(0) … f(n-1), some at a time, and waits for all.
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
