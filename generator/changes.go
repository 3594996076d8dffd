package generator

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Servers of one store share its definitions. A server may alter or drop a name
// while other servers have its generator open. Those servers must not go on with
// the definition that they read at opening: a name that is created again with
// another layout or kind would get ids from both.
//
// Most changes are noticed by Watch, which reads the store every few seconds.
// Uniqueness does not depend on that interval. A server issues ids only from its
// reservations, and a Guard reads the definition after each reservation, before any
// id of it is used. If the definition is unchanged at that moment, a server that
// changes it later also finds the reservation and continues above it. For the same
// reason Drop calls Retire once more after the name is gone.

// changesKey is the key whose number rises with every change of any definition. An
// unchanged number means that no definition changed.
const changesKey = "changes"

// errChanged is the cause of an ErrRetry after another server changed the
// definition of a running generator.
var errChanged = errors.New("the definition was changed on another server")

// Guard is a Store that other servers use, too. Kinds that keep reservations use
// the store through it.
//
// Reserve for a name whose definition has changed returns ErrRetry, also if the name is
// exhausted. Reserve for time on a worker id first closes all generators of this
// process whose definitions have changed. The Registry with this Guard in
// Config.Guard finds those generators. Without a Registry a Guard is the Store below
// it.
type Guard struct {
	Store
	registry atomic.Pointer[Registry]
}

var (
	_ Store     = (*Guard)(nil)
	_ Recoverer = (*Guard)(nil)
)

// NewGuard returns a Guard over a store.
func NewGuard(store Store) *Guard { return &Guard{Store: store} }

// Reserve implements Reserver.
func (g *Guard) Reserve(ctx context.Context, r Reservation) (lo, hi int64, err error) {
	lo, hi, err = g.Store.Reserve(ctx, r)
	registry := g.registry.Load()
	switch {
	case registry == nil:
	case err == nil:
		// Otherwise a counter would leave these numbers out. That of a hold comes back when
		// the hold ends: the owner of the row names it as the last one.
		if err = registry.allows(ctx, r.Key); errors.Is(err, errChanged) && !strings.HasPrefix(r.Owner, HoldOwner) {
			_ = g.Release(ctx, r.Key, hi, lo)
		}
	case errors.Is(err, ErrExhausted) && r.AtLeast < r.Bound(): // a changed definition may have more numbers
		if changed := registry.allows(ctx, r.Key); errors.Is(changed, errChanged) {
			err = changed
		}
	}
	if err != nil {
		return 0, 0, err
	}
	return lo, hi, nil
}

// Recover implements Recoverer.
func (g *Guard) Recover(ctx context.Context, key string, atLeast int64) error {
	return Recover(ctx, g.Store, key, atLeast)
}

// allows returns nil if a new reservation of key may be used, ErrRetry if not.
func (r *Registry) allows(ctx context.Context, key string) error {
	if name, ok := strings.CutPrefix(key, nameKeyPrefix); ok {
		return r.unchanged(ctx, name)
	}
	if line, ok := strings.CutPrefix(key, LineKeyPrefix); ok {
		name, _, _ := strings.Cut(line, "/")
		return r.unchanged(ctx, name)
	}
	if !strings.HasPrefix(key, WorkerKeyPrefix) {
		return nil
	}
	err := r.closeChanged(ctx)
	if err != nil && ctx.Err() != nil { // perhaps of a wait for a lock
		err = StoreLateError(ctx)
	}
	return err
}

// unchanged returns nil if the running generator of a name was opened by the
// definition that the store has. It closes nothing: the caller is that generator.
func (r *Registry) unchanged(ctx context.Context, name string) error {
	e := r.Lookup([]byte(name))
	if e == nil {
		return nil
	}
	r.opening.Lock()
	l := e.live.Load()
	e.reserved = e.reserved || l == nil
	r.opening.Unlock()
	if l == nil {
		return nil // opening in progress; goLive compares the definition afterwards
	}
	d, err := r.cfg.Store.Defined(ctx, name)
	switch {
	case err == nil && l.agrees(d):
		return nil
	case err == nil || errors.Is(err, ErrUnknown):
		return changedError(name)
	}
	return err
}

func changedError(name string) error {
	return CausedError(errChanged, ErrRetry, name, "Try again.", "generator %q was changed on another server", name)
}

