package shared

import (
	"context"

	"nextid/generator"
)

// Driver is the plug-in of one kind of database. Every package of an engine has
// one; server/standard lists them.
type Driver struct {
	Schemes  []string // of its URLs, the usual one first
	Example  string   // of a URL, for messages
	Failover Failover // meaning of --store-failover auto

	// Open connects to the database of a URL. unsafe names the unsafe settings of the
	// database that are accepted.
	Open func(ctx context.Context, url string, unsafe []string) (Engine, error)

	// Schema opens the schema for nextid migrate store.
	Schema func(url string) (Schema, error)
}

// Schema holds what a database needs before servers can use it as their store.
type Schema interface {
	Up(ctx context.Context) error   // installs or upgrades it
	Down(ctx context.Context) error // removes it, with everything in it
	Status(ctx context.Context) (text string, complete bool, err error)
	Print() (string, error) // the statements of Up, without connecting
	Close() error
}

// Granter is a Schema of a database with user accounts.
type Granter interface {
	// Grant gives a user the rights that servers need, and no more. The user is NAME,
	// in MySQL also NAME@HOST.
	Grant(ctx context.Context, user string) error
}

// Engine is one database, as a Store uses it. Its methods may be called
// concurrently. Errors are *generator.Error: ErrNotNow for a database that cannot
// be reached or written, ErrRetry if the context ended first, ErrPinned for refused
// settings.
type Engine interface {
	generator.Timekeeper // no time line is granted below a reading of this clock, see epoch

	// Epoch names the database, and its state between two failovers.
	Epoch(ctx context.Context) (string, error)

	// Advance carries out asks for distinct keys in one round trip. They are durable
	// before it returns. answers[i] is for asks[i]. After an error none of them may be
	// used.
	Advance(ctx context.Context, asks []Ask) (answers []Answer, err error)

	// Lower carries out a Return, or does nothing.
	Lower(ctx context.Context, r Return) error

	// Row returns the row of one key, or nil if there is none. It reads no other row.
	Row(ctx context.Context, key string) (*Row, error)

	// Rows lists the keys that begin with prefix, in any order.
	Rows(ctx context.Context, prefix string) ([]Row, error)

	// Name returns the catalogue's entry of a name, or ErrUnknown.
	Name(ctx context.Context, name string) (Entry, error)

	// Names lists the catalogue, in any order.
	Names(ctx context.Context) ([]Entry, error)

	// Count returns how many entries the catalogue has.
	Count(ctx context.Context) (int, error)

	// PutName writes e if the present epoch is epoch, and the entry of its name is still
	// was: no entry for nil, else the same version and dropped state.
	PutName(ctx context.Context, epoch string, e Entry, was *Entry) (written bool, err error)

	Close() error
}

// PrefixEnd returns the end of the range of keys that begin with prefix. Keys are
// UTF-8.
func PrefixEnd(prefix string) string { return prefix + "\U0010ffff" }

// Ask is one reservation. It may be granted only if
//
//   - the present epoch of the database is Epoch;
//   - the key exists, or Create is set and it gets seq Count;
//   - the key's epoch is Epoch or From.
type Ask struct {
	generator.Reservation
	Now    int64  // Unix ms, for operators
	Epoch  string // the present epoch, as the asker knows it
	From   string // an older epoch that has ended; "" for none
	Create bool
	Count  int64  // added to the key's seq; 1, more after a failover and for Recover
	Write  string // new epoch of the key: Epoch, except for a stopped name
}

// Return gives back the end of the last reservation of a key. If the key's hi, seq
// and epoch are still these, hi becomes To, and lo at most To.
//
// seq prevents a late Return from taking back too much: another server may have
// reserved and returned everything beyond meanwhile.
type Return struct {
	Key         string
	Hi, To, Seq int64
	Epoch       string
	Now         int64 // Unix ms, for operators
}

// Outcome is the result of an Ask.
type Outcome int

// The outcomes. Only Granted changes the database.
const (
	Granted   Outcome = iota
	Exhausted         // lo would not lie below Bound
	Moved             // the key has another epoch than Epoch and From
	Missing           // the key does not exist and Create was not set
	Strange           // the database's present epoch is not Ask.Epoch
	Again             // another server changed the key first; ask again
)

// Answer is the result of an Ask with its values.
type Answer struct {
	Outcome Outcome
	Lo, Hi  int64  // Granted: the reservation; Exhausted, Moved: Hi is the key's
	Seq     int64  // Granted: the key's count of changes
	Epoch   string // Moved: the key's
	Err     error  // error of this ask alone; the other fields mean nothing then
}

// Row is the state of one key. Its JSON is the value of the key in a key-value
// database.
type Row struct {
	Key     string `json:"-"`
	Lo      int64  `json:"lo"`
	Hi      int64  `json:"hi"`
	Seq     int64  `json:"seq"`
	Epoch   string `json:"stamp"`
	Owner   string `json:"owner"`
	Updated int64  `json:"updated"` // Unix ms
}

// Entry is a definition in the catalogue. A dropped one stays, so that its version
// number continues.
type Entry struct {
	generator.Definition
	Dropped bool
}

// Refused returns the reason why an Ask changed nothing. row and epoch are read a
// moment after it.
func (a *Ask) Refused(row *Row, epoch string) Answer {
	answer, _ := a.Decide(row, epoch)
	if answer.Outcome == Granted {
		return Answer{Outcome: Again}
	}
	return answer
}

// Decide computes what Advance does to one key, for engines with compare-and-set.
// old is the present row or nil, epoch the database's present epoch. It returns the
// row to write, which is nil unless the outcome is Granted.
func (a *Ask) Decide(old *Row, epoch string) (Answer, *Row) {
	if epoch != a.Epoch {
		return Answer{Outcome: Strange}, nil
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
	if lo >= a.Bound() {
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
