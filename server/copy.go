package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/worker"
)

// Keys of a copy: copiedKey is in the embedded store that was copied, with the
// place of the copy as its owner; copyKey in the shared store, with the
// embedded store's number as its owner, and copyDone as its end when all of it
// is there.
const (
	copiedKey = "copy/to"
	copyKey   = "copy/from"
	copyDone  = 2
)

// copiesAtOnce sets how many keys are written at a time.
const copiesAtOnce = 16

// CopyStore copies the embedded store of config to the shared store of target,
// which is empty, and ends the embedded one. It reports to w.
func CopyStore(ctx context.Context, config, target Config, w io.Writer) (err error) {
	quiet := slog.New(slog.DiscardHandler)
	from, err := config.OpenStore(ctx, quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := target.OpenStore(ctx, quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	c := storeCopy{from: from, to: to, place: target.Store.String(), report: w}
	if s, ok := from.(generator.Seeder); ok {
		c.id = fmt.Sprintf("store %016x", s.Seed())
	}
	return c.run(ctx)
}

// storeCopy copies one store to another.
type storeCopy struct {
	from, to generator.Store
	id       string // of from
	place    string // of to
	report   io.Writer

	marks []generator.Mark
	names []generator.Definition
}

func (c *storeCopy) run(ctx context.Context) error {
	var err error
	if c.names, err = c.from.ListDefined(ctx); err != nil {
		return err
	}
	if c.marks, err = c.from.Reserved(ctx, ""); err != nil {
		return err
	}
	c.marks = slices.DeleteFunc(c.marks, func(m generator.Mark) bool {
		return m.Key == copiedKey || strings.HasPrefix(m.Key, generator.NodeKeyPrefix)
	})
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.copy(ctx); err != nil {
		return fmt.Errorf("the copy in %s is half done, and no server starts on it: %w", c.place, err)
	}
	if err := c.prove(ctx); err != nil {
		return err
	}
	// The embedded store ends before the other one begins.
	if err := mark(ctx, c.from, copiedKey, c.place, 1); err != nil {
		return err
	}
	if err := mark(ctx, c.to, copyKey, c.id, copyDone); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.report, "%d generators and %d reservations are in %s; each was read back and ends there at or above where it ended here: "+
		"no id comes again\nthe embedded store gives no ids any more. Start servers with --store %s\n", len(c.names), len(c.marks), c.place, c.place)
	return err
}

// mark raises a key to an end. One that stands there stays.
func mark(ctx context.Context, store generator.Store, key, owner string, hi int64) error {
	m, ok, err := store.Mark(ctx, key)
	if err != nil || ok && m.Hi >= hi {
		return err
	}
	_, _, err = store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: hi - 1, N: 1, Limit: generator.NoLimit, Owner: owner})
	return err
}

// begin refuses a target that has anything of others, and marks it as half done.
func (c *storeCopy) begin(ctx context.Context) error {
	if m, ok, err := c.from.Mark(ctx, copiedKey); err != nil {
		return err
	} else if ok && m.Owner != c.place {
		return &Error{Message: "this store was copied to " + m.Owner + " already", Hint: "A store goes on in one place."}
	}
	begun, ok, err := c.to.Mark(ctx, copyKey)
	switch {
	case err != nil:
		return err
	case ok && begun.Owner != c.id:
		return &Error{Message: c.place + " has the copy of another store", Hint: "Take an empty place: another database, or namespace."}
	case ok && begun.Hi >= copyDone:
		return &Error{Message: "the copy in " + c.place + " is complete", Hint: "Start servers with --store " + c.place + "."}
	case ok:
		return nil // it goes on
	}
	names, err := c.to.ListDefined(ctx)
	if err != nil {
		return err
	}
	used, err := c.to.Reserved(ctx, "")
	if err != nil {
		return err
	}
	if len(names)+len(used) > 0 {
		return &Error{
			Message: fmt.Sprintf("%s is in use: it has %d generators and %d reservations", c.place, len(names), len(used)),
			Hint:    "Take an empty place: another database, or namespace. Two id spaces cannot become one.",
		}
	}
	return mark(ctx, c.to, copyKey, c.id, 1)
}

