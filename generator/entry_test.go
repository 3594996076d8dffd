package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/history"
)

// One entry a name, however many ask for it at once: two live generators of
// one name would repeat ids.
func TestConcurrentUseOfANameHasOneEntryAndOneGenerator(t *testing.T) {
	var opened sync.Map
	r := newRegistry(t, autoCreate("segment", ``), func(c *generator.Config) {
		inner := c.Kinds[0]
		c.Kinds[0] = testKind{Kind: inner, OpenFunc: func(ctx context.Context, d generator.Definition) (generator.Generator, error) {
			if _, twice := opened.LoadOrStore(d.Name, true); twice {
				t.Errorf("%s was opened twice", d.Name)
			}
			return inner.Open(ctx, d)
		}}
	})
	var wg sync.WaitGroup
	entries := make([][20]*generator.Entry, 8)
	for client := range entries {
		wg.Go(func() {
			for i := range 20 {
				e, err := r.Get(t.Context(), fmt.Sprint("n", i))
				if err != nil {
					t.Error(err)
					return
				}
				entries[client][i] = e
				run, err := e.Next(t.Context(), 1)
				if err != nil {
					t.Error(err)
					return
				}
				r.log.Add(history.Event{Name: e.Name(), Client: client, Range: run})
			}
		})
	}
	wg.Wait()
	for _, mine := range entries {
		if mine != entries[0] {
			t.Error("two entries of one name")
		}
	}
	if err := r.log.Check(); err != nil {
		t.Error(err)
	}
}

// Draws go on while the name is altered, dropped and created again under
// them; none of them sees an error but "unknown", and no id comes twice.
func TestDrawsWhileTheNameIsAlteredAndDropped(t *testing.T) {
	r := newRegistry(t)
	r.create("orders", ``)
	e, err := r.Get(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for client := range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				run, err := e.Next(t.Context(), 3)
				if errors.Is(err, generator.ErrUnknown) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				r.log.Add(history.Event{Name: "orders", Client: client, Range: run})
			}
		})
	}
	for i := range 200 {
		if i%10 == 9 {
			if err := r.Drop(t.Context(), "orders"); err != nil {
				t.Fatal(err)
			}
			r.create("orders", ``)
		}
		if err := r.Alter(t.Context(), "orders", fmt.Appendf(nil, `{"increment":%d,"step":%d}`, i%3+1, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if err := r.log.Check(); err != nil {
		t.Error(err)
	}
}

// A client that waits for a generator to be opened can leave.
func TestWaitingForAnOpeningEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRegistry(t, autoCreate("segment", ``), func(c *generator.Config) {
			inner := c.Kinds[0]
			c.Kinds[0] = testKind{Kind: inner, OpenFunc: func(ctx context.Context, d generator.Definition) (generator.Generator, error) {
				<-gate // a store that takes its time
				return inner.Open(ctx, d)
			}}
		})
		defer r.Close(context.Background())
		e, err := r.Get(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error, 1)
		go func() {
			_, err := e.Next(t.Context(), 1)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.Next(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if err := r.Alter(ctx, "orders", nil); err == nil {
			t.Error("altered while it was being opened")
		}
		if err := r.Drop(ctx, "orders"); err == nil {
			t.Error("dropped while it was being opened")
		}
		close(gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestAGeneratorThatFailsToOpenIsTriedAgain(t *testing.T) {
	failing := true
	r := newRegistry(t, autoCreate("segment", ``), func(c *generator.Config) {
		inner := c.Kinds[0]
		c.Kinds[0] = testKind{Kind: inner, OpenFunc: func(ctx context.Context, d generator.Definition) (generator.Generator, error) {
			if failing {
				return nil, &generator.Error{Kind: generator.ErrNotNow, Message: "no worker id is free"}
			}
			return inner.Open(ctx, d)
		}}
	})
	e, err := r.Get(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Next(t.Context(), 1)
	wantErr(t, err, generator.ErrNotNow, "worker id")
	var named *generator.Error
	if errors.As(err, &named); named.Name != "orders" {
		t.Errorf("the error is of name %q", named.Name)
	}
	failing = false
	r.wantIDs("orders", 1)
}

// A kind of another module can return what Next must not.
func TestRangesThatNextMustNotReturn(t *testing.T) {
	for _, count := range []int64{0, -1, 4} {
		r := newRegistry(t, autoCreate("wrong", ``), func(c *generator.Config) {
			c.Kinds = append(c.Kinds, testKind{
				KindName: "wrong",
				OpenFunc: func(context.Context, generator.Definition) (generator.Generator, error) { return runs(count), nil },
			})
		})
		e, err := r.Get(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		if run, err := e.Next(t.Context(), 3); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("returned %d ids", count)) {
			t.Errorf("a run of %d for 3 ids: %+v, %v", count, run, err)
		}
	}
}

func TestADrawOfNothingIsRefused(t *testing.T) {
	e, err := newRegistry(t, autoCreate("segment", ``)).Get(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{0, -1, math.MinInt64} {
		_, err := e.Next(t.Context(), n)
		_, _, ofAll := e.NextAll(t.Context(), n)
		_, ofBlock := e.NextBlock(t.Context(), 0, n)
		for _, err := range []error{err, ofAll, ofBlock} {
			if !errors.Is(err, generator.ErrCount) {
				t.Errorf("%d ids: %v", n, err)
			}
		}
	}
}

// runs returns a run of the same length each time.
type runs int64

func (n runs) Next(context.Context, int64) (generator.Range, error) {
	return generator.Range{First: 1, Step: 1, Count: int64(n)}, nil
}

func TestEntryOfAGeneratorWithoutTryNext(t *testing.T) {
	r := newRegistry(t, autoCreate("slow", ``), func(c *generator.Config) {
		c.Kinds = append(c.Kinds, testKind{
			KindName: "slow",
			OpenFunc: func(context.Context, generator.Definition) (generator.Generator, error) { return constant(7), nil },
		})
	})
	e, err := r.Get(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, ok := e.TryNext(1); ok {
			t.Error("TryNext answered")
		}
		if run, err := e.Next(t.Context(), 1); err != nil || run.First != 7 {
			t.Errorf("%+v, %v", run, err)
		}
	}
	if g, err := e.Generator(t.Context()); err != nil || g != constant(7) || e.Running() != constant(7) {
		t.Errorf("generator %v, %v", g, err)
	}
	if err := r.Drop(t.Context(), "orders"); err != nil { // it is no Closer and its kind retires nothing
		t.Error(err)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	r := newRegistry(t, autoCreate("segment", ``))
	r.next("orders")
	name := []byte("orders")
	if n := testing.AllocsPerRun(100, func() { r.Lookup(name).TryNext(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type constant int64

func (c constant) Next(context.Context, int64) (generator.Range, error) {
	return generator.Range{First: int64(c), Count: 1}, nil
}
