package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"modernc.org/sqlite"

	"nextid/generator"
	"nextid/generator/store/local"
)

// opened opens a store in a new directory and returns its private type.
func opened(t *testing.T) *embedded {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*embedded)
}

// within runs f on the goroutine that owns the session, in a transaction.
func (s *embedded) within(ctx context.Context, f func(q *session) error) error {
	return s.do(ctx, func(t local.Table) error { return f(t.(*session)) })
}

func ten(key string) generator.Reservation {
	return generator.Reservation{Key: key, N: 10, Limit: generator.NoLimit}
}

// queued runs calls while the store is busy, so that they share the next
// transaction. It must be called in a synctest bubble.
func queued(t *testing.T, s *embedded, calls ...func()) {
	t.Helper()
	gate := make(chan struct{})
	go s.within(t.Context(), func(*session) error {
		<-gate
		return nil
	})
	synctest.Wait()
	for _, call := range calls {
		go call()
		synctest.Wait()
	}
	close(gate)
	synctest.Wait()
}

func TestWaitingCallsShareOneTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 20
		s := opened(t)
		commits := countCommits(t, s)
		var lows [callers]int64
		var errs [callers]error
		var calls []func()
		for i := range callers {
			calls = append(calls, func() { lows[i], _, errs[i] = s.Reserve(t.Context(), ten("k")) })
		}
		queued(t, s, calls...)
		if n := commits.Load() - 1; n != 1 { // without the transaction of the call that kept the store busy
			t.Errorf("%d waiting calls took %d commits", callers, n)
		}
		slices.Sort(lows[:])
		for i := range callers {
			if lows[i] != int64(i)*10 || errs[i] != nil {
				t.Fatalf("the reservations begin at %v, %v", lows, errs)
			}
		}
		if _, _, err := s.Reserve(t.Context(), ten("k")); err != nil || commits.Load() != 3 {
			t.Errorf("one more call: %v, %d commits", err, commits.Load())
		}
	})
}

// countCommits counts the transactions that change the file from now on.
func countCommits(t *testing.T, s *embedded) *atomic.Int32 {
	t.Helper()
	commits := new(atomic.Int32)
	err := s.within(t.Context(), func(*session) error {
		conn, err := s.session.db.Conn(t.Context())
		if err != nil {
			return err
		}
		defer conn.Close()
		return conn.Raw(func(c any) error {
			c.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
				commits.Add(1)
				return 0
			})
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	commits.Store(0) // without the transaction of that call
	return commits
}

func TestRefusedCallLeavesTheOthersOfItsTransactionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		ctx, cancel := context.WithCancel(t.Context())
		var exhausted, unknown, canceled error
		var lo, hi, hi2 int64
		queued(t, s,
			func() { lo, _, _ = s.Reserve(t.Context(), ten("k")) },
			func() { _, _, exhausted = s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 1, Limit: 3}) },
			func() { _, unknown = s.Defined(t.Context(), "nobody") },
			func() { _, _, canceled = s.Reserve(ctx, ten("k")) },
			func() { cancel() },
			func() { _, hi, _ = s.Reserve(t.Context(), ten("k")) },
			func() { _, hi2, _ = s.Reserve(t.Context(), ten("k2")) },
		)
		if !errors.Is(exhausted, generator.ErrExhausted) || !errors.Is(unknown, generator.ErrUnknown) ||
			!errors.Is(canceled, context.Canceled) {
			t.Errorf("errors are %v, %v, %v", exhausted, unknown, canceled)
		}
		if lo != 0 || hi != 20 || hi2 != 10 {
			t.Errorf("the others got %d, %d, %d", lo, hi, hi2)
		}
	})
}

func TestCallWhoseContextEndsBeforeItsTurnTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		ctx, cancel := context.WithCancel(t.Context())
		var late error
		queued(t, s,
			func() { s.within(t.Context(), func(*session) error { cancel(); return nil }) },
			func() { _, _, late = s.Reserve(ctx, ten("k")) },
		)
		if !errors.Is(late, context.Canceled) {
			t.Errorf("error is %v", late)
		}
		if lo, _, err := s.Reserve(t.Context(), ten("k")); err != nil || lo != 0 {
			t.Errorf("the key stands at %d, %v; want 0", lo, err)
		}
	})
}

// TestFailedTransactionFailsAllOfItsCalls breaks the connection in the middle of a
// batch, after some of its calls were granted.
func TestFailedTransactionFailsAllOfItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		if _, _, err := s.Reserve(t.Context(), ten("k")); err != nil {
			t.Fatal(err)
		}
		var errs [4]error
		first := s.session
		queued(t, s,
			func() { _, _, errs[0] = s.Reserve(t.Context(), ten("k")) },
			func() { _, _, errs[1] = s.Reserve(t.Context(), ten("new")) },
			func() { _, _, errs[2] = s.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment"}) },
			func() { errs[3] = s.within(t.Context(), func(*session) error { return s.session.db.Close() }) },
		)
		for i, err := range errs {
			if !errors.Is(err, generator.ErrNotNow) {
				t.Errorf("call %d of the broken transaction: %v", i, err)
			}
		}
		if err := s.Probe(); err == nil || !strings.Contains(err.Error(), "the store has not worked since 20") {
			t.Errorf("after the error Probe says %v", err)
		}
		// The next call opens the file again and finds it as it was.
		lo, _, err := s.Reserve(t.Context(), ten("k"))
		if err != nil || lo != 10 {
			t.Errorf("after the error: %d, %v", lo, err)
		}
		if err := s.Probe(); err != nil {
			t.Errorf("when it works again Probe says %v", err)
		}
		if s.session == first {
			t.Error("the broken session is still in use")
		}
		marks, err := s.Reserved(t.Context(), "")
		if err != nil || len(marks) != 1 {
			t.Errorf("marks are %+v, %v", marks, err)
		}
		if _, err := s.Defined(t.Context(), "orders"); !errors.Is(err, generator.ErrUnknown) {
			t.Errorf("the definition of the broken transaction: %v", err)
		}
	})
}

