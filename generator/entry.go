package generator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Entry represents one name for the life of a process. Plans keep pointers to it.
// It stays the same value while its generator is opened, altered, dropped and
// created again. At most one generator of a name is live in a process.
type Entry struct {
	// TryNext reads only this first cache line.
	name   string
	short  [shortName]byte      // name, if it is at most shortName bytes
	live   atomic.Pointer[live] // nil: not opened, dropped or being altered
	number int                  // see Number

	registry *Registry
	tally    atomic.Pointer[tally] // nil: never opened

	trouble atomic.Pointer[Trouble] // nil: none yet
	waits   atomic.Pointer[waits]   // nil: no draw has waited or failed
	found   atomic.Pointer[found]   // definition to open the generator by; nil: read it from the store

	// reserved is set when the store grants a reservation under the name while no
	// generator is live. Guarded by Registry.opening.
	reserved bool

	lock lock // held to open, alter or drop this name

	// failures counts failed openings; failure is the latest error. A caller that
	// waited for the lock while an opening failed returns that error. Otherwise each
	// waiter in turn would wait for the store as long again.
	failures atomic.Uint64
	failure  error // guarded by lock
}

// shortName is the longest name, in bytes, that is compared within the Entry's
// first cache line.
const shortName = 32

// newEntry returns the entry of a name. It copies the name.
func newEntry(name string, number int, r *Registry) *Entry {
	e := &Entry{name: strings.Clone(name), number: number, registry: r, lock: newLock()}
	copy(e.short[:], name)
	return e
}

// is reports whether the entry has this name.
func (e *Entry) is(name []byte) bool {
	if len(e.name) > shortName {
		return e.name == string(name)
	}
	return string(e.short[:len(e.name)]) == string(name)
}

// lock is a mutex whose waiters stop when their context ends: opening a generator
// may wait long for the store.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// acquire waits for the lock. A free lock is acquired even after ctx has ended:
// closing needs that.
func (l lock) acquire(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) release() { <-l }

// live is an open generator. It holds only the fields that the fast path reads, so
// that the live values of many names lie close together in memory.
type live struct {
	try        TryGenerator // nil if gen has no TryNext, or if draws are audited
	audited    bool         // see Config.Audited
	fieldShift uint8        // see Fielder
	fieldBits  uint8
	*opened
}

// opened holds the fields of a live generator that the fast path does not read.
type opened struct {
	gen        Generator
	quick      TryGenerator // gen as a TryGenerator, or nil; also set if draws are audited
	coder      Coder
	definition Definition // without secrets
	stored     Definition // with secrets, as the store has it; see live.agrees
	shape      Shape      // the zero Shape for kinds without layouts

	closed chan struct{} // closed after gen was
}

// Name returns the generator's name.
func (e *Entry) Name() string { return e.name }

// Number returns the index of the entry in its registry. Entries are numbered from
// 0 in the order in which the process first used the names.
func (e *Entry) Number() int { return e.number }

// TryNext draws up to n ids without waiting; see TryGenerator.
func (e *Entry) TryNext(n int64) (Range, bool) {
	l := e.live.Load()
	if l == nil || l.try == nil {
		return Range{}, false
	}
	return l.try.TryNext(n)
}

// Next draws up to n ids. It first opens or creates the generator where needed. See
// Generator.
func (e *Entry) Next(ctx context.Context, n int64) (Range, error) {
	if r, ok := e.TryNext(n); ok {
		return r, nil
	}
	var r Range
	err := e.use(ctx, n, func(l *live) (err error) {
		r, err = l.draw(ctx, n)
		return err
	})
	return r, err
}

// use calls f, which draws n ids, with the running generator, which it opens where
// needed. If that is altered or dropped meanwhile, it calls f again with the successor.
func (e *Entry) use(ctx context.Context, n int64, f func(*live) error) error {
	if n < 1 {
		return Errorf(ErrCount, e.name, "Ask for at least one id.", "cannot draw %d ids", n)
	}
	for {
		l, err := e.open(ctx)
		if err != nil {
			return err
		}
		if err = f(l); errors.Is(err, errChanged) {
			if err := e.expire(ctx, l); err != nil {
				return err
			}
		}
		if err == nil || e.live.Load() == l || ctx.Err() != nil {
			return err
		}
	}
}

// Streams reports whether a request must be drawn by Next, not NextAll. It is false
// while the generator does not run.
func (e *Entry) Streams() bool {
	l := e.live.Load()
	return l != nil && l.streams()
}

func (l *live) streams() bool {
	all, ok := l.gen.(AllGenerator)
	return !ok || !all.Ends()
}

// NextAll draws exactly n ids or none from an AllGenerator, which it returns. all
// is nil if the request must be drawn by Next.
func (e *Entry) NextAll(ctx context.Context, n int64) (all AllGenerator, runs []Range, err error) {
	err = e.use(ctx, n, func(l *live) (err error) {
		if all = nil; l.streams() {
			return nil
		}
		all = l.gen.(AllGenerator)
		runs, err = all.NextAll(ctx, n)
		return err
	})
	return all, runs, err
}

