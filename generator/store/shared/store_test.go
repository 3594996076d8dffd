package shared

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// database is a database in memory which can forget: its content can be taken
// and put back.
type database struct {
	mu      sync.Mutex
	epoch   string
	values  map[string]Value
	entries map[string]Value
	down    error
	delay   time.Duration
	clock   generator.Clock // nil: the machine's
	calls   atomic.Int64
}

func newDatabase() *database {
	return &database{epoch: "one", values: map[string]Value{}, entries: map[string]Value{}}
}

// copied is a backup.
func (d *database) copied() (values map[string]Value, entries map[string]Value) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.values), maps.Clone(d.entries)
}

func (d *database) restore(values map[string]Value, entries map[string]Value, epoch string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.values, d.entries, d.epoch = maps.Clone(values), maps.Clone(entries), epoch
}

func (d *database) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = err
}

func (d *database) edit(key string, change func(*Row)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.values[key]
	r, err := DecodeRow(key, v.Text)
	if err != nil {
		panic(err)
	}
	change(r)
	d.values[key] = Value{EncodeRow(r), v.Version + 1}
}

// engine is one server's way to a database.
type engine struct {
	*CAS
	*database
}

func (d *database) engine() *engine { return &engine{NewCAS(link{d}, nil), d} }

// link is the Swapper.
type link struct{ *database }

func (l link) enter(ctx context.Context) error {
	l.calls.Add(1)
	l.mu.Lock()
	delay, down := l.delay, l.down
	l.mu.Unlock()
	if delay > 0 {
		if (generator.Goroutines{}).Sleep(ctx, delay) != nil {
			return generator.StoreLateError(ctx)
		}
	}
	if down != nil {
		return Unreachable(ctx, "test", down)
	}
	return nil
}

func (l link) Present(ctx context.Context) (string, error) {
	if err := l.enter(ctx); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch, nil
}

func (d *database) in(f Folder) map[string]Value {
	if f == NameFolder {
		return d.entries
	}
	return d.values
}

func (l link) Get(ctx context.Context, in Folder, key string) (Value, error) {
	if err := l.enter(ctx); err != nil {
		return Value{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in(in)[key], nil
}

func (l link) Swap(ctx context.Context, epoch string, in Folder, key string, was Value, text string) (Value, bool, error) {
	if err := l.enter(ctx); err != nil {
		return Value{}, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != "" && epoch != l.epoch {
		return Value{}, false, ErrEpoch
	}
	now := l.in(in)[key]
	if now.Version != was.Version {
		return now, false, nil
	}
	now = Value{text, now.Version + 1}
	l.in(in)[key] = now
	return now, true, nil
}

func (l link) List(_ context.Context, in Folder, prefix string) (map[string]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]string{}
	for key, v := range l.in(in) {
		if strings.HasPrefix(key, prefix) {
			all[key] = v.Text
		}
	}
	return all, nil
}

func (l link) Size(_ context.Context, in Folder) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.in(in)), nil
}

// Time implements generator.Timekeeper.
func (e *engine) Time(context.Context) (earliest, latest time.Time, err error) {
	now := time.Now()
	if e.clock != nil {
		now = time.Unix(0, e.clock.Wall())
	}
	return now, now, nil
}

func (e *engine) Close() error { return nil }

