package web

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The history covers the last hour in steps of ten seconds, for the first
// historyNames generators with draws. A generator without draws in the whole hour
// leaves its place.
const (
	historyStep  = 10 * time.Second
	historySteps = int(time.Hour / historyStep)
	historyNames = 200
)

// history holds the number of ids drawn in each step of the last hour, oldest first.
type history struct {
	mu    sync.Mutex
	at    time.Time          // of the newest step
	last  map[string]int64   // ids issued so far, at the newest step
	total []int64            // of all generators
	names map[string][]int64 // shorter than total if the name was added later
}

// keepHistory adds a step every ten seconds until ctx ends.
func (s *Server) keepHistory(ctx context.Context) {
	tick := time.NewTicker(historyStep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.history.step(s.cfg.Issued, now)
		}
	}
}

// step adds a step. issued yields the ids that each open generator has issued so
// far.
func (h *history) step(issued func(func(string, int64) bool), now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, drawn, sum := h.last, map[string]int64{}, int64(0)
	h.last = make(map[string]int64, len(before))
	for name, n := range issued {
		h.last[name] = n
		if n -= before[name]; n < 0 { // it was dropped and created again
			n += before[name]
		}
		if n != 0 {
			drawn[name] = n
			sum += n
		}
	}
	h.at, h.total = now, appendStep(h.total, sum)
	for name, steps := range h.names {
		steps = appendStep(steps, drawn[name])
		h.names[name] = steps
		delete(drawn, name)
		if _, open := h.last[name]; !open { // closed generators stay for their hour
			h.last[name] = before[name]
		}
		if len(steps) == historySteps && slices.Max(steps) == 0 {
			delete(h.names, name)
		}
	}
	for name, n := range drawn {
		if len(h.names) < historyNames {
			h.names[name] = []int64{n}
		}
	}
}

// appendStep appends a step and drops the oldest if there are historySteps. It may
// change steps.
func appendStep(steps []int64, n int64) []int64 {
	if len(steps) == historySteps {
		copy(steps, steps[1:])
		steps = steps[:historySteps-1]
	}
	return append(steps, n)
}

// rates answers with ids a second, oldest first. A restricted user gets its own
// generators only, also in the total.
func (s *Server) rates(w http.ResponseWriter, _ *http.Request, c caller) error {
	h := &s.history
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := struct {
		Until      time.Time            `json:"until"`
		Seconds    int                  `json:"step_seconds"`
		Total      []float64            `json:"total"`
		Generators map[string][]float64 `json:"generators"`
	}{h.at, int(historyStep / time.Second), perSecond(h.total), map[string][]float64{}}
	own := make([]int64, len(h.total))
	for name, steps := range h.names {
		if c.options.May(name) != nil {
			continue
		}
		answer.Generators[name] = perSecond(steps)
		for i, n := range steps {
			own[len(own)-len(steps)+i] += n
		}
	}
	if c.options.Generators != nil { // without the draws from other generators
		answer.Total = perSecond(own)
	}
	return send(w, answer)
}

func perSecond(steps []int64) []float64 {
	rates := make([]float64, len(steps))
	for i, n := range steps {
		rates[i] = float64(n) / historyStep.Seconds()
	}
	return rates
}
