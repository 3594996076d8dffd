package shared

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

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

// A name that was lost with all that is known of it begins anew where no server
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

// A name that is created while the server does not know yet of a second failover gets
// its key in the present epoch: it was never used, and needs no recovery.
func TestANameCreatedDuringASecondFailover(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a := newStore(t, d, Config{})
	for _, epoch := range []string{"two", "three"} {
		values, entries := d.copied()
		d.restore(values, entries, epoch)
		if epoch == "two" {
			refused(t, a, name("lost", 1), generator.ErrRegressed, "no reservation")
		}
	}
	if _, created, err := a.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")}); err != nil || !created {
		t.Fatal(created, err)
	}
	grant(t, a, name("orders", 10), 1)
}

// A name that is created before the server notices a failover was never used, and
// needs no recovery. A change of the catalogue goes on in the present epoch, too.
func TestANameCreatedBeforeAFailoverIsNoticed(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	a := newStore(t, d, Config{})
	made := generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")}
	fail := func(epoch string) {
		values, entries := d.copied()
		d.restore(values, entries, epoch)
	}
	fail("two")
	made, created, err := a.Define(t.Context(), made)
	if err != nil || !created {
		t.Fatal(created, err)
	}
	grant(t, a, name("orders", 10), 1)
	fail("three")
	if made, err = a.Redefine(t.Context(), made); err != nil || made.Version != 2 {
		t.Fatal(made, err)
	}
	fail("four")
	if err := a.Undefine(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
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

// A server has seen what a declared failover lost. That is no reason to
// stop the name: it counts on, beyond it, and so do the time lines.
func TestAServerThatSawWhatWasLostSkipsToo(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	clock := generatortest.NewClock(time.UnixMilli(1_700_000_000_000))
	clock.Freeze(true)
	d.clock = clock
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
	refused(t, b, slice("2"), generator.ErrNotNow, "no worker id for another 1m0s")
	clock.Advance(time.Minute)
	clock.Step(time.Minute)
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
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		clock := generatortest.NewClock(time.UnixMilli(1_700_000_000_000))
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
		refused(t, b, slice("1"), generator.ErrNotNow, "no worker id for another 1m0s")
		refused(t, b, slice("7"), generator.ErrNotNow, "no worker id for another 1m0s")
		clock.Step(time.Hour) // wall clocks decide nothing
		clock.Advance(59 * time.Second)
		refused(t, b, slice("1"), generator.ErrNotNow, "no worker id for another 1s")
		clock.Advance(time.Second)
		grant(t, b, slice("1"), now())
		grant(t, newStore(t, d, cfg), slice("2"), now())

		// With the epoch as it was, a high-water mark starts the same wait.
		values, entries = d.copied()
		clock.Step(time.Hour)
		grant(t, b, slice("1"), now())
		d.restore(values, entries, "two")
		clock.Step(time.Hour)
		refused(t, b, slice("1"), generator.ErrNotNow, "gone back")
		refused(t, b, slice("3"), generator.ErrNotNow, "no worker id for another 1m0s")
		refused(t, newStore(t, d, cfg), slice("4"), generator.ErrNotNow, "no worker id for another 1m0s")
		clock.Advance(time.Minute)
		grant(t, b, slice("1"), now())
	})
}

// A server writes the time of its clock under a key of its own, which a failover may
// lose: the earlier time that it writes when its clock is set right ends no wait anew.
func TestATimeThatALaterOneContradicts(t *testing.T) {
	t.Parallel()
	for _, epoch := range []string{"one", "two"} {
		t.Run("restored as "+epoch, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDatabase()
				clock := generatortest.NewClock(time.UnixMilli(1_700_000_000_000))
				s := newStore(t, d, Config{Clock: clock, Wait: time.Minute, Failover: Skip, Skip: 1000})
				at := func(key string, ahead time.Duration) generator.Reservation {
					return generator.Reservation{
						Key: key, AtLeast: (clock.Wall() + int64(ahead)) / int64(time.Millisecond), N: 1000, Limit: generator.NoLimit,
					}
				}
				node, line := generator.NodeKeyPrefix+"0", generator.WorkerKeyPrefix+"10/0"
				grant(t, s, at(node, 0), at(node, 0).AtLeast)
				values, entries := d.copied()
				grant(t, s, at(node, time.Hour), at(node, time.Hour).AtLeast)
				d.restore(values, entries, epoch)
				clock.Advance(10 * time.Second)
				if _, _, err := s.Reserve(t.Context(), at(node, 0)); (epoch == "one") != errors.Is(err, generator.ErrNotNow) {
					t.Fatalf("the first earlier time: %v", err)
				}
				refused(t, s, at(line, 0), generator.ErrNotNow, "no worker id for another")
				for range 7 {
					clock.Advance(10 * time.Second)
					grant(t, s, at(node, 0), at(node, 0).AtLeast)
				}
				if _, _, err := s.Reserve(t.Context(), at(line, 0)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Servers that find a new store at the same moment all note its epoch:
// that is no failover, and no call waits.
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
