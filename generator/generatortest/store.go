package generatortest

import (
	"context"
	"errors"
	"testing"
	"time"

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
	t.Run("Reserve", s.reserve)
	t.Run("Release", s.release)
	t.Run("Reserved", s.reserved)
	t.Run("Concurrent", s.concurrent)
	t.Run("Define", s.define)
	t.Run("Redefine", s.redefine)
	t.Run("Undefine", s.undefine)
	t.Run("Lifecycle", s.lifecycle)
}

type suite struct {
	open func(t *testing.T) generator.Store
	caps StoreCaps
}

// patience bounds each test; stores need much less.
const patience = time.Minute

// start opens an empty store for one test.
func (s suite) start(t *testing.T) (context.Context, generator.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	store := s.open(t)
	t.Cleanup(func() { store.Close() })
	return ctx, store
}

// request returns a Reservation without a bound.
func request(key string, atLeast, n int64) generator.Reservation {
	return generator.Reservation{Key: key, AtLeast: atLeast, N: n, Limit: generator.NoLimit, Owner: "generatortest"}
}

func mustReserve(ctx context.Context, t *testing.T, s generator.Store, r generator.Reservation) (lo, hi int64) {
	t.Helper()
	lo, hi, err := s.Reserve(ctx, r)
	if err != nil {
		t.Fatalf("Reserve(%+v): %v", r, err)
	}
	return lo, hi
}

func wantReserve(ctx context.Context, t *testing.T, s generator.Store, r generator.Reservation, lo, hi int64) {
	t.Helper()
	if gotLo, gotHi := mustReserve(ctx, t, s, r); gotLo != lo || gotHi != hi {
		t.Fatalf("Reserve(%+v) = [%d, %d), want [%d, %d)", r, gotLo, gotHi, lo, hi)
	}
}

// wantKind checks that err is an *Error of kind with a message.
func wantKind(t *testing.T, err, kind error) {
	t.Helper()
	var e *generator.Error
	switch {
	case !errors.Is(err, kind):
		t.Fatalf("error is %v, want kind %q", err, kind)
	case !errors.As(err, &e):
		t.Fatalf("error %v is a %T, want a *generator.Error", err, err)
	case e.Message == "":
		t.Fatalf("error of kind %q has no message", kind)
	}
}

// lifecycle covers Exclusive, Close and reopening.
func (s suite) lifecycle(t *testing.T) {
	t.Run("Exclusive is as the kind of store says", func(t *testing.T) {
		_, store := s.start(t)
		if got := store.Exclusive(); got != s.caps.Exclusive {
			t.Errorf("Exclusive() = %v, want %v", got, s.caps.Exclusive)
		}
	})
	t.Run("a closed store answers ErrNotNow", func(t *testing.T) {
		ctx, store := s.start(t)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, err := store.Reserve(ctx, request("k", 0, 1))
		wantKind(t, err, generator.ErrNotNow)
		_, err = store.Defined(ctx, "a")
		wantKind(t, err, generator.ErrNotNow)
		if err := store.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
	t.Run("reservations and definitions are there after reopening", func(t *testing.T) {
		if s.caps.Reopen == nil {
			t.Skip("this store is not durable")
		}
		s.reopened(t)
	})
}

func (s suite) reopened(t *testing.T) {
	ctx, store := s.start(t)
	mustReserve(ctx, t, store, request("plain", 1, 100))
	mustReserve(ctx, t, store, request("returned", 1, 100))
	if err := store.Release(ctx, "returned", 101, 40); err != nil {
		t.Fatal(err)
	}
	mustReserve(ctx, t, store, request("low", -1<<63, 1))
	mustReserve(ctx, t, store, request("high", generator.NoLimit-1, 5))
	kept := mustDefine(ctx, t, store, definition("kept", `{"v": 1}`))
	kept.Options = []byte(`{"v": 2}`)
	kept, err := store.Redefine(ctx, kept)
	if err != nil {
		t.Fatal(err)
	}
	gone := mustDefine(ctx, t, store, definition("gone", `{}`))
	if err := store.Undefine(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	before, err := store.Reserved(ctx, "")
	if err != nil {
		t.Fatal(err)
	}

	for range 2 { // twice: opening must not change anything
		store = s.caps.Reopen(t, store)
		t.Cleanup(func() { store.Close() })
		after, err := store.Reserved(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		wantMarks(t, after, before)
		got, err := store.Defined(ctx, "kept")
		if err != nil {
			t.Fatal(err)
		}
		wantDefinition(t, got, kept)
		_, err = store.Defined(ctx, "gone")
		wantKind(t, err, generator.ErrUnknown)
	}
	wantReserve(ctx, t, store, request("plain", 1, 10), 101, 111)
	wantReserve(ctx, t, store, request("returned", 1, 10), 40, 50)
	wantReserve(ctx, t, store, request("low", -1<<63, 1), -1<<63+1, -1<<63+2)
	_, _, err = store.Reserve(ctx, request("high", 0, 1))
	wantKind(t, err, generator.ErrExhausted)
	again := mustDefine(ctx, t, store, definition("gone", `{"new": true}`))
	if again.Version <= gone.Version {
		t.Errorf("a name that was defined again has version %d, not above its old %d", again.Version, gone.Version)
	}
}
