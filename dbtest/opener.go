package dbtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

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
	var s *shared.Store
	var err error
	within(Patience, 50*time.Millisecond, func() bool {
		s, err = o.Try(t.Context(), url, cfg, unsafe...)
		return !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry)
	})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Conformance runs generatortest.RunStore, and tests the time of engines that tell
// it, and that the catalogue is written in the present epoch only. place prepares an
// empty store and returns its URL.
func (o Opener) Conformance(t *testing.T, place func(t *testing.T) string) {
	where := map[generator.Store]string{}
	open := func(t *testing.T, url string) generator.Store {
		s := o.Start(t, url, shared.Config{})
		where[s] = url
		return s
	}
	t.Run("Time", func(t *testing.T) { o.checkTime(t, place(t)) })
	t.Run("Epoch", func(t *testing.T) { o.checkEpoch(t, place(t)) })
	generatortest.RunStore(t, func(t *testing.T) generator.Store { return open(t, place(t)) },
		generatortest.StoreCaps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
			must(t, old.Close())
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
		must(t, err)
		if latest.Before(before) || earliest.After(after) || latest.Before(earliest) || latest.Sub(earliest) > time.Second {
			t.Errorf("asked between %v and %v, got the interval from %v to %v", before, after, earliest, latest)
		}
	}
	s.Close()
	if _, _, err := s.Time(t.Context()); !errors.Is(err, generator.ErrNotNow) {
		t.Errorf("after Close: %v", err)
	}
}

func (o Opener) checkEpoch(t *testing.T, url string) {
	e, err := o(t.Context(), url, nil)
	must(t, err)
	defer e.Close()
	epoch, err := e.Epoch(t.Context())
	must(t, err)
	entry := shared.Entry{Definition: generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}"), Version: 1, Created: time.UnixMilli(1)}}
	put := func(in string, was *shared.Entry, want bool) {
		t.Helper()
		if written, err := e.PutName(t.Context(), in, entry, was); err != nil || written != want {
			t.Fatalf("in epoch %q: %t, %v", in, written, err)
		}
	}
	put("another", nil, false)
	put(epoch, nil, true)
	put(epoch, nil, false)
	was := entry
	entry.Dropped = true
	put("another", &was, false)
	put(epoch, &was, true)
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
		within(20*time.Second, time.Millisecond, func() bool { return load.Refused() != before })
	}
	cut.After(0)
	load.Await(20)
	load.Stop()
	if load.Refused() < cuts {
		t.Errorf("only %d connections were cut", load.Refused())
	}
}

// Renewal checks that the periodic requests of an idle server do not cost more in a
// store with many names. These requests renew the time slice and read the marks of
// changes and of servers. With lists, a worker id's claim is included, which lists
// all worker ids. The cost is the number of bytes in answers of the server at addr.
func (o Opener) Renewal(t *testing.T, url, addr string, lists bool) {
	t.Helper()
	const names = 2000
	proxy := Cut(t, addr)
	s := o.Start(t, strings.Replace(url, addr, proxy.Addr, 1), shared.Config{})
	worker := generator.WorkerKeyPrefix + "10/7"
	renew := func() int64 {
		const times = 10
		before := proxy.Passed()
		for range times {
			at := time.Now().UnixMilli()
			if _, _, err := s.Reserve(t.Context(), generator.Reservation{Key: worker, AtLeast: at, N: 10, Limit: generator.NoLimit}); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"changes", generator.NodeKeyPrefix + "0", worker} {
				if _, _, err := s.Mark(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
			if !lists {
				continue
			}
			if marks, err := s.Reserved(t.Context(), generator.WorkerKeyPrefix); err != nil || len(marks) != 1 {
				t.Fatalf("%v %v", marks, err)
			}
		}
		return (proxy.Passed() - before) / times
	}
	renew() // connects
	few := renew()
	var work errgroup.Group
	work.SetLimit(64)
	for i := range names {
		work.Go(func() error {
			r := Order(1)
			r.Key = generator.NameKey(fmt.Sprint("name_with_some_length_", i))
			_, _, err := s.Reserve(t.Context(), r)
			return err
		})
	}
	must(t, work.Wait())
	many := renew()
	t.Logf("a renewal: %d bytes with no names, %d with %d", few, many, names)
	if many > few+few/4+256 {
		t.Errorf("a renewal brings %d bytes with %d names, and %d without", many, names, few)
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
	var lo int64
	within(20*time.Second, 0, func() bool {
		lo, _, err = s.Reserve(t.Context(), Order(10))
		return err == nil
	})
	if err != nil || lo < 11 {
		t.Fatalf("granted from %d: %v", lo, err)
	}
}

// Emptied deletes all keys while the store at url, without SQL tables, is used. The
// store then refuses reservations instead of starting from zero, also after schema
// has prepared it again.
func (o Opener) Emptied(t *testing.T, url string, schema shared.Schema) {
	t.Helper()
	store := o.Start(t, url, shared.Config{})
	Grant(t, store, Order(10), 1)
	must(t, schema.Down(t.Context()))
	_, _, err := store.Reserve(t.Context(), Order(10))
	WantError(t, err, generator.ErrPinned, "no tables of nextid")
	must(t, schema.Up(t.Context()))
	if text, complete, err := schema.Status(t.Context()); err != nil || !complete || !strings.HasPrefix(text, "prepared") {
		t.Errorf("%s %v %v", text, complete, err)
	}
	_, _, err = store.Reserve(t.Context(), Order(10))
	WantError(t, err, generator.ErrRegressed, "no reservation")
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
