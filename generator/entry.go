package generator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Entry is the stable place of one name in a process. Plans keep pointers to
// it: it stays the same value while the generator behind it is opened,
// altered, dropped and created again, so that at most one live generator of
// a name exists in a process at any time.
type Entry struct {
	// The first cache line is what a draw reads.
	name   string
	short  [shortName]byte      // name, where it fits
	live   atomic.Pointer[live] // nil: not opened, dropped or altered
	number int                  // see Number

	registry *Registry
	tally    atomic.Pointer[tally] // nil: never opened

	trouble atomic.Pointer[Trouble] // nil: none yet
	waits   atomic.Pointer[waits]   // nil: no draw has waited or failed
	found   atomic.Pointer[found]   // what the generator is opened by; nil: what the store has

	// reserved says that the store granted a reservation under the name while no
	// generator was live. Below Registry.opening.
	reserved bool

	lock lock // to open, alter or drop this name

	// How often opening has failed, and how it did the last time. Those that
	// waited for the lock meanwhile take that for an answer: to find out again
	// may take as long for each of them, one after the other.
	failures atomic.Uint64
	failure  error // below lock
}

// shortName bounds how many bytes most names have at most.
const shortName = 32

// newEntry returns the entry of a name, which it copies.
func newEntry(name string, number int, r *Registry) *Entry {
	e := &Entry{name: strings.Clone(name), number: number, registry: r, lock: newLock()}
	copy(e.short[:], name)
	return e
}

// is reports whether it is the entry of a name.
func (e *Entry) is(name []byte) bool {
	if len(e.name) > shortName {
		return e.name == string(name)
	}
	return string(e.short[:len(e.name)]) == string(name)
}

// lock is a mutex whose waiters give up with their context: opening a generator
// may wait long for the store.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// acquire waits for the lock. A free lock is acquired even when ctx has ended,
// so that closing works then.
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

// live is an open generator. The warm path reads no more of it than is here, so
// that those of many names lie close together.
type live struct {
	try        TryGenerator // nil when gen cannot answer without waiting, or when audited
	audited    bool         // see Config.Audited
	fieldShift uint8        // see Fielder
	fieldBits  uint8
	*opened
}

// opened holds what else there is to know of it.
type opened struct {
	gen        Generator
	quick      TryGenerator // nil when gen cannot answer without waiting
	coder      Coder
	definition Definition // without secrets
	stored     Definition // as the store has it; see live.agrees
	ends       time.Time  // see Registry.Ends
	rate       int64      // see Registry.Rate

	closed chan struct{} // closed when gen is
}

// Name returns the generator's name.
func (e *Entry) Name() string { return e.name }

// Number tells the entries of a registry apart: they are counted from 0 in the
// order in which the process came to know the names.
func (e *Entry) Number() int { return e.number }

// TryNext draws up to n ids without waiting; see TryGenerator.
func (e *Entry) TryNext(n int64) (Range, bool) {
	l := e.live.Load()
	if l == nil || l.try == nil {
		return Range{}, false
	}
	return l.try.TryNext(n)
}

// Next draws up to n ids, opening or creating the generator first where
// needed; see Generator.
func (e *Entry) Next(ctx context.Context, n int64) (Range, error) {
	if r, ok := e.TryNext(n); ok {
		return r, nil
	}
	for {
		l, err := e.open(ctx)
		if err != nil {
			return Range{}, err
		}
		r, err := e.draw(ctx, l, n)
		if !errors.Is(err, errGone) {
			return r, err
		}
	}
}

// Streams reports whether ids are to be drawn by Next, and not by NextAll. A
// generator that does not run is not asked.
func (e *Entry) Streams() bool {
	l := e.live.Load()
	return l != nil && l.streams()
}

func (l *live) streams() bool {
	all, ok := l.gen.(AllGenerator)
	return !ok || !all.Ends()
}

