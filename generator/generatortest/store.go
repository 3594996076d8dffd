package generatortest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
)

// StoreCaps describes the store under test.
type StoreCaps struct {
	// Exclusive is the expected result of Store.Exclusive.
	Exclusive bool

	// Reopen closes s and opens the same place again. nil: the store is not durable,
	// and the tests of durability are left out.
	Reopen func(t *testing.T, s generator.Store) generator.Store
}

// RunStore checks every sentence of generator.Store against the stores that open
// returns. Each call of open must return an empty store. RunStore closes it.
func RunStore(t *testing.T, open func(t *testing.T) generator.Store, caps StoreCaps) {
	s := suite{open: open, caps: caps}
	t.Run("Reserve and Release", s.reserve)
	t.Run("Reserved", s.reserved)
	t.Run("Concurrent", s.concurrent)
	t.Run("Define", s.define)
	t.Run("Lifecycle", s.lifecycle)
}

type suite struct {
	open func(t *testing.T) generator.Store
	caps StoreCaps
}

// patience bounds each test; stores need much less.
const patience = time.Minute

// place is an empty store in one test.
type place struct {
	*testing.T
	generator.Store
	ctx context.Context
}

// run runs a test on an empty store.
func (s suite) run(t *testing.T, name string, test func(p place)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		store := s.open(t)
		t.Cleanup(func() { store.Close() })
		test(place{t, store, ctx})
	})
}

// request returns a Reservation without a bound.
func request(key string, atLeast, n int64) generator.Reservation {
	return generator.Reservation{Key: key, AtLeast: atLeast, N: n, Limit: generator.NoLimit, Owner: "generatortest"}
}

func (p place) reserve(key string, atLeast, n int64) (lo, hi int64) {
	p.Helper()
	lo, hi, err := p.Reserve(p.ctx, request(key, atLeast, n))
	if err != nil {
		p.Fatalf("Reserve(%q, %d, %d): %v", key, atLeast, n, err)
	}
	return lo, hi
}

func (p place) wantReserve(key string, atLeast, n, lo, hi int64) {
	p.Helper()
	if gotLo, gotHi := p.reserve(key, atLeast, n); gotLo != lo || gotHi != hi {
		p.Fatalf("Reserve(%q, %d, %d) = [%d, %d), want [%d, %d)", key, atLeast, n, gotLo, gotHi, lo, hi)
	}
}

func (p place) release(key string, hi, to int64) {
	p.Helper()
	if err := p.Release(p.ctx, key, hi, to); err != nil {
		p.Fatalf("Release(%q, %d, %d): %v", key, hi, to, err)
	}
}

// wantKind checks that err is an *Error of kind with a message.
func wantKind(t rapid.TB, err, kind error) {
	t.Helper()
	if e, ok := errors.AsType[*generator.Error](err); !ok || !errors.Is(err, kind) || e.Message == "" {
		t.Fatalf("error is %T %v, want a *generator.Error of kind %q with a message", err, err, kind)
	}
}

// lifecycle covers Exclusive, Close and reopening.
func (s suite) lifecycle(t *testing.T) {
	s.run(t, "Exclusive is as the kind of store says", func(p place) {
		if got := p.Exclusive(); got != s.caps.Exclusive {
			p.Errorf("Exclusive() = %v, want %v", got, s.caps.Exclusive)
		}
	})
	s.run(t, "a closed store answers ErrNotNow", func(p place) {
		if err := p.Close(); err != nil {
			p.Fatal(err)
		}
		_, _, err := p.Reserve(p.ctx, request("k", 0, 1))
		wantKind(p, err, generator.ErrNotNow)
		_, err = p.Defined(p.ctx, "a")
		wantKind(p, err, generator.ErrNotNow)
		if err := p.Close(); err != nil {
			p.Errorf("second Close: %v", err)
		}
	})
	s.run(t, "reservations and definitions are there after reopening", func(p place) {
		if s.caps.Reopen == nil {
			p.Skip("this store is not durable")
		}
		s.reopened(p)
	})
}

func (s suite) reopened(p place) {
	p.reserve("plain", 1, 100)
	p.reserve("returned", 1, 100)
	p.release("returned", 101, 40)
	p.reserve("low", -1<<63, 1)
	p.reserve("high", generator.NoLimit-1, 5)
	kept := p.define("kept", `{"v": 1}`)
	kept.Options = []byte(`{"v": 2}`)
	kept, err := p.Redefine(p.ctx, kept)
	if err != nil {
		p.Fatal(err)
	}
	gone := p.define("gone", `{}`)
	p.undefine("gone")
	before := p.marks("")
	for range 2 { // twice: opening must not change anything
		p.Store = s.caps.Reopen(p.T, p.Store)
		p.Cleanup(func() { p.Store.Close() })
		p.wantMarks("", before)
		p.wantDefined(kept)
		_, err = p.Defined(p.ctx, "gone")
		wantKind(p, err, generator.ErrUnknown)
	}
	p.wantReserve("plain", 1, 10, 101, 111)
	p.wantReserve("returned", 1, 10, 40, 50)
	p.wantReserve("low", -1<<63, 1, -1<<63+1, -1<<63+2)
	_, _, err = p.Reserve(p.ctx, request("high", 0, 1))
	wantKind(p, err, generator.ErrExhausted)
	if again := p.define("gone", `{"new": true}`); again.Version <= gone.Version {
		p.Errorf("a name that was defined again has version %d, not above its old %d", again.Version, gone.Version)
	}
}

// BenchStore measures single reservations, and 64 keys that are reserved at the
// same time, which a store with group commit combines.
func BenchStore(b *testing.B, s generator.Store) {
	for _, waiting := range []int{1, 64} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			for b.Loop() {
				var all sync.WaitGroup
				for i := range waiting {
					all.Go(func() {
						if _, _, err := s.Reserve(b.Context(), request(fmt.Sprint("name/bench", i), 1, 1000)); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			b.ReportMetric(float64(b.N*waiting)/b.Elapsed().Seconds(), "reservations/s")
		})
	}
}
