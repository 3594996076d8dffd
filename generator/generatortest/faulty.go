package generatortest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"nextid/generator"
)

// Op names a method of generator.Store.
type Op string

// The methods of generator.Store that can be made to fail. Mark counts as Reserved.
const (
	Reserve     Op = "Reserve"
	Release     Op = "Release"
	Reserved    Op = "Reserved"
	Defined     Op = "Defined"
	ListDefined Op = "ListDefined"
	Undefine    Op = "Undefine"
)

// Always is a number of calls for Faulty.Inject: all calls until Clear.
const Always = -1

// Fault replaces one call. It decides whether and when to run call, which does the
// work on the store below. Its error is the result of the call, even if the work
// was done.
type Fault func(ctx context.Context, call func(context.Context) error) error

// FailBefore does nothing and returns err; nil means ErrUnreachable.
func FailBefore(err error) Fault {
	return func(context.Context, func(context.Context) error) error { return cmp.Or(err, ErrUnreachable) }
}

// FailAfter does the work and returns err, like a lost answer. nil means
// ErrUnreachable.
func FailAfter(err error) Fault {
	return func(ctx context.Context, call func(context.Context) error) error {
		return cmp.Or(call(ctx), err, ErrUnreachable)
	}
}

// Hang does nothing and waits until the caller's context ends.
func Hang() Fault { return Wait(nil) }

// HangAfter does the work, then waits until the caller's context ends, like an
// answer that comes too late.
func HangAfter() Fault {
	return func(ctx context.Context, call func(context.Context) error) error {
		if err := call(ctx); err != nil {
			return err
		}
		return Hang()(ctx, call)
	}
}

// Wait does the work once it has received from gate, like a slow store. Close gate
// to let all calls through. If the context ends first, the work is not done.
func Wait(gate <-chan struct{}) Fault {
	return func(ctx context.Context, call func(context.Context) error) error {
		select {
		case <-gate:
			return call(ctx)
		case <-ctx.Done():
			return generator.CausedError(ctx.Err(), generator.ErrRetry, "", "", "no answer from the store in time (injected)")
		}
	}
}

// ErrUnreachable is the default error of injected failures: an *Error of kind
// ErrNotNow.
var ErrUnreachable error = generator.Errorf(generator.ErrNotNow, "", "", "the store does not answer (injected)")

// Grant is a reservation whose result reached the caller of a Faulty.
type Grant struct {
	Key    string
	Lo, Hi int64
}

// Faulty is a Store that fails on demand and otherwise passes every call on. It may
// be used by several goroutines at once. It holds no lock while a fault waits, so
// it works in a testing/synctest bubble.
type Faulty struct {
	generator.Store // below

	mu     sync.Mutex
	faults map[Op][]injection
	calls  map[Op]int
	grants []Grant
}

type injection struct {
	fault Fault
	left  int // calls, or Always
}

var _ generator.Store = (*Faulty)(nil)

// NewFaulty returns a Faulty above s, without faults.
func NewFaulty(s generator.Store) *Faulty {
	return &Faulty{Store: s, faults: make(map[Op][]injection), calls: make(map[Op]int)}
}

// Inject applies fault to the next calls of op, after the faults of op that were
// injected before. calls is their number, or Always.
func (f *Faulty) Inject(op Op, calls int, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[op] = append(f.faults[op], injection{fault: fault, left: calls})
}

// Clear removes all faults. Calls that already wait in one go on waiting.
func (f *Faulty) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.faults)
}

// Calls returns the number of calls of op so far.
func (f *Faulty) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// Grants returns the reservations that were acknowledged through f, in the order of
// their results. Every id of a generator above f is in one of them.
func (f *Faulty) Grants() []Grant {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.grants)
}

// do runs one call of op under the next fault. A failed call has no result.
func do[V any](ctx context.Context, f *Faulty, op Op, call func(context.Context) (V, error)) (v V, err error) {
	work := func(ctx context.Context) (err error) {
		v, err = call(ctx)
		return err
	}
	if fault := f.due(op); fault != nil {
		err = fault(ctx, work)
	} else {
		err = work(ctx)
	}
	if err != nil {
		var none V
		return none, err
	}
	return v, nil
}

// due returns the next fault for op, and counts the call.
func (f *Faulty) due(op Op) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[op]++
	for queue := f.faults[op]; len(queue) > 0; queue = f.faults[op] {
		switch first := &queue[0]; first.left {
		case Always:
			return first.fault
		case 0:
			f.faults[op] = queue[1:]
		default:
			first.left--
			return first.fault
		}
	}
	return nil
}

// Reserve implements generator.Reserver.
func (f *Faulty) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	g, err := do(ctx, f, Reserve, func(ctx context.Context) (g Grant, err error) {
		g.Key = r.Key
		g.Lo, g.Hi, err = f.Store.Reserve(ctx, r)
		return g, err
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.grants = append(f.grants, g)
	}
	return g.Lo, g.Hi, err
}

// Release implements generator.Reserver.
func (f *Faulty) Release(ctx context.Context, key string, hi, to int64) error {
	_, err := do(ctx, f, Release, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f.Store.Release(ctx, key, hi, to)
	})
	return err
}

// Mark implements generator.Reserver.
func (f *Faulty) Mark(ctx context.Context, key string) (m generator.Mark, ok bool, err error) {
	m, err = do(ctx, f, Reserved, func(ctx context.Context) (m generator.Mark, err error) {
		m, ok, err = f.Store.Mark(ctx, key)
		return m, err
	})
	return m, ok && err == nil, err
}

// Reserved implements generator.Reserver.
func (f *Faulty) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return do(ctx, f, Reserved, func(ctx context.Context) ([]generator.Mark, error) { return f.Store.Reserved(ctx, prefix) })
}

// Defined implements generator.Definitions.
func (f *Faulty) Defined(ctx context.Context, name string) (generator.Definition, error) {
	return do(ctx, f, Defined, func(ctx context.Context) (generator.Definition, error) { return f.Store.Defined(ctx, name) })
}

// ListDefined implements generator.Definitions.
func (f *Faulty) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	return do(ctx, f, ListDefined, f.Store.ListDefined)
}

// Undefine implements generator.Definitions.
func (f *Faulty) Undefine(ctx context.Context, name string) error {
	_, err := do(ctx, f, Undefine, func(ctx context.Context) (struct{}, error) { return struct{}{}, f.Store.Undefine(ctx, name) })
	return err
}