// NextAll draws exactly n ids or none, by a generator that can (AllGenerator),
// which it returns. all is nil where ids are to be drawn by Next.
func (e *Entry) NextAll(ctx context.Context, n int64) (all AllGenerator, runs []Range, err error) {
	for {
		l, err := e.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		if l.streams() {
			return nil, nil, nil
		}
		all := l.gen.(AllGenerator)
		runs, err := all.NextAll(ctx, n)
		if err = e.judge(ctx, l, err); !errors.Is(err, errGone) {
			return all, runs, err
		}
	}
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

// NextWith draws one id whose field for the caller (Fielder) holds v, opening
// the generator first where needed. A v that does not fit is ErrOption and
// costs no id, a generator without such a field ErrWrongKind.
func (e *Entry) NextWith(ctx context.Context, v int64) (int64, error) {
	for {
		l, err := e.open(ctx)
		if err == nil {
			err = l.checkField(e.name, v)
		}
		if err != nil {
			return 0, err
		}
		r, err := e.draw(ctx, l, 1)
		if errors.Is(err, errGone) {
			continue
		}
		return r.First | v<<l.fieldShift, err
	}
}

// NextAt draws one id of the past, opening the generator first where needed; see
// PastGenerator. Its field for the caller holds v; see NextWith. Generators of
// other kinds are ErrWrongKind.
func (e *Entry) NextAt(ctx context.Context, at time.Time, v int64) (int64, error) {
	for {
		l, err := e.open(ctx)
		if err != nil {
			return 0, err
		}
		g, ok := l.gen.(PastGenerator)
		if !ok {
			return 0, &Error{
				Kind: ErrWrongKind, Name: e.name, Message: fmt.Sprintf("generator %q gives no ids of the past", e.name),
				Hint: "Only generators of kind snowflake do, without the option strict.",
			}
		}
		if v != 0 {
			if err := l.checkField(e.name, v); err != nil {
				return 0, err
			}
		}
		id, err := g.NextAt(ctx, at)
		if err = e.judge(ctx, l, err); !errors.Is(err, errGone) {
			return id | v<<l.fieldShift, err
		}
	}
}

func (l *live) checkField(name string, v int64) error {
	if l.fieldBits == 0 {
		return &Error{
			Kind: ErrWrongKind, Name: name, Message: fmt.Sprintf("the ids of generator %q have no field for the caller's bits", name),
			Hint: `Name the field in the layout of a new one: {"bits": "time 41, field 8, worker 6, sequence 8"}.`,
		}
	}
	if v < 0 || v >= 1<<l.fieldBits {
		return &Error{
			Kind: ErrOption, Name: name, Message: fmt.Sprintf("%d does not fit the field of generator %q", v, name),
			Hint: fmt.Sprintf("The field has %d bits: 0 to %d.", l.fieldBits, int64(1)<<l.fieldBits-1),
		}
	}
	return nil
}

// errGone says that a generator was altered or dropped meanwhile: its
// successor is to be asked.
var errGone = errors.New("the generator is not the name's any more")

// draw draws from l, which may not be in service any more.
func (e *Entry) draw(ctx context.Context, l *live, n int64) (Range, error) {
	if l.quick != nil {
		if r, ok := l.quick.TryNext(n); ok {
			return r, nil
		}
	}
	r, err := l.gen.Next(ctx, n)
	return r, e.judge(ctx, l, err)
}

// judge returns the error of a draw from l, errGone where l is not in service
// any more.
func (e *Entry) judge(ctx context.Context, l *live, err error) error {
	if errors.Is(err, errChanged) {
		if err := e.expire(ctx, l); err != nil {
			return err
		}
	}
	if err != nil && e.live.Load() != l && ctx.Err() == nil {
		return errGone
	}
	return err
}

// Definition returns the definition behind the entry without its secrets,
// opening it if needed.
func (e *Entry) Definition(ctx context.Context) (Definition, error) {
	l, err := e.open(ctx)
	if err != nil {
		return Definition{}, err
	}
	return l.definition, nil
}

// Generator returns the running generator, opening it if needed, for the
// abilities that callers find by assertion (Raiser, Explainer, Reporter).
func (e *Entry) Generator(ctx context.Context) (Generator, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.gen, nil
}

// Coder returns the text form of the generator's ids, opening it if needed.
func (e *Entry) Coder(ctx context.Context) (Coder, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.coder, nil
}

// Ends is when the ids of the running generator run out because their time
// does; the zero time if never, or if none is running.
func (e *Entry) Ends() time.Time {
	if l := e.live.Load(); l != nil {
		return l.ends
	}
	return time.Time{}
}

// Rate returns how many ids a second the layout of the running generator has for
// one server; 0 without such a bound, or if none is running.
func (e *Entry) Rate() int64 {
	if l := e.live.Load(); l != nil {
		return l.rate
	}
	return 0
}

// Audited reports whether the draws from the running generator are to be
// recorded (Config.Audited).
func (e *Entry) Audited() bool {
	l := e.live.Load()
	return l != nil && l.audited
}

// Trouble describes why an entry last gave no id.
type Trouble struct {
	Reason  Reason // "" for others than ErrNotNow
	Message string
	At      time.Time
}

// NoteTrouble notes that a draw failed, for operators. A client that gave up is
// no trouble of the generator.
func (e *Entry) NoteTrouble(err error, at time.Time) {
	if own, ok := errors.AsType[*Error](err); ok && !errors.Is(err, ErrOption) && !errors.Is(err, ErrWrongKind) {
		e.trouble.Store(&Trouble{own.Reason, own.Message, at})
		w := e.slow()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed[own.Kind]++
	}
}

// Trouble returns why the entry last gave no id on this server, nil if it always did.
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
	if e.failures.Load() != before { // while we waited: it may have taken long
		return nil, e.failure
	}
	l, err := e.openNow(ctx)
	if err != nil && ctx.Err() == nil {
		e.failure = err
		e.failures.Add(1)
	}
	return l, err
}

