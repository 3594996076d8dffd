// Package sqlite is the embedded store: one SQLite file in the data directory
// of one server.
//
// Open returns the store. One goroutine (embedded.serve) owns the database session
// and the fingerprint; all calls reach it through a queue. directory holds the lock
// and the files. binding names the place to which a store belongs.
//
// # Guarantees
//
// A reservation is on the disk before it is returned. The file uses a rollback
// journal and synchronous=EXTRA. All calls that wait at the same moment share one
// transaction (group commit). An error of the disk fails all calls of the
// transaction. None of its results is used, and the file is opened and checked again
// before the next one.
//
// Open refuses, with an error that says what to do:
//
//   - a directory that another process uses (a lock file, and SQLite's own
//     exclusive lock in case the lock file was deleted);
//   - a directory that was used before but has no database file any more;
//   - a file that is empty, truncated, damaged, not writable, of another program or
//     of a newer nextid. Damage shows in SQLite's integrity check, in the checksum
//     of each row, or in a count over all rows;
//   - a file older than the last reservation that this directory saw, such as a
//     restored backup, also if its files were written over the present ones (see
//     fingerprint);
//   - a copy (see below), and a file system that several machines share.
//
// # Files
//
//	nextid.db          the database
//	nextid.db-journal  its rollback journal; belongs to it, never delete it
//	nextid.db.lock     locked while a process uses the store; may be deleted
//	nextid.db.id       the id of the store that belongs here
//	nextid.db.id-N     empty: the store has made N reservations
//
// # Copies
//
// Two copies of a store would issue the same ids. So a store is bound to properties
// that a copy does not have; see binding and filesystem.identify. They stay after a
// restart, a reboot or a bind mount, in a new container on the same volume, and if the
// directory is renamed or moved on its disk. Each is compared if the system reports it.
//
// A copied or restored file, a directory on another disk, and a disk in another
// machine are refused. Config.Adopt accepts such a store once. A copy that keeps all
// of these properties cannot be detected: a whole disk, or a virtual machine with its
// disk, that was copied or reset to a snapshot.
//
// # The clock
//
// The store remembers the last time at which it was in use. Open refuses a wall
// clock that is far ahead of that (Config.ClockJump).
package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/store/local"
)

// DefaultFile is the name of the database file.
const DefaultFile = "nextid.db"

// Config configures the embedded store. The zero value uses DefaultFile in the
// working directory.
type Config struct {
	// Dir is the data directory; "" means the working directory. A missing one is
	// created with mode 0700.
	Dir string

	// File is the name of the database file in Dir. "" means DefaultFile; then a new
	// store is made only in an empty directory.
	File string

	// Owner is written into the file, and with reservations that name no owner.
	Owner string

	// Adopt accepts a store that was copied, moved or restored from a backup, and
	// binds it to its new place. A restored backup issues the ids again that were
	// issued after it was made, unless the generators are raised first.
	Adopt bool

	// ClockJump bounds by how much the wall clock may be ahead of the time when the
	// store was last in use. A clock that is years ahead by mistake would waste the ids of those
	// years. 0 means no limit.
	ClockJump time.Duration

	// AcceptClock accepts the clock however far it is ahead. It is meant for one
	// start.
	AcceptClock bool

	// Clock sets the times that operators see; nil means the system's clock.
	Clock generator.Clock
}

// embedded is the store on one SQLite file. One goroutine (serve) owns the session;
// all calls reach it as operations.
type embedded struct {
	local.Store // its calls are operations

	cfg Config
	dir *directory

	queue   chan *operation
	closing chan struct{}
	closed  func() error                        // stops serve and waits for its end
	trouble atomic.Pointer[generator.StoreDown] // first error since the last transaction that succeeded, or nil

	// Owned by serve, but for known.storeID, which does not change.
	session *session    // nil after an error, until the file has been opened and checked again
	known   fingerprint // what was committed as far as this process knows
	seen    seen
}