// TryNextWith is NextWith without waiting; see TryGenerator.
func (e *Entry) TryNextWith(v int64) (int64, bool) {
	l := e.live.Load()
	if l == nil || l.try == nil || l.fieldBits == 0 || v < 0 || v>>l.fieldBits != 0 {
		return 0, false
	}
	r, ok := l.try.TryNext(1)
	return r.First | v<<l.fieldShift, ok
}

// NextWith draws one id whose caller's field (Fielder) holds v. It first opens the
// generator where needed. A v that does not fit is ErrOption and uses no id. A
// generator without such a field is ErrWrongKind.
func (e *Entry) NextWith(ctx context.Context, v int64) (id int64, err error) {
	err = e.use(ctx, 1, func(l *live) error {
		if err := l.checkField(e.name, v); err != nil {
			return err
		}
		r, err := l.draw(ctx, 1)
		id = r.First | v<<l.fieldShift
		return err
	})
	return id, err
}

// NextAt draws one id of the past with v in its caller's field. It first opens the
// generator where needed. Kinds that are no PastGenerator return ErrWrongKind. See
// PastGenerator and NextWith.
func (e *Entry) NextAt(ctx context.Context, at time.Time, v int64) (id int64, err error) {
	err = e.use(ctx, 1, func(l *live) (err error) {
		g, ok := l.gen.(PastGenerator)
		if !ok {
			return Errorf(ErrWrongKind, e.name, "Only generators of kind snowflake do, without the option strict.",
				"generator %q gives no ids of the past", e.name)
		}
		if v != 0 {
			if err := l.checkField(e.name, v); err != nil {
				return err
			}
		}
		id, err = g.NextAt(ctx, at)
		id |= v << l.fieldShift
		return err
	})
	return id, err
}

func (l *live) checkField(name string, v int64) error {
	if l.fieldBits == 0 {
		return Errorf(ErrWrongKind, name, `Name the field in the layout of a new one: {"bits": "time 41, field 8, worker 6, sequence 8"}.`,
			"the ids of generator %q have no field for the caller's bits", name)
	}
	if v < 0 || v >= 1<<l.fieldBits {
		return Errorf(ErrOption, name, fmt.Sprintf("The field has %d bits: 0 to %d.", l.fieldBits, int64(1)<<l.fieldBits-1),
			"%d does not fit the field of generator %q", v, name)
	}
	return nil
}

// draw draws from l, which may have been taken out of service.
func (l *live) draw(ctx context.Context, n int64) (Range, error) {
	if l.quick != nil {
		if r, ok := l.quick.TryNext(n); ok {
			return r, nil
		}
	}
	r, err := l.gen.Next(ctx, n)
	if err == nil && (r.Count < 1 || r.Count > n) { // an id could come twice, or a caller ask forever
		err = fmt.Errorf("the generator returned %d ids, and must return 1 to %d", r.Count, n)
	}
	return r, err
}

// Definition returns the entry's definition without its secrets. It opens the
// generator where needed.
func (e *Entry) Definition(ctx context.Context) (Definition, error) {
	l, err := e.open(ctx)
	if err != nil {
		return Definition{}, err
	}
	return l.definition, nil
}

// Generator returns the running generator. It opens the generator where needed.
// Callers find optional interfaces by assertion: Raiser, Explainer, Reporter.
func (e *Entry) Generator(ctx context.Context) (Generator, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.gen, nil
}

// Coder returns the text form of the generator's ids. It opens the generator where
// needed.
func (e *Entry) Coder(ctx context.Context) (Coder, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.coder, nil
}

// Shape returns the Shape of the running generator's ids. It returns the zero Shape for
// kinds without layouts, or if no generator runs.
func (e *Entry) Shape() Shape {
	if l := e.live.Load(); l != nil {
		return l.shape
	}
	return Shape{}
}

// Audited reports whether draws from the running generator must be recorded
// (Config.Audited).
func (e *Entry) Audited() bool {
	l := e.live.Load()
	return l != nil && l.audited
}

// Trouble holds the latest error of an entry's draws.
type Trouble struct {
	Reason  Reason // "" for errors other than ErrNotNow
	Message string
	At      time.Time
}

// NoteTrouble records a failed draw for operators. The error of a client that
// stopped waiting is ignored.
func (e *Entry) NoteTrouble(err error, at time.Time) {
	if own, ok := errors.AsType[*Error](err); ok && !errors.Is(err, ErrOption) && !errors.Is(err, ErrWrongKind) {
		e.trouble.Store(&Trouble{own.Reason, own.Message, at})
		w := e.slow()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed[own.Kind]++
	}
}

// Trouble returns the latest error of a draw on this server, or nil if none has
// failed.
func (e *Entry) Trouble() *Trouble { return e.trouble.Load() }

// Running returns the generator if it is open in this process, else nil.
func (e *Entry) Running() Generator {
	if l := e.live.Load(); l != nil {
		return l.gen
	}
	return nil
}

