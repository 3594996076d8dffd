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
	// forecastEvery is how often a server looks at what ends.
	forecastEvery = 10 * time.Minute
	// forecastSecond is when it looks again after its start, when it has
	// claimed what it needs.
	forecastSecond = 5 * time.Second
	// forecastLogEvery is how often the log tells of it.
	forecastLogEvery = 24 * time.Hour
	// forecastWindow is for how long at least ids are counted to know the rate.
	forecastWindow = time.Minute
	// endsVerySoon is when /readyz tells of it, too.
	endsVerySoon = 30 * 24 * time.Hour
)

// forecast knows what ends: the time of layouts, numbers below a maximum,
// worker ids.
type forecast struct {
	registry *generator.Registry
	alone    bool // the store is this server's alone
	log      *slog.Logger

	seen   map[string]issuedBy  // by name, at the look before
	logged map[string]time.Time // by what ends
	latest atomic.Pointer[outlook]
}

// issuedBy is how many ids were issued by a time.
type issuedBy struct {
	ids int64
	at  time.Time
}

// outlook is what a look found.
type outlook struct {
	notes []string               // for /readyz
	free  map[int]generator.Left // worker ids that no server holds, by width
}

func newForecast(r *generator.Registry, alone bool, log *slog.Logger) *forecast {
	f := &forecast{registry: r, alone: alone, log: log, seen: map[string]issuedBy{}, logged: map[string]time.Time{}}
	f.latest.Store(&outlook{})
	return f
}

// run looks now and again until ctx ends. Of layouts that were renamed it tells
// once.
func (f *forecast) run(ctx context.Context) {
	t := time.NewTimer(forecastSecond)
	defer t.Stop()
	warnOfRenamed(ctx, f.registry, f.log)
	for {
		f.look(ctx, time.Now())
		select {
		case <-t.C:
			t.Reset(forecastEvery)
		case <-ctx.Done():
			return
		}
	}
}

// look finds what ends, and logs each once a day. A store that does not answer
// is told of elsewhere.
func (f *forecast) look(ctx context.Context, now time.Time) {
	maps.DeleteFunc(f.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= forecastLogEvery })
	o := &outlook{}
	if f.layouts(ctx, now, o) != nil || f.workers(ctx, now, o) != nil {
		return
	}
	f.numbers(now, o)
	f.latest.Store(o)
}

// say reports whether the log is to tell of what ends now.
func (f *forecast) say(what string, now time.Time) bool {
	if _, said := f.logged[what]; said {
		return false
	}
	f.logged[what] = now
	return true
}

// layouts tells of names whose time bits run out, of all that the store has.
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

// numbers tells of generators that reach their maximum at the rate at which
// this server issued since the look before.
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

// workers tells of worker ids that run out, of the widths in use. On a store of
// this server alone nobody else needs one.
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

// warnOfRenamed tells of generators whose layout had another name's bits when
// they were made. They keep them.
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
