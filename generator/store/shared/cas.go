package shared

import (
	"context"
	random "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"nextid/generator"
)

// Value is a text under a key, with its version in the database. Version 0 means
// that the key does not exist.
type Value struct {
	Text    string
	Version int64
}

// Folder is a part of a key-value database.
type Folder string

// The folders of a store. Keys in Rows are those of reservations, in Names they are
// names.
const (
	RowFolder  Folder = "reservations"
	NameFolder Folder = "generators"
)

// Swapper is a database whose only way to write is compare-and-set.
type Swapper interface {
	// Present returns the epoch, see Engine.Epoch. It asks the database. "" means that
	// the database is not prepared.
	Present(ctx context.Context) (string, error)

	// Get reads the latest confirmed value of a key.
	Get(ctx context.Context, in Folder, key string) (Value, error)

	// Swap writes text as the key's value if its version is still was.Version.
	// Otherwise now is the present value. It returns ErrEpoch if the database can tell
	// that its epoch is not epoch, also after it has written; "" means any epoch.
	Swap(ctx context.Context, epoch string, in Folder, key string, was Value, text string) (now Value, swapped bool, err error)

	// List reads the values of the keys that begin with prefix.
	List(ctx context.Context, in Folder, prefix string) (values map[string]string, err error)

	// Size returns the number of keys.
	Size(ctx context.Context, in Folder) (int, error)
}

// ErrEpoch is returned by Swapper.Swap on a database with another epoch.
var ErrEpoch = errors.New("the database has another epoch")

// NewMarker returns the content of a new marker: the number of the format and a random
// part. A database that is emptied and prepared again has the same history as before,
// but another marker.
func NewMarker() string { return "1 " + random.Text() }

// MarkedEpoch returns the epoch of a database: where its marker is in its history, and
// the marker's random part. A marker that was made by hand may have none.
func MarkedEpoch(place, marker string) string {
	_, part, _ := strings.Cut(marker, " ")
	return strings.TrimSuffix(place+"/"+part, "/")
}

// CAS implements an Engine but for Time and Close on a Swapper. It caches the rows that it
// read last, so a key that no other server moves costs one round trip. It grants
// nothing from the cache alone: every grant is a successful Swap.
type CAS struct {
	swapper    Swapper
	unprepared error

	mu    sync.Mutex
	epoch string
	seen  map[string]Value
}

const (
	casMemory   = 100_000 // values that a CAS remembers
	casParallel = 16      // swaps of one round at a time
	casTries    = 20
)

// NewCAS returns a CAS on a Swapper. unprepared is the error of a database that is
// not prepared.
func NewCAS(s Swapper, unprepared error) *CAS {
	return &CAS{swapper: s, unprepared: unprepared, seen: map[string]Value{}}
}

// Epoch implements Engine.
func (c *CAS) Epoch(ctx context.Context) (string, error) {
	epoch, err := c.swapper.Present(ctx)
	if err == nil && epoch == "" {
		err = c.unprepared
	}
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		c.epoch = epoch
		clear(c.seen)
	}
	return epoch, nil
}

// forget drops everything cached, as after an error: the database may be another one
// now.
func (c *CAS) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = ""
	clear(c.seen)
}

// present returns the epoch, and asks for it if it is not cached.
func (c *CAS) present(ctx context.Context) (string, error) {
	c.mu.Lock()
	epoch := c.epoch
	c.mu.Unlock()
	if epoch != "" {
		return epoch, nil
	}
	return c.Epoch(ctx)
}

// remember caches a value, unless another epoch than that of its request is present
// by now: there the same version may be another value.
func (c *CAS) remember(epoch, key string, v Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return
	}
	if len(c.seen) >= casMemory {
		clear(c.seen)
	}
	c.seen[key] = v
}

func (c *CAS) known(epoch, key string) (v Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return v
	}
	return c.seen[key]
}

// Row implements Engine.
func (c *CAS) Row(ctx context.Context, key string) (*Row, error) {
	v, err := c.swapper.Get(ctx, RowFolder, key)
	if err != nil {
		return nil, err
	}
	return v.row(key)
}

// row decodes a row; nil for none.
func (v Value) row(key string) (*Row, error) {
	if v.Version == 0 {
		return nil, nil
	}
	return DecodeRow(key, v.Text)
}

