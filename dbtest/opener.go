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

// Opener opens the engine under test. unsafe names settings of the database that the
// engine accepts although they can lose data.
type Opener func(ctx context.Context, url string, unsafe []string) (shared.Engine, error)

// Try opens a store.
func (o Opener) Try(ctx context.Context, url string, cfg shared.Config, unsafe ...string) (*shared.Store, error) {
	e, err := o(ctx, url, unsafe)
	if err != nil {
		return nil, err
	}
	return shared.New(ctx, e, cfg)
}

// Start opens a store that is closed when the test ends. It retries for up to
// Patience while the database does not answer in time.
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

// Conformance runs generatortest.RunStore, and tests the time of engines that tell
// it. place prepares an empty store and returns its URL.
func (o Opener) Conformance(t *testing.T, place func(t *testing.T) string) {
	where := map[generator.Store]string{}
	open := func(t *testing.T, url string) generator.Store {
		s := o.Start(t, url, shared.Config{})
		where[s] = url
		return s
	}
	t.Run("Time", func(t *testing.T) { o.checkTime(t, place(t)) })
	generatortest.RunStore(t, func(t *testing.T) generator.Store { return open(t, place(t)) },
		generatortest.StoreCaps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, where[old])
		}})
}

// checkTime compares the time of a generator.Timekeeper with this machine's clock:
// the database runs on this machine.
func (o Opener) checkTime(t *testing.T, url string) {
	s := o.Start(t, url, shared.Config{})
	const precision = 50 * time.Millisecond // Linux has coarse and precise clocks
	for range 3 {
		before := time.Now().Add(-precision)
		earliest, latest, err := s.Time(t.Context())
		after := time.Now().Add(precision)
		if errors.Is(err, generator.ErrWrongKind) {
			t.Skip("the engine is no generator.Timekeeper")
		}
		if err != nil {
			t.Fatal(err)
		}
		if latest.Before(before) || earliest.After(after) || latest.Before(earliest) || latest.Sub(earliest) > time.Second {
			t.Errorf("asked between %v and %v, got the interval from %v to %v", before, after, earliest, latest)
		}
	}
	s.Close()
	if _, _, err := s.Time(t.Context()); !errors.Is(err, generator.ErrNotNow) {
		t.Errorf("after Close: %v", err)
	}
}

// CutAnywhere draws from the store at url while connections to its server at addr
// are cut within an answer, stride bytes later each time (row 43 of
// docs/faults.md). No number may be granted twice.
func (o Opener) CutAnywhere(t *testing.T, url, addr string, stride int64) {
	const cuts = 60
	cut := Cut(t, addr)
	load := generatortest.StartLoad(t,
		o.Start(t, strings.Replace(url, addr, cut.Addr, 1), shared.Config{}), o.Start(t, url, shared.Config{}))
	for i := range int64(cuts) {
		before := load.Refused()
		cut.After(1 + stride*i)
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

// Crash kills the server under load and starts it again, three times. Acknowledged
// reservations outlive that (rows 1 and 44 of docs/faults.md). Each round awaits
// grants further grants.
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

// Hang checks a store whose server takes requests and does not answer, from stop to
// goOn (row 42 of docs/faults.md). Callers wait no longer than their contexts allow.
// Numbers that were granted before are not granted again. The store's own deadline
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

// Schema prepares a store without SQL tables.
type Schema interface {
	Up(ctx context.Context) error
	Down(ctx context.Context) error // deletes the keys
	Status(ctx context.Context) (text string, complete bool, err error)
}

// Emptied deletes all keys while the store at url is used. The store then refuses
// reservations instead of starting from zero, also after schema has prepared it
// again.
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

// Order returns a reservation of n numbers for the generator "orders".
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
