package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
	"nextid/sqlfuncs"
	"nextid/wire/pgwire"
)

// Main is the server as a value: a configuration, and Run.
type Main struct {
	Config Config
	Adopt  bool      // accept a store that was copied, moved or restored
	Stderr io.Writer // the ready line and the log
}

// releaseTimeout bounds giving back reservations to the store, after the
// last statement ended.
const releaseTimeout = 5 * time.Second

// Run opens everything, says that it is ready, and serves until ctx ends.
// Then it drains: running statements finish and reservations go back. It
// returns nil after a clean drain.
func (m *Main) Run(ctx context.Context) error {
	log := m.logger()
	listener, err := m.Config.PG.listen()
	if err != nil {
		return err
	}
	defer listener.Close() // a second time after serving, which is harmless
	e, err := m.openEngine(ctx, log)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it was ready
		}
		return err
	}
	err = m.serve(ctx, log, listener, e)
	return errors.Join(err, e.close())
}

// serve answers on the listener until ctx ends and everything has drained.
func (m *Main) serve(ctx context.Context, log *slog.Logger, listener net.Listener, e *engine) error {
	pg := pgwire.New(pgwire.Config{SQL: e.sql, Limits: m.Config.Wire, Logger: log})
	if !m.Config.PG.Local() {
		log.Warn("other machines can reach this server, and it has neither users nor TLS", "pg", listener.Addr().String())
	}
	if m.Config.Store.Scheme == storeMemory {
		log.Warn("the store forgets everything when the server stops: ids will repeat after a restart", "store", m.Config.Store.String())
	}
	served := make(chan error, 1)
	go func() { served <- pg.Serve(listener) }()
	fmt.Fprintln(m.Stderr, m.readyLine(listener.Addr()))
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	log.Info("draining", "drain_timeout", m.Config.DrainTimeout)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.Config.DrainTimeout)
	defer cancel()
	if err := pg.Shutdown(drain); err != nil {
		return &failure{
			what: fmt.Sprintf("some statements did not end within %s and were cut off", formatDuration(m.Config.DrainTimeout)),
			hint: "Set drain_timeout higher if that is too short.", cause: err,
		}
	}
	return nil
}

// readyLine names every address that is served.
func (m *Main) readyLine(pg net.Addr) string {
	return fmt.Sprintf("nextid ready: PostgreSQL on %s (store %s, worker id %s)",
		pg, m.Config.Store.in(m.Config.Data), formatWorkerID(m.Config.WorkerID))
}

func (m *Main) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: m.Config.LogLevel}
	if m.Config.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(m.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(m.Stderr, options))
}

// engine is what lies below the protocols.
type engine struct {
	store    generator.Store
	pools    *worker.Pools
	registry *generator.Registry
	sql      *sqlfuncs.Server
}

func (m *Main) openEngine(ctx context.Context, log *slog.Logger) (*engine, error) {
	store, err := awaitStore(ctx, m.Config, m.Adopt, log)
	if err != nil {
		return nil, err
	}
	e := &engine{store: store}
	e.pools = worker.New(worker.Config{Store: store, Worker: m.Config.WorkerID, Owner: owner(), Logger: log})
	if err := e.build(ctx, m.Config); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *engine) build(ctx context.Context, c Config) (err error) {
	autoCreate := c.AutoCreate
	if autoCreate == autoCreateOff {
		autoCreate = ""
	}
	e.registry, err = generator.NewRegistry(generator.Config{
		Store: e.store, Kinds: kinds(e.store, e.pools, c.Layout), AutoCreate: autoCreate,
		AutoOptions: c.autoOptions(), Declared: c.Generators, MaxNames: c.MaxNames,
	})
	if err != nil {
		return err
	}
	if err := e.registry.Declare(ctx); err != nil {
		return err
	}
	e.sql, err = sqlfuncs.NewServer(sqlfuncs.Config{
		Registry: e.registry, Version: buildVersion(), Limits: c.SQL, Layout: c.Layout,
	})
	return err
}

// close gives reservations back and releases the store: generators first,
// since they tell the worker pools what they used.
func (e *engine) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	var errs []error
	if e.registry != nil {
		errs = append(errs, e.registry.Close(ctx))
	}
	return errors.Join(append(errs, e.pools.Close(ctx), e.store.Close())...)
}
