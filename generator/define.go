package generator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Create defines a new generator. It answers ErrExists for a known name.
func (r *Registry) Create(ctx context.Context, name, kind string, options json.RawMessage) error {
	_, created, err := r.create(ctx, name, kind, options)
	if err == nil && !created {
		err = &Error{
			Kind: ErrExists, Name: name, Message: fmt.Sprintf("generator %q already exists", name),
			Hint: "Use alter_generator to change it, or another name.",
		}
	}
	return err
}

// create defines a generator, unless its name exists.
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

// Alter changes options of a generator; the running one is replaced by its
// successor, which goes on above it.
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
	r.edits.Add(1) // even after an error: it may be changed
	if err != nil {
		return err
	}
	_ = r.announce(ctx) // Watch repeats it
	if e.live.Load() == nil {
		return nil
	}
	_ = e.stop(ctx) // what it could not give back is lost, and no reason to refuse the change
	return e.restart(ctx, f)
}

// Drop removes a generator. What it issued stays issued: a generator that is
// created again under the name goes on above it.
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
		err = retire(ctx, k, f.Definition) // above what other servers have reserved until now
	}
	if err != nil {
		return &Error{
			Kind: ErrRetry, Name: name, Cause: err, Message: fmt.Sprintf("generator %q was dropped, but the other servers do not know it yet", name),
			Hint: "Before it is created again with another kind or layout, restart the other servers.",
		}
	}
	return nil
}

// retire calls Retirer.Retire. A key that has come to its end cannot be moved
// further, and need not.
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

// Recover starts a generator again that stopped because the store went back
// (ErrRegressed). The caller knows that no id at atLeast or beyond was ever
// used. What this server holds of the generator is not issued any more.
func (r *Registry) Recover(ctx context.Context, name string, atLeast int64) error {
	e, f, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	recoverable, ok := KindAs[Recoverable](k)
	if !ok {
		return &Error{
			Kind: ErrWrongKind, Name: name, Message: fmt.Sprintf("a generator of kind %s needs no recovery", f.Kind),
			Hint: "Its ids follow the clock. After a failover they go on when every slice of time has ended that the store may have lost.",
		}
	}
	live := e.live.Load() != nil
	_ = e.stop(ctx) // what it cannot give back is lost, which is the purpose
	if err := recoverable.Recover(ctx, f.Definition, atLeast); err != nil {
		return named(err, name)
	}
	if live {
		err = e.restart(ctx, f)
	}
	return err
}

// acquire locks a generator that exists, to change it. The caller releases it,
// unless there is an error.
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

// defined reads the definition of a name, and its kind.
func (r *Registry) defined(ctx context.Context, name string) (found, Kind, error) {
	f, err := r.find(ctx, name)
	if err != nil {
		return f, nil, err
	}
	k, err := r.kind(f.Kind)
	return f, k, named(err, name)
}
