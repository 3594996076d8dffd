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
	stamp   string
	values  map[string]Value
	entries map[string]Entry
	down    error
	delay   time.Duration
	calls   atomic.Int64
}

func newDatabase() *database {
	return &database{stamp: "one", values: map[string]Value{}, entries: map[string]Entry{}}
}

// copied is a backup.
func (d *database) copied() (values map[string]Value, entries map[string]Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.values), maps.Clone(d.entries)
}

func (d *database) restore(values map[string]Value, entries map[string]Entry, stamp string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.values, d.entries, d.stamp = maps.Clone(values), maps.Clone(entries), stamp
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

func (d *database) engine() *engine { return &engine{NewCAS(link{d}), d} }

// link is the Swapper.
type link struct{ *database }

func (l link) enter(ctx context.Context) error {
	l.calls.Add(1)
	l.mu.Lock()
	delay, down := l.delay, l.down
	l.mu.Unlock()
	if delay > 0 {
		if err := pause(ctx, delay); err != nil {
			return err
		}
	}
	if down != nil {
		return Unreachable(ctx, "test", down)
	}
	return nil
}

func (l link) Stamp(ctx context.Context) (string, error) {
	if err := l.enter(ctx); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stamp, nil
}

func (l link) Load(ctx context.Context, key string) (Value, error) {
	if err := l.enter(ctx); err != nil {
		return Value{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.values[key], nil
}

func (l link) Latest(ctx context.Context, key string) (Value, error) { return l.Load(ctx, key) }

func (l link) Swap(ctx context.Context, key string, was Value, text string) (Value, bool, error) {
	if err := l.enter(ctx); err != nil {
		return Value{}, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.values[key]
	if now.Version != was.Version {
		return now, false, nil
	}
	l.values[key] = Value{text, now.Version + 1}
	return l.values[key], true, nil
}

// Stamp sees a new stamp at once, as a database does that answers it with
// every statement.
func (e *engine) Stamp(ctx context.Context) (string, error) { return e.CAS.Stamp(ctx) }

// Advance asks for the stamp each time.
func (e *engine) Advance(ctx context.Context, asks []Ask) ([]Answer, error) {
	if _, err := e.CAS.Stamp(ctx); err != nil {
		return nil, err
	}
	return e.CAS.Advance(ctx, asks)
}

func (e *engine) Rows(context.Context, string) ([]Row, error) {
	e.database.mu.Lock()
	defer e.database.mu.Unlock()
	var all []Row
	for key, v := range e.values {
		r, err := DecodeRow(key, v.Text)
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

func (e *engine) Name(_ context.Context, name string) (Entry, error) {
	e.database.mu.Lock()
	defer e.database.mu.Unlock()
	if n, ok := e.entries[name]; ok {
		return n, nil
	}
	return Entry{}, Unknown(name)
}

func (e *engine) Names(context.Context) (all []Entry, err error) {
	e.database.mu.Lock()
	defer e.database.mu.Unlock()
	for _, n := range e.entries {
		all = append(all, n)
	}
	return all, nil
}

func (e *engine) PutName(_ context.Context, n Entry, was *Entry) (bool, error) {
	e.database.mu.Lock()
	defer e.database.mu.Unlock()
	now, ok := e.entries[n.Name]
	if ok != (was != nil) || ok && EncodeEntry(&now) != EncodeEntry(was) {
		return false, nil
	}
	n.Options = append([]byte(nil), n.Options...)
	e.entries[n.Name] = n
	return true, nil
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

// A restore into the same server leaves the stamp: only the witness sees it.
func TestARestoreIsSeenByTheWitnessAndStopsTheNameForAll(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	file := filepath.Join(t.TempDir(), "w", "witness")
	a := newStore(t, d, Config{Witness: file})
	grant(t, a, name("orders", 100), 1)
	values, entries := d.copied()
	grant(t, a, name("orders", 100), 101)
	grant(t, a, name("other", 100), 1)
	a.Close()
	d.restore(values, entries, "one")

	a = newStore(t, d, Config{Witness: file})
	refused(t, a, name("orders", 1), generator.ErrRegressed, "gone back")
	refused(t, a, name("orders", 1), generator.ErrRegressed, "stopped")
	b := newStore(t, d, Config{}) // saw nothing of it
	refused(t, b, name("orders", 1), generator.ErrRegressed, "gone back")

	if err := b.Recover(t.Context(), generator.NameKey("orders"), 50); err != nil { // too low
		t.Fatal(err)
	}
	grant(t, b, name("orders", 10), 202) // what a's witness knew is in the row
	grant(t, a, name("orders", 10), 212)
	grant(t, a, name("fresh", 10), 1)
}

// A return that comes after another server has reserved and returned all that
// lies beyond takes back nothing: that server's witness would see the store
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

func TestARecoveryGoesOnWhereItIsTold(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	s := newStore(t, d, Config{})
	grant(t, s, name("orders", 10), 1)
	d.restore(map[string]Value{}, nil, "two")
	refused(t, s, name("orders", 10), generator.ErrRegressed, "gone back")
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

func TestWhatFailoverPoliciesDo(t *testing.T) {
	t.Parallel()
	for policy, want := range map[Failover]func(t *testing.T, s *Store){
		Stop: func(t *testing.T, s *Store) {
			refused(t, s, name("orders", 10), generator.ErrRegressed, "failed over or restored")
			if err := s.Recover(t.Context(), generator.NameKey("orders"), 101); err != nil {
				t.Fatal(err)
			}
			grant(t, s, name("orders", 10), 102) // 101 went with the recovery
		},
		Skip: func(t *testing.T, s *Store) {
			grant(t, s, name("orders", 10), 1101)
			grant(t, s, name("orders", 10), 1111)
		},
		Lossless: func(t *testing.T, s *Store) { grant(t, s, name("orders", 10), 101) },
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			d := newDatabase()
			cfg := Config{Failover: policy, Skip: 1000}
			a := newStore(t, d, cfg)
			grant(t, a, name("orders", 100), 1)
			values, entries := d.copied()
			d.restore(values, entries, "two")
			want(t, a)
			b := newStore(t, d, cfg)
			if _, _, err := b.Define(t.Context(), generator.Definition{Name: "made later", Kind: "segment", Options: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			grant(t, b, name("made later", 10), 1)
		})
	}
}

// A name whose first reservation was lost is not taken for a new one, however
// the clocks of those differ who made it and who saw the failover.
func TestANameThatLostItsOnlyReservation(t *testing.T) {
	t.Parallel()
	for policy, want := range map[Failover]func(t *testing.T, s *Store){
		Stop: func(t *testing.T, s *Store) {
			refused(t, s, name("orders", 10), generator.ErrRegressed, "no reservation of the name")
		},
		Skip: func(t *testing.T, s *Store) { grant(t, s, name("orders", 10), 1001) },
	} {
		d := newDatabase()
		cfg := Config{Failover: policy, Skip: 1000, Clock: ahead{}}
		a := newStore(t, d, cfg)
		if _, _, err := a.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		values, entries := d.copied()
		grant(t, a, name("orders", 100), 1)
		d.restore(values, entries, "two")
		cfg.Clock = nil
		want(t, newStore(t, d, cfg))
	}
}

// A name that was lost with all that is known of it begins anew where nobody
// knows it; a server that does stops it.
func TestANameThatWasLostAltogether(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	cfg := Config{Failover: Skip, Skip: 1000}
	a := newStore(t, d, cfg)
	values, entries := d.copied()
	define := func(s *Store) {
		t.Helper()
		if _, created, err := s.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")}); err != nil || !created {
			t.Fatal(created, err)
		}
	}
	define(a)
	grant(t, a, name("orders", 100), 1)
	d.restore(values, entries, "two")
	define(a)
	grant(t, a, name("orders", 10), 1101) // it knew of 1 to 100

	d = newDatabase()
	a = newStore(t, d, Config{})
	values, entries = d.copied()
	define(a)
	grant(t, a, name("orders", 100), 1)
	d.restore(values, entries, "two")
	define(a)
	refused(t, a, name("orders", 10), generator.ErrRegressed, "no reservation")
}

// ahead is a clock that is some seconds ahead of the others.
type ahead struct{ generator.SystemClock }

func (ahead) Wall() int64 { return generator.SystemClock{}.Wall() + 5e9 }

// The number of a recovery was chosen for what its server knew: when the
// store has been failed over since, more may be lost.
func TestAFailoverDuringARecovery(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a, b := newStore(t, d, Config{}), newStore(t, d, Config{})
	grant(t, a, name("orders", 100), 1)
	values, entries := d.copied()
	d.restore(values, entries, "two")
	refused(t, a, name("orders", 1), generator.ErrRegressed, "failed over")
	refused(t, b, name("orders", 1), generator.ErrRegressed, "failed over")
	// Two operators find 100, and call on one server each. Between the calls
	// the name goes on, and the store fails over once more.
	if err := a.Recover(t.Context(), generator.NameKey("orders"), 101); err != nil {
		t.Fatal(err)
	}
	grant(t, a, name("orders", 100), 102)
	d.restore(values, entries, "three")
	if err := b.Recover(t.Context(), generator.NameKey("orders"), 101); !errors.Is(err, generator.ErrRetry) {
		t.Fatalf("recovered with a number of the failover before: %v", err)
	}
	if err := b.Recover(t.Context(), generator.NameKey("orders"), 202); err != nil {
		t.Fatal(err)
	}
	grant(t, b, name("orders", 10), 202)
}

// A second failover that loses the numbers which the first one passed over
// is not covered: a server that saw them stops the name rather than guess.
func TestASecondFailoverThatLosesWhatWasPassedOver(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a := newStore(t, d, Config{Failover: Skip, Skip: 1000})
	grant(t, a, name("orders", 100), 1)
	values, entries := d.copied()
	d.restore(values, entries, "two")
	grant(t, a, name("orders", 100), 1101)
	d.restore(values, entries, "three")
	refused(t, a, name("orders", 100), generator.ErrRegressed, "gone back")
	refused(t, newStore(t, d, Config{Failover: Skip, Skip: 1000}), name("orders", 100), generator.ErrRegressed, "gone back")
}

// A second server must not skip again.
func TestOnlyTheFirstServerSkips(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	cfg := Config{Failover: Skip, Skip: 1000}
	a, b := newStore(t, d, cfg), newStore(t, d, cfg)
	grant(t, a, name("orders", 100), 1)
	values, entries := d.copied()
	d.restore(values, entries, "two")
	grant(t, b, name("orders", 10), 1101)
	grant(t, a, name("orders", 10), 1111)
}

// Where the numbers to pass over are more than there are, the name stops. A
// number that the caller begins at, as the first of a day, may be lost, too.
func TestSkipNeedsRoom(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	cfg := Config{Failover: Skip, Skip: 1000}
	a := newStore(t, d, cfg)
	grant(t, a, name("orders", 100), 1)
	grant(t, a, name("days", 100), 1)
	values, entries := d.copied()
	d.restore(values, entries, "two")
	r := name("orders", 10)
	r.Limit = 1101
	refused(t, a, r, generator.ErrRegressed, "no 1000 numbers to pass over below 1101")
	r.Limit = 1102
	if lo, hi, err := a.Reserve(t.Context(), r); lo != 1101 || hi != 1102 || err != nil {
		t.Errorf("[%d, %d), %v", lo, hi, err)
	}
	r = name("days", 10)
	r.AtLeast = 20000
	grant(t, a, r, 21000)
}

// The witness has seen what a declared failover lost. That is no reason to
// stop the name: it counts on, beyond it, and so do the time lines.
func TestAServerThatSawWhatWasLostSkipsToo(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	clock := generatortest.NewClock(time.UnixMilli(1_700_000_000_000))
	clock.Freeze(true)
	cfg := Config{Failover: Skip, Skip: 1000, Clock: clock, Wait: time.Minute}
	a, b := newStore(t, d, cfg), newStore(t, d, cfg)
	now := func() int64 { return clock.Wall() / int64(time.Millisecond) }
	slice := func(id string) generator.Reservation {
		return generator.Reservation{Key: generator.WorkerKeyPrefix + "10/" + id, AtLeast: now(), N: 10_000, Limit: generator.NoLimit}
	}
	if _, _, err := a.Define(t.Context(), generator.Definition{
		Name: "forgotten", Kind: "segment", Options: []byte(`{}`), Created: time.UnixMilli(1_600_000_000_000),
	}); err != nil {
		t.Fatal(err)
	}
	grant(t, a, name("orders", 100), 1)
	grant(t, a, slice("0"), now())
	values, entries := d.copied()
	for i := range int64(3) { // lost
		grant(t, a, name("orders", 10), 101+20*i)
		grant(t, b, name("orders", 10), 111+20*i)
	}
	grant(t, a, name("forgotten", 10), 1)
	grant(t, a, name("forgotten", 10), 11)
	clock.Step(20 * time.Second)
	grant(t, a, slice("0"), now())
	grant(t, a, slice("1"), now())
	clock.Step(20 * time.Second)
	grant(t, a, slice("0"), now())
	grant(t, a, slice("1"), now())
	d.restore(values, entries, "two")
	grant(t, a, name("orders", 10), 1101)
	grant(t, b, name("orders", 10), 1111)
	grant(t, a, name("orders", 10), 1121)
	if lo, _, err := a.Reserve(t.Context(), name("forgotten", 10)); err != nil || lo < 1001 {
		t.Errorf("granted from %d, %v; want more than 1000 on", lo, err)
	}
	clock.Step(2 * time.Minute)
	grant(t, a, slice("0"), now())
	grant(t, a, slice("1"), now())
}

// A name whose reservations were all lost has none in the store; it is not
// taken for a new one.
func TestANameWhoseReservationsWereLostStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		s := newStore(t, d, Config{})
		if _, _, err := s.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		values, entries := d.copied()
		grant(t, s, name("orders", 100), 1)
		time.Sleep(time.Second)
		d.restore(values, entries, "two")
		fresh := newStore(t, d, Config{})
		refused(t, fresh, name("orders", 1), generator.ErrRegressed, "no reservation of the name")
		if _, _, err := fresh.Define(t.Context(), generator.Definition{Name: "new", Kind: "segment", Options: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		grant(t, fresh, name("new", 10), 1)
		fresh.Close()
		s.Close()
	})
}

func TestWorkerIDsWaitForLostSlices(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	clock := generatortest.NewClock(time.UnixMilli(1_700_000_000_000))
	clock.Freeze(true)
	cfg := Config{Clock: clock, Wait: time.Minute}
	a := newStore(t, d, cfg)
	now := func() int64 { return clock.Wall() / int64(time.Millisecond) }
	slice := func(id string) generator.Reservation {
		return generator.Reservation{Key: generator.WorkerKeyPrefix + "10/" + id, AtLeast: now(), N: 50_000, Limit: generator.NoLimit}
	}
	grant(t, a, slice("0"), now())
	values, entries := d.copied()
	grant(t, a, slice("1"), now()) // lost
	d.restore(values, entries, "two")
	b := newStore(t, d, cfg)
	refused(t, b, slice("1"), generator.ErrNotNow, "no worker id before 2023-11-14T22:14:20Z")
	refused(t, b, slice("7"), generator.ErrNotNow, "no worker id before")
	clock.Step(59 * time.Second)
	refused(t, b, slice("1"), generator.ErrNotNow, "no worker id before")
	clock.Step(time.Second + time.Millisecond)
	grant(t, b, slice("1"), now())
	grant(t, newStore(t, d, cfg), slice("2"), now())

	// With the stamp as it was, a witness starts the same wait.
	values, entries = d.copied()
	clock.Step(time.Hour)
	grant(t, b, slice("1"), now())
	d.restore(values, entries, "two")
	clock.Step(time.Hour)
	refused(t, b, slice("1"), generator.ErrNotNow, "gone back")
	refused(t, b, slice("3"), generator.ErrNotNow, "no worker id before")
	refused(t, newStore(t, d, cfg), slice("4"), generator.ErrNotNow, "no worker id before")
	clock.Step(time.Minute + time.Millisecond)
	grant(t, b, slice("1"), now())
}

// One row that cannot be read does not keep the others from being granted.
// Servers that find a new store at the same moment all note its stamp:
// that is no failover, and nobody waits.
func TestServersThatStartTogetherSeeNoFailover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		d.delay = 100 * time.Millisecond // so that all read before one has written
		stores := make([]*Store, 3)
		var starting sync.WaitGroup
		for i := range stores {
			starting.Go(func() { stores[i] = newStore(t, d, Config{Wait: time.Minute}) })
		}
		starting.Wait()
		stores = append(stores, newStore(t, d, Config{Wait: time.Minute})) // and one that finds the note
		for i, s := range stores {
			r := generator.Reservation{
				Key: generator.WorkerKeyPrefix + "10/" + string(rune('0'+i)), AtLeast: s.now(), N: 1000, Limit: generator.NoLimit,
			}
			if _, _, err := s.Reserve(t.Context(), r); err != nil {
				t.Errorf("server %d: %v", i, err)
			}
		}
	})
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

func TestWitnessFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "witness")
	w, err := openWitness(file)
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
	if w, err = openWitness(file); err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if s, _ := w.look(`name/a "b"`); s != (position{49995, 5000}) {
		t.Errorf("read %+v", s)
	}
}
