package generator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Create defines a new generator. It answers ErrExists for a known name.
func (r *Registry) Create(ctx context.Context, name, kind string, options json.RawMessage) error {
	d, err := r.normalize(name, kind, options)
	if err != nil {
		return err
	}
	if err := r.checkDeclared(r.kinds[kind], d); err != nil {
		return err
	}
	_, created, err := r.define(ctx, d)
	if err != nil {
		return err
	}
	if !created {
		return &Error{
			Kind: ErrExists, Name: name, Message: fmt.Sprintf("generator %q already exists", name),
			Hint: "Use alter_generator to change it, or another name.",
		}
	}
	return nil
}

// Alter changes options of a generator; the running one is replaced by its
// successor, which goes on above it.
func (r *Registry) Alter(ctx context.Context, name string, change json.RawMessage) error {
	e, d, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	if d.Options, err = k.Alter(d.Options, change); err != nil {
		return named(err, name)
	}
	if err := r.checkDeclared(k, d); err != nil {
		return err
	}
	if d, err = r.cfg.Store.Redefine(ctx, d); err != nil {
		return err
	}
	_ = r.announce(ctx) // Watch repeats it
	if e.live.Load() == nil {
		return nil
	}
	_ = e.stop(ctx) // what it could not give back is lost, and no reason to refuse the change
	return e.restart(ctx, d)
}

// Drop removes a generator. What it issued stays issued: a generator that is
// created again under the name goes on above it.
func (r *Registry) Drop(ctx context.Context, name string) error {
	e, d, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	_ = e.stop(ctx) // as in Alter
	if err := retire(ctx, k, d); err != nil {
		return err
	}
	if err := r.cfg.Store.Undefine(ctx, name); err != nil || r.cfg.Guard == nil {
		return err
	}
	err = r.announce(ctx)
	if err == nil {
		err = retire(ctx, k, d) // above what other servers have reserved until now
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
	e, d, k, err := r.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.lock.release()
	recoverable, ok := KindAs[Recoverable](k)
	if !ok {
		return &Error{
			Kind: ErrWrongKind, Name: name, Message: fmt.Sprintf("a generator of kind %s needs no recovery", d.Kind),
			Hint: "Its ids follow the clock. After a failover they go on when every slice of time has ended that the store may have lost.",
		}
	}
	live := e.live.Load() != nil
	_ = e.stop(ctx) // what it cannot give back is lost, which is the purpose
	if err := recoverable.Recover(ctx, d, atLeast); err != nil {
		return named(err, name)
	}
	if live {
		err = e.restart(ctx, d)
	}
	return err
}

// acquire locks a generator that exists, to change it. The caller releases it,
// unless there is an error.
func (r *Registry) acquire(ctx context.Context, name string) (*Entry, Definition, Kind, error) {
	e, err := r.Existing(ctx, name)
	if err != nil {
		return nil, Definition{}, nil, err
	}
	if err := e.lock.acquire(ctx); err != nil {
		return nil, Definition{}, nil, err
	}
	d, k, err := r.defined(ctx, name)
	if err != nil {
		e.lock.release()
	}
	return e, d, k, err
}

// defined reads the definition of a name, and its kind.
func (r *Registry) defined(ctx context.Context, name string) (Definition, Kind, error) {
	d, err := r.cfg.Store.Defined(ctx, name)
	if err != nil {
		return d, nil, err
	}
	k, err := r.kind(d.Kind)
	return d, k, named(err, name)
}
