package shared

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
)

// health records whether the database answers, by the last round and by Watch.
type health struct {
	log *slog.Logger

	mu      sync.Mutex
	round   error     // of the latest round
	watched error     // of the latest request of Watch
	since   time.Time // time of the first error since the last success; zero: none
	logged  time.Time
}

// logEvery is the interval between two log lines on a database that is down.
const logEvery = 10 * time.Second

// note stores the outcome of a request that began at begin as the latest of its kind.
func (h *health) note(latest *error, outcome error, begin time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*latest = outcome
	err, now := cmp.Or(h.round, h.watched), time.Now()
	if err == nil {
		if !h.since.IsZero() {
			h.log.Warn("the store answers again", "after", now.Sub(h.since).Round(time.Millisecond))
		}
		h.since, h.logged = time.Time{}, time.Time{}
		return
	}
	if h.since.IsZero() {
		h.since = begin
	}
	if now.Sub(h.logged) >= logEvery {
		h.logged = now
		h.log.Error("the store grants nothing; ids go on until what is reserved is used up",
			"error", err, "for", now.Sub(h.since).Round(time.Millisecond))
	}
}

// Probe implements generator.Prober.
func (s *Store) Probe() error {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := cmp.Or(h.round, h.watched); err != nil {
		return &generator.StoreDown{Since: h.since, Err: err}
	}
	return nil
}

// Generators may ask the database for nothing for 20 s. With Watch an outage is
// known within two seconds. A single late answer is no outage.
const (
	watchEvery   = time.Second
	watchTimeout = 500 * time.Millisecond
	watchTries   = 2
	watchKey     = "watch" // never reserved
)

// Watch reads one key every second until ctx ends. Probe reports the result.
func (s *Store) Watch(ctx context.Context) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		begin := time.Now()
		var err error
		for range watchTries {
			if err = s.ask(ctx); err == nil {
				break
			}
		}
		if ctx.Err() == nil {
			s.health.note(&s.health.watched, err, begin)
		}
	}
}

// ask reads one key.
func (s *Store) ask(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	_, _, err := s.Mark(asking, watchKey)
	if errors.Is(err, generator.ErrRetry) && ctx.Err() == nil {
		return generator.Errorf(generator.ErrRetry, "", downHint, "no answer from the store within %v", watchTimeout)
	}
	return err
}

// downHint is the advice on a database that does not do what it is asked.
const downHint = "Look at the database and the network between. Ids that are already reserved can still be issued; " +
	"nextid goes on by itself when the store answers again."
