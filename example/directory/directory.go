//go:build unix

// Package directory is an example of a shared store in one file: a directory that
// servers on one machine share. See docs/extending.md.
//
// The whole state is one file. A change locks the directory, reads the file, writes
// a new one and renames it.
package directory

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nextid/dsn"
	"nextid/generator/store/shared"
)

// Driver returns the driver for URLs of the form dir:///PATH.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"dir"}, Example: "dir:///var/lib/ids", Failover: shared.Stop,
		Open:   func(_ context.Context, url string, _ []string) (shared.Engine, error) { return openDirectory(url) },
		Schema: func(url string) (shared.Schema, error) { return openDirectory(url) },
	}
}

// state is the content of the file.
type state struct {
	Epoch   string // distinguishes this directory from another one in its place
	Changes int64  // the version of the value that was written last
	Values  map[shared.Folder]map[string]shared.Value
}

// store implements shared.Engine and shared.Schema by compare-and-set.
type store struct {
	*shared.CAS
	path string
}

func openDirectory(url string) (*store, error) {
	u, _, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	d := &store{path: u.Path}
	d.CAS = shared.NewCAS(d, shared.NoSchema(d.path, "dir://"+d.path, nil))
	return d, nil
}

func (d *store) file(name string) string { return filepath.Join(d.path, name) }

// load reads the state; one without an epoch if the directory is not prepared.
func (d *store) load(ctx context.Context) (s state, err error) {
	text, err := os.ReadFile(d.file("state"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, shared.Unreachable(ctx, d.path, err)
}

// save replaces the state. The new state is on disk when save returns.
func (d *store) save(s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.Create(d.file("new"))
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), d.file("state")); err != nil {
		return err
	}
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// locked runs f while no other server changes the state.
func (d *store) locked(ctx context.Context, f func() error) error {
	lock, err := os.OpenFile(d.file("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return shared.Unreachable(ctx, d.path, err)
	}
	defer lock.Close() // releases the lock
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return shared.Unreachable(ctx, d.path, err)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return shared.Unreachable(ctx, d.path, ctx.Err())
		}
	}
}

// Time implements shared.Engine. All servers are on this machine.
func (d *store) Time(context.Context) (earliest, latest time.Time, err error) {
	now := time.Now()
	return now, now, nil
}

// Present implements shared.Swapper.
func (d *store) Present(ctx context.Context) (string, error) {
	s, err := d.load(ctx)
	return s.Epoch, err
}

// Get implements shared.Swapper.
func (d *store) Get(ctx context.Context, in shared.Folder, key string) (shared.Value, error) {
	s, err := d.load(ctx)
	return s.Values[in][key], err
}

// Swap implements shared.Swapper.
func (d *store) Swap(ctx context.Context, epoch string, in shared.Folder, key string, was shared.Value, text string) (now shared.Value, swapped bool, err error) {
	err = d.locked(ctx, func() error {
		s, err := d.load(ctx)
		if err == nil && (s.Epoch == "" || epoch != "" && epoch != s.Epoch) {
			err = shared.ErrEpoch
		}
		if now = s.Values[in][key]; err != nil || now.Version != was.Version {
			return err
		}
		s.Changes++
		now, swapped = shared.Value{Text: text, Version: s.Changes}, true
		s.Values[in][key] = now
		return shared.Unreachable(ctx, d.path, d.save(s))
	})
	return now, swapped && err == nil, err
}

// List implements shared.Swapper.
func (d *store) List(ctx context.Context, in shared.Folder, prefix string) (map[string]string, error) {
	s, err := d.load(ctx)
	values := map[string]string{}
	for key, v := range s.Values[in] {
		if strings.HasPrefix(key, prefix) {
			values[key] = v.Text
		}
	}
	return values, err
}

// Size implements shared.Swapper.
func (d *store) Size(ctx context.Context, in shared.Folder) (int, error) {
	s, err := d.load(ctx)
	return len(s.Values[in]), err
}

// Up implements shared.Schema. A state that cannot be read stays as it is.
func (d *store) Up(ctx context.Context) error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	return d.locked(ctx, func() error {
		s, err := d.load(ctx)
		if err != nil || s.Epoch != "" {
			return err
		}
		return d.save(state{Epoch: rand.Text(), Values: map[shared.Folder]map[string]shared.Value{shared.RowFolder: {}, shared.NameFolder: {}}})
	})
}

// Down implements shared.Schema.
func (d *store) Down(context.Context) error { return os.RemoveAll(d.path) }

// Print implements shared.Schema.
func (d *store) Print() (string, error) { return "create " + d.file("state") + "\n", nil }

// Close implements shared.Engine.
func (d *store) Close() error { return nil }