// openNow opens the generator. The caller holds the lock.
func (e *Entry) openNow(ctx context.Context) (*live, error) {
	for {
		f := e.found.Swap(nil)
		if f == nil {
			read, err := e.registry.load(ctx, e.name)
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

// start opens the generator of a definition. The caller holds the lock.
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
	l := &live{opened: &opened{
		gen: gen, coder: coder, definition: public(k, d), stored: d, ends: e.registry.Ends(d), rate: e.registry.Rate(d), closed: make(chan struct{}),
	}}
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
		_ = l.close(ctx) // what it cannot give back is lost
		return nil, err
	}
	return l, nil
}

// restart is start after a change. If another server has changed the
// definition again meanwhile, the next draw opens the generator.
func (e *Entry) restart(ctx context.Context, f found) error {
	if _, err := e.start(ctx, f); !errors.Is(err, errChanged) {
		return err
	}
	return nil
}

// goLive puts a generator into service, unless its definition has changed since
// edits stood where it did. The definition is read again where that may be.
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

// serve puts a generator into service unless edits has moved, or something was
// reserved before it was live: who changes the definition goes on above what it
// finds reserved, so that the definition is looked at after each reservation.
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

// stop takes the generator out of service. The caller holds the lock. An error
// means that something was not given back; the generator issues no more.
func (e *Entry) stop(ctx context.Context) error {
	l := e.live.Swap(nil)
	if l == nil {
		return nil
	}
	err := l.close(ctx)
	e.tally.Store(e.tally.Load().end()) // after what it issued last
	return err
}

func (l *live) close(ctx context.Context) error {
	defer close(l.closed)
	if c, ok := l.gen.(Closer); ok {
		return c.Close(ctx)
	}
	return nil
}

// expire takes l out of service if it still is in it, and returns when it is
// closed. Whoever holds the lock may be about to do the same.
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
		_ = e.stop(ctx) // what it cannot give back is lost
	}
	return nil
}
