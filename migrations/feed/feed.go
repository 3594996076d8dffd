package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"nextid/migrations/appdb"
)

// Error is a failure that the person at the terminal can do something about.
type Error = appdb.Error

// Defaults of a Feed.
const (
	DefaultAhead = 24 * time.Hour
	DefaultBlock = 1_000_000
)

// Draw reserves n consecutive numbers of a generator and returns the first.
// The numbers of an error are never used.
type Draw func(ctx context.Context, generator string, n int64) (first int64, err error)

// Feed keeps a sequence in blocks of a generator. Its methods are called by
// one goroutine.
type Feed struct {
	*Sequence
	Generator string
	Ahead     time.Duration // for how long a new block lasts at the rate since the last move
	Block     int64         // numbers in a block at least; 0: DefaultBlock, or less for a small column
	Draw      Draw

	above int64 // no block begins up to it
	hand  block // drawn, and refused by the database for certain; the zero block: none
}

// block is a run of numbers that a sequence can move to.
type block struct {
	first, count int64
	note         Note
}

// Attempts of one step, and how long each waits for the sequence's lock: the
// fuller the block, the longer.
const (
	attempts  = 20
	pause     = 150 * time.Millisecond
	shortWait = 20 * time.Millisecond
	longWait  = 200 * time.Millisecond
	lastWait  = time.Second
)

// wait is for how long a move may wait for the lock: inserts queue behind it.
func wait(s State) time.Duration {
	switch left, size := s.Left(), s.size(); {
	case left < size/10:
		return lastWait
	case left < size/4:
		return longWait
	}
	return shortWait
}

// Due reports whether the sequence is to be moved: half of its block is used,
// or it is not in the block of its note.
func (f *Feed) Due(s State) bool { return !s.FedBy(f.Generator) || s.Left() <= s.size()/2 }

// Step moves the sequence to a new block if that is due, or if fresh is set. It
// returns where the sequence stands then. The error is for a person: the
// sequence stays in the block that it had, or is in a new one.
func (f *Feed) Step(ctx context.Context, fresh bool) (s State, moved bool, err error) {
	if s, err = f.engine.read(ctx, nil, f.Sequence); err != nil || !fresh && !f.Due(s) {
		return s, false, hints.Explain(err)
	}
	for range attempts {
		err = f.engine.move(ctx, f.Sequence, wait(s), func(now State) (block, error) {
			if s = now; !fresh && !f.Due(now) { // another feeder was here
				return block{}, nil
			}
			moved = true
			return f.next(ctx, now)
		})
		if !errors.Is(err, errBusy) {
			break
		}
		moved = false
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return s, false, ctx.Err()
		}
	}
	if errors.Is(err, errBusy) {
		return s, false, &Error{
			What: "the sequence could not be moved: a transaction has drawn from it and is still open",
			Hint: "It is tried again. Until then the sequence goes on in the block that it has.", Err: err,
		}
	}
	if moved { // or perhaps: an error may come back after the statement was carried out
		f.hand = block{}
	}
	if err != nil {
		return s, false, hints.Explain(err)
	}
	if moved {
		s, err = f.engine.read(ctx, nil, f.Sequence)
	}
	return s, moved, hints.Explain(err)
}

// next is the block in hand, or a new one.
func (f *Feed) next(ctx context.Context, s State) (block, error) {
	if err := s.check(); err != nil {
		return block{}, err
	}
	if f.hand.first <= s.First { // none, or another feeder was here: ids of a database rise
		n := f.size(s)
		first, err := f.Draw(ctx, f.Generator, n*s.Increment)
		if err != nil {
			return block{}, err
		}
		f.hand = block{first: first, count: n * s.Increment}
	}
	b := f.hand
	last := b.first + b.count - 1
	if b.first <= f.above || last < b.first || last > s.Most {
		f.hand = block{}
		return block{}, &Error{
			What: fmt.Sprintf("the next block, %d to %d, does not lie between %d and %d, where the column ends", b.first, last, f.above, s.Most),
			Hint: "Make the column and its sequence bigint, or feed it under another name.",
		}
	}
	// A sequence that counts in steps stands for the numbers up to the next
	// one, or for those since the one before.
	b.note = Note{Generator: f.Generator, First: b.first + s.Increment - 1, Last: last - s.Increment + 1, Moved: s.Now, rest: s.Note.rest}
	return b, nil
}

// size returns how many numbers the next block gets: what lasts for Ahead at the rate
// since the last move, at least Block, and at least half of the last one. Where the
// column has 32 bits or fewer, it grows to four times the last one at most: one bulk
// load would otherwise take a sixteenth of all numbers.
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

func plus(n, by int64) int64 {
	if n > math.MaxInt64-by {
		return math.MaxInt64
	}
	return n + by
}

// hints are for errors of PostgreSQL and MariaDB.
var hints = appdb.Hints{
	"42501": "Log in as the owner of the sequence.",
	"1044":  "The account needs SELECT, ALTER and LOCK TABLES on the sequence's database.",
	"1142":  "The account needs SELECT, ALTER and LOCK TABLES on the sequence.",
}
