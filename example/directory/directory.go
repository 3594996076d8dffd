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
	"fmt"
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
		Open: func(ctx context.Context, url string, _ []string) (shared.Engine, error) {
			e, err := openDirectory(url)
			if err == nil {
				_, err = e.Epoch(ctx)
			}
			return e, err
		},
		Schema: func(url string) (shared.Schema, error) {
			e, err := openDirectory(url)
			return schema{e}, err
		},
	}
}

// state is the content of the file.
type state struct {
	Epoch string            // distinguishes this directory from another one in its place
	Rows  map[string]string // as shared.EncodeRow writes them
	Names map[string]string // as shared.EncodeEntry writes them
}

// store implements shared.Engine.
type store struct{ path string }

func openDirectory(url string) (*store, error) {
	u, _, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	return &store{u.Path}, nil
}

func (d *store) file(name string) string { return filepath.Join(d.path, name) }

// load reads the state. The error is shared.NoSchema if there is none.
func (d *store) load(ctx context.Context) (s state, err error) {
	text, err := os.ReadFile(d.file("state"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, shared.NoSchema(d.path, "dir://"+d.path, err)
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

// change saves the state after f has changed it, unless f returns false.
func (d *store) change(ctx context.Context, f func(s *state) (change bool, err error)) error {
	return d.locked(ctx, func() error {
		s, err := d.load(ctx)
		if err != nil {
			return err
		}
		change, err := f(&s)
		if err != nil || !change {
			return err
		}
		return shared.Unreachable(ctx, d.path, d.save(s))
	})
}

// Epoch implements shared.Engine.
func (d *store) Epoch(ctx context.Context) (string, error) {
	s, err := d.load(ctx)
	return s.Epoch, err
}

// Advance implements shared.Engine. It writes once for all asks.
func (d *store) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	err = d.change(ctx, func(s *state) (bool, error) {
		answers = make([]shared.Answer, len(asks))
		granted := false
		for i := range asks {
			old, err := s.row(asks[i].Key)
			if err != nil {
				answers[i].Err = err
				continue
			}
			var next *shared.Row
			if answers[i], next = asks[i].Decide(old, s.Epoch); next != nil {
				s.Rows[asks[i].Key], granted = shared.EncodeRow(next), true
			}
		}
		return granted, nil
	})
	return answers, err
}

// row returns the row of a key, or nil.
func (s *state) row(key string) (*shared.Row, error) {
	text, ok := s.Rows[key]
	if !ok {
		return nil, nil
	}
	return shared.DecodeRow(key, text)
}

// Lower implements shared.Engine.
func (d *store) Lower(ctx context.Context, r shared.Return) error {
	return d.change(ctx, func(s *state) (bool, error) {
		row, err := s.row(r.Key)
		if err != nil || row == nil || row.Hi != r.Hi || row.Seq != r.Seq || row.Epoch != r.Epoch {
			return false, err
		}
		row.Lo, row.Hi, row.Updated = min(row.Lo, r.To), r.To, r.Now
		s.Rows[r.Key] = shared.EncodeRow(row)
		return true, nil
	})
}

// Row implements shared.Engine.
func (d *store) Row(ctx context.Context, key string) (*shared.Row, error) {
	s, err := d.load(ctx)
	if err != nil {
		return nil, err
	}
	return s.row(key)
}

// Rows implements shared.Engine.
func (d *store) Rows(ctx context.Context, prefix string) (rows []shared.Row, err error) {
	s, err := d.load(ctx)
	for key := range s.Rows {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		row, err := s.row(key)
		if err != nil {
			return nil, err
		}
		rows = append(rows, *row)
	}
	return rows, err
}

// Name implements shared.Engine.
func (d *store) Name(ctx context.Context, name string) (shared.Entry, error) {
	s, err := d.load(ctx)
	if err != nil {
		return shared.Entry{}, err
	}
	text, ok := s.Names[name]
	if !ok {
		return shared.Entry{}, shared.Unknown(name)
	}
	return shared.DecodeEntry(name, text)
}

// Names implements shared.Engine.
func (d *store) Names(ctx context.Context) (entries []shared.Entry, err error) {
	s, err := d.load(ctx)
	for name, text := range s.Names {
		e, err := shared.DecodeEntry(name, text)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, err
}

// Count implements shared.Engine.
func (d *store) Count(ctx context.Context) (int, error) {
	s, err := d.load(ctx)
	return len(s.Names), err
}

// PutName implements shared.Engine.
func (d *store) PutName(ctx context.Context, epoch string, e shared.Entry, was *shared.Entry) (written bool, err error) {
	err = d.change(ctx, func(s *state) (bool, error) {
		before := ""
		if was != nil {
			before = shared.EncodeEntry(was)
		}
		if written = s.Epoch == epoch && s.Names[e.Name] == before; written {
			s.Names[e.Name] = shared.EncodeEntry(&e)
		}
		return written, nil
	})
	return written && err == nil, err
}

// Close implements shared.Engine.
func (d *store) Close() error { return nil }

// schema implements shared.Schema.
type schema struct{ *store }

// Up implements shared.Schema.
func (s schema) Up(ctx context.Context) error {
	if err := os.MkdirAll(s.path, 0o700); err != nil {
		return err
	}
	return s.locked(ctx, func() error {
		_, err := s.load(ctx)
		if errors.Is(err, fs.ErrNotExist) { // a state that cannot be read must stay
			err = s.save(state{Epoch: rand.Text(), Rows: map[string]string{}, Names: map[string]string{}})
		}
		return err
	})
}

// Down implements shared.Schema.
func (s schema) Down(context.Context) error { return os.RemoveAll(s.path) }

// Status implements shared.Schema.
func (s schema) Status(ctx context.Context) (text string, complete bool, err error) {
	found, err := s.load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return "not prepared", false, nil
	}
	return fmt.Sprintf("prepared; %d generators, %d keys", len(found.Names), len(found.Rows)), err == nil, err
}

// Print implements shared.Schema.
func (s schema) Print() (string, error) { return "create " + s.file("state") + "\n", nil }
