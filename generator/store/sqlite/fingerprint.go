package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// fingerprint is a pair of small files beside the database. They show that the
// database is missing, or older than the last reservation.
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
	dir *directory
	fingerprintState
}

// fingerprintState is the content of a fingerprint.
type fingerprintState struct {
	storeID      string
	reservations int64
	inode        uint64 // of the file itself; 0 if unknown
	birth        string // of the file itself; "" if unknown
	moved        bool   // the file is not the one that it names
}

const (
	fingerprintHead = "nextid store %s\nreservations %020d\nfile %d %s\n"
	fingerprintTail = "This file belongs to the database beside it. It shows when that is missing, or\n" +
		"older than before. Keep the two together; do not copy them for a second server.\n"
	noBirth = "-"
)

// readFingerprint returns the content of the files. found reports whether there are
// any. A damaged file counts as empty.
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

// parseFingerprint reads the file with the suffix .id. Files of older versions hold
// no inode and no birth.
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

// fileID returns the inode and the birth of a file.
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

// counts returns the N of all files with the suffix .id-N.
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

// newFingerprint writes both files anew, and removes other .id-N files.
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

// mark creates the file with the suffix .id-N.
func (w *fingerprint) mark() error {
	f, err := w.dir.root.OpenFile(w.dir.countName(w.reservations), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// write replaces the file with the suffix .id.
func (w *fingerprint) write() error {
	name := w.dir.file + fingerprintSuffix
	return w.dir.replace(name, func() (string, error) {
		id, err := w.dir.fileID(name + newSuffix)
		return fmt.Sprintf(fingerprintHead+fingerprintTail, w.storeID, w.reservations, id.inode, id.birth), err
	})
}

// replace gives a file a new content, durably and atomically. content is called
// while the new file still has another name.
func (d *directory) replace(name string, content func() (string, error)) error {
	_ = d.root.Remove(name + newSuffix) // left by a killed process
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

// advance renames the .id-N file. Errors are ignored: a fingerprint that lags
// behind detects less, but is never wrong.
func (w *fingerprint) advance(reservations int64) {
	before := w.dir.countName(w.reservations)
	w.reservations = reservations
	if err := w.dir.root.Rename(before, w.dir.countName(reservations)); err != nil {
		_ = w.mark() // it was deleted
	}
}

// close writes the file anew for the next start. Errors are ignored, as in advance.
func (w *fingerprint) close() { _ = w.write() }
