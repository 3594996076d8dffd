// Package sqlite is the embedded store: one SQLite file in the data directory
// of one server.
//
// # What the embedded store promises
//
// A reservation is on the disk before it is returned: rollback journal,
// synchronous=EXTRA, one transaction for all calls that wait at that moment
// (group commit). Any error of the disk fails all of them; nothing of that
// transaction is believed, and the file is opened and checked anew first.
//
// It refuses to open, with a message that says what to do,
//
//   - a directory that another process uses (a lock file, and SQLite's own
//     exclusive lock in case the lock file was deleted);
//   - a directory that was used before but has no database file any more;
//   - a file that is empty, cut off, damaged (integrity check of SQLite, a
//     checksum in every row, and a count over all rows), of another program,
//     of a newer nextid, or not writable;
//   - a file older than the last reservation that this directory saw, as
//     after restoring a backup, over the files that were there, too (see
//     fingerprint);
//   - a copy (see below), and a file system that several machines share.
//
// # Files
//
//	nextid.db          the database
//	nextid.db-journal  its rollback journal; belongs to it, never delete it
//	nextid.db.lock     locked while a process uses the store; may be deleted
//	nextid.db.id       which store was here
//	nextid.db.id-N     empty: the store has made N reservations
//
// # Copies
//
// Two copies of a store give out the same ids, so a store is bound to what a
// copy cannot carry. A restart, a reboot, renaming or moving the directory on
// its disk, a bind mount, or a new container on the same volume need no hand.
// As far as the system tells them, these must be the ones that were noted:
//
//   - when the file was made, to the nanosecond: its time of birth, which no
//     program can set (statx(2); on ext4 without room for it, the file's
//     random generation number);
//   - the inode number of the file, on file systems that are known to keep
//     inode numbers (ext4, XFS, btrfs, ZFS, …);
//   - the id of the file system: who makes a second disk of an image gives it
//     another. On btrfs and ZFS it is that of the subvolume or dataset, so
//     that their snapshots and clones are noticed;
//   - the machine-id, and the id that the hardware or the hypervisor gives to
//     the machine where the process may read it; not in a container, which
//     may go on elsewhere.
//
// A copied or restored file, a directory that was moved to another disk, and
// a disk that was moved to another machine are refused until Config.Adopt
// says once that this copy is the one that goes on. What is the same to the
// last byte cannot be told from the original: a whole disk, or a virtual
// machine with its disk, that was copied or set back to a snapshot and keeps
// all of these ids.
//
// # The clock
//
// The store remembers the last time that it knows of, and refuses to open
// when the wall clock is far ahead of that (Config.ClockJump).
package sqlite

import (
	"time"

	"nextid/generator"
)

// DefaultFile is the name of the database file.
const DefaultFile = "nextid.db"

// Config says where the embedded store is. Dir or File is required.
type Config struct {
	// Dir is the data directory; "" is the present one. It is created with
	// mode 0700 if it is missing.
	Dir string

	// File is the name of the database file in Dir. With "", DefaultFile is
	// used and a new store is made only in a directory that is empty.
	File string

	// Owner is noted with reservations that name no owner, and in the file.
	Owner string

	// Adopt accepts a store that was copied, moved or restored from a
	// backup, and binds it to its new place. With a restored backup, the
	// ids that were given out since then will come again unless the
	// generators are raised first.
	Adopt bool

	// ClockJump bounds how far the wall clock may be ahead of the time when the
	// store was in use last: with a clock that is years ahead by mistake, the
	// ids of years would be passed over. 0: as far as it likes.
	ClockJump time.Duration

	// AcceptClock accepts the clock for once, however far it is ahead.
	AcceptClock bool

	// Clock stamps what is shown to operators; nil is the system's clock.
	Clock generator.Clock
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = generator.SystemClock{}
	}
	return c
}