// copy writes all keys, then all names. Worker ids that nextid repair gave up
// come among the names as they came here: a name that was made before has ids
// of their time, one that was made behind them has none.
func (c *storeCopy) copy(ctx context.Context) error {
	var last []step
	var plain []generator.Mark
	for _, m := range c.marks {
		if !worker.Spent(m.Key) {
			plain = append(plain, m)
			continue
		}
		last = append(last, step{m.Updated, func() error {
			if err := rest(ctx, storeTick); err != nil {
				return err
			}
			if err := mark(ctx, c.to, m.Key, m.Owner, m.Hi); err != nil {
				return err
			}
			return rest(ctx, storeTick)
		}})
	}
	if err := each(plain, func(m generator.Mark) error { return mark(ctx, c.to, m.Key, m.Owner, m.Hi) }); err != nil {
		return err
	}
	for _, d := range c.names {
		last = append(last, step{d.Created, func() error { _, _, err := c.to.Define(ctx, d); return err }})
	}
	slices.SortStableFunc(last, func(a, b step) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	for _, s := range last {
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}

// storeTick is more than the unit of a store's times, so that what is written
// behind it has a later one.
const storeTick = 2 * time.Millisecond

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// step holds what was done at a time, and is done again.
type step struct {
	at time.Time
	do func() error
}

// each calls f for all, several at a time, until one fails.
func each[T any](all []T, f func(T) error) error {
	var working sync.WaitGroup
	next, failed := make(chan T), make(chan error, copiesAtOnce)
	for range copiesAtOnce {
		working.Go(func() {
			for one := range next {
				if err := f(one); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var err error
	for i := 0; i < len(all) && err == nil; {
		select {
		case next <- all[i]:
			i++
		case err = <-failed:
		}
	}
	close(next)
	working.Wait()
	close(failed)
	return errors.Join(err, <-failed)
}

// prove reads the copy back.
func (c *storeCopy) prove(ctx context.Context) error {
	wrong := func(format string, args ...any) error {
		return &Error{Message: "the copy is not right: " + fmt.Sprintf(format, args...), Hint: "Nothing was changed here. Empty " + c.place + " (nextid migrate store down, up) and copy again."}
	}
	there, err := c.to.Reserved(ctx, "")
	if err != nil {
		return err
	}
	ends := make(map[string]int64, len(there))
	for _, m := range there {
		ends[m.Key] = m.Hi
	}
	for _, m := range c.marks {
		if hi, ok := ends[m.Key]; !ok || hi < m.Hi {
			return wrong("%q ends at %d there and at %d here", m.Key, hi, m.Hi)
		}
	}
	names, err := c.to.ListDefined(ctx)
	if err != nil {
		return err
	}
	same := func(a, b generator.Definition) bool {
		return a.Name == b.Name && a.Kind == b.Kind && string(a.Options) == string(b.Options)
	}
	if !slices.EqualFunc(names, c.names, same) {
		return wrong("the generators there are others than here")
	}
	return nil
}

// checkCopied refuses a store that was copied elsewhere, or one whose copy has
// not ended.
func checkCopied(ctx context.Context, store generator.Store) error {
	m, copied, err := store.Mark(ctx, copiedKey)
	switch {
	case err != nil:
		return err
	case copied:
		return &Error{Message: "this store was copied to " + m.Owner + " and gives no ids any more", Hint: "Start with --store " + m.Owner + "."}
	}
	m, begun, err := store.Mark(ctx, copyKey)
	if err == nil && begun && m.Hi < copyDone {
		err = &Error{Message: "the copy of an embedded store to this one has not ended", Hint: "Run nextid migrate store copy again."}
	}
	return err
}
