package compare

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/benchmarks/load"
)

// writeRows writes rows as client i of a contestant, until ctx ends. After an error
// it connects again. It calls done after each row and each error. A row is not
// cancelled, as it could exist with an unknown id.
func (r *run) writeRows(ctx context.Context, c *contestant, i int, done func(error)) {
	for ; ctx.Err() == nil; load.Rest(ctx, outagePause) {
		err := r.Do(func(testing.TB) {
			open := r.inserting(c, 1, &journal{})
			r.With(1, func(_ int, client *load.Client) { open(i, client) }, func(clients []load.Client) {
				for ; ctx.Err() == nil; load.Rest(ctx, outagePause) {
					r.Must(clients[0].Once(r.Ctx))
					done(nil)
				}
			})
		})
		if err != nil && r.Ctx.Err() == nil {
			done(err)
		}
	}
}

// outage holds the figures of one contestant about an outage of nextid.
type outage struct {
	rows   [after + 1]int
	errors int
	gap    time.Duration // longest time between two rows of a client
}

// The phases of an outage. Clients open their connections while it is awaited.
const (
	awaited = iota
	before
	during
	after
)

const (
	outageClients = 2                     // of each contestant
	outagePause   = 20 * time.Millisecond // between two rows of a client
)

// measureOutage kills nextid and starts it again, while clients of the contestants
// in outageSection write rows.
func (r *run) measureOutage() {
	ctx, stop := context.WithCancel(r.Ctx)
	var clients sync.WaitGroup
	var phase atomic.Int32
	var mu sync.Mutex
	defer clients.Wait()
	defer stop()
	for _, c := range r.all {
		if !c.beside || c.missing != nil {
			continue
		}
		c.outage = &outage{}
		for i := range outageClients {
			last := time.Now()
			clients.Go(func() {
				r.writeRows(ctx, c, i, func(err error) {
					mu.Lock()
					defer mu.Unlock()
					now, wait := phase.Load(), time.Since(last)
					if err == nil {
						last = time.Now()
						c.outage.rows[now]++
					}
					if now != awaited {
						c.outage.gap = max(c.outage.gap, wait)
						if err != nil {
							c.outage.errors++
						}
					}
				})
			})
		}
	}
	load.Rest(ctx, r.plan.Outage/2)
	phase.Store(before)
	load.Rest(ctx, r.plan.Outage)
	r.nextid.Kill()
	phase.Store(during)
	load.Rest(ctx, r.plan.Outage)
	phase.Store(after)
	r.nextid.Start()
}
