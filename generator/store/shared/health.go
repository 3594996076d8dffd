package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
)

// health describes whether the database answers, by the last round and by Watch.
type health struct {
	log *slog.Logger

	mu      sync.Mutex
	round   error     // of the last round
	watched error     // of the last question of Watch
	since   time.Time // of the first error of both without an answer after it; zero: none
	logged  time.Time
}

// logEvery is the interval between two log lines on a database that is down.
const logEvery = 10 * time.Second

// note takes the outcome of a round.
func (h *health) note(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.round = err
	h.update(time.Now())
}

// noteWatch takes the outcome of a question of Watch that was asked at begin.
func (h *health) noteWatch(err error, begin time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = err
	h.update(begin)
}

// update needs mu. begin is when the last call was made.
func (h *health) update(begin time.Time) {
	err, now := h.err(), time.Now()
	switch {
	case err == nil && !h.since.IsZero():
		h.log.Warn("the store answers again", "after", now.Sub(h.since).Round(time.Millisecond))
		h.since, h.logged = time.Time{}, time.Time{}
	case err != nil && h.since.IsZero():
		h.since = begin
	}
	if err != nil && now.Sub(h.logged) >= logEvery {
		h.logged = now
		h.log.Error("the store grants nothing; ids go on until what is reserved is used up",
			"error", err, "for", now.Sub(h.since).Round(time.Millisecond))
	}
}

// err needs mu. It returns what keeps the database from working, nil for nothing.
func (h *health) err() error {
	return cmp.Or(h.round, h.watched)
}

// probe is Store.Probe.
func (h *health) probe() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.err(); err != nil {
		return &generator.StoreDown{Since: h.since, Err: err}
	}
	return nil
}

// Generators may ask the database for nothing for 20 s. An outage is known within two
// seconds. A single late answer is no outage.
const (
	watchEvery   = time.Second
	watchTimeout = 500 * time.Millisecond
	watchTries   = 2
	watchKey     = "watch" // is never reserved
)

// Watch asks the database every second whether it is there, until ctx ends. Probe
// reports what it finds.
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
			s.health.noteWatch(err, begin)
		}
	}
}

// ask reads one key.
func (s *Store) ask(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	_, _, err := s.Mark(asking, watchKey)
	if errors.Is(err, generator.ErrRetry) && ctx.Err() == nil {
		return &generator.Error{Kind: generator.ErrRetry, Message: fmt.Sprintf("no answer from the store within %v", watchTimeout), Hint: downHint}
	}
	return err
}

// downHint is the advice on a database that does not do what it is asked.
const downHint = "Look at the database and the network between. Ids that are already reserved can still be issued; " +
	"nextid goes on by itself when the store answers again."
