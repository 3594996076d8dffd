package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// embedded is the store on one SQLite file. One goroutine (serve) owns the session;
// all calls reach it as operations.
type embedded struct {
	cfg     Config
	dir     *directory
	storeID string

	queue   chan *operation
	closing chan struct{}
	closed  func() error                        // stops serve and waits for its end
	trouble atomic.Pointer[generator.StoreDown] // first error since the last transaction that succeeded, or nil

	// Owned by serve.
	session     *session // nil after an error, until the file has been opened and checked again
	fingerprint *fingerprint
	known       int64 // committed reservations that this process knows of
	seen        seen
}

// Open opens the embedded store of a directory, or makes a new one there. Its
// errors are *generator.Error. ErrNotNow: the store cannot be used now.
// ErrRegressed: its content or its place cannot be trusted.
func Open(ctx context.Context, cfg Config) (generator.Store, error) {
	cfg = cfg.withDefaults()
	dir, err := openDirectory(cfg)
	if err != nil {
		return nil, err
	}
	s := &embedded{cfg: cfg, dir: dir, queue: make(chan *operation), closing: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.release())
	}
	served := make(chan error, 1)
	go func() { served <- s.serve() }()
	s.closed = sync.OnceValue(func() error {
		close(s.closing)
		return <-served
	})
	return s, nil
}

// Probe implements generator.Prober. It returns an error, such as a full disk,
// until a transaction succeeds.
func (s *embedded) Probe() error {
	if t := s.trouble.Load(); t != nil {
		return t
	}
	return nil
}

// note keeps the outcome of a transaction for Probe.
func (s *embedded) note(err error) {
	switch before := s.trouble.Load(); {
	case err == nil && before != nil:
		s.trouble.Store(nil)
	case err != nil && before == nil:
		s.trouble.Store(&generator.StoreDown{Since: time.UnixMilli(millis(s.cfg.Clock)), Err: err})
	}
}

// start opens or creates the database, checks it and binds it to its place.
func (s *embedded) start(ctx context.Context) error {
	seen, used, err := s.dir.readFingerprint()
	if err != nil {
		return err
	}
	if err := s.find(ctx, used); err != nil {
		return err
	}
	if err := s.dir.adoptFile(); err != nil {
		return err
	}
	var m meta
	if s.session, m, err = openSession(ctx, s.dir); err != nil {
		return err
	}
	if err := s.dir.adoptFile(); err != nil { // again: with overlayfs, opening may have replaced the file by a copy
		return err
	}
	here, err := s.dir.here()
	if err != nil {
		return storeError(s.dir.in(s.dir.file), err)
	}
	if err := s.dir.checkPlace(m, here, seen, s.cfg.Adopt); err != nil {
		return err
	}
	if err := s.checkClock(m); err != nil {
		return err
	}
	s.storeID = m.storeID
	if err := s.notePlace(ctx, here); err != nil {
		return storeError(s.dir.in(s.dir.file), err)
	}
	s.fingerprint, err = s.dir.newFingerprint(fingerprintState{storeID: s.storeID, reservations: s.known})
	return err
}

// notePlace stores the present place and time. It also proves that the disk accepts
// writes.
func (s *embedded) notePlace(ctx context.Context, here binding) error {
	return s.session.atomically(ctx, func() (err error) {
		s.known, err = scanMeta(s.session.opened.QueryRowContext(ctx, millis(s.cfg.Clock), s.cfg.Owner,
			here.machine, here.hardware, here.volume, int64(here.inode), here.birth, s.seen.now(s.cfg)))
		return err
	})
}

// find creates the database file if the directory never had one.
func (s *embedded) find(ctx context.Context, used bool) error {
	there, err := s.dir.has(s.dir.file)
	if err != nil || there {
		return err
	}
	if used {
		return inconsistent("Put the file back where it was. A new store would give out the same ids again; if that is "+
			"what you want, remove "+s.dir.file+fingerprintSuffix+"* too.",
			"%s is missing, but this directory had a store before", s.dir.in(s.dir.file))
	}
	if err := s.dir.checkEmpty(); err != nil {
		return err
	}
	return s.dir.create(ctx, s.cfg)
}

