package main

import (
	"context"
	"log/slog"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
)

// forecastEvery is how often the log tells of generators whose time bits run
// out within a year.
const forecastEvery = 24 * time.Hour

// forecast looks at every generator in the store, now and each day until ctx
// ends. Of layouts that were renamed it tells once.
func forecast(ctx context.Context, r *generator.Registry, log *slog.Logger) {
	t := time.NewTicker(forecastEvery)
	defer t.Stop()
	warnOfRenamed(ctx, r, log)
	for {
		warnOfEnds(ctx, r, time.Now(), log)
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

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

func warnOfEnds(ctx context.Context, r *generator.Registry, now time.Time, log *slog.Logger) {
	definitions, err := r.Definitions(ctx)
	if err != nil {
		return // the store is watched elsewhere
	}
	for _, d := range definitions {
		ends := r.Ends(d)
		left := ends.Sub(now)
		switch {
		case ends.IsZero() || left > generator.EndsSoon:
		case left <= 0:
			log.Error("the time bits of a generator have run out: it gives no ids", "generator", d.Name, "ended", ends)
		default:
			log.Warn("the time bits of a generator run out: create its successor before", "generator", d.Name, "ends", ends,
				"days_left", int64(left/(24*time.Hour)))
		}
	}
}
