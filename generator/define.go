package generator

import (
	"context"
	"encoding/json"
	"errors"
)

// Create defines a new generator. It returns ErrExists for a known name.
func (r *Registry) Create(ctx context.Context, name, kind string, options json.RawMessage) error {
	_, created, err := r.create(ctx, name, kind, options)
	if err == nil && !created {
		err = Errorf(ErrExists, name, "Use alter_generator to change it, or another name.",
			"generator %q already exists", name)
	}
	if e := r.Lookup([]byte(name)); err == nil && e != nil { // another server may have dropped what e knows
		r.edits.Add(1)
		if l := e.live.Load(); l != nil {
			return e.expire(ctx, l)
		}
	}
	return err
}

// create defines a generator unless its name exists, and returns the stored
// definition.
func (r *Registry) create(ctx context.Context, name, kind string, options json.RawMessage) (stored Definition, created bool, err error) {
	d, err := r.normalize(name, kind, options)
	if err == nil {
		err = r.checkDeclared(r.kinds[kind], d)
	}
	if err != nil {
		return d, false, err
	}
	return r.define(ctx, d)
}

// Alter changes options of a generator. A running generator is closed and its
// successor opened, which continues above it.
func (r *Registry) Alter(ctx context.Context, name string, change json.RawMessage) error {
	e, f, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	if f.Options, err = k.Alter(f.Options, change); err != nil {
		return named(err, name)
	}
	if err := r.checkDeclared(k, f.Definition); err != nil {
		return err
	}
	f.Definition, err = r.cfg.Store.Redefine(ctx, f.Definition)
	r.edits.Add(1) // also after an error: the store may have made the change
	if err != nil {
		return err
	}
	_ = r.announce(ctx) // Watch repeats it
	if e.live.Load() == nil {
		return nil
	}
	_ = e.stop(ctx) // ids that could not be given back are lost; the change goes on
	return e.restart(ctx, f)
}

// Drop removes a generator. Its ids stay used: a generator that is created again
// under the name continues above them.
func (r *Registry) Drop(ctx context.Context, name string) error {
	e, f, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	_ = e.stop(ctx) // as in Alter
	if err := retire(ctx, k, f.Definition); err != nil {
		return err
	}
	err = r.cfg.Store.Undefine(ctx, name)
	r.edits.Add(1) // as in Alter
	if err != nil || r.cfg.Guard == nil {
		return err
	}
	err = r.announce(ctx)
	if err == nil {
		err = retire(ctx, k, f.Definition) // continue above what other servers have reserved meanwhile
	}
	if err != nil {
		return CausedError(err, ErrRetry, name, "Before it is created again with another kind or layout, restart the other servers.",
			"generator %q was dropped, but the other servers do not know it yet", name)
	}
	return nil
}

// retire calls Retirer.Retire. ErrExhausted is not an error here: an exhausted key
// cannot issue ids again.
func retire(ctx context.Context, k Kind, d Definition) error {
	retirer, ok := KindAs[Retirer](k)
	if !ok {
		return nil
	}
	if err := retirer.Retire(ctx, d); !errors.Is(err, ErrExhausted) {
		return named(err, d.Name)
	}
	return nil
}

// Recover starts a generator again that stopped with ErrRegressed because the store
// went back. The caller guarantees that no id at atLeast or beyond was ever used.
// The ids in hand on this server are dropped.
func (r *Registry) Recover(ctx context.Context, name string, atLeast int64) error {
	e, f, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	recoverable, ok := KindAs[Recoverable](k)
	if !ok {
		return Errorf(ErrWrongKind, name, "Its ids follow the clock. After a failover they go on when every slice of time has ended that the store may have lost.",
			"a generator of kind %s needs no recovery", f.Kind)
	}
	live := e.live.Load() != nil
	_ = e.stop(ctx) // ids that could not be given back are lost, as intended
	if err := recoverable.Recover(ctx, f.Definition, atLeast); err != nil {
		return named(err, name)
	}
	if live {
		err = e.restart(ctx, f)
	}
	return err
}

// acquire locks an existing generator for a change. After a nil error the caller
// must release the lock.
func (r *Registry) acquire(ctx context.Context, name string) (*Entry, found, Kind, error) {
	e, err := r.Existing(ctx, name)
	if err != nil {
		return nil, found{}, nil, err
	}
	if err := e.lock.acquire(ctx); err != nil {
		return nil, found{}, nil, err
	}
	f, k, err := r.defined(ctx, name)
	if err != nil {
		e.lock.release()
	}
	return e, f, k, err
}

// defined reads the definition of a name and finds its kind.
func (r *Registry) defined(ctx context.Context, name string) (found, Kind, error) {
	f, err := r.find(ctx, name)
	if err != nil {
		return f, nil, err
	}
	k, err := r.kind(f.Kind)
	return f, k, named(err, name)
}
