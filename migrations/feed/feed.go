// Package feed moves the sequences of databases from block to block of a segment
// generator. So several databases draw ids by themselves, and never the same id.
//
// A sequence draws between its MINVALUE and its MAXVALUE. A move sets both to the
// ends of a block, and the position to its first number, in one statement. So the
// sequence cannot leave its block. No other sequence gets that block:
//
//  1. A block comes from the generator, which reserves it before it answers.
//  2. A feeder uses a block again only if the statement was not sent, or the database
//     has refused it for certain, as after a lock timeout. After any other error the
//     block is lost: the statement may have been executed.
//  3. No feeder reads a block from a database in order to use it again.
//
// feed.pml models these rules. A lock in the database serializes feeders. It only
// saves blocks: ids are unique without it, since each feeder moves to blocks of its
// own.
//
// A Feed moves one Sequence; the server's feeder or a command owns it. A State is
// the position of a sequence. An engine holds the SQL of one kind of database. The
// state of feeding is in the database itself: the comment on the sequence is a Note
// with the generator, the block and the time of the move. Up, Once, Status and Down
// are the commands of nextid migrate feed.
package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"nextid/migrations/appdb"
)

// Error is an error that the user can correct.
type Error = appdb.Error

// Defaults of a Feed.
const (
	DefaultAhead = 24 * time.Hour
	DefaultBlock = 1_000_000
)

// Draw reserves n consecutive numbers of a generator, all greater than above, and
// returns the first. After an error, no number is used.
type Draw func(ctx context.Context, generator string, above, n int64) (first int64, err error)

// Feed moves a sequence from block to block of a generator. Its methods are called
// by one goroutine at a time.
type Feed struct {
	*Sequence
	Generator string
	Ahead     time.Duration // time that a new block should last, at the rate since the last move
	Block     int64         // least number of values in a block; 0: DefaultBlock, or less for a small column
	Draw      Draw
	// Registered reports whether the sequence is still to be fed. Step asks under the
	// lock, so that no move follows a Down. nil: it is.
	Registered func(ctx context.Context) (bool, error)

	above   int64 // blocks must begin above it
	patient bool  // the move of a command: a short wait never gets the lock of a busy sequence
	hand    Note  // a drawn block that is certainly unused; the zero Note: none
	seen    int64 // the next number after the last Step
}

// Limits of one step. Inserts queue behind a move that waits for the sequence's
// lock. So it waits longer only when few numbers are left.
const (
	attempts  = 20
	pause     = 150 * time.Millisecond
	shortWait = 20 * time.Millisecond
	longWait  = 200 * time.Millisecond
	lastWait  = time.Second
)

// wait returns how long a move may wait for the lock.
func (f *Feed) wait(s State) time.Duration {
	switch left, size := s.Left(), s.size(); {
	case f.patient, left < size/10:
		return lastWait
	case left < size/4:
		return longWait
	}
	return shortWait
}

// Due reports whether the sequence must move: half of its block is used, it is not in
// the block of its note, or it has gone back since the last Step, perhaps to an earlier
// block, as after a failover that has lost the newest changes.
func (f *Feed) Due(s State) bool {
	return !s.FedBy(f.Generator) || s.Left() <= s.size()/2 || s.Next < f.seen
}

// Step moves the sequence to a new block if that is due, or if fresh is set. It
// returns the state after that. After an error, the sequence is in its old block or
// in the new one. The error is for the user.
func (f *Feed) Step(ctx context.Context, fresh bool) (s State, moved bool, err error) {
	if s, err = f.Read(ctx); err != nil {
		return s, false, err
	}
	defer func() { f.seen = s.Next }()
	if !fresh && !f.Due(s) {
		return s, false, nil
	}
	var n Note
	sent, err := f.change(ctx, f.wait(s), func(now State) (_ []string, err error) {
		s = now
		due := fresh || f.Due(s) // else another feeder has moved the sequence
		if due && f.Registered != nil {
			due, err = f.Registered(ctx)
		}
		if due && err == nil {
			n, err = f.next(ctx, s)
		}
		if !due || err != nil {
			return nil, err
		}
		return f.moveSQL(n, s.Increment), nil
	})
	if sent { // after an error the statement may have been executed
		f.hand = Note{}
	}
	if sent && err == nil {
		moved, s.Note, s.First, s.Last = true, n, n.First+s.Increment-1, n.Last-s.Increment+1
		s.Next = s.First
	}
	return s, moved, explain(err)
}

// try changes nothing, and returns the error that a move would. A feeder that ends
// before it moves the sequence loses its block, so a command tries first.
func (f *Feed) try(ctx context.Context, s State) error {
	_, err := f.change(ctx, f.wait(s), func(now State) ([]string, error) { return []string{f.boundSQL(now.Last)}, now.check() })
	return explain(err)
}

// explain returns the error of a change for the user.
func explain(err error) error {
	if errors.Is(err, errBusy) {
		return &Error{
			What: "the sequence could not be moved: a transaction has drawn from it and is still open",
			Hint: "The feeder tries again. Until then the sequence draws from its present block.", Err: err,
		}
	}
	return hints.Explain(err)
}

// next returns the note of the block in hand, or of a new one.
func (f *Feed) next(ctx context.Context, s State) (Note, error) {
	if err := s.check(); err != nil {
		return Note{}, err
	}
	above, n := max(f.above, s.Top(f.Generator)), f.size(s)*s.Increment
	if f.hand.First <= above && n <= s.Most-above { // none in hand, or the ids of the sequence would not grow
		first, err := f.Draw(ctx, f.Generator, above, n)
		if err != nil {
			return Note{}, err
		}
		f.hand = Note{First: first, Last: first + n - 1}
	}
	if b := f.hand; b.First <= above || b.Last < b.First || b.Last > s.Most {
		f.hand = Note{}
		return Note{}, &Error{
			What: fmt.Sprintf("no block of %d numbers lies between %d and %d, where the column ends", n, above, s.Most),
			Hint: "Make the column and its sequence bigint, or give the column a generator of its own.",
		}
	}
	return Note{Generator: f.Generator, First: f.hand.First, Last: f.hand.Last, Moved: s.Now, rest: s.Note.rest}, nil
}

// size returns how many numbers the next block gets. It should last for Ahead at the
// rate since the last move. It has at least Block numbers, and at least half of the
// last block. In a column of at most 32 bits, it is at most four times the last
// block. Otherwise one bulk load would take a sixteenth of all numbers.
func (f *Feed) size(s State) int64 {
	left := max(s.Most-max(s.Next, 0), 0) / s.Increment
	least := f.Block
	if least == 0 {
		least = max(min(DefaultBlock, left/1000), 1)
	}
	n := least
	if s.FedBy(f.Generator) {
		n = max(n, s.size()/2)
		if wanted := s.rate() * f.Ahead.Seconds(); wanted > float64(n) {
			n = int64(min(wanted, math.MaxInt64/4))
		}
		if s.Most <= math.MaxInt32 {
			n = min(n, 4*s.size())
		}
		n = max(min(n, left/16), least)
	}
	return max(n, 4*s.Cache, 4)
}

// hints explains errors of PostgreSQL and MariaDB.
var hints = appdb.Hints{
	"42501": "Log in as the owner of the sequence.",
	"1044":  "The account needs SELECT, ALTER and LOCK TABLES on the sequence's database.",
	"1142":  "The account needs SELECT, ALTER and LOCK TABLES on the sequence.",
}
