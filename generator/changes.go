package generator

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Servers that share a store share its definitions. One of them changes a
// definition, or drops the name, while others have its generator open: those
// must not go on by what they read when they opened it. Above all a name that
// is created again with another layout, or kind, would get ids from both.
//
// Most changes are noticed by a look at the store every few seconds (Watch).
// But no clock is needed to keep ids apart. What a server gives out lies in
// what it has reserved, and a Guard looks at the definition after each
// reservation, before any of it is used: if the definition is still there
// then, whoever changes it later also finds the reservation, and goes on
// above it. That is why Drop calls Retire once more when the name is gone.

// changesKey moves with every change of a definition: one number tells that
// there was none.
const changesKey = "changes"

// errChanged is the cause of a refusal because a definition is not what it
// was when its generator was opened.
var errChanged = errors.New("the definition was changed on another server")

// Guard is a Store that several servers share, for engines that keep what
// they have reserved. A reservation for a generator whose definition has
// changed is refused, with ErrRetry, and one of time on a worker id is
// answered when all such generators of this process have been closed. The
// Registry that it is given to (Config.Guard) says which they are; without
// one it is the Store below.
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
	if registry := g.registry.Load(); err == nil && registry != nil {
		err = registry.allows(ctx, r.Key)
	}
	if err != nil {
		return 0, 0, err
	}
	return lo, hi, nil
}

// Recover implements Recoverer, on any store.
func (g *Guard) Recover(ctx context.Context, key string, atLeast int64) error {
	if r, ok := g.Store.(Recoverer); ok {
		return r.Recover(ctx, key, atLeast)
	}
	_, _, err := g.Store.Reserve(ctx, Reservation{Key: key, AtLeast: atLeast - 1, N: 1, Limit: NoLimit, Owner: "recover_generator"})
	return err
}

// allows reports whether what was reserved under a key may be used.
func (r *Registry) allows(ctx context.Context, key string) error {
	if name, ok := strings.CutPrefix(key, nameKeyPrefix); ok {
		return r.unchanged(ctx, name)
	}
	if line, ok := strings.CutPrefix(key, LineKeyPrefix); ok {
		name, _, _ := strings.Cut(line, "/")
		return r.unchanged(ctx, name)
	}
	if strings.HasPrefix(key, WorkerKeyPrefix) {
		return r.closeChanged(ctx)
	}
	return nil
}

// unchanged returns nil if the definition of the running generator of a name
// is still that of the store. It closes nothing: the generator itself asks.
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
		return nil // it is being opened, and looked at afterwards
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
	return &Error{Kind: ErrRetry, Name: name, Message: "generator \"" + name + "\" was changed on another server", Hint: "Try again.", Cause: errChanged}
}

// agrees reports whether a running generator was opened by a definition.
func (l *live) agrees(d Definition) bool {
	return l.stored.Version == d.Version && l.stored.Kind == d.Kind && bytes.Equal(l.stored.Options, d.Options)
}

// closeChanged closes the generators of this process whose definitions other
// servers have changed. They are opened again when they are used next.
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
	r.seenChange, r.agreed = mark, nil // now that none of them issues any more
	return nil
}

// stale finds the generators to close. mark is where changesKey stands; it is
// read first, so that a change after it is found the next time. What goes live
// after edits has moved was opened by a definition that was read later than mark.
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

// lookUps sets how many definitions are looked up at a time.
const lookUps = 16

// disagreeing finds the running generators that were opened by other
// definitions than those in the store. It looks at these names one by one, not
// at the catalogue, which may be much longer, since time on a worker id waits
// for the answer. What agrees is noted: when the store fails or the context ends
// on the way, the next look goes on from there, unless mark has moved.
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
	var mu sync.Mutex
	var work sync.WaitGroup
	places := make(chan struct{}, lookUps)
	for e, l := range open {
		places <- struct{}{}
		mu.Lock()
		failed := err != nil
		mu.Unlock()
		if failed {
			break
		}
		work.Go(func() {
			d, cause := r.cfg.Store.Defined(ctx, e.name)
			if errors.Is(cause, ErrUnknown) {
				d, cause = Definition{}, nil // with which nothing agrees
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case cause != nil:
				err = cause
			case l.agrees(d):
				r.agreed[l] = true
			default:
				stale[e] = l
			}
			<-places
		})
	}
	work.Wait()
	return stale, err
}

func (r *Registry) changes(ctx context.Context) (Mark, error) {
	m, ok, err := r.cfg.Store.Mark(ctx, changesKey)
	if !ok {
		m = Mark{Key: changesKey}
	}
	return m, err
}

// sameMark compares all of a mark: after a failover that lost changes their
// numbers come again.
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

// WatchEvery bounds how soon a server notices what another one has changed.
const WatchEvery = 5 * time.Second

// Watch keeps the generators of this process in step with the definitions in
// the store until ctx ends.
func (r *Registry) Watch(ctx context.Context) {
	if r.cfg.Guard == nil {
		return
	}
	for tick := time.NewTicker(WatchEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, WatchEvery)
		if r.unsaid.Load() {
			_ = r.announce(bounded) // or the next time
		}
		_ = r.closeChanged(bounded) // likewise
		cancel()
	}
}
