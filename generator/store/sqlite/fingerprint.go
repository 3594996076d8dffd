package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// fingerprint are two small files beside the database. They show when the database
// is missing, or older than the last reservation.
//
//   - The one with the suffix .id says which store is here, and which file it is
//     itself. It is made anew at each start and each stop: one that was put back,
//     by whatever means, is another file than it says.
//   - The one with the suffix .id-N is empty. N is how many reservations the
//     store has made; each of them renames it. Files that are put back beside it
//     have other names, and it stays.
//
// The name is changed after each commit and not synced: it may lag behind after
// a power failure, but is never ahead of the database. Modes, owners and times
// of the files mean nothing.
type fingerprint struct {
	dir *directory
	fingerprintState
}

// fingerprintState holds what the files of a fingerprint say.
type fingerprintState struct {
	storeID      string
	reservations int64
	inode        uint64 // of the file itself; 0 says nothing
	birth        string // likewise; ""
	moved        bool   // the file is another one than that
}

const (
	fingerprintHead = "nextid store %s\nreservations %020d\nfile %d %s\n"
	fingerprintTail = "This file belongs to the database beside it. It shows when that is missing, or\n" +
		"older than before. Keep the two together; do not copy them for a second server.\n"
	noBirth = "-"
)

// readFingerprint returns what the files say. found tells that there are some; a
// damaged one says nothing.
func (d *directory) readFingerprint() (said fingerprintState, found bool, err error) {
	name := d.file + fingerprintSuffix
	text, err := d.root.ReadFile(name)
	switch found = err == nil; {
	case found:
		said = d.parseFingerprint(name, string(text))
	case !errors.Is(err, fs.ErrNotExist):
		return fingerprintState{}, true, storeError(d.in(name), err)
	}
	counts, err := d.counts()
	for _, n := range counts {
		found, said.reservations = true, max(said.reservations, n)
	}
	return said, found, err
}

// parseFingerprint reads the file with the suffix .id. Those of older versions do
// not say which file they are.
func (d *directory) parseFingerprint(name, text string) (s fingerprintState) {
	n, _ := fmt.Sscanf(text, fingerprintHead, &s.storeID, &s.reservations, &s.inode, &s.birth)
	if n < 2 {
		return fingerprintState{}
	}
	if now, err := d.fileID(name); n == 4 && err == nil {
		s.moved = s.inode != 0 && now.inode != 0 && s.inode != now.inode ||
			s.birth != noBirth && now.birth != noBirth && s.birth != now.birth
	}
	return s
}

// fileID is the inode and the birth of a file.
func (d *directory) fileID(name string) (id fingerprintState, err error) {
	dir, err := d.root.Open(".")
	if err != nil {
		return id, err
	}
	defer dir.Close()
	if _, id.birth, err = d.fs.identify(dir, name); err != nil {
		return id, err
	}
	if id.birth = strings.ReplaceAll(id.birth, " ", "_"); id.birth == "" {
		id.birth = noBirth
	}
	info, err := d.root.Stat(name)
	if err == nil && d.fs.steadyInodes {
		id.inode = inodeOf(info)
	}
	return id, err
}

// counts lists the N of all files with the suffix .id-N.
func (d *directory) counts() (counts []int64, err error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), d.file+countSuffix)
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
			counts = append(counts, n)
		}
	}
	return counts, storeError("the data directory "+d.path, err)
}

func (d *directory) countName(n int64) string { return d.file + countSuffix + strconv.FormatInt(n, 10) }

// newFingerprint writes both files anew.
func (d *directory) newFingerprint(s fingerprintState) (*fingerprint, error) {
	w := &fingerprint{dir: d, fingerprintState: s}
	if err := w.write(); err != nil {
		return nil, storeError(d.in(d.file+fingerprintSuffix), err)
	}
	counts, err := d.counts()
	if err != nil {
		return nil, err
	}
	for _, n := range counts {
		if n != s.reservations {
			err = errors.Join(err, d.root.Remove(d.countName(n)))
		}
	}
	return w, storeError(d.path, errors.Join(err, w.mark(), d.sync()))
}

// mark makes the file with the suffix .id-N.
func (w *fingerprint) mark() error {
	f, err := w.dir.root.OpenFile(w.dir.countName(w.reservations), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// write makes the file with the suffix .id anew.
func (w *fingerprint) write() error {
	name := w.dir.file + fingerprintSuffix
	return w.dir.replace(name, func() (string, error) {
		id, err := w.dir.fileID(name + newSuffix)
		return fmt.Sprintf(fingerprintHead+fingerprintTail, w.storeID, w.reservations, id.inode, id.birth), err
	})
}

// replace gives a file a new content, durably and all at once. content may look
// at the new file, which has another name until then.
func (d *directory) replace(name string, content func() (string, error)) error {
	_ = d.root.Remove(name + newSuffix) // what a killed process left
	f, err := d.root.OpenFile(name+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	text, err := content()
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := d.root.Rename(name+newSuffix, name); err != nil {
		return err
	}
	return d.sync()
}

// advance notes the number of reservations. An error is of no account: a
// fingerprint that lags behind only sees less.
func (w *fingerprint) advance(reservations int64) {
	before := w.dir.countName(w.reservations)
	w.reservations = reservations
	if err := w.dir.root.Rename(before, w.dir.countName(reservations)); err != nil {
		_ = w.mark() // it was deleted
	}
}

// close notes the end. An error is of no account, as in advance.
func (w *fingerprint) close() { _ = w.write() }
