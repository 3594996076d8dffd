package snowflake

import (
	"testing"
	"time"

	"nextid/generator"
)

// drop closes a generator and retires its name, as Registry.Drop does.
func (w *world) drop(k generator.Kind, g *Generator, options string) {
	w.t.Helper()
	if err := g.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := k.(generator.Retirer).Retire(w.t.Context(), define(w.t, k, g.name, options)); err != nil {
		w.t.Fatal(err)
	}
}

// Under one name an id is never given twice, also when the generator is
// dropped and created again with bits or an epoch that count from lower.
func TestANameThatIsCreatedAgainGoesOnAboveEverything(t *testing.T) {
	for _, restart := range []bool{false, true} {
		inWorld(t, true, func(w *world) {
			k := w.kind(static(5))
			g := w.open(k, "orders", `{"layout":"js"}`)
			for range 10 {
				w.next(g, 128)
			}
			last := w.next(g, 1).First
			w.drop(k, g, `{"layout":"js"}`)
			if got := w.mark("orders"); got <= last {
				t.Errorf("the tombstone is %d, ids went up to %d", got, last)
			}
			if restart {
				k = w.kind(static(5))
			}
			before := w.elapsed()
			g = w.open(k, "orders", `{"layout":"js"}`)
			w.next(g, 128)
			if waited := w.elapsed() - before; waited > 10*time.Millisecond {
				t.Errorf("waited %v although nothing is in the way", waited)
			}
			w.drop(k, g, `{"layout":"js"}`)
			w.next(w.open(k, "orders", ""), 128) // Twitter's ids are greater
		})
	}
}

func TestANameCannotBeCreatedAgainBelowItsOldIDs(t *testing.T) {
	inWorld(t, true, func(w *world) {
		k := w.kind()
		g := w.open(k, "orders", "")
		w.next(g, 1)
		w.drop(k, g, "")
		_, err := k.Open(w.t.Context(), define(t, k, "orders", `{"layout":"js"}`))
		wantErr(t, err, generator.ErrExhausted, "orders", "js", "none beyond")
		// The same bits with a later epoch reach the old ids in some years.
		g = w.open(k, "orders", `{"epoch":"2024-01-01"}`)
		_, err = g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "issues again at 2040-01-18")
		// Those of a longer time field reach them in some centuries, which no Duration holds.
		g = w.open(k, "orders", `{"bits":"time 47, worker 4, sequence 12"}`)
		_, err = g.Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "issues again at 3")
		w.next(w.open(k, "other", `{"layout":"js"}`), 1)
		// A strict one must not take the time of all names there.
		_, err = w.openStrict(k, "orders", `{"epoch":"2024-01-01","strict":true}`).Next(w.t.Context(), 1)
		wantErr(t, err, generator.ErrNotNow, "issues again at 2040-01-18")
		other := w.openStrict(k, "strict", strict)
		tick, _, _, _ := other.Layout.Unpack(w.take(other, "strict", 0, 1).First)
		if ahead := other.TimeOf(tick).Sub(w.clock.Time()); ahead > time.Minute {
			t.Errorf("an id of another name is %v ahead", ahead)
		}
	})
}

func TestANameAfterASegmentGeneratorGoesOnAboveItsNumbers(t *testing.T) {
	inWorld(t, true, func(w *world) {
		reserve := func(name string, n int64) {
			_, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{Key: generator.NameKey(name), N: n, Limit: generator.NoLimit})
			if err != nil {
				t.Fatal(err)
			}
		}
		const epoch = `{"epoch":"2026-11-21T08:00:00Z"}` // ids begin at 0
		reserve("orders", 3<<22)
		reserve("ordersystem", 1<<60) // other names that begin alike
		k := w.kind()
		w.next(w.open(k, "ordersys", epoch), 1)
		g := w.open(k, "orders", epoch)
		if id := w.next(g, 1).First; id < 3<<22 {
			t.Errorf("id %d, but %d numbers were given", id, 3<<22)
		}
		if w.elapsed() > 5*time.Millisecond {
			t.Errorf("waited %v", w.elapsed())
		}
	})
}

func TestRetireCoversIDsOfCrashedServers(t *testing.T) {
	inWorld(t, true, func(w *world) {
		crashed := w.open(w.kind(), "orders", "")
		var last int64
		for range 20 {
			time.Sleep(100 * time.Millisecond)
			last = w.next(crashed, 1).First
		}
		k := w.kind() // has not opened the name, nor claimed a worker id
		if err := k.(generator.Retirer).Retire(w.t.Context(), define(t, k, "orders", "")); err != nil {
			t.Fatal(err)
		}
		if got := w.mark("orders"); got <= last {
			t.Errorf("the tombstone is %d, ids went up to %d", got, last)
		}
		if err := k.(generator.Retirer).Retire(w.t.Context(), define(t, k, "young", `{"epoch":"2030-01-01"}`)); err != nil {
			t.Fatal(err)
		}
		if got := w.mark("young"); got != 0 {
			t.Errorf("a name that cannot have issued anything has the tombstone %d", got)
		}
	})
}

// mark returns where the key of a name stands, 0 where it has none.
func (w *world) mark(name string) int64 {
	w.t.Helper()
	marks, err := w.store.Reserved(w.t.Context(), generator.NameKey(name))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range marks {
		if m.Key == generator.NameKey(name) {
			return m.Hi
		}
	}
	return 0
}
