package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"nextid/generator"
	"nextid/generator/worker"
)

// Keys that record a copy. copiedKey is in the embedded store; its owner is the
// target of the copy. copyKey is in the shared store; its owner is the id of the
// embedded store. The end of copyKey is copyDone once the copy is complete.
const (
	copiedKey = "copy/to"
	copyKey   = "copy/from"
	copyDone  = 2
)

// copiesAtOnce is the number of keys that are written in parallel.
const copiesAtOnce = 16

// CopyStore copies the embedded store of config to the empty shared store of
// target. Afterwards the embedded store issues no ids. A copy that was interrupted
// goes on with the next call. CopyStore reports the result to w.
func CopyStore(ctx context.Context, config, target Config, w io.Writer) (err error) {
	from, err := config.openOffline(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := target.openOffline(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	c := storeCopy{from: from, to: to, target: target.Store.String(), report: w}
	if s, ok := from.(generator.Seeder); ok {
		c.id = fmt.Sprintf("store %016x", s.Seed())
	}
	return c.run(ctx)
}

// storeCopy copies one store to another.
type storeCopy struct {
	from, to generator.Store
	id       string // of from
	target   string // of to, without secrets
	report   io.Writer

	marks []generator.Mark
	names []generator.Definition
}

// run copies the store, reads the copy back, and moves the right to issue ids.
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
		return fmt.Errorf("the copy in %s is incomplete, and no server starts on it: %w", c.target, err)
	}
	if err := c.prove(ctx); err != nil {
		return err
	}
	// End the embedded store first, so that at no time both stores issue ids.
	if err := mark(ctx, c.from, copiedKey, c.target, 1); err != nil {
		return err
	}
	if err := mark(ctx, c.to, copyKey, c.id, copyDone); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.report, "%d generators and %d reservations are in %s; each was read back and ends there at or above where it ended here: "+
		"no id is repeated\nthe embedded store issues no more ids. Start servers with --store %s\n", len(c.names), len(c.marks), c.target, c.target)
	return err
}

// mark raises the end of a key to hi. It leaves an end at or above hi.
func mark(ctx context.Context, store generator.Store, key, owner string, hi int64) error {
	m, ok, err := store.Mark(ctx, key)
	if err != nil || ok && m.Hi >= hi {
		return err
	}
	_, _, err = store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: hi - 1, N: 1, Limit: generator.NoLimit, Owner: owner})
	return err
}

// begin checks that the target is empty or holds an unfinished copy of this store,
// and marks it as unfinished.
func (c *storeCopy) begin(ctx context.Context) error {
	if m, ok, err := c.from.Mark(ctx, copiedKey); err != nil {
		return err
	} else if ok && m.Owner != c.target {
		return &Error{What: "this store was copied to " + m.Owner + " already", Hint: "An embedded store can be copied to one shared store only."}
	}
	begun, ok, err := c.to.Mark(ctx, copyKey)
	switch {
	case err != nil:
		return err
	case ok && begun.Owner != c.id:
		return &Error{What: c.target + " has the copy of another store", Hint: "Choose an empty one: another database, or namespace."}
	case ok && begun.Hi >= copyDone:
		return &Error{What: "the copy in " + c.target + " is complete", Hint: "Start servers with --store " + c.target + "."}
	case ok:
		return nil // continue that copy
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
			What: fmt.Sprintf("%s is in use: it has %d generators and %d reservations", c.target, len(names), len(used)),
			Hint: "Choose an empty one: another database, or namespace. Two id spaces cannot become one.",
		}
	}
	_, _, err = c.to.Reserve(ctx, generator.Reservation{Key: copyKey, N: 1, Limit: 1, Owner: c.id})
	if errors.Is(err, generator.ErrExhausted) {
		return &Error{What: "another copy to " + c.target + " has just begun", Hint: "Choose an empty one: another database, or namespace."}
	}
	return err
}

// copy writes all keys, then all names. Records of worker ids that nextid repair
// gave up are written among the names, ordered by their times here. Such a record
// counts only for names that were created before it.
func (c *storeCopy) copy(ctx context.Context) error {
	type step struct {
		at time.Time // of the original
		do func() error
	}
	var last []step
	keys, limited := errgroup.WithContext(ctx)
	keys.SetLimit(copiesAtOnce)
	for _, m := range c.marks {
		if !worker.Spent(m.Key) {
			keys.Go(func() error { return mark(limited, c.to, m.Key, m.Owner, m.Hi) })
			continue
		}
		last = append(last, step{m.Updated, func() error {
			<-time.After(storeTick)
			err := mark(ctx, c.to, m.Key, m.Owner, m.Hi)
			<-time.After(storeTick)
			return err
		}})
	}
	if err := keys.Wait(); err != nil {
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

// storeTick is longer than the unit of a store's times. A pause of storeTick
// between two writes gives the second a later time.
const storeTick = 2 * time.Millisecond

// prove reads the copy back and compares it with the original.
func (c *storeCopy) prove(ctx context.Context) error {
	wrong := func(format string, args ...any) error {
		return &Error{What: "the copy differs: " + fmt.Sprintf(format, args...), Hint: "Nothing was changed here. Empty " + c.target + " (nextid migrate store down, up) and copy again."}
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
	if err == nil && !slices.EqualFunc(names, c.names, sameDefinition) {
		err = wrong("the generators there are not those here")
	}
	return err
}

// checkCopied returns an error for a store that was copied elsewhere, or that holds
// an unfinished copy.
func checkCopied(ctx context.Context, store generator.Store) error {
	m, copied, err := store.Mark(ctx, copiedKey)
	switch {
	case err != nil:
		return err
	case copied:
		return &Error{What: "this store was copied to " + m.Owner + " and issues no more ids", Hint: "Start with --store " + m.Owner + "."}
	}
	m, begun, err := store.Mark(ctx, copyKey)
	if err == nil && begun && m.Hi < copyDone {
		err = &Error{What: "the copy of an embedded store to this one has not ended", Hint: "Run nextid migrate store copy again."}
	}
	return err
}
