package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// bits of the pools in these tests: Twitter's worker id.
const bits = 10

var discard = slog.New(slog.DiscardHandler)

// world is a store, and a clock that all servers of a test share.
type world struct {
	t     *testing.T
	clock *generatortest.Clock
	store *generatortest.Faulty
	log   logBuffer
	pools []*Pools
}

// logBuffer holds what the servers of a world logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inWorld runs f in a bubble of virtual time.
func inWorld(t *testing.T, exclusive bool, f func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, clock: generatortest.NewClock(start)}
		w.store = generatortest.NewFaulty(memory.New(memory.Config{Exclusive: exclusive, Clock: w.clock}))
		defer func() {
			w.store.Clear()
			for _, p := range w.pools {
				p.Close(context.Background())
			}
		}()
		f(w)
	})
}

// server starts the pools of one process; they are closed with the world.
func (w *world) server(change ...func(*Config)) *Pools {
	cfg := Config{Store: w.store, Clock: w.clock, Owner: "test", Logger: slog.New(slog.NewTextHandler(&w.log, nil))}
	for _, c := range change {
		c(&cfg)
	}
	p := New(cfg)
	w.pools = append(w.pools, p)
	return p
}

func static(id int64) func(*Config) { return func(c *Config) { c.Source = Fixed{ID: id} } }

// open claims; it is the first generator of a server.
func (w *world) open(p *Pools) *Pool {
	w.t.Helper()
	pool, err := p.Open(w.t.Context(), Width{Worker: bits}, time.Millisecond)
	if err != nil {
		w.t.Fatal(err)
	}
	return pool
}

// crash ends a server without giving anything back.
func crash(p *Pools) {
	p.stop()
	p.work.Wait()
}

// now is the wall clock in Unix ms.
func (w *world) now() int64 { return w.clock.Wall() / 1e6 }

// hi is the end of a worker's time line in the store.
func (w *world) hi(id int64) int64 {
	w.t.Helper()
	marks, err := w.store.Reserved(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range marks {
		if m.Key == fmt.Sprintf("worker/%d/%d", bits, id) {
			return m.Hi
		}
	}
	w.t.Fatalf("worker id %d has no time line", id)
	return 0
}

// taken reserves time on a worker id as another server would.
func (w *world) taken(id, lo int64, d time.Duration) {
	w.t.Helper()
	_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
		Key:     fmt.Sprintf("worker/%d/%d", bits, id),
		AtLeast: lo, N: d.Milliseconds(), Limit: generator.NoLimit, Owner: "another server",
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wantLog(parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(w.log.String(), p) {
			w.t.Errorf("the log does not say %q:\n%s", p, w.log.String())
		}
	}
}

func wantErr(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	var e *generator.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *Error of kind %q", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("error %q does not say %q", e.Message, p)
		}
	}
}