// Rows implements Engine.
func (c *CAS) Rows(ctx context.Context, prefix string) (all []Row, err error) {
	values, err := c.swapper.List(ctx, RowFolder, prefix)
	for key, text := range values {
		r, err := DecodeRow(key, text)
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, err
}

// Name implements Engine.
func (c *CAS) Name(ctx context.Context, name string) (Entry, error) {
	v, err := c.swapper.Get(ctx, NameFolder, name)
	if err == nil && v.Version == 0 {
		err = generator.UnknownError(name)
	}
	if err != nil {
		return Entry{}, err
	}
	return DecodeEntry(name, v.Text)
}

// Names implements Engine.
func (c *CAS) Names(ctx context.Context) (all []Entry, err error) {
	values, err := c.swapper.List(ctx, NameFolder, "")
	for name, text := range values {
		e, err := DecodeEntry(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, err
}

// Count implements Engine.
func (c *CAS) Count(ctx context.Context) (int, error) { return c.swapper.Size(ctx, NameFolder) }

// PutName implements Engine. An entry with an equal value counts as unchanged, so
// its value replaces the version in was. The epoch is asked for before: Swap may have
// written when it returns ErrEpoch, and an entry in another epoch must have a key.
func (c *CAS) PutName(ctx context.Context, epoch string, e Entry, was *Entry) (written bool, err error) {
	var old Value
	if present, err := c.Epoch(ctx); err != nil || present != epoch {
		return false, err
	}
	if was != nil {
		old, err = c.swapper.Get(ctx, NameFolder, e.Name)
		if err != nil || old.Text != EncodeEntry(was) {
			return false, err
		}
	}
	_, written, err = c.swapper.Swap(ctx, "", NameFolder, e.Name, old, EncodeEntry(&e))
	return written, err
}

// Status implements Schema for a key-value database.
func (c *CAS) Status(ctx context.Context) (text string, complete bool, err error) {
	epoch, err := c.swapper.Present(ctx)
	if err != nil || epoch == "" {
		return "not prepared", false, err
	}
	names, err := c.swapper.Size(ctx, NameFolder)
	if err != nil {
		return "", false, err
	}
	rows, err := c.swapper.Size(ctx, RowFolder)
	return fmt.Sprintf("prepared; %d generators, %d keys", names, rows), err == nil, err
}

// Advance implements Engine. The swaps of a round run concurrently; the database
// commits them together.
func (c *CAS) Advance(ctx context.Context, asks []Ask) ([]Answer, error) {
	epoch, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	answers, errs := make([]Answer, len(asks)), make([]error, len(asks))
	Parallel(len(asks), func(i int) {
		answers[i], errs[i] = c.change(ctx, epoch, asks[i].Key, func(old *Row) (Answer, *Row) { return asks[i].Decide(old, epoch) })
	})
	failed := 0
	for i, err := range errs {
		if answers[i].Err = err; err != nil {
			failed++
		}
	}
	if failed == len(asks) {
		return nil, errs[0]
	}
	return answers, nil
}

// Lower implements Engine.
func (c *CAS) Lower(ctx context.Context, r Return) error {
	_, err := c.change(ctx, r.Epoch, r.Key, func(old *Row) (Answer, *Row) {
		if old == nil || old.Hi != r.Hi || old.Seq != r.Seq || old.Epoch != r.Epoch {
			return Answer{}, nil
		}
		row := *old
		row.Lo, row.Hi, row.Updated = min(row.Lo, r.To), r.To, r.Now
		return Answer{}, &row
	})
	return err
}

// change swaps the row of a key for the row that decide returns. If decide returns
// nil, it writes nothing. epoch may be cached: Swap checks it.
func (c *CAS) change(ctx context.Context, epoch, key string, decide func(old *Row) (Answer, *Row)) (Answer, error) {
	was := c.known(epoch, key)
	fresh := false // a cached value may be out of date
	for try := range casTries {
		old, err := was.row(key)
		if err != nil {
			return Answer{}, err
		}
		answer, next := decide(old)
		if next == nil {
			if fresh {
				return answer, nil
			}
			if was, err = c.swapper.Get(ctx, RowFolder, key); err != nil {
				return Answer{}, err
			}
			c.remember(epoch, key, was)
			fresh = true
			continue
		}
		now, swapped, err := c.swapper.Swap(ctx, epoch, RowFolder, key, was, EncodeRow(next))
		if err != nil {
			c.forget()
			if errors.Is(err, ErrEpoch) {
				return Answer{Outcome: Strange}, nil
			}
			return Answer{}, err
		}
		c.remember(epoch, key, now)
		if swapped {
			return answer, nil
		}
		was, fresh = now, true
		if try > 2 { // many servers change the key
			if (generator.Goroutines{}).Sleep(ctx, rand.N(time.Duration(try)*time.Millisecond)) != nil {
				return Answer{}, generator.StoreLateError(ctx)
			}
		}
	}
	return Answer{Outcome: Again}, nil
}

// Parallel calls f(0) … f(n-1), casParallel at a time, and waits for all.
func Parallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, casParallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			f(i)
			<-slots
		})
	}
	wg.Wait()
}
