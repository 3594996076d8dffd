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
// that a copy does not have. They stay after a restart, a reboot or a bind mount,
// and in a new container on the same volume. They also stay if the directory is
// renamed or moved on its disk. Each property is compared with the stored one if
// the system reports it:
//
//   - the birth time of the file, in nanoseconds. No program can set it (statx(2)).
//     On ext4 with 128-byte inodes, which have no birth time, it is the file's random
//     generation number;
//   - the inode number of the file, on file systems that are known to keep inode
//     numbers (ext4, XFS, btrfs, ZFS, …);
//   - the id of the file system. Tools that make a second disk from an image give
//     it another one. On btrfs and ZFS it is the id of the subvolume or dataset, so
//     snapshots and clones differ;
//   - the machine-id, and the id that the hardware or the hypervisor gives to the
//     machine, if this process may read it. Both are left out in a container, which
//     may be started again on another machine.
//
// A copied or restored file, a directory on another disk, and a disk in another
// machine are refused. Config.Adopt accepts such a store once. A copy that keeps all
// of these ids cannot be detected: a whole disk, or a virtual machine with its disk,
// that was copied or reset to a snapshot.
//
// # The clock
//
// The store remembers the last time at which it was in use. Open refuses a wall
// clock that is far ahead of that (Config.ClockJump).
package sqlite

import (
	"time"

	"nextid/generator"
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

	// ClockJump is how far the wall clock may be ahead of the time when the store was
	// last in use. A clock that is years ahead by mistake would waste the ids of those
	// years. 0 means no limit.
	ClockJump time.Duration

	// AcceptClock accepts the clock however far it is ahead. It is meant for one
	// start.
	AcceptClock bool

	// Clock sets the times that operators see; nil means the system's clock.
	Clock generator.Clock
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = generator.SystemClock{}
	}
	return c
}
