package shared

import (
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
)

// health is whether the database answers, by the last round.
type health struct {
	log *slog.Logger

	mu     sync.Mutex
	err    error
	since  time.Time // of the first error without an answer after it
	logged time.Time
}

// logEvery is how often a database that is down is mentioned.
const logEvery = 10 * time.Second

// note takes the outcome of a round.
func (h *health) note(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil && h.err != nil:
		h.log.Warn("the store answers again", "after", now.Sub(h.since).Round(time.Millisecond))
		h.logged = time.Time{}
	case err != nil && h.err == nil:
		h.since = now
	}
	if h.err = err; err != nil && now.Sub(h.logged) >= logEvery {
		h.logged = now
		h.log.Error("the store grants nothing; ids go on until what is reserved is used up",
			"error", err, "for", now.Sub(h.since).Round(time.Millisecond))
	}
}

// probe is Store.Probe.
func (h *health) probe() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		return nil
	}
	return &generator.StoreDown{Since: h.since, Err: h.err}
}