func TestStoreThatForgotAcknowledgedReservationsIsRefused(t *testing.T) {
	s := opened(t)
	if _, _, err := s.Reserve(t.Context(), ten("k")); err != nil {
		t.Fatal(err)
	}
	_ = s.within(t.Context(), func(*session) error {
		s.known.reservations++ // as if one more had been acknowledged
		return errors.New("planted")
	})
	_, _, err := s.Reserve(t.Context(), ten("k"))
	if !errors.Is(err, generator.ErrRegressed) || !strings.Contains(err.Error(), "1 reservations of 2") {
		t.Errorf("error is %v", err)
	}
}

func TestCallerThatLeavesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		gate := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		answers := make(chan error, 2)
		go func() { // in the transaction that hangs
			answers <- s.within(ctx, func(*session) error { <-gate; return nil })
		}()
		synctest.Wait()
		go func() { // still in the queue
			_, _, err := s.Reserve(ctx, ten("k"))
			answers <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		for range 2 {
			select {
			case err := <-answers:
				if !errors.Is(err, context.Canceled) || !errors.Is(err, generator.ErrRetry) {
					t.Errorf("error is %v", err)
				}
			default:
				t.Fatal("a caller whose context ended is still waiting")
			}
		}
		close(gate)
		if lo, _, err := s.Reserve(t.Context(), ten("k")); err != nil || lo != 0 {
			t.Errorf("afterwards: %d, %v", lo, err)
		}
	})
}

func TestCloseWaitsForTheTransactionAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		gate := make(chan struct{})
		accepted, closed := make(chan error, 1), make(chan error, 1)
		go func() { accepted <- s.within(t.Context(), func(*session) error { <-gate; return nil }) }()
		synctest.Wait()
		go func() { closed <- s.Close() }()
		synctest.Wait()
		if len(closed) != 0 {
			t.Fatal("Close did not wait")
		}
		if _, _, err := s.Reserve(t.Context(), ten("k")); !errors.Is(err, generator.ErrNotNow) {
			t.Errorf("Reserve while closing: %v", err)
		}
		close(gate)
		if err := <-accepted; err != nil {
			t.Errorf("the accepted call: %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// TestDamagedRowStopsOnlyItsKey damages rows behind the store's back, in the
// running database.
func TestDamagedRowStopsOnlyItsKey(t *testing.T) {
	s := opened(t)
	for i := range 3 {
		if _, _, err := s.Reserve(t.Context(), ten(fmt.Sprint("k", i))); err != nil {
			t.Fatal(err)
		}
		d := generator.Definition{Name: fmt.Sprint("g", i), Kind: "segment", Options: []byte("{}")}
		if _, _, err := s.Define(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	err := s.within(t.Context(), func(*session) error {
		_, err := s.session.db.Exec(`UPDATE nextid_reservations SET hi = 3 WHERE key = 'k1';
			UPDATE nextid_generators SET kind = 'snowflake' WHERE name = 'g1'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	g1 := generator.Definition{Name: "g1", Version: 1}
	for name, call := range map[string]func() error{
		"Reserve":           func() error { _, _, err := s.Reserve(t.Context(), ten("k1")); return err },
		"Reserved":          func() error { _, err := s.Reserved(t.Context(), "k"); return err },
		"Defined":           func() error { _, err := s.Defined(t.Context(), "g1"); return err },
		"Define":            func() error { _, _, err := s.Define(t.Context(), g1); return err },
		"Redefine":          func() error { _, err := s.Redefine(t.Context(), g1); return err },
		"Undefine":          func() error { return s.Undefine(t.Context(), "g1") },
		"ListDefined":       func() error { _, err := s.ListDefined(t.Context()); return err },
		"Reserve, exhausts": func() error { _, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k1", N: 1}); return err },
	} {
		if err := call(); !errors.Is(err, generator.ErrRegressed) {
			t.Errorf("%s of a damaged row: %v", name, err)
		}
	}
	if err := s.Release(t.Context(), "k1", 3, 1); !errors.Is(err, generator.ErrRegressed) {
		t.Errorf("Release of a damaged row: %v", err)
	}
	if _, _, err := s.Reserve(t.Context(), ten("k1")); !errors.Is(err, generator.ErrRegressed) {
		t.Errorf("after Release the damage is gone: %v", err)
	}
	if lo, _, err := s.Reserve(t.Context(), ten("k2")); err != nil || lo != 10 {
		t.Errorf("another key: %d, %v", lo, err)
	}
	if _, err := s.Defined(t.Context(), "g2"); err != nil {
		t.Errorf("another name: %v", err)
	}
}

func TestDamagedCounterFailsTheTransaction(t *testing.T) {
	s := opened(t)
	err := s.within(t.Context(), func(*session) error {
		_, err := s.session.db.Exec(`UPDATE nextid_meta SET reservations = 77`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // first the counter's statement finds it, then the check on reopening
		if _, _, err := s.Reserve(t.Context(), ten("k")); !errors.Is(err, generator.ErrRegressed) {
			t.Errorf("error is %v", err)
		}
	}
}