func (e *Entry) open(ctx context.Context) (*live, error) {
	if l := e.live.Load(); l != nil {
		return l, nil
	}
	before := e.failures.Load()
	if err := e.lock.acquire(ctx); err != nil {
		return nil, err
	}
	defer e.lock.release()
	if l := e.live.Load(); l != nil {
		return l, nil
	}
	if e.failures.Load() != before { // it failed while this caller waited for the lock
		return nil, e.failure
	}
	l, err := e.openNow(ctx)
	if err != nil && ctx.Err() == nil {
		e.failure = err
		e.failures.Add(1)
	}
	return l, err
}

// openNow opens the generator. The caller holds e.lock.
func (e *Entry) openNow(ctx context.Context) (*live, error) {
	for {
		f := e.found.Swap(nil)
		if f == nil {
			read, _, err := e.registry.load(ctx, e.name)
			if err != nil {
				return nil, err
			}
			f = &read
		}
		if l, err := e.start(ctx, *f); !errors.Is(err, errChanged) {
			return l, err
		}
	}
}

// start opens the generator of a definition. The caller holds e.lock.
func (e *Entry) start(ctx context.Context, f found) (*live, error) {
	d := f.Definition
	k, err := e.registry.kind(d.Kind)
	if err != nil {
		return nil, err
	}
	if err := e.registry.checkDeclared(k, d); err != nil {
		return nil, err
	}
	if e.registry.closed.Load() {
		return nil, ShutdownError(e.name)
	}
	var coder Coder
	if c, ok := KindAs[CoderKind](k); ok {
		if coder, err = c.Coder(d.Options); err != nil {
			return nil, named(err, e.name)
		}
	}
	gen, err := k.Open(ctx, d)
	if err != nil {
		return nil, named(err, e.name)
	}
	if own, ok := gen.(Coder); ok && coder == nil {
		coder = own
	}
	if coder == nil {
		coder = decimal{}
	}
	l := &live{opened: &opened{gen: gen, coder: coder, definition: public(k, d), stored: d, closed: make(chan struct{})}}
	l.shape, _ = e.registry.Shape(d)
	l.quick, _ = gen.(TryGenerator)
	if audited := e.registry.cfg.Audited; audited != nil && audited(e.name) {
		l.audited = true
	} else {
		l.try = l.quick
	}
	if f, ok := gen.(Fielder); ok {
		l.fieldShift, l.fieldBits = f.Field()
	}
	if err := e.goLive(ctx, l, f.edits); err != nil {
		_ = l.close(ctx) // ids that could not be given back are lost
		return nil, err
	}
	return l, nil
}

// restart calls start after a change. If another server has changed the definition
// meanwhile, it leaves the opening to the next draw.
func (e *Entry) restart(ctx context.Context, f found) error {
	if _, err := e.start(ctx, f); !errors.Is(err, errChanged) {
		return err
	}
	return nil
}

// goLive puts l into service unless its definition has changed. edits is the value
// of Registry.edits before the definition was read. If Registry.edits has moved,
// goLive reads the definition again.
func (e *Entry) goLive(ctx context.Context, l *live, edits int64) error {
	for !e.serve(l, edits) {
		f, err := e.registry.find(ctx, e.name)
		switch {
		case errors.Is(err, ErrUnknown), err == nil && (f.Version != l.stored.Version || f.Kind != l.stored.Kind):
			return changedError(e.name)
		case err != nil:
			return err
		}
		l.stored, edits = f.Definition, f.edits
	}
	return nil
}

// serve puts l into service. It returns false if edits has moved, or if something
// was reserved under the name before l was live. In the second case the Guard did
// not compare the definition after the reservation, so the caller must.
func (e *Entry) serve(l *live, edits int64) bool {
	r := e.registry
	r.opening.Lock()
	defer r.opening.Unlock()
	if reserved := e.reserved; reserved || r.edits.Load() != edits {
		e.reserved = false
		return false
	}
	e.tally.Store(e.tally.Load().begin(l.stored.Kind, l.gen))
	e.live.Store(l)
	return true
}

// stop takes the generator out of service. The caller holds e.lock. After an error
// some ids were not given back; no more are issued in either case.
func (e *Entry) stop(ctx context.Context) error {
	l := e.live.Swap(nil)
	if l == nil {
		return nil
	}
	err := l.close(ctx)
	e.tally.Store(e.tally.Load().end()) // after the last id
	return err
}

func (l *live) close(ctx context.Context) error {
	defer close(l.closed)
	if c, ok := l.gen.(Closer); ok {
		return c.Close(ctx)
	}
	return nil
}

// expire takes l out of service unless that has happened, and waits until l is
// closed. Another holder of e.lock may be doing the same.
func (e *Entry) expire(ctx context.Context, l *live) error {
	select {
	case e.lock <- struct{}{}:
	case <-l.closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	defer e.lock.release()
	if e.live.Load() == l {
		_ = e.stop(ctx) // ids that could not be given back are lost
	}
	return nil
}