func newStore(t *testing.T, d *database, cfg Config) *Store {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := New(t.Context(), d.engine(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformanceOfCompareAndSet(t *testing.T) {
	t.Parallel()
	where := map[generator.Store]*database{}
	generatortest.RunStore(t, func(t *testing.T) generator.Store {
		d := newDatabase()
		s := newStore(t, d, Config{})
		where[s] = d
		return s
	}, generatortest.StoreCaps{Reopen: func(t *testing.T, old generator.Store) generator.Store {
		d := where[old]
		old.Close()
		s := newStore(t, d, Config{})
		where[s] = d
		return s
	}})
}

func name(n string, count int64) generator.Reservation {
	return generator.Reservation{Key: generator.NameKey(n), AtLeast: 1, N: count, Limit: generator.NoLimit}
}

func grant(t *testing.T, s *Store, r generator.Reservation, lo int64) {
	t.Helper()
	if got, _, err := s.Reserve(t.Context(), r); err != nil || got != lo {
		t.Fatalf("%s grants from %d, %v; want %d", r.Key, got, err, lo)
	}
}

func refused(t *testing.T, s *Store, r generator.Reservation, kind error, text string) {
	t.Helper()
	lo, hi, err := s.Reserve(t.Context(), r)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) || lo != 0 || hi != 0 {
		t.Fatalf("[%d, %d), %v; want %v with %q", lo, hi, err, kind, text)
	}
}

// A restore into the same server leaves the epoch: only the high-water mark shows it.
func TestARestoreStopsTheNameForAll(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	file := filepath.Join(t.TempDir(), "w", "witness")
	a := newStore(t, d, Config{HighWater: file})
	grant(t, a, name("orders", 100), 1)
	values, entries := d.copied()
	grant(t, a, name("orders", 100), 101)
	grant(t, a, name("other", 100), 1)
	a.Close()
	d.restore(values, entries, "one")

	a = newStore(t, d, Config{HighWater: file})
	refused(t, a, name("orders", 1), generator.ErrRegressed, "gone back")
	refused(t, a, name("orders", 1), generator.ErrRegressed, "stopped")
	b := newStore(t, d, Config{}) // saw nothing of it
	refused(t, b, name("orders", 1), generator.ErrRegressed, "gone back")

	if err := b.Recover(t.Context(), generator.NameKey("orders"), 50); err != nil { // too low
		t.Fatal(err)
	}
	grant(t, b, name("orders", 10), 202) // what a had seen is in the row
	grant(t, a, name("orders", 10), 212)
	grant(t, a, name("fresh", 10), 1)
}

// A return that comes after another server has reserved and returned all that
// lies beyond takes back nothing: that server would see the store
// go back.
func TestAReturnThatComesLate(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, b := newStore(t, d, Config{}), newStore(t, d, Config{})
	grant(t, a, name("orders", 10), 1)
	grant(t, b, name("orders", 10), 11)
	for _, r := range []struct {
		s      *Store
		hi, to int64
	}{{b, 21, 11}, {a, 11, 5}} {
		if err := r.s.Release(t.Context(), generator.NameKey("orders"), r.hi, r.to); err != nil {
			t.Fatal(err)
		}
	}
	grant(t, b, name("orders", 10), 11)
}

// A server that has given back all of its reservations sees no loss when another one,
// whose reservations were on both sides of them, gives back what lies below. So two
// servers stop and start one after the other.
func TestAReservationThatWasGivenBackWhole(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	file := filepath.Join(t.TempDir(), "marks")
	a, b := newStore(t, d, Config{}), newStore(t, d, Config{HighWater: file})
	release := func(s *Store, hi, to int64) {
		t.Helper()
		if err := s.Release(t.Context(), generator.NameKey("orders"), hi, to); err != nil {
			t.Fatal(err)
		}
	}
	grant(t, b, name("orders", 10), 1)
	grant(t, a, name("orders", 10), 11)
	grant(t, b, name("orders", 10), 21)
	grant(t, b, name("orders", 10), 31)
	release(b, 41, 21)
	b.Close()
	grant(t, a, name("orders", 10), 21)
	values, entries := d.copied()
	release(a, 31, 15)

	b = newStore(t, d, Config{HighWater: file})
	grant(t, b, name("orders", 10), 15)
	release(b, 25, 18) // a part of it
	grant(t, b, name("orders", 10), 18)
	d.restore(values, entries, "one")
	refused(t, b, name("orders", 1), generator.ErrRegressed, "gone back")
}

func TestARecoveryGoesOnWhereItIsTold(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	s := newStore(t, d, Config{})
	grant(t, s, name("orders", 10), 1)
	d.restore(map[string]Value{}, nil, "two")
	refused(t, s, name("orders", 10), generator.ErrRegressed, "no reservation")
	if err := s.Recover(t.Context(), generator.NameKey("orders"), 5000); err != nil {
		t.Fatal(err)
	}
	grant(t, s, name("orders", 10), 5000)
	grant(t, newStore(t, d, Config{}), name("orders", 10), 5010)
}

func TestARowThatWasEditedIsSeen(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*Row){
		"the end":   func(r *Row) { r.Lo, r.Hi = 1, 50 },
		"the count": func(r *Row) { r.Seq = 1 },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := newDatabase()
			s := newStore(t, d, Config{})
			grant(t, s, name("orders", 100), 1)
			grant(t, s, name("orders", 100), 101)
			d.edit(generator.NameKey("orders"), change)
			refused(t, s, name("orders", 1), generator.ErrRegressed, "gone back")
		})
	}
	d := newDatabase()
	s := newStore(t, d, Config{})
	grant(t, s, name("orders", 100), 1)
	d.edit(generator.NameKey("orders"), func(r *Row) { r.Hi = 1000 })
	grant(t, s, name("orders", 100), 1000) // forward does no harm
}

func TestADamagedRowConcernsItsNameOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		s := newStore(t, d, Config{Lanes: 1})
		grant(t, s, name("bad", 1), 1)
		grant(t, s, name("good", 1), 1)
		d.mu.Lock()
		d.values[generator.NameKey("bad")] = Value{"what?", 9}
		d.delay = time.Millisecond
		d.mu.Unlock()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { refused(t, s, name("bad", 1), generator.ErrRegressed, "damaged") })
			wg.Go(func() {
				if _, _, err := s.Reserve(t.Context(), name("good", 1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.Close()
	})
}

func TestAllThatWaitShareARoundTrip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		e := &counted{engine: d.engine()}
		s, err := New(t.Context(), e, Config{Lanes: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e.rounds.Store(0)
		d.delay = 10 * time.Millisecond
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if _, _, err := s.Reserve(t.Context(), name(strings.Repeat("x", i+1), 1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := e.rounds.Load(); n > 3 {
			t.Errorf("50 reservations took %d rounds", n)
		}
	})
}

type counted struct {
	*engine
	rounds atomic.Int64
}

func (c *counted) Advance(ctx context.Context, asks []Ask) ([]Answer, error) {
	c.rounds.Add(1)
	return c.engine.Advance(ctx, asks)
}

// Whoever defines a name has looked for it.
func TestANewNameIsWrittenWithoutALook(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	s := newStore(t, d, Config{})
	before := d.calls.Load()
	_, created, err := s.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")})
	if err != nil || !created {
		t.Fatalf("created %t, %v", created, err)
	}
	if calls := d.calls.Load() - before; calls != 2 { // for the epoch, which Swap cannot check in every database, and to write
		t.Errorf("%d round trips", calls)
	}
}

func TestACallerWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		s := newStore(t, d, Config{Timeout: 5 * time.Second})
		d.delay = time.Hour
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := s.Reserve(ctx, name("orders", 1)); !errors.Is(err, generator.ErrRetry) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		began = time.Now()
		if _, _, err := s.Reserve(t.Context(), name("others", 1)); !errors.Is(err, generator.ErrRetry) || time.Since(began) > 6*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		s.Close()
	})
}

func TestTheStoreComesBackByItself(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	s := newStore(t, d, Config{})
	grant(t, s, name("orders", 10), 1)
	d.fail(errors.New("connection refused"))
	refused(t, s, name("orders", 10), generator.ErrNotNow, "connection refused")
	if err := s.Probe(); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("while it is down, Probe says %v", err)
	}
	d.fail(nil)
	grant(t, s, name("orders", 10), 11)
	if err := s.Probe(); err != nil {
		t.Errorf("when it is back, Probe says %v", err)
	}
}

func TestHighWaterFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "witness")
	w, err := openHighWater(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5000) { // over several times of writing it anew
		if _, back := w.grant(`name/a "b"`, i*10, position{i*10 + 10, i + 1}); back {
			t.Fatal(i)
		}
	}
	if seq, last := w.lower(`name/a "b"`, 50000, 49995); seq != 5000 || !last {
		t.Errorf("seq %d, %v", seq, last)
	}
	w.close()
	if w, err = openHighWater(file); err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if s, _ := w.look(`name/a "b"`); s != (position{49995, 5000}) {
		t.Errorf("read %+v", s)
	}
}
