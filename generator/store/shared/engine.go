package shared

import (
	"context"
	"time"

	"nextid/generator"
)

// Engine is one database, as a Store uses it. Its methods may be called from
// several goroutines. Errors are *generator.Error: ErrNotNow for a database
// that cannot be reached or written, ErrRetry when the context ended first,
// ErrPinned for one whose settings are refused.
type Engine interface {
	// Epoch names the database, and its state between two failovers.
	Epoch(ctx context.Context) (string, error)

	// Advance carries out asks, which are for distinct keys, in one round
	// trip and durably before it returns. answers[i] is for asks[i]. After
	// an error nothing in it is believed.
	Advance(ctx context.Context, asks []Ask) (answers []Answer, err error)

	// Lower carries out a Return, or does nothing.
	Lower(ctx context.Context, r Return) error

	// Row returns where a key stands, nil for one that does not exist. It
	// reads no other.
	Row(ctx context.Context, key string) (*Row, error)

	// Rows lists the keys that begin with prefix, in any order.
	Rows(ctx context.Context, prefix string) ([]Row, error)

	// Name returns the catalogue's entry of a name, or ErrUnknown.
	Name(ctx context.Context, name string) (Entry, error)

	// Names lists the catalogue, in any order.
	Names(ctx context.Context) ([]Entry, error)

	// Count returns how many entries the catalogue has.
	Count(ctx context.Context) (int, error)

	// PutName writes e if the entry of its name is still what was says: nil
	// for none, else the version and whether it was dropped.
	PutName(ctx context.Context, e Entry, was *Entry) (written bool, err error)

	Close() error
}

// PrefixEnd is the end of the range of keys that begin with prefix. Keys are
// UTF-8.
func PrefixEnd(prefix string) string { return prefix + "\U0010ffff" }

// Timekeeper is an Engine whose database has a clock; see
// generator.Timekeeper.
type Timekeeper interface {
	Time(ctx context.Context) (earliest, latest time.Time, err error)
}

// Ask is one reservation, and under which circumstances it may be granted:
//
//   - the present epoch of the database is Epoch;
//   - the key exists, or Create is set and it gets seq Count;
//   - the key's epoch is Epoch or From.
type Ask struct {
	generator.Reservation
	Now    int64  // Unix ms, for operators
	Epoch  string // which the asker believes to be the present one
	From   string // an older epoch that is known to be over; "" for none
	Create bool
	Count  int64  // added to the key's seq; 1 but after a failover and for Recover
	Write  string // the epoch that the key gets; Epoch but for a name that is stopped
}

// Return gives back the end of the last reservation of a key: if its hi, seq
// and epoch are still these, hi becomes To, and lo no more than that.
//
// The seq keeps a return that comes late from taking back more than its own:
// another server may have reserved and returned everything beyond meanwhile.
type Return struct {
	Key         string
	Hi, To, Seq int64
	Epoch       string
	Now         int64 // Unix ms, for operators
}

// Outcome describes how an Ask ended.
type Outcome int

// The outcomes. Only Granted changed anything.
const (
	Granted   Outcome = iota
	Exhausted         // lo would not lie below Limit
	Moved             // the key bears another epoch than Epoch and From
	Missing           // the key does not exist and Create was not set
	Strange           // the database's present epoch is not Ask.Epoch
	Again             // somebody else was faster; ask again
)

// Answer holds what came of an Ask.
type Answer struct {
	Outcome Outcome
	Lo, Hi  int64  // Granted: the reservation; Exhausted, Moved: Hi is the key's
	Seq     int64  // Granted: the key's count of changes
	Epoch   string // Moved: the key's; Strange: the database's
	Err     error  // this ask alone failed; the rest means nothing then
}

// Row describes where a key stands.
type Row struct {
	Key     string
	Lo, Hi  int64
	Seq     int64
	Epoch   string
	Owner   string
	Updated int64 // Unix ms
}

// Entry is a definition in the catalogue. A dropped one stays, so that its
// version goes on.
type Entry struct {
	generator.Definition
	Dropped bool
}

// Refused tells why an Ask changed nothing, from the row and the epoch as
// they are a moment later.
func (a *Ask) Refused(row *Row, epoch string) Answer {
	answer, _ := a.Decide(row, epoch)
	if answer.Outcome == Granted {
		return Answer{Outcome: Again}
	}
	return answer
}

// Decide does what Advance does to one key, for engines that compare and set:
// from the row as it is (nil for none) and the present epoch of the database
// it makes the row to write, nil unless the outcome is Granted.
func (a *Ask) Decide(old *Row, epoch string) (Answer, *Row) {
	if epoch != a.Epoch {
		return Answer{Outcome: Strange, Epoch: epoch}, nil
	}
	lo, seq := a.AtLeast, int64(0)
	switch {
	case old == nil && !a.Create:
		return Answer{Outcome: Missing}, nil
	case old == nil:
	case old.Epoch != a.Epoch && (a.From == "" || old.Epoch != a.From):
		return Answer{Outcome: Moved, Hi: old.Hi, Epoch: old.Epoch}, nil
	default:
		lo, seq = max(old.Hi, a.AtLeast), old.Seq
	}
	if lo >= a.Limit {
		answer := Answer{Outcome: Exhausted}
		if old != nil {
			answer.Hi = old.Hi
		}
		return answer, nil
	}
	hi := a.End(lo)
	row := &Row{Key: a.Key, Lo: lo, Hi: hi, Seq: seq + a.Count, Epoch: a.Write, Owner: a.Owner, Updated: a.Now}
	return Answer{Outcome: Granted, Lo: lo, Hi: hi, Seq: row.Seq}, row
}

// End returns where a reservation from lo ends, which lies below Limit.
func (a *Ask) End(lo int64) int64 {
	if left := uint64(a.Limit) - uint64(lo); uint64(a.N) < left {
		return lo + a.N
	}
	return a.Limit
}
