package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
)

const (
	// forecastEvery is the interval between two looks at what ends.
	forecastEvery = 10 * time.Minute
	// forecastClaims bounds how soon a new worker id of this server leads to a look.
	forecastClaims = 5 * time.Second
	// forecastLogEvery is the interval between two log lines on one thing.
	forecastLogEvery = 24 * time.Hour
	// forecastWindow is the least time over which ids are counted for a rate.
	forecastWindow = time.Minute
	// endsVerySoon is the time before an end from which /readyz tells of it.
	endsVerySoon = 30 * 24 * time.Hour
)

// forecast knows what ends: the time of layouts, numbers below a maximum,
// worker ids.
type forecast struct {
	registry *generator.Registry
	held     func() int // counts the worker ids of this server
	alone    bool       // no other server uses the store
	log      *slog.Logger

	seen   map[string]issuedBy  // by name, at the look before
	logged map[string]time.Time // by what ends
	latest atomic.Pointer[outlook]
}

// issuedBy counts the ids that were issued by a time.
type issuedBy struct {
	ids int64
	at  time.Time
}

// outlook is the result of a look.
type outlook struct {
	notes []string               // for /readyz
	free  map[int]generator.Left // worker ids that no server holds, by width
}

func newForecast(r *generator.Registry, held func() int, alone bool, log *slog.Logger) *forecast {
	f := &forecast{registry: r, held: held, alone: alone, log: log, seen: map[string]issuedBy{}, logged: map[string]time.Time{}}
	f.latest.Store(&outlook{})
	return f
}

// run looks every forecastEvery, and soon after this server has claimed a worker id,
// until ctx ends. It warns once of layouts that were renamed.
func (f *forecast) run(ctx context.Context) {
	t := time.NewTicker(forecastClaims)
	defer t.Stop()
	warnOfRenamed(ctx, f.registry, f.log)
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

// look finds what ends, and logs each once a day. It leaves the result as it was when
// the store does not answer.
func (f *forecast) look(ctx context.Context, now time.Time) {
	maps.DeleteFunc(f.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= forecastLogEvery })
	o := &outlook{}
	if f.layouts(ctx, now, o) != nil || f.workers(ctx, now, o) != nil {
		return
	}
	f.numbers(now, o)
	f.latest.Store(o)
}

// say reports whether what was not logged within forecastLogEvery, and notes it.
func (f *forecast) say(what string, now time.Time) bool {
	if _, said := f.logged[what]; said {
		return false
	}
	f.logged[what] = now
	return true
}

// layouts looks at all names of the store for those whose time bits run out.
func (f *forecast) layouts(ctx context.Context, now time.Time, o *outlook) error {
	definitions, err := f.registry.Definitions(ctx)
	for _, d := range definitions {
		ends := f.registry.Ends(d)
		left := ends.Sub(now)
		if ends.IsZero() || left > generator.EndsSoon {
			continue
		}
		if left <= endsVerySoon {
			o.notes = append(o.notes, fmt.Sprintf("the time bits of generator %q end at %s", d.Name, ends.UTC().Format(time.RFC3339)))
		}
		switch {
		case !f.say("time of "+d.Name, now):
		case left <= 0:
			f.log.Error("the time bits of a generator have run out: it gives no ids", "generator", d.Name, "ended", ends)
		default:
			f.log.Warn("the time bits of a generator run out: create its successor before", "generator", d.Name, "ends", ends, "days_left", wholeDays(left))
		}
	}
	return err
}

// numbers looks for generators that reach their maximum at the rate at which this
// server issued since the look before.
func (f *forecast) numbers(now time.Time, o *outlook) {
	f.registry.Running(func(d generator.Definition, g generator.Generator) bool {
		r, ok := g.(generator.Reporter)
		if !ok {
			return true
		}
		s := r.Stats()
		before, known := f.seen[d.Name]
		if known && now.Sub(before.at) < forecastWindow {
			return true
		}
		f.seen[d.Name] = issuedBy{s.Issued, now}
		issued, passed := s.Issued-before.ids, now.Sub(before.at)
		if !s.Bounded || !known || issued <= 0 || passed <= 0 {
			return true
		}
		lasts := float64(s.Left) / float64(issued) * float64(passed)
		if lasts > float64(generator.EndsSoon) {
			return true
		}
		left := time.Duration(lasts)
		if left <= endsVerySoon {
			o.notes = append(o.notes, fmt.Sprintf("the numbers of generator %q end in %d days at the present rate", d.Name, wholeDays(left)))
		}
		if f.say("numbers of "+d.Name, now) {
			f.log.Warn("the numbers of a generator run out at the present rate: raise its maximum, or create its successor", "generator", d.Name,
				"ids_left", s.Left, "days_left", wholeDays(left))
		}
		return true
	})
}

// workers counts the free worker ids of the widths in use. On a store of this server
// alone no other server needs one.
func (f *forecast) workers(ctx context.Context, now time.Time, o *outlook) (err error) {
	o.free, err = f.registry.FreeWorkers(ctx, now)
	if f.alone {
		return err
	}
	for _, bits := range slices.Sorted(maps.Keys(o.free)) {
		w := o.free[bits]
		if !w.Scarce() {
			continue
		}
		o.notes = append(o.notes, fmt.Sprintf("%d of the %d worker ids of %d bits are free", w.Left, w.All, bits))
		if f.say(fmt.Sprintf("workers of %d bits", bits), now) {
			f.log.Warn("worker ids run out: a server that finds none gives no ids of that width", "bits", bits, "free", w.Left, "all", w.All)
		}
	}
	return err
}

func wholeDays(d time.Duration) int64 { return int64(d / (24 * time.Hour)) }

// warnOfRenamed warns of generators whose layout had other bits when they were
// created. They keep those bits.
func warnOfRenamed(ctx context.Context, r *generator.Registry, log *slog.Logger) {
	definitions, err := r.Definitions(ctx)
	if err != nil {
		return // the store is watched elsewhere
	}
	for _, d := range definitions {
		if was, now, ok := layout.Renamed(d.Options); ok {
			log.Warn("a generator keeps bits that its layout has no more: beside servers of the system itself its ids can come twice; "+
				"create a successor", "generator", d.Name, "layout", was, "bits_of", now)
		}
	}
}