// Open opens the embedded store of a directory, or makes a new one there. Its
// errors are *generator.Error. ErrNotNow: the store cannot be used now.
// ErrRegressed: its content or its place cannot be trusted.
func Open(ctx context.Context, cfg Config) (generator.Store, error) {
	cfg.Clock = cmp.Or[generator.Clock](cfg.Clock, generator.SystemClock{})
	dir, err := openDirectory(cfg)
	if err != nil {
		return nil, err
	}
	s := &embedded{cfg: cfg, dir: dir, queue: make(chan *operation), closing: make(chan struct{})}
	s.Store = local.Store{Do: s.do, Owner: cfg.Owner, Clock: cfg.Clock}
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

// start opens or creates the database, checks it and binds it to its place.
func (s *embedded) start(ctx context.Context) error {
	saw, used, err := s.dir.readFingerprint()
	if err != nil {
		return err
	}
	if err := s.find(ctx, used); err != nil {
		return err
	}
	if err := s.dir.adoptFile(); err != nil {
		return err
	}
	m, here, err := s.attach(ctx, saw, s.cfg.Adopt)
	if err != nil {
		return err
	}
	if err := s.dir.adoptFile(); err != nil { // again: with overlayfs, opening may have replaced the file by a copy
		return err
	}
	if err := s.checkClock(m.seenAt); err != nil {
		return err
	}
	m.openedAt, m.owner, m.binding, m.seenAt = s.now(), s.cfg.Owner, here, s.seen.now(s.cfg)
	// Storing the place also proves that the disk accepts writes.
	if err := s.session.atomically(func() error { return s.session.putMeta(m) }); err != nil {
		return storeError(s.dir.in(s.dir.file), err)
	}
	s.known = fingerprint{storeID: m.storeID, reservations: m.reservations}
	return s.dir.newFingerprint(s.known)
}

// find creates the database file if the directory never had one.
func (s *embedded) find(ctx context.Context, used bool) error {
	_, err := s.dir.root.Lstat(s.dir.file)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return storeError(s.dir.in(s.dir.file), err)
	case used:
		return inconsistent("Put the file back where it was. A new store would give out the same ids again; if that is "+
			"what you want, remove "+s.dir.file+fingerprintSuffix+"* too.",
			"%s is missing, but this directory had a store before", s.dir.in(s.dir.file))
	}
	if err := s.dir.checkEmpty(); err != nil {
		return err
	}
	return s.dir.create(ctx, s.cfg)
}

// attach opens the session. It refuses a file that does not belong in this place,
// and one that lacks reservations which the fingerprint has.
func (s *embedded) attach(ctx context.Context, saw fingerprint, adopt bool) (m meta, here binding, err error) {
	s.session, m, err = openSession(ctx, s.dir)
	if err == nil {
		here, err = s.dir.here()
	}
	if err == nil && !adopt {
		err = s.dir.checkPlace(m, here, saw)
	}
	if err != nil && s.session != nil {
		s.drop()
	}
	return m, here, storeError(s.dir.in(s.dir.file), err)
}

// drop closes the session, and thereby rolls back an open transaction. The next
// batch opens the file and checks it again.
func (s *embedded) drop() {
	_ = s.session.db.Close()
	s.session = nil
}

// release closes the session and unlocks the directory.
func (s *embedded) release() error {
	var err error
	if s.session != nil {
		err = storeError(s.dir.in(s.dir.file), s.session.db.Close())
	}
	if s.known.storeID != "" {
		_ = s.dir.writeFingerprint(s.known) // for the next start; one that lags behind is not wrong
	}
	s.dir.Close()
	return err
}

// now returns the wall clock in Unix milliseconds.
func (s *embedded) now() int64 { return millis(s.cfg.Clock) }

func millis(c generator.Clock) int64 { return c.Wall() / 1e6 }

// Exclusive implements generator.Store: no other process uses the directory.
func (s *embedded) Exclusive() bool { return true }

// Seed implements generator.Seeder. It derives from the random id of the store.
func (s *embedded) Seed() uint64 {
	sum := sha256.Sum256([]byte(s.known.storeID))
	return binary.BigEndian.Uint64(sum[:])
}

// Probe implements generator.Prober. It returns an error, such as a full disk,
// until a transaction succeeds.
func (s *embedded) Probe() error {
	if t := s.trouble.Load(); t != nil {
		return t
	}
	return nil
}

// Close implements generator.Store. It waits for the running transaction.
func (s *embedded) Close() error { return s.closed() }