// agrees reports whether l was opened by the definition d.
func (l *live) agrees(d Definition) bool {
	return l.stored.Version == d.Version && l.stored.Kind == d.Kind && bytes.Equal(l.stored.Options, d.Options)
}

// closeChanged closes the generators of this process whose definitions other
// servers have changed. The next draw opens each one again.
func (r *Registry) closeChanged(ctx context.Context) error {
	if r.cfg.Guard == nil {
		return nil
	}
	if err := r.changing.acquire(ctx); err != nil {
		return err
	}
	defer r.changing.release()
	mark, stale, err := r.stale(ctx)
	if err != nil {
		return err
	}
	for e, l := range stale {
		if err := e.expire(ctx, l); err != nil {
			return err
		}
	}
	r.seenChange, r.agreed = mark, nil // only after none of them issues ids any more
	return nil
}

// stale finds the generators to close. It reads mark, the position of changesKey,
// first: the next call finds a change made after that. A generator that goes live
// after edits was incremented was opened by a definition read later than mark.
func (r *Registry) stale(ctx context.Context) (mark Mark, stale map[*Entry]*live, err error) {
	if mark, err = r.changes(ctx); err != nil || sameMark(mark, r.seenChange) {
		return mark, nil, err
	}
	open := map[*Entry]*live{}
	r.opening.Lock()
	r.edits.Add(1)
	for e := range r.names.all() {
		if l := e.live.Load(); l != nil {
			open[e] = l
		}
	}
	r.opening.Unlock()
	stale, err = r.disagreeing(ctx, mark, open)
	return mark, stale, err
}

// lookUps is the number of concurrent reads of definitions.
const lookUps = 16

// disagreeing finds the running generators whose definitions differ from those in
// the store. Reservations of time on a worker id wait for the result. So it reads
// the definitions of these names only, not the whole catalogue, which may be much
// longer. It records the generators that agree in r.agreed. After an error the next
// call skips those, unless mark has moved.
func (r *Registry) disagreeing(ctx context.Context, mark Mark, open map[*Entry]*live) (stale map[*Entry]*live, err error) {
	if r.agreed == nil || !sameMark(mark, r.agreedAt) {
		r.agreed, r.agreedAt = map[*live]bool{}, mark
	}
	for e, l := range open {
		if r.agreed[l] {
			delete(open, e)
		}
	}
	stale = map[*Entry]*live{}
	var mu sync.Mutex // guards stale and agreed
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(lookUps)
	for e, l := range open {
		work.Go(func() error {
			d, err := r.cfg.Store.Defined(ctx, e.name)
			if err != nil && !errors.Is(err, ErrUnknown) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil && l.agrees(d) {
				r.agreed[l] = true
			} else {
				stale[e] = l
			}
			return nil
		})
	}
	return stale, work.Wait()
}

func (r *Registry) changes(ctx context.Context) (Mark, error) {
	m, ok, err := r.cfg.Store.Mark(ctx, changesKey)
	if !ok {
		m = Mark{Key: changesKey}
	}
	return m, err
}

// sameMark compares all fields of two marks. Comparing Hi is not enough: after a
// failover that lost changes, the same numbers are used again.
func sameMark(a, b Mark) bool {
	return a.Key == b.Key && a.Hi == b.Hi && a.Owner == b.Owner && a.Updated.Equal(b.Updated)
}

// announce tells the other servers that a definition has changed.
func (r *Registry) announce(ctx context.Context) error {
	if r.cfg.Guard == nil {
		return nil
	}
	_, _, err := r.cfg.Store.Reserve(ctx, Reservation{Key: changesKey, N: 1, Limit: NoLimit})
	r.unsaid.Store(err != nil)
	return err
}

// WatchEvery is the longest time until a server notices a change by another server.
const WatchEvery = 5 * time.Second

// Watch announces changes and closes generators whose definitions have changed,
// every WatchEvery, until ctx ends.
func (r *Registry) Watch(ctx context.Context) {
	if r.cfg.Guard == nil {
		return
	}
	for (Goroutines{}).Sleep(ctx, WatchEvery) == nil {
		bounded, cancel := context.WithTimeout(ctx, WatchEvery)
		if r.unsaid.Load() {
			_ = r.announce(bounded) // after an error the next round tries again
		}
		_ = r.closeChanged(bounded)
		cancel()
	}
}
