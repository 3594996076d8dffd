package generator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Store is the durable memory of the generators. Its whole job is
//
//	Reserve durably, issue from memory.
//
// Every implementation passes generatortest.RunStore. The rules R1 to R7 are
// those of package worker's comment.
type Store interface {
	Reserver
	Definitions

	// Exclusive reports whether only this process can use the store while
	// it is open (an embedded store). Then the greatest reservation end in
	// it bounds everything that was ever issued.
	Exclusive() bool

	// Close releases the store. Reservations stay as they are.
	Close() error
}

// Reserver moves the numbers that must never be handed out twice. A key has
// one number, its hi: the end (exclusive) of all that was ever reserved.
type Reserver interface {
	// Reserve durably advances hi and returns the new reservation [lo, hi):
	//
	//	lo = max(hi before, r.AtLeast)      (r.AtLeast when the key is new)
	//	hi = min(lo + r.N, r.Limit)
	//
	// It is linearizable per key and durable before it returns, so two
	// reservations of a key never overlap. Any error, a timeout and a lost
	// answer included, means "nothing was granted": the range may be burnt
	// and must not be looked up again (rule R3).
	//
	// It returns an *Error of kind ErrExhausted when lo ≥ r.Limit (nothing
	// changes then), ErrNotNow when the store cannot be reached or is
	// read-only, ErrRegressed when the store's content is damaged.
	Reserve(ctx context.Context, r Reservation) (lo, hi int64, err error)

	// Release gives back the unused tail of the last reservation of a key:
	// if hi is still the key's end it becomes to (to ≤ hi). What begins at to
	// must be the caller's own in one piece: to another server that reserved
	// a part of it the store would seem to have gone back. A key whose end
	// has moved on is left alone; that is not an error (rule R6).
	Release(ctx context.Context, key string, hi, to int64) error

	// Mark returns where one key stands; ok is false when nothing was ever
	// reserved under it. It costs the same however many keys there are.
	Mark(ctx context.Context, key string) (m Mark, ok bool, err error)

	// Reserved lists the keys that begin with prefix, ordered by key.
	Reserved(ctx context.Context, prefix string) ([]Mark, error)
}

// Recoverer is a Store that stops a key when it has noticed that the database
// below went back, as after a failover or a restore (rule R7).
type Recoverer interface {
	// Recover starts a key again: its reservations go on at atLeast or
	// above. The caller knows that nothing beyond was ever issued.
	Recover(ctx context.Context, key string, atLeast int64) error
}

// Prober is a Store that knows whether its database answers.
type Prober interface {
	// Probe returns nil if the last question to the database was answered,
	// else what was wrong and since when. It asks nothing itself: servers
	// with generators in use ask all the time. A server whose Probe is not
	// nil still issues what it has reserved, but should get no new clients.
	// The error is a *StoreDown.
	Probe() error
}

// StoreDown holds what keeps a Store from working, and since when.
type StoreDown struct {
	Since time.Time
	Err   error
}

func (d *StoreDown) Error() string {
	return fmt.Sprintf("the store has not worked since %s: %v", d.Since.UTC().Format(time.RFC3339), d.Err)
}

func (d *StoreDown) Unwrap() error { return d.Err }

// Seeder is a Store of one server alone that has a random number of its own,
// for its whole life. Servers with such stores know nothing of each other:
// what they begin with should differ.
type Seeder interface {
	Seed() uint64
}

// Timekeeper is a Store whose database has a clock.
type Timekeeper interface {
	// Time asks for the time by the database's clock: it was between earliest
	// and latest when the database answered. A clock that cannot be asked for
	// is ErrWrongKind.
	Time(ctx context.Context) (earliest, latest time.Time, err error)
}

// TimeGranter is a Store that may refuse time on the lines of worker ids for a
// while, or below a moment: one whose database may have lost reservations.
type TimeGranter interface {
	// EarliestTime returns the Unix ms from which the store grants time to a
	// server whose time is now: no more than now where nothing was lost. The
	// error is ErrNotNow while the store grants none.
	EarliestTime(ctx context.Context, now int64) (ms int64, err error)
}

// Reservation is one request to Reserve.
type Reservation struct {
	Key     string
	AtLeast int64
	N       int64  // > 0
	Limit   int64  // exclusive upper bound of hi; NoLimit for none
	Owner   string // who asks, shown to operators; no effect on the result
}