// release closes the session and unlocks the directory.
func (s *embedded) release() error {
	var err error
	if s.session != nil {
		err = storeError(s.dir.in(s.dir.file), s.session.close())
		s.session = nil
	}
	if s.fingerprint != nil {
		s.fingerprint.close()
	}
	s.dir.close()
	return err
}

// Exclusive implements generator.Store: no other process uses the directory.
func (s *embedded) Exclusive() bool { return true }

// Seed implements generator.Seeder. It derives from the random id of the store.
func (s *embedded) Seed() uint64 {
	sum := sha256.Sum256([]byte(s.storeID))
	return binary.BigEndian.Uint64(sum[:])
}

// Close implements generator.Store. It waits for the running transaction.
func (s *embedded) Close() error { return s.closed() }

// Reserve implements generator.Reserver.
func (s *embedded) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	if r.N < 1 || r.Key == "" {
		return 0, 0, &generator.Error{
			Kind:    generator.ErrCount,
			Message: fmt.Sprintf("cannot reserve %d numbers for the key %q", r.N, r.Key),
		}
	}
	if r.Owner == "" {
		r.Owner = s.cfg.Owner
	}
	granted, err := ask(ctx, s, true, func(ctx context.Context, q *statements) (g [2]int64, err error) {
		g[0], g[1], err = q.runReserve(ctx, r, millis(s.cfg.Clock))
		return g, err
	})
	return granted[0], granted[1], err
}

// Release implements generator.Reserver.
func (s *embedded) Release(ctx context.Context, key string, hi, to int64) error {
	_, err := ask(ctx, s, false, func(ctx context.Context, q *statements) (struct{}, error) {
		return struct{}{}, q.runRelease(ctx, key, hi, to, millis(s.cfg.Clock))
	})
	return err
}

// Mark implements generator.Reserver.
func (s *embedded) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	marks, err := ask(ctx, s, false, func(ctx context.Context, q *statements) ([]generator.Mark, error) {
		return q.runMark(ctx, key)
	})
	if err != nil || len(marks) == 0 {
		return generator.Mark{}, false, err
	}
	return marks[0], true, nil
}

// Reserved implements generator.Reserver.
func (s *embedded) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return ask(ctx, s, false, func(ctx context.Context, q *statements) ([]generator.Mark, error) {
		return q.runReserved(ctx, prefix)
	})
}

// Define implements generator.Definitions.
func (s *embedded) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	type answer struct {
		stored  generator.Definition
		created bool
	}
	a, err := ask(ctx, s, false, func(ctx context.Context, q *statements) (a answer, err error) {
		a.stored, a.created, err = q.runDefine(ctx, d, millis(s.cfg.Clock))
		return a, err
	})
	return a.stored, a.created, err
}

// Redefine implements generator.Definitions.
func (s *embedded) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	return ask(ctx, s, false, func(ctx context.Context, q *statements) (generator.Definition, error) {
		return q.runRedefine(ctx, d)
	})
}

// Defined implements generator.Definitions.
func (s *embedded) Defined(ctx context.Context, name string) (generator.Definition, error) {
	return ask(ctx, s, false, func(ctx context.Context, q *statements) (generator.Definition, error) {
		return q.runDefined(ctx, name)
	})
}

// ListDefined implements generator.Definitions.
func (s *embedded) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	return ask(ctx, s, false, func(ctx context.Context, q *statements) ([]generator.Definition, error) {
		return q.runList(ctx)
	})
}

// Count implements generator.Definitions.
func (s *embedded) Count(ctx context.Context) (int, error) {
	return ask(ctx, s, false, func(ctx context.Context, q *statements) (n int, err error) {
		err = q.count.QueryRowContext(ctx).Scan(&n)
		return n, err
	})
}

// Undefine implements generator.Definitions.
func (s *embedded) Undefine(ctx context.Context, name string) error {
	_, err := ask(ctx, s, false, func(ctx context.Context, q *statements) (struct{}, error) {
		return struct{}{}, q.runUndefine(ctx, name)
	})
	return err
}
