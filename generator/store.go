package generator

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Store is the durable memory of the generators: reserve durably, issue from
// memory.
//
// Every implementation passes generatortest.RunStore. The comment of package worker
// lists the rules R1 to R7.
type Store interface {
	Reserver
	Definitions

	// Exclusive reports whether only this process can use the store while it is open
	// (an embedded store). If so, the greatest end of a reservation in it bounds
	// everything that was ever issued.
	Exclusive() bool

	// Close releases the store. It does not change reservations.
	Close() error
}

// Reserver grants reservations. For each key it stores one number, hi: the end
// (exclusive) of everything that was ever reserved under the key.
type Reserver interface {
	// Reserve durably advances hi and returns the new reservation [lo, hi):
	//
	//	lo = max(hi before, r.AtLeast)      (r.AtLeast when the key is new)
	//	hi = min(lo + r.N, r.Limit)         (r.Limit - lo must be at least r.Least)
	//
	// Reserve is linearizable per key, and durable before it returns. So two
	// reservations of a key never overlap. Any error, including a timeout and a lost
	// answer, means that nothing was granted. The range may be lost; it must not be
	// looked up again (rule R3).
	//
	// It returns an *Error of kind ErrExhausted when lo ≥ r.Bound(), without any change;
	// ErrNotNow when the store cannot be reached or is read-only; ErrRegressed when
	// the store's content is damaged.
	Reserve(ctx context.Context, r Reservation) (lo, hi int64, err error)

	// Release gives back the unused end of the last reservation of a key: if hi is
	// still the key's end, the end becomes to (to ≤ hi). The caller must own all of
	// [to, hi). If another server had reserved a part of it, the store would seem to
	// that server to have gone back. A key whose end has moved on is left unchanged,
	// without an error (rule R6).
	Release(ctx context.Context, key string, hi, to int64) error

	// Mark returns the state of one key. ok is false if nothing was ever reserved
	// under it. The cost does not depend on the number of keys.
	Mark(ctx context.Context, key string) (m Mark, ok bool, err error)

	// Reserved lists the keys that begin with prefix, ordered by key.
	Reserved(ctx context.Context, prefix string) ([]Mark, error)
}

// Recoverer is a Store that stops a key after it noticed that the database below
// went back, by a failover or a restore (rule R7).
type Recoverer interface {
	// Recover starts a stopped key again: its reservations continue at atLeast or
	// above. The caller guarantees that no id beyond was ever issued.
	Recover(ctx context.Context, key string, atLeast int64) error
}

// Recover starts a stopped key again; see Recoverer. A store that is no Recoverer
// moves the key up.
func Recover(ctx context.Context, store Reserver, key string, atLeast int64) error {
	if r, ok := store.(Recoverer); ok {
		return r.Recover(ctx, key, atLeast)
	}
	_, _, err := store.Reserve(ctx, Reservation{Key: key, AtLeast: atLeast - 1, N: 1, Limit: NoLimit, Owner: "recover_generator"})
	return err
}

// Prober is a Store that records whether its database answers.
type Prober interface {
	// Probe returns nil if the database answered the latest request; else a
	// *StoreDown. It sends no request itself: servers with generators in use do so
	// regularly. While Probe returns an error, a server still issues what it has
	// reserved, but should get no new clients.
	Probe() error
}

// StoreDown is the error that keeps a Store from working, and when it began.
type StoreDown struct {
	Since time.Time
	Err   error
}

func (d *StoreDown) Error() string {
	return fmt.Sprintf("the store has not worked since %s: %v", d.Since.UTC().Format(time.RFC3339), d.Err)
}

func (d *StoreDown) Unwrap() error { return d.Err }

// Seeder is a Store of one server that has a random number, fixed for its whole
// life. Servers with such stores do not know each other, so their first ids should
// differ.
type Seeder interface {
	Seed() uint64
}

// Timekeeper is a Store on a database that has a clock.
type Timekeeper interface {
	// Time returns bounds for the time of the database's clock at the moment of its
	// answer.
	Time(ctx context.Context) (earliest, latest time.Time, err error)
}

// TimeGranter is a Store that may refuse time on worker ids for a while, or before
// a moment. A store does so when its database may have lost reservations.
type TimeGranter interface {
	// EarliestTime returns the Unix ms from which the store grants time to a server
	// whose time is now. Without a loss that is at most now. It returns ErrNotNow
	// while the store grants none.
	EarliestTime(ctx context.Context, now int64) (ms int64, err error)
}