// ReserveAll reserves a stretch that holds all that a request asks for, or
// nothing: where less is left below r.Limit it returns ErrExhausted, and the key
// stays as it is. need returns how long a stretch that begins at lo has to be;
// ok is false where none is long enough. r.N may ask for more than that.
func ReserveAll(ctx context.Context, store Reserver, r Reservation, need func(lo int64) (n int64, ok bool)) (lo, hi int64, err error) {
	const attempts = 3 // another server may reserve between the two questions
	holds := func(lo, hi int64) bool {
		n, ok := need(lo)
		return ok && lo < hi && uint64(hi)-uint64(lo) >= uint64(n)
	}
	for range attempts {
		m, known, err := store.Mark(ctx, r.Key)
		if err != nil {
			return 0, 0, err
		}
		if lo = r.AtLeast; known {
			lo = max(lo, m.Hi)
		}
		if !holds(lo, r.Limit) {
			return 0, 0, &Error{Kind: ErrExhausted, Message: fmt.Sprintf("%q has not as many numbers left below %d", r.Key, r.Limit)}
		}
		ask := r
		n, _ := need(lo)
		ask.N = max(r.N, n)
		lo, hi, err = store.Reserve(ctx, ask)
		if err != nil || holds(lo, hi) {
			return lo, hi, err
		}
		if err := store.Release(ctx, r.Key, hi, lo); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, &Error{
		Kind: ErrRetry, Message: fmt.Sprintf("other servers reserved numbers of %q at the same time", r.Key), Hint: "Try again.",
	}
}

// NoLimit is the greatest possible Limit of a Reservation.
const NoLimit int64 = 1<<63 - 1

// Mark describes where one key stands.
type Mark struct {
	Key     string
	Hi      int64
	Owner   string
	Updated time.Time // by the store's clock, for operators
}

// Keys of the reservations.
const (
	nameKeyPrefix   = "name/"
	workerKeyPrefix = "worker/"
)

// NameKey is the key under which the numbers of a generator are reserved.
func NameKey(name string) string { return nameKeyPrefix + name }

// WorkerKeyPrefix is the prefix of all worker time lines; the keys are
// "worker/<bits>/<id>", one pool per width of the worker field.
const WorkerKeyPrefix = workerKeyPrefix

// LineKeyPrefix is the prefix of time lines of one generator each; the keys
// are "worker/line/<name>/…". They begin as those of worker ids do: after a
// failover of the store the same rule holds for them, that nothing is granted
// before every slice that the store may have forgotten has ended.
const LineKeyPrefix = workerKeyPrefix + "line/"

// Definition says what a name is: written once when the name is created,
// read by every server, and changed only by Registry.Alter. It pins the
// layout (bits, epoch, unit) of the name.
type Definition struct {
	Name    string
	Kind    string          // "snowflake", "segment", …
	Options json.RawMessage // canonical JSON object as the kind's Normalize made it
	Version int64           // 1 when first created, +1 each change and each time a dropped name is created again
	Created time.Time       // by the store's clock
}

// Definitions is the catalogue of names in the store.
type Definitions interface {
	// Define writes d unless the name exists, and returns what is stored
	// then, ours or the earlier one. created tells which. d.Version and
	// d.Created are set by the store. A dropped name may be defined again;
	// its reservations go on where they were.
	Define(ctx context.Context, d Definition) (stored Definition, created bool, err error)

	// Redefine replaces the options of d.Name if the stored version is
	// still d.Version, and returns the stored definition with its new
	// version. Otherwise an *Error of kind ErrRetry (somebody else changed
	// it) or ErrUnknown.
	Redefine(ctx context.Context, d Definition) (Definition, error)

	// Defined returns the definition of name, or an *Error of kind ErrUnknown.
	Defined(ctx context.Context, name string) (Definition, error)

	// ListDefined returns all definitions ordered by name.
	ListDefined(ctx context.Context) ([]Definition, error)

	// Count returns how many names the catalogue has, and may count dropped
	// ones, too. It reads no definition.
	Count(ctx context.Context) (int, error)

	// Undefine removes the definition of name (ErrUnknown when there is
	// none). The key NameKey(name) stays as a tombstone: a name that is
	// created again goes on above everything it ever issued.
	Undefine(ctx context.Context, name string) error
}

// Clock is the one seam through which engines see time.
type Clock interface {
	// Wall is the wall clock in Unix nanoseconds. It may jump.
	Wall() int64
	// Monotonic never goes back and is not related to the wall clock.
	Monotonic() time.Duration
}

// SystemClock is the Runtime of the operating system.
type SystemClock struct{ Goroutines }

var _ Runtime = SystemClock{}

var processStart = time.Now()

// Wall implements Clock.
func (SystemClock) Wall() int64 { return time.Now().UnixNano() }

// Monotonic implements Clock.
func (SystemClock) Monotonic() time.Duration { return time.Since(processStart) }
