package dbtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/shared"
)

// Opener opens the engine under test. unsafe names the settings of the
// database that may be as they are.
type Opener func(ctx context.Context, url string, unsafe []string) (shared.Engine, error)

// Try opens a store.
func (o Opener) Try(ctx context.Context, url string, cfg shared.Config, unsafe ...string) (*shared.Store, error) {
	e, err := o(ctx, url, unsafe)
	if err != nil {
		return nil, err
	}
	return shared.New(ctx, e, cfg)
}

// Start opens a store until the end of the test. It waits for a database that
// is slow to answer.
func (o Opener) Start(t testing.TB, url string, cfg shared.Config, unsafe ...string) *shared.Store {
	t.Helper()
	s, err := o.Try(t.Context(), url, cfg, unsafe...)
	for end := time.Now().Add(Patience); err != nil; s, err = o.Try(t.Context(), url, cfg, unsafe...) {
		slow := errors.Is(err, generator.ErrNotNow) || errors.Is(err, generator.ErrRetry)
		if !slow || time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Conformance runs generatortest.RunStore. place prepares an empty store and returns
// its URL.
func (o Opener) Conformance(t *testing.T, place func(t *testing.T) string) {
	where := map[generator.Store]string{}
	open := func(t *testing.T, url string) generator.Store {
		s := o.Start(t, url, shared.Config{})
		where[s] = url
		return s
	}
	t.Run("Time", func(t *testing.T) { o.tellsTheTime(t, place(t)) })
	generatortest.RunStore(t, func(t *testing.T) generator.Store { return open(t, place(t)) },
		generatortest.StoreCaps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, where[old])
		}})
}

// tellsTheTime checks generator.Timekeeper: the database runs on this machine.
func (o Opener) tellsTheTime(t *testing.T, url string) {
	s := o.Start(t, url, shared.Config{})
	const precision = 50 * time.Millisecond // of clocks that Linux reads in different ways
	for range 3 {
		before := time.Now().Add(-precision)
		earliest, latest, err := s.Time(t.Context())
		after := time.Now().Add(precision)
		if errors.Is(err, generator.ErrWrongKind) {
			t.Skip("the engine is no shared.Timekeeper")
		}
		if err != nil {
			t.Fatal(err)
		}
		if latest.Before(before) || earliest.After(after) || latest.Before(earliest) || latest.Sub(earliest) > time.Second {
			t.Errorf("asked between %v and %v: the time is between %v and %v", before, after, earliest, latest)
		}
	}
	s.Close()
	if _, _, err := s.Time(t.Context()); !errors.Is(err, generator.ErrNotNow) {
		t.Errorf("after Close: %v", err)
	}
}

// CutAnywhere draws from the store at url while connections to its server at
// addr end at any byte of an answer, stride bytes further each time (row 43 of
// docs/faults.md). What is not answered is not used, and nothing is
// looked up again.
func (o Opener) CutAnywhere(t *testing.T, url, addr string, stride int64) {
	const cuts = 60
	cut := Cut(t, addr)
	load := generatortest.StartLoad(t,
		o.Start(t, strings.Replace(url, addr, cut.Addr, 1), shared.Config{}), o.Start(t, url, shared.Config{}))
	for i := range int64(cuts) {
		before := load.Refused()
		cut.After(1 + stride*i) // from the start of a connection to some way into the answers
		for end := time.Now().Add(20 * time.Second); load.Refused() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	cut.After(0)
	load.Await(20)
	load.Stop()
	if load.Refused() < cuts {
		t.Errorf("only %d connections were cut", load.Refused())
	}
}

// Crash kills the server under load, three times, and starts it again. What
// was acknowledged outlives that (rows 1 and 44).
func (o Opener) Crash(t *testing.T, url string, cfg shared.Config, s *Server, grants int64) {
	load := generatortest.StartLoad(t, o.Start(t, url, cfg), o.Start(t, url, cfg))
	for range 3 {
		load.Await(grants)
		s.Kill()
		s.Start()
	}
	load.Await(grants)
	load.Stop()
}

// Hang checks a store whose server takes requests and does not answer, from
// stop to goOn (row 42): callers wait no longer than they want to, and what
// was granted before is not granted again. The deadline of the store itself
// must be the default, 5 s.
func Hang(t *testing.T, s generator.Store, stop, goOn func()) {
	t.Helper()
	Grant(t, s, Order(10), 1)
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, _, err := s.Reserve(ctx, Order(10))
	WantError(t, err, generator.ErrRetry, "no answer from the store in time")
	if waited := time.Since(began); waited > 4*time.Second {
		t.Errorf("waited %v, as long as the store does", waited)
	}
	goOn()
	for end := time.Now().Add(20 * time.Second); ; {
		lo, _, err := s.Reserve(t.Context(), Order(10))
		switch {
		case err == nil && lo < 11:
			t.Fatalf("granted from %d", lo)
		case err == nil:
			return
		case time.Now().After(end):
			t.Fatal(err)
		}
	}
}

// Schema holds what a store without tables needs to be prepared.
type Schema interface {
	Up(ctx context.Context) error
	Down(ctx context.Context) error
	Status(ctx context.Context) (text string, complete bool, err error)
}

// Emptied deletes everything while a store at url is used, as on another,
// empty cluster: nothing starts from zero. Prepared again, it is another store.
func (o Opener) Emptied(t *testing.T, url string, schema Schema) {
	t.Helper()
	store := o.Start(t, url, shared.Config{})
	Grant(t, store, Order(10), 1)
	if err := schema.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := store.Reserve(t.Context(), Order(10))
	WantError(t, err, generator.ErrPinned, "no tables of nextid")
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, complete, err := schema.Status(t.Context()); err != nil || !complete || !strings.HasPrefix(text, "prepared") {
		t.Errorf("%s %v %v", text, complete, err)
	}
	_, _, err = store.Reserve(t.Context(), Order(10))
	WantError(t, err, generator.ErrRegressed, "gone back")
}

// Order is a reservation of n numbers for the generator "orders".
func Order(n int64) generator.Reservation {
	return generator.Reservation{Key: generator.NameKey("orders"), AtLeast: 1, N: n, Limit: generator.NoLimit}
}

// Grant makes a reservation that must begin at want.
func Grant(t *testing.T, s generator.Store, r generator.Reservation, want int64) {
	t.Helper()
	if lo, _, err := s.Reserve(t.Context(), r); err != nil || lo != want {
		t.Fatalf("granted from %d, %v; want %d", lo, err, want)
	}
}

// WantError checks the kind of an error and a part of its text.
func WantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("%v, want %v with %q", err, kind, text)
	}
}
