package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/store/memory"
)

// stored defines a snowflake in the store.
func stored(t *testing.T, store generator.Store, name, options string) {
	t.Helper()
	kinds := testBuild.Kinds(Parts{Layout: DefaultConfig().Layout})
	k := kinds[slices.IndexFunc(kinds, func(k generator.Kind) bool { return k.Name() == "snowflake" })]
	o, err := k.Normalize(json.RawMessage(options))
	if err == nil {
		_, _, err = store.Define(t.Context(), generator.Definition{Name: name, Kind: k.Name(), Options: o})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A kind of another module may panic. The process goes on.
func TestForecastOutlivesAKind(t *testing.T) {
	store := memory.New(memory.Config{})
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: []generator.Kind{panicky{}}})
	if err == nil {
		_, _, err = store.Define(t.Context(), generator.Definition{Name: "a", Kind: "panicky"})
	}
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f := newForecast(registry, nil, false, slog.New(slog.NewTextHandler(&log, nil)))
	f.look(t.Context(), time.Now())
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "panic=never") {
		t.Errorf("log:\n%s", log.String())
	}
}

type panicky struct{ generator.Kind }

func (panicky) Name() string                                   { return "panicky" }
func (panicky) Shape(json.RawMessage) (generator.Shape, error) { panic("never") }

func TestLogWarnsOfTimeThatRunsOut(t *testing.T) {
	store := memory.New(memory.Config{})
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: testBuild.Kinds(Parts{Layout: DefaultConfig().Layout})})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	span := time.Duration(1<<28) * time.Second // of Baidu's 28 bits
	for name, left := range map[string]time.Duration{"late": 400 * 24 * time.Hour, "soon": 300*24*time.Hour + time.Hour, "over": -time.Hour} {
		options := fmt.Sprintf(`{"layout":"baidu","epoch":%d}`, now.Add(left-span).UnixMilli())
		stored(t, store, name, options)
	}
	if err := registry.Create(t.Context(), "numbers", "segment", nil); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f := newForecast(registry, nil, false, slog.New(slog.NewTextHandler(&log, nil)))
	f.look(t.Context(), now)
	f.look(t.Context(), now.Add(time.Hour)) // once a day
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=ERROR") || !strings.Contains(lines[0], "generator=over") ||
		!strings.Contains(lines[1], "level=WARN") || !strings.Contains(lines[1], "generator=soon") || !strings.Contains(lines[1], "days_left=300") {
		t.Errorf("log:\n%s", log.String())
	}
}

