package generatortest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

func reservation(n int64) generator.Reservation {
	return generator.Reservation{Key: "k", N: n, Limit: generator.NoLimit}
}

// end returns the end of key "k" in the store below.
func end(t *testing.T, s generator.Store) int64 {
	t.Helper()
	marks, err := s.Reserved(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if len(marks) == 0 {
		return 0
	}
	return marks[0].Hi
}

func TestFaultyWithoutFaultsIsTheStore(t *testing.T) {
	generatortest.RunStore(t, func(*testing.T) generator.Store {
		return generatortest.NewFaulty(memory.New(memory.Config{Exclusive: true}))
	}, generatortest.StoreCaps{Exclusive: true})
}

func TestFaultsDoOrDoNotReachTheStore(t *testing.T) {
	own := &generator.Error{Kind: generator.ErrRegressed, Message: "planted"}
	cases := []struct {
		name  string
		fault generatortest.Fault
		want  error
		end   int64
	}{
		{"FailBefore leaves the store alone", generatortest.FailBefore(nil), generator.ErrNotNow, 0},
		{"FailBefore answers the given error", generatortest.FailBefore(own), generator.ErrRegressed, 0},
		{"FailAfter does the work", generatortest.FailAfter(nil), generator.ErrNotNow, 10},
		{"Hang leaves the store alone", generatortest.Hang(), context.DeadlineExceeded, 0},
		{"HangAfter does the work", generatortest.HangAfter(), context.DeadlineExceeded, 10},
		{"Wait without a gate leaves the store alone", generatortest.Wait(nil), context.DeadlineExceeded, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				below := memory.New(memory.Config{})
				f := generatortest.NewFaulty(below)
				f.Inject(generatortest.Reserve, 1, c.fault)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if lo, hi, err := f.Reserve(ctx, reservation(10)); !errors.Is(err, c.want) || lo != 0 || hi != 0 {
					t.Errorf("Reserve = [%d, %d), %v; want %v", lo, hi, err, c.want)
				}
				if got := end(t, below); got != c.end {
					t.Errorf("the store stands at %d, want %d", got, c.end)
				}
				if len(f.Grants()) != 0 {
					t.Errorf("grants are %+v after a lost answer", f.Grants())
				}
				lo, hi, err := f.Reserve(t.Context(), reservation(5))
				if err != nil || lo != c.end || hi != c.end+5 {
					t.Errorf("the next Reserve = [%d, %d), %v", lo, hi, err)
				}
				if want := []generatortest.Grant{{Key: "k", Lo: lo, Hi: hi}}; !slices.Equal(f.Grants(), want) {
					t.Errorf("grants are %+v, want %+v", f.Grants(), want)
				}
			})
		})
	}
}

func TestFaultsComeInOrderAndEnd(t *testing.T) {
	f := generatortest.NewFaulty(memory.New(memory.Config{}))
	f.Inject(generatortest.Reserve, 2, generatortest.FailBefore(nil))
	f.Inject(generatortest.Reserve, 1, generatortest.FailAfter(nil))
	f.Inject(generatortest.Defined, generatortest.Always, generatortest.FailBefore(nil))
	var failed []bool
	for range 5 {
		_, _, err := f.Reserve(t.Context(), reservation(1))
		failed = append(failed, err != nil)
	}
	if want := []bool{true, true, true, false, false}; !slices.Equal(failed, want) {
		t.Errorf("failed calls: %v, want %v", failed, want)
	}
	if f.Calls(generatortest.Reserve) != 5 || f.Calls(generatortest.Defined) != 0 {
		t.Errorf("calls: %d, %d", f.Calls(generatortest.Reserve), f.Calls(generatortest.Defined))
	}
	if _, _, err := f.Define(t.Context(), generator.Definition{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if d, err := f.Defined(t.Context(), "a"); err == nil || d.Name != "" {
			t.Error("Defined did not fail under Always")
		}
	}
	f.Clear()
	if d, err := f.Defined(t.Context(), "a"); err != nil || d.Name != "a" {
		t.Errorf("Defined after Clear: %v, %v", d, err)
	}
}

func TestEveryMethodCanFail(t *testing.T) {
	f := generatortest.NewFaulty(memory.New(memory.Config{}))
	calls := map[generatortest.Op]func(context.Context) error{
		generatortest.Reserve: func(ctx context.Context) error { _, _, err := f.Reserve(ctx, reservation(1)); return err },
		generatortest.Release: func(ctx context.Context) error { return f.Release(ctx, "k", 1, 1) },
		generatortest.Reserved: func(ctx context.Context) error {
			_, err := f.Reserved(ctx, "")
			return err
		},
		generatortest.Defined:     func(ctx context.Context) error { _, err := f.Defined(ctx, "a"); return err },
		generatortest.ListDefined: func(ctx context.Context) error { _, err := f.ListDefined(ctx); return err },
		generatortest.Undefine:    func(ctx context.Context) error { return f.Undefine(ctx, "a") },
	}
	for op, call := range calls {
		planted := errors.New("planted")
		f.Inject(op, 1, generatortest.FailBefore(planted))
		if err := call(t.Context()); !errors.Is(err, planted) {
			t.Errorf("%s: %v", op, err)
		}
		if f.Calls(op) != 1 {
			t.Errorf("%s was counted %d times", op, f.Calls(op))
		}
	}
}

func TestWaitGoesOnWhenTheGateOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := generatortest.NewFaulty(memory.New(memory.Config{}))
		gate := make(chan struct{})
		f.Inject(generatortest.Reserve, generatortest.Always, generatortest.Wait(gate))
		done := make(chan error, 3)
		for range 3 {
			go func() {
				_, _, err := f.Reserve(t.Context(), reservation(1))
				done <- err
			}()
		}
		synctest.Wait()
		if len(done) != 0 || f.Calls(generatortest.Reserve) != 3 {
			t.Fatalf("%d of %d calls went through a closed gate", len(done), f.Calls(generatortest.Reserve))
		}
		gate <- struct{}{}
		synctest.Wait()
		if len(done) != 1 {
			t.Fatalf("%d calls went through, want 1", len(done))
		}
		close(gate)
		synctest.Wait()
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
