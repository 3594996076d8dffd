package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// witness is the small file beside the database that remembers which store
// is here and how many reservations it has made. It shows when the database
// is missing, or older than the last reservation.
//
// The number is written after each commit and not synced: it may lag behind
// after a power failure, but is never ahead of the database.
type witness struct {
	f *os.File
}

// witnessed is the content of a witness.
type witnessed struct {
	storeID      string
	reservations int64
}

const (
	witnessHead  = "nextid store %s\nreservations "
	witnessCount = "%020d"
	witnessTail  = "\n" +
		"This file belongs to the database beside it. It shows when that is missing, or\n" +
		"older than before. Keep the two together; do not copy them for a second server.\n"
)

// readWitness returns what the witness file says. found tells that there is
// one; a damaged one says nothing.
func (d *directory) readWitness() (said witnessed, found bool, err error) {
	text, err := d.root.ReadFile(d.file + witnessSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return witnessed{}, false, nil
	}
	if err != nil {
		return witnessed{}, true, storeError(d.in(d.file+witnessSuffix), err)
	}
	var s witnessed
	if _, err := fmt.Sscanf(string(text), witnessHead+"%d\n", &s.storeID, &s.reservations); err != nil {
		return witnessed{}, true, nil //nolint:nilerr // damaged: the database has its own checks
	}
	return s, true, nil
}

// newWitness writes the file anew and opens it.
func (d *directory) newWitness(s witnessed) (*witness, error) {
	name := d.file + witnessSuffix
	if err := d.replace(name, fmt.Sprintf(witnessHead+witnessCount+witnessTail, s.storeID, s.reservations)); err != nil {
		return nil, storeError(d.in(name), err)
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, storeError(d.in(name), err)
	}
	return &witness{f: f}, nil
}

// replace gives a file a new content, durably and all at once.
func (d *directory) replace(name, text string) error {
	f, err := d.root.OpenFile(name+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
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
// witness that lags behind only sees less.
func (w *witness) advance(storeID string, reservations int64) {
	_, _ = w.f.WriteAt(fmt.Appendf(nil, witnessCount, reservations), int64(len(witnessHead)-len("%s")+len(storeID)))
}

func (w *witness) close() { w.f.Close() }