// The log and /readyz warn of numbers that end at the present rate, and of scarce
// worker ids.
func TestLogWarnsOfNumbersAndWorkersThatRunOut(t *testing.T) {
	store := memory.New(memory.Config{Exclusive: true})
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: []generator.Kind{segment.Kind(store, generator.SystemClock{}, "test")}})
	if err != nil {
		t.Fatal(err)
	}
	draw := func(name, options string, n int64) {
		t.Helper()
		if options != "" {
			if err := registry.Create(t.Context(), name, "segment", json.RawMessage(options)); err != nil {
				t.Fatal(err)
			}
		}
		e, err := registry.Existing(t.Context(), name)
		for left := n; left > 0 && err == nil; {
			var r generator.Range
			r, err = e.Next(t.Context(), left)
			left -= r.Count
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	draw("short", `{"max": 100000}`, 1)
	draw("long", `{"max": 1000000000000}`, 1)
	draw("endless", `{}`, 1)
	for i := range 60 {
		_, _, err := store.Reserve(t.Context(), generator.Reservation{Key: fmt.Sprintf("worker/6/%d", i), AtLeast: 1 << 60, N: 1, Limit: generator.NoLimit})
		if err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	f := newForecast(registry, nil, false, slog.New(slog.NewTextHandler(&log, nil)))
	now := time.Now()
	f.look(t.Context(), now)
	for _, name := range []string{"short", "long", "endless"} {
		draw(name, "", 1000)
	}
	f.look(t.Context(), now.Add(5*time.Second)) // too soon for a rate
	if strings.Contains(log.String(), "generator=short") {
		t.Error(log.String())
	}
	f.look(t.Context(), now.Add(25*time.Hour))
	if got := f.latest.Load(); !slices.Equal(got.notes, []string{"4 of the 64 worker ids of 6 bits are free"}) || got.free[6] != (generator.Left{Left: 4, All: 64}) {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(log.String(), "worker ids run out"); n != 2 { // twice in two days
		t.Errorf("%d lines about workers in\n%s", n, log.String())
	}
	for _, want := range []string{`msg="worker ids run out`, "generator=short ids_left=98999 days_left=103"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "generator=long") || strings.Contains(log.String(), "endless") {
		t.Error(log.String())
	}
	draw("short", "", 50_000)
	f.look(t.Context(), now.Add(26*time.Hour))
	if got := f.latest.Load().notes; len(got) != 2 || got[1] != `the numbers of generator "short" end in 0 days at the present rate` {
		t.Errorf("%q", got)
	}
}

// A warning is logged as soon as it is due, even right after another one. On an
// embedded store no worker ids run out.
func TestEachEndIsLoggedWhenItIsFound(t *testing.T) {
	store := memory.New(memory.Config{Exclusive: true})
	kinds := slices.DeleteFunc(testBuild.Kinds(Parts{Layout: DefaultConfig().Layout}), func(k generator.Kind) bool { return k.Name() == segment.KindName })
	registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: append(kinds, segment.Kind(store, generator.SystemClock{}, "test"))})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	stored(t, store, "soon", fmt.Sprintf(`{"layout":"baidu","epoch":%d}`, now.Add(300*24*time.Hour-time.Duration(1<<28)*time.Second).UnixMilli()))
	for _, worker := range []string{"worker/1/0", "worker/1/1"} {
		if _, _, err := store.Reserve(t.Context(), generator.Reservation{Key: worker, AtLeast: 1 << 60, N: 1, Limit: generator.NoLimit}); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.Create(t.Context(), "short", "segment", json.RawMessage(`{"max": 10000}`)); err != nil {
		t.Fatal(err)
	}
	e, err := registry.Existing(t.Context(), "short")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f := newForecast(registry, nil, true, slog.New(slog.NewTextHandler(&log, nil)))
	for i := range 2 {
		if _, err := e.Next(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		f.look(t.Context(), now.Add(time.Duration(i)*10*time.Minute))
	}
	if err := registry.Drop(t.Context(), "short"); err != nil {
		t.Fatal(err)
	}
	if f.look(t.Context(), now.Add(time.Hour)); len(f.seen) > 0 {
		t.Errorf("dropped names are kept: %v", f.seen)
	}
	if got := log.String(); strings.Count(got, "generator=soon") != 1 || !strings.Contains(got, "generator=short") || strings.Contains(got, "worker ids") {
		t.Error(got)
	}
}

func TestAClaimIsSeenWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Config{})
		registry, err := generator.NewRegistry(generator.Config{Store: store, Kinds: testBuild.Kinds(Parts{Layout: DefaultConfig().Layout})})
		if err != nil {
			t.Fatal(err)
		}
		var held atomic.Int64
		f := newForecast(registry, func() int { return int(held.Load()) }, false, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go f.run(ctx)
		time.Sleep(20 * time.Second)
		if _, _, err := store.Reserve(t.Context(), generator.Reservation{Key: "worker/6/0", AtLeast: 1 << 60, N: 1, Limit: generator.NoLimit}); err != nil {
			t.Fatal(err)
		}
		held.Store(1)
		time.Sleep(forecastClaims)
		synctest.Wait()
		if got := f.latest.Load().free[6]; got != (generator.Left{Left: 63, All: 64}) {
			t.Errorf("%+v", got)
		}
		cancel()
		synctest.Wait()
	})
}
