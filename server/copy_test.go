package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"nextid/generator"
	"nextid/generator/store/memory"
)

// failing is a store whose changes fail after left of them.
type failing struct {
	generator.Store
	left  *atomic.Int64
	after bool // the failing call is carried out all the same
}

var errBroken = errors.New("broken")

func (f failing) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	broken := f.left.Add(-1) < 0
	if !broken || f.after {
		lo, hi, err = f.Store.Reserve(ctx, r)
	}
	if broken {
		return 0, 0, errBroken
	}
	return lo, hi, err
}

func (f failing) Define(ctx context.Context, d generator.Definition) (stored generator.Definition, created bool, err error) {
	broken := f.left.Add(-1) < 0
	if !broken || f.after {
		stored, created, err = f.Store.Define(ctx, d)
	}
	if broken {
		err = errBroken
	}
	return stored, created, err
}

// An interrupted copy leaves at most one store on which a server starts. The next
// run completes the copy.
func TestACopyIsInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	const keys, names = 20, 5
	finished := false
	for calls := int64(0); !finished; calls++ {
		for _, after := range []bool{false, true} {
			from, to := memory.New(memory.Config{Exclusive: true}), memory.New(memory.Config{})
			for i := range int64(keys) {
				if err := mark(t.Context(), from, fmt.Sprintf("worker/10/%d", i), "x", 1000+i); err != nil {
					t.Fatal(err)
				}
			}
			if err := mark(t.Context(), from, "worker/spent/10/7", "x", 5000); err != nil {
				t.Fatal(err)
			}
			for i := range names {
				if _, _, err := from.Define(t.Context(), generator.Definition{Name: fmt.Sprint("n", i), Kind: "segment", Options: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
			}
			left := &atomic.Int64{}
			left.Store(calls)
			copying := func(to generator.Store, from generator.Store) error {
				return (&storeCopy{from: from, to: to, id: "a", target: "there", report: io.Discard}).run(t.Context())
			}
			err := copying(failing{to, left, after}, failing{from, left, after})
			usable := 0
			for _, s := range []generator.Store{from, to} {
				empty, _ := s.Reserved(t.Context(), "")
				if checkCopied(t.Context(), s) == nil && len(empty) > 0 {
					usable++
				}
			}
			if usable > 1 || err == nil && usable != 1 {
				t.Fatalf("after %d calls (%v): servers start on %d of the two stores; %v", calls, after, usable, err)
			}
			if finished = err == nil; finished {
				break
			}
			if err := copying(to, from); err != nil && !strings.Contains(err.Error(), "is complete") {
				t.Fatalf("after %d calls (%v), again: %v", calls, after, err)
			}
			if checkCopied(t.Context(), from) == nil || checkCopied(t.Context(), to) != nil {
				t.Fatalf("after %d calls (%v) the copy does not end", calls, after)
			}
		}
	}
}

// watched is a store that calls reserved after its keys are listed.
type watched struct {
	generator.Store
	reserved func()
}

func (w watched) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	defer w.reserved()
	return w.Store.Reserved(ctx, prefix)
}

// Of two copies that find the same store empty, one begins.
func TestTwoCopiesBeginAtOnce(t *testing.T) {
	t.Parallel()
	to := memory.New(memory.Config{})
	begin := func(id string, meanwhile func()) error {
		from := memory.New(memory.Config{Exclusive: true})
		return (&storeCopy{from: from, to: watched{to, meanwhile}, id: id, target: "there"}).begin(t.Context())
	}
	var first error
	second := begin("b", func() { first = begin("a", func() {}) })
	if first != nil || second == nil {
		t.Errorf("the first copy: %v; the second: %v", first, second)
	}
	if m, _, _ := to.Mark(t.Context(), copyKey); m.Owner != "a" || m.Hi != 1 {
		t.Errorf("the copy that began is %+v", m)
	}
}
