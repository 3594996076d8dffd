package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
)

// binding names the place to which a store belongs; see the package comment. A zero
// field is unknown and matches everything.
type binding struct {
	machine  string // digest of the machine-id
	hardware string // digest of the id that the machine's hardware or hypervisor reports
	volume   string // id of the file system and of its subvolume
	inode    uint64 // of the database file
	birth    string // birth time of the database file, or its generation number; see identify
}

// here returns the binding of the database file as it is now. The file must have
// been opened for writing before: overlayfs makes a copy of it then.
func (d *directory) here() (binding, error) {
	b := binding{machine: digest(machineID()), hardware: digest(hardwareID())}
	dir, err := d.root.Open(".")
	if err != nil {
		return binding{}, err
	}
	defer dir.Close()
	if b.volume, b.birth, err = d.fs.identify(dir, d.file); err != nil {
		return binding{}, err
	}
	if d.fs.steadyInodes && d.database != nil {
		b.inode = inodeOf(d.database)
	}
	return b, nil
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
func (d *directory) checkPlace(stored meta, here binding, seen fingerprintState, adopt bool) error {
	if adopt {
		return nil
	}
	path := d.in(d.file)
	if why := stored.misplaced(here); why != "" {
		return inconsistent("Two copies of a store give out the same ids. If no other copy is in use, nor will be: "+
			"start with --adopt once. If the file was restored from a backup, raise every segment generator above its "+
			"last id with setval then.", "the store %s %s", path, why)
	}
	if seen.storeID != "" && seen.storeID != stored.storeID {
		return inconsistent("Put the file back that belongs here, or start with --adopt once to go on with this one.",
			"%s is another store than the one that this directory belongs to", path)
	}
	if seen.moved {
		return inconsistent(hintOlder, "the store %s was put back: %s beside it is a copy", path, d.file+fingerprintSuffix)
	}
	if seen.reservations > stored.reservations {
		return inconsistent(hintOlder, "the store %s is older than this directory: it has %d reservations of %d",
			path, stored.reservations, seen.reservations)
	}
	return nil
}
