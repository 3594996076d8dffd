package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// binding names the place to which a store belongs; see the package comment. A zero
// field is unknown and matches everything.
type binding struct {
	machine  string // digest of the machine-id
	hardware string // digest of the id that the machine's hardware or hypervisor reports
	volume   string // id of the file system; on btrfs and ZFS that of the subvolume, so that snapshots differ
	inode    uint64 // of the database file, on file systems that keep inode numbers
	birth    string // birth time of the database file, which no program can set, or its generation number; see identify
}

// here returns the binding of the database file as it is now. The file must have
// been opened for writing before: overlayfs makes a copy of it then.
func (d *directory) here() (binding, error) {
	b, err := d.place(d.file)
	machine, hardware := machineIDs()
	b.machine, b.hardware = digest(machine), digest(hardware)
	return b, err
}

// place returns the binding of a file, without that to the machine.
func (d *directory) place(file string) (b binding, err error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return binding{}, err
	}
	defer dir.Close()
	if b.volume, b.birth, err = d.fs.identify(dir, file); err != nil {
		return binding{}, err
	}
	info, err := d.root.Stat(file)
	if err == nil && d.fs.steadyInodes {
		b.inode = inodeOf(info)
	}
	return b, err
}

// digest hides a machine-id, as machine-id(5) demands.
func digest(machine string) string {
	if machine == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("nextid store " + machine))
	return hex.EncodeToString(sum[:16])
}

// misplaced returns the reason why a store that is bound to b must not be used at
// now. It returns "" if the two match.
func (b binding) misplaced(now binding) string {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	switch {
	case differ(b.machine, now.machine):
		return "was last used on another machine"
	case differ(b.hardware, now.hardware):
		return "was last used on another machine, of which this one is a copy"
	case differ(b.volume, now.volume):
		return "is a copy: it was last used on another file system, or this is a snapshot of that"
	case b.inode != 0 && now.inode != 0 && b.inode != now.inode, differ(b.birth, now.birth):
		return "is a copy: the file that was last used was another one"
	default:
		return ""
	}
}

// checkPlace compares a store with the place where it was found, and with the
// fingerprint in that place.
func (d *directory) checkPlace(stored meta, here binding, saw fingerprint) error {
	path := d.in(d.file)
	if why := stored.misplaced(here); why != "" {
		return inconsistent("Two copies of a store give out the same ids. If no other copy is in use, nor will be: "+
			"start with --adopt once. If the file was restored from a backup, raise every segment generator above its "+
			"last id with setval then.", "the store %s %s", path, why)
	}
	if saw.storeID != "" && saw.storeID != stored.storeID {
		return inconsistent("Put the file back that belongs here, or start with --adopt once to go on with this one.",
			"%s is another store than the one that this directory belongs to", path)
	}
	if saw.moved {
		return inconsistent(hintOlder, "the store %s was put back: %s beside it is a copy", path, d.file+fingerprintSuffix)
	}
	if saw.reservations > stored.reservations {
		return inconsistent(hintOlder, "the store %s is older than this directory: it has %d reservations of %d",
			path, stored.reservations, saw.reservations)
	}
	return nil
}

// fingerprint is the content of a pair of small files beside the database. They
// show that the database is missing, or older than the last reservation.
//
//   - The file with the suffix .id names the store and holds its own inode and
//     birth. It is written anew at each start and each stop. A file that was
//     restored differs from the file that it names.
//   - The file with the suffix .id-N is empty. N is the number of reservations that
//     the store has made; each one renames the file. Restored files have other
//     names, and do not replace it.
//
// The name changes after each commit and is not synced. After a power failure it
// may lag behind the database, but it is never ahead. Modes, owners and times of
// the files do not matter.
type fingerprint struct {
	storeID      string
	reservations int64
	moved        bool // the file is not the one that it names
}

const (
	fingerprintHead = "nextid store %s\nreservations %020d\nfile %d %q\n"
	fingerprintTail = "This file belongs to the database beside it. It shows when that is missing, or\n" +
		"older than before. Keep the two together; do not copy them for a second server.\n"
)

// readFingerprint returns the content of the files. found reports whether there are
// any. A damaged file counts as empty.
func (d *directory) readFingerprint() (said fingerprint, found bool, err error) {
	name := d.file + fingerprintSuffix
	text, err := d.root.ReadFile(name)
	if found = !errors.Is(err, fs.ErrNotExist); found {
		if err != nil {
			return said, true, storeError(d.in(name), err)
		}
		said = d.parseFingerprint(name, string(text))
	}
	counts, err := d.counts()
	for _, n := range counts {
		found, said.reservations = true, max(said.reservations, n)
	}
	return said, found, err
}

// parseFingerprint reads the file with the suffix .id.
func (d *directory) parseFingerprint(name, text string) (f fingerprint) {
	var named binding
	n, _ := fmt.Sscanf(text, fingerprintHead, &f.storeID, &f.reservations, &named.inode, &named.birth)
	if n < 2 {
		return fingerprint{}
	}
	now, err := d.place(name)
	f.moved = n == 4 && err == nil && named.misplaced(now) != ""
	return f
}

// counts returns the N of all files with the suffix .id-N.
func (d *directory) counts() (counts []int64, err error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), d.file+countSuffix)
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
			counts = append(counts, n)
		}
	}
	return counts, d.error(err)
}

func (d *directory) countName(n int64) string { return d.file + countSuffix + strconv.FormatInt(n, 10) }

// newFingerprint writes both files anew, and removes other .id-N files.
func (d *directory) newFingerprint(f fingerprint) error {
	if err := d.writeFingerprint(f); err != nil {
		return storeError(d.in(d.file+fingerprintSuffix), err)
	}
	counts, err := d.counts()
	if err != nil {
		return err
	}
	for _, n := range counts {
		if n != f.reservations {
			err = errors.Join(err, d.root.Remove(d.countName(n)))
		}
	}
	return storeError(d.path, errors.Join(err, d.makeCount(f.reservations), d.sync()))
}

// makeCount creates the file with the suffix .id-N.
func (d *directory) makeCount(n int64) error {
	f, err := d.root.OpenFile(d.countName(n), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// writeFingerprint replaces the file with the suffix .id durably and atomically.
func (d *directory) writeFingerprint(f fingerprint) error {
	name := d.file + fingerprintSuffix
	_ = d.root.Remove(name + newSuffix) // left by a killed process
	file, err := d.root.OpenFile(name+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	at, err := d.place(name + newSuffix)
	if err == nil {
		_, err = fmt.Fprintf(file, fingerprintHead+fingerprintTail, f.storeID, f.reservations, at.inode, at.birth)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := d.root.Rename(name+newSuffix, name); err != nil {
		return err
	}
	return d.sync()
}
