package generatortest

import (
	"context"
	"sync"

	"nextid/generator"
)

// Op names a method of generator.Store.
type Op string

// The methods of generator.Store that can be made to fail.
const (
	Reserve     Op = "Reserve"
	Release     Op = "Release"
	Reserved    Op = "Reserved"
	Define      Op = "Define"
	Redefine    Op = "Redefine"
	Defined     Op = "Defined"
	ListDefined Op = "ListDefined"
	Count       Op = "Count"
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
	return func(context.Context, func(context.Context) error) error { return orUnreachable(err) }
}

// FailAfter does the work and returns err, like a lost answer. nil means
// ErrUnreachable.
func FailAfter(err error) Fault {
	return func(ctx context.Context, call func(context.Context) error) error {
		if cause := call(ctx); cause != nil {
			return cause
		}
		return orUnreachable(err)
	}
}

// Hang does nothing and waits until the caller's context ends.
func Hang() Fault {
	return func(ctx context.Context, _ func(context.Context) error) error {
		<-ctx.Done()
		return outOfTime(ctx)
	}
}

// HangAfter does the work, then waits until the caller's context ends, like an
// answer that comes too late.
func HangAfter() Fault {
	return func(ctx context.Context, call func(context.Context) error) error {
		if err := call(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return outOfTime(ctx)
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
			return outOfTime(ctx)
		}
	}
}

// ErrUnreachable is the default error of injected failures: an *Error of kind
// ErrNotNow.
var ErrUnreachable error = &generator.Error{Kind: generator.ErrNotNow, Message: "the store does not answer (injected)"}

func orUnreachable(err error) error {
	if err == nil {
		return ErrUnreachable
	}
	return err
}

func outOfTime(ctx context.Context) error {
	return &generator.Error{
		Kind: generator.ErrRetry, Message: "no answer from the store in time (injected)",
		Cause: ctx.Err(),
	}
}

// Grant is a reservation whose result reached the caller of a Faulty.
type Grant struct {
	Key    string
	Lo, Hi int64
}

// Faulty is a Store that fails on demand and otherwise passes every call on. It may
// be used by several goroutines at once. It holds no lock while a fault waits, so
// it works in a testing/synctest bubble.
type Faulty struct {
	below generator.Store

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
	return &Faulty{below: s, faults: make(map[Op][]injection), calls: make(map[Op]int)}
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
	return append([]Grant(nil), f.grants...)
}

// do runs one call of op under the next fault.
func (f *Faulty) do(ctx context.Context, op Op, call func(context.Context) error) error {
	fault := f.due(op)
	if fault == nil {
		return call(ctx)
	}
	return fault(ctx, call)
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
func (f *Faulty) Reserve(ctx context.Context, r generator.Reservation) (int64, int64, error) {
	var lo, hi int64
	err := f.do(ctx, Reserve, func(ctx context.Context) (err error) {
		lo, hi, err = f.below.Reserve(ctx, r)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.grants = append(f.grants, Grant{Key: r.Key, Lo: lo, Hi: hi})
	return lo, hi, nil
}

// Release implements generator.Reserver.
func (f *Faulty) Release(ctx context.Context, key string, hi, to int64) error {
	return f.do(ctx, Release, func(ctx context.Context) error { return f.below.Release(ctx, key, hi, to) })
}

// Mark implements generator.Reserver. For Inject it counts as Reserved.
func (f *Faulty) Mark(ctx context.Context, key string) (m generator.Mark, ok bool, err error) {
	m, err = answered(ctx, f, Reserved, func(ctx context.Context) (m generator.Mark, err error) {
		m, ok, err = f.below.Mark(ctx, key)
		return m, err
	})
	return m, ok && err == nil, err
}

// Reserved implements generator.Reserver.
func (f *Faulty) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return answered(ctx, f, Reserved, func(ctx context.Context) ([]generator.Mark, error) {
		return f.below.Reserved(ctx, prefix)
	})
}

// Define implements generator.Definitions.
func (f *Faulty) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	var created bool
	stored, err := answered(ctx, f, Define, func(ctx context.Context) (stored generator.Definition, err error) {
		stored, created, err = f.below.Define(ctx, d)
		return stored, err
	})
	return stored, created && err == nil, err
}

// Redefine implements generator.Definitions.
func (f *Faulty) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	return answered(ctx, f, Redefine, func(ctx context.Context) (generator.Definition, error) {
		return f.below.Redefine(ctx, d)
	})
}

// Defined implements generator.Definitions.
func (f *Faulty) Defined(ctx context.Context, name string) (generator.Definition, error) {
	return answered(ctx, f, Defined, func(ctx context.Context) (generator.Definition, error) {
		return f.below.Defined(ctx, name)
	})
}

// ListDefined implements generator.Definitions.
func (f *Faulty) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	return answered(ctx, f, ListDefined, f.below.ListDefined)
}

// Count implements generator.Definitions.
func (f *Faulty) Count(ctx context.Context) (int, error) {
	return answered(ctx, f, Count, f.below.Count)
}

// Undefine implements generator.Definitions.
func (f *Faulty) Undefine(ctx context.Context, name string) error {
	return f.do(ctx, Undefine, func(ctx context.Context) error { return f.below.Undefine(ctx, name) })
}

// Exclusive implements generator.Store.
func (f *Faulty) Exclusive() bool { return f.below.Exclusive() }

// Close implements generator.Store.
func (f *Faulty) Close() error { return f.below.Close() }

// answered is Faulty.do for a call with one result; a failed call has none.
func answered[V any](ctx context.Context, f *Faulty, op Op, call func(context.Context) (V, error)) (V, error) {
	var v V
	err := f.do(ctx, op, func(ctx context.Context) (err error) {
		v, err = call(ctx)
		return err
	})
	if err != nil {
		var none V
		return none, err
	}
	return v, nil
}
