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
//     after restoring a backup;
//   - a copy (see below), and a file system that several machines share.
//
// # Files
//
//	nextid.db          the database
//	nextid.db-journal  its rollback journal; belongs to it, never delete it
//	nextid.db.lock     locked while a process uses the store; may be deleted
//	nextid.db.id       which store was here, and how many reservations it made
//
// # Copies
//
// Two copies of a store give out the same ids, so a store is bound to its
// place. The rule binds to little, so that a restart, a reboot, renaming or
// moving the directory on its disk, or a new container on the same volume
// need no hand:
//
//   - the inode number of the file must be the one that was noted, on file
//     systems that are known to keep inode numbers (ext4, XFS, btrfs, ZFS, …);
//   - the machine-id must be the one that was noted, except in a container
//     or where there is none.
//
// A copied or restored file, a directory that was moved to another disk, and
// a disk that was moved to another machine are refused until Config.Adopt
// says once that this copy is the one that goes on. Block-level snapshots
// (LVM, ZFS, btrfs, virtual machines) that run on the same machine-id look
// like the original and are not noticed.
package sqlite

import "nextid/generator"

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

	// Clock stamps what is shown to operators; nil is the system's clock.
	Clock generator.Clock
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = generator.SystemClock{}
	}
	return c
}
