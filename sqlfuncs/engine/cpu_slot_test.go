package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"nextid/sqlfuncs/syntax"
)

// TestCPUSlots checks that no more statements hold a slot than there are, that all
// get one, and that a waiter returns when its context ends.
func TestCPUSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := &CPUSlots{slots: make(chan struct{}, 2)}
		var running, most atomic.Int32
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() {
				slot := slots.Slot()
				defer slot.Release()
				for range 100 {
					if err := slot.Acquire(t.Context()); err != nil {
						t.Error(err)
						return
					}
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					running.Add(-1)
				}
			})
		}
		work.Wait()
		if n := most.Load(); n > 2 || len(slots.slots) != 0 {
			t.Errorf("%d held a slot at a time, %d hold one still", n, len(slots.slots))
		}
		a, b, c := slots.Slot(), slots.Slot(), slots.Slot()
		ctx, cancel := context.WithCancel(t.Context())
		if err := errors.Join(a.Acquire(ctx), b.Acquire(ctx), a.Acquire(ctx)); err != nil {
			t.Fatal(err)
		}
		left := make(chan error)
		go func() { left <- c.Acquire(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) || c.Held() {
			t.Errorf("a waiter whose context ended got %v", err)
		}
		a.Release()
		a.Release()
		if err := c.Acquire(t.Context()); err != nil || !c.Held() {
			t.Errorf("Acquire with a free slot: %v", err)
		}
	})
}

// slotHost is a host that counts how often a statement stepped aside and asked
// for a slot.
type slotHost struct {
	Host
	aside, asked int
}

func (h *slotHost) Aside() { h.aside++ }

func (h *slotHost) Long(context.Context) error {
	h.asked++
	return nil
}

// TestLongStatementsAreToldByTheirWork checks that a few steps of much work make a
// statement long, as many short steps do.
func TestLongStatementsAreToldByTheirWork(t *testing.T) {
	for _, step := range []int{1, lookAfter, 10 * lookAfter, 2 * long} {
		h := &slotHost{}
		x := &Exec{Ctx: t.Context(), Host: h}
		worked, alone := 0, 0 // alone: until it steps aside
		for ; h.asked == 0 && worked < 4*long; worked += step {
			if h.aside == 0 {
				alone = worked
			}
			if err := x.Work(step); err != nil {
				t.Fatal(err)
			}
		}
		if least := long; worked < least || worked > least+max(step, lookAfter) {
			t.Errorf("in steps of %d a statement is a long one after %d, want %d", step, worked, least)
		}
		if step < aside && (h.aside != 1 || alone < aside-lookAfter || alone > aside+max(step, lookAfter)) {
			t.Errorf("in steps of %d a statement stepped aside %d times, after %d, want once after %d", step, h.aside, alone, aside)
		}
	}
}

// TestPlanningALongListYields checks that other goroutines run while a long list is
// planned.
func TestPlanningALongListYields(t *testing.T) {
	const nodes = 400_000
	parsed, err := syntax.Parse("SELECT 1 IN (0"+strings.Repeat(", 0", nodes)+")", syntax.PostgreSQL)
	if err != nil {
		t.Fatal(err)
	}
	core := parsed[0].Statement.(*syntax.Select).Body.(*syntax.SelectCore)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var turns atomic.Int64
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				turns.Add(1)
				runtime.Gosched()
			}
		}
	}()
	p := Planner{Dialect: PostgreSQL{}, Catalog: &Catalog{}, Host: anyHost{}}
	p.IsGrouped(core, nil)
	close(done)
	if n := turns.Load(); n < nodes/yieldEvery/2 {
		t.Errorf("%d turns of another goroutine while %d expressions were looked at", n, nodes)
	}
}

// anyHost lets everything be planned.
type anyHost struct{ Host }

func (anyHost) MayPlan() error { return nil }
