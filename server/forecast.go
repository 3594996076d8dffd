package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"nextid/generator"
)

const (
	// forecastEvery is the interval of forecasts.
	forecastEvery = 10 * time.Minute
	// forecastClaims is the interval at which run looks for new worker ids of this
	// server. A new one leads to a forecast.
	forecastClaims = 5 * time.Second
	// forecastLogEvery is the interval at which the same warning is logged again.
	forecastLogEvery = 24 * time.Hour
	// forecastWindow is the shortest time over which ids are counted for a rate.
	forecastWindow = time.Minute
	// endsVerySoon is the time left below which /readyz shows a note.
	endsVerySoon = 30 * 24 * time.Hour
)

// forecast predicts what runs out: the time bits of layouts, numbers below a
// maximum, worker ids. Only run uses seen and logged; latest is for other
// goroutines.
type forecast struct {
	registry *generator.Registry
	held     func() int // counts the worker ids of this server
	alone    bool       // no other server uses the store
	log      *slog.Logger

	seen   map[string]issuedBy  // by name, at the forecast before
	logged map[string]time.Time // when each warning was logged
	latest atomic.Pointer[outlook]
}

// issuedBy holds the number of ids issued up to a time.
type issuedBy struct {
	ids int64
	at  time.Time
}

// outlook is the result of a forecast.
type outlook struct {
	notes []string               // for /readyz
	free  map[int]generator.Left // worker ids that no server holds, by width
}

func newForecast(r *generator.Registry, held func() int, alone bool, log *slog.Logger) *forecast {
	f := &forecast{registry: r, held: held, alone: alone, log: log, seen: map[string]issuedBy{}, logged: map[string]time.Time{}}
	f.latest.Store(&outlook{})
	return f
}

// run makes a forecast every forecastEvery, and soon after this server has claimed
// a worker id, until ctx ends.
func (f *forecast) run(ctx context.Context) {
	t := time.NewTicker(forecastClaims)
	defer t.Stop()
	var looked time.Time
	for held := -1; ; {
		if n, now := f.held(), time.Now(); n != held || now.Sub(looked) >= forecastEvery {
			held, looked = n, now
			f.look(ctx, now)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// look makes one forecast and logs each warning once a day. If the store does not
// answer, or a kind panics, latest stays as it was.
func (f *forecast) look(ctx context.Context, now time.Time) {
	defer func() {
		if p := recover(); p != nil { // in a kind, which may be of another module
			f.log.Error("panic in a forecast", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	maps.DeleteFunc(f.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= forecastLogEvery })
	definitions, err := f.registry.Definitions(ctx)
	if err != nil {
		return
	}
	o := &outlook{}
	for _, d := range definitions {
		f.layout(d, now, o)
	}
	if o.free, err = f.registry.FreeWorkers(ctx, now); err != nil {
		return
	}
	for _, bits := range slices.Sorted(maps.Keys(o.free)) {
		w := o.free[bits]
		if f.alone || !w.Scarce() { // other servers need them
			continue
		}
		o.notes = append(o.notes, fmt.Sprintf("%d of the %d worker ids of %d bits are free", w.Left, w.All, bits))
		if f.due(fmt.Sprintf("workers of %d bits", bits), now) {
			f.log.Warn("worker ids run out: a server that finds none gives no ids of that width", "bits", bits, "free", w.Left, "all", w.All)
		}
	}
	seen := make(map[string]issuedBy, len(f.seen)) // without the names that run no more
	f.registry.Running(func(d generator.Definition, g generator.Generator) bool {
		if r, ok := g.(generator.Reporter); ok {
			seen[d.Name] = f.numbers(d.Name, r.Stats(), now, o)
		}
		return true
	})
	f.seen = seen
	f.latest.Store(o)
}

// due reports whether a warning was not logged within forecastLogEvery, and records
// it as logged.
func (f *forecast) due(what string, now time.Time) bool {
	_, said := f.logged[what]
	if !said {
		f.logged[what] = now
	}
	return !said
}

// layout warns of a name whose time bits run out soon.
func (f *forecast) layout(d generator.Definition, now time.Time, o *outlook) {
	s, ok := f.registry.Shape(d)
	left := s.Ends.Sub(now)
	if !ok || left > generator.EndsSoon {
		return
	}
	if left <= endsVerySoon {
		o.notes = append(o.notes, fmt.Sprintf("the time bits of generator %q end at %s", d.Name, s.Ends.UTC().Format(time.RFC3339)))
	}
	switch {
	case !f.due("time of "+d.Name, now):
	case left <= 0:
		f.log.Error("the time bits of a generator have run out: it gives no ids", "generator", d.Name, "ended", s.Ends)
	default:
		f.log.Warn("the time bits of a generator run out: create its successor before", "generator", d.Name, "ends", s.Ends, "days_left", wholeDays(left))
	}
}

// numbers warns of a generator that reaches its maximum soon, at the rate since the
// forecast before. The rate is that of this server alone. It returns where the next
// forecast counts from.
func (f *forecast) numbers(name string, s generator.Stats, now time.Time, o *outlook) issuedBy {
	before, known := f.seen[name]
	if known && now.Sub(before.at) < forecastWindow {
		return before
	}
	seen := issuedBy{s.Issued, now}
	issued, passed := s.Issued-before.ids, now.Sub(before.at)
	if !s.Bounded || !known || issued <= 0 {
		return seen
	}
	lasts := float64(s.Left) / float64(issued) * float64(passed)
	if lasts > float64(generator.EndsSoon) { // and perhaps more than a Duration holds
		return seen
	}
	left := time.Duration(lasts)
	if left <= endsVerySoon {
		o.notes = append(o.notes, fmt.Sprintf("the numbers of generator %q end in %d days at the present rate", name, wholeDays(left)))
	}
	if f.due("numbers of "+name, now) {
		f.log.Warn("the numbers of a generator run out at the present rate: raise its maximum, or create its successor", "generator", name,
			"ids_left", s.Left, "days_left", wholeDays(left))
	}
	return seen
}

func wholeDays(d time.Duration) int64 { return int64(d / (24 * time.Hour)) }
