package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// A shared store is asked every second whether it is there: generators may ask
// it for nothing for 20 s, and /readyz and the alerts are to tell of an outage
// within two. One late answer is none yet.
const (
	watchEvery   = time.Second
	watchTimeout = 500 * time.Millisecond
	watchTries   = 2
)

// watchedStore is a shared store whose Probe knows what the watch found, too.
type watchedStore struct {
	*shared.Store
	down atomic.Pointer[generator.StoreDown]
}

// watched returns the store, and what watches it; nil for an embedded store.
func watched(s generator.Store) (generator.Store, *watchedStore) {
	on, ok := s.(*shared.Store)
	if !ok {
		return s, nil
	}
	w := &watchedStore{Store: on}
	return w, w
}

// Probe implements generator.Prober.
func (w *watchedStore) Probe() error {
	if err := w.Store.Probe(); err != nil {
		return err
	}
	if d := w.down.Load(); d != nil {
		return d
	}
	return nil
}

// watch asks until ctx ends.
func (w *watchedStore) watch(ctx context.Context) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		start := time.Now()
		var err error
		for range watchTries {
			if err = w.ask(ctx); err == nil {
				break
			}
		}
		switch {
		case err == nil:
			w.down.Store(nil)
		case ctx.Err() == nil && w.down.Load() == nil:
			w.down.Store(&generator.StoreDown{Since: start, Err: err})
		}
	}
}

// ask reads one key.
func (w *watchedStore) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, watchTimeout, fmt.Errorf("no answer within %v", watchTimeout))
	defer cancel()
	_, _, err := w.Store.Mark(ctx, usersKey)
	return err
}