// Reservation is one request to Reserve.
type Reservation struct {
	Key     string
	AtLeast int64
	N       int64  // > 0
	Limit   int64  // exclusive upper bound of hi; NoLimit for none
	Least   int64  // least length of a range that Limit makes shorter than N; 0: 1
	Owner   string // the server that asks, for operators; does not change the result
}

// Check returns ErrCount for a reservation of nothing.
func (r Reservation) Check() error {
	if r.N < 1 || r.Key == "" {
		return Errorf(ErrCount, "", "", "cannot reserve %d numbers for the key %q", r.N, r.Key)
	}
	return nil
}

// Bound returns the exclusive upper bound of lo: from there on less than Least is left
// below Limit.
func (r Reservation) Bound() int64 {
	more := max(r.Least, 1) - 1
	return max(r.Limit, math.MinInt64+more) - more
}

// End returns hi of a reservation from lo, which lies below Limit.
func (r Reservation) End(lo int64) int64 {
	if left := uint64(r.Limit) - uint64(lo); uint64(r.N) < left {
		return lo + r.N
	}
	return r.Limit
}

// ExhaustedError is returned if lo would not lie below Bound.
func (r Reservation) ExhaustedError() error {
	return Errorf(ErrExhausted, "", "", "%q has too few numbers left below %d", r.Key, r.Limit)
}

// NoLimit is the greatest possible Limit of a Reservation.
const NoLimit int64 = 1<<63 - 1

// Mark is the state of one key.
type Mark struct {
	Key     string
	Hi      int64
	Owner   string
	Updated time.Time // by the store's clock, for operators
}

const nameKeyPrefix = "name/"

// NameKey returns the key under which the numbers of a generator are reserved.
func NameKey(name string) string { return nameKeyPrefix + name }

// WorkerKeyPrefix is the prefix of the time lines of worker ids. The keys are
// "worker/<bits>/<id>"; each width of the worker field has a pool of its own.
const WorkerKeyPrefix = "worker/"

// LineKeyPrefix is the prefix of time lines of single generators. The keys are
// "worker/line/<name>/…". They begin like those of worker ids because the same rule
// holds for them after a failover: nothing is granted before every time slice has
// ended that the store may have lost.
const LineKeyPrefix = WorkerKeyPrefix + "line/"

// Definition is the stored definition of a name. It is written when the name is
// created and read by every server. Only Registry.Alter changes it. It fixes the
// layout of the name: bits, epoch, unit.
type Definition struct {
	Name    string
	Kind    string          // "snowflake", "segment", …
	Options json.RawMessage // canonical JSON object as the kind's Normalize made it
	Version int64           // 1 at first; +1 for each change and each time a dropped name is created again
	Created time.Time       // by the store's clock
}

// Definitions is the catalogue of the names in a store.
type Definitions interface {
	// Define writes d unless the name exists. It returns the stored definition, and
	// whether that is d. The store sets d.Version and d.Created. A dropped name may be
	// defined again; its reservations continue where they ended.
	Define(ctx context.Context, d Definition) (stored Definition, created bool, err error)

	// Redefine replaces the options of d.Name if the stored version is still
	// d.Version, and returns the stored definition with its new version. Otherwise it
	// returns an *Error of kind ErrRetry if the version differs, or ErrUnknown.
	Redefine(ctx context.Context, d Definition) (Definition, error)

	// Defined returns the definition of name, or an *Error of kind ErrUnknown.
	Defined(ctx context.Context, name string) (Definition, error)

	// ListDefined returns all definitions ordered by name.
	ListDefined(ctx context.Context) ([]Definition, error)

	// Count returns the number of names, which may include dropped names. It reads no
	// definition.
	Count(ctx context.Context) (int, error)

	// Undefine removes the definition of name; ErrUnknown if there is none. The key
	// NameKey(name) stays as a tombstone: a name that is created again continues above
	// every id that it ever issued.
	Undefine(ctx context.Context, name string) error
}

// Clock is the source of time of generators and stores. Tests inject their own.
type Clock interface {
	// Wall returns the wall clock in Unix nanoseconds. It may jump.
	Wall() int64
	// Monotonic returns a time that never goes back, with an arbitrary origin.
	Monotonic() time.Duration
}

// SystemClock is the Runtime of the operating system and the Go runtime.
type SystemClock struct{ Goroutines }

var _ Runtime = SystemClock{}

var processStart = time.Now()

// Wall implements Clock.
func (SystemClock) Wall() int64 { return time.Now().UnixNano() }

// Monotonic implements Clock.
func (SystemClock) Monotonic() time.Duration { return time.Since(processStart) }
