// Package metered measures what a store is asked: how long each sort of call
// takes, and which errors come back. It asks nothing itself.
package metered

import (
	"context"
	"errors"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Call is a sort of question to a store.
type Call int

// The calls. Those of Reserve are told apart by what they are for.
const (
	ReserveNumbers Call = iota // refills: of segments, counters, dated numbers, tickets' ceilings
	ReserveTime                // slices of worker ids, lines of rings and of rollback bits
	ReserveNode                // this server's place in nextid.nodes
	Release
	List   // keys, or definitions
	Define // a definition: read, written or removed
	calls
)

var callNames = [calls]string{"reserve_numbers", "reserve_time", "reserve_node", "release", "list", "define"}

func (c Call) String() string { return callNames[c] }

// Failure is how a call failed.
type Failure int

// The failures, by the error that the store answers with.
const (
	Unavailable Failure = iota // ErrNotNow: away, read-only, or waiting after a failover
	Late                       // ErrRetry: no answer in time
	Regressed                  // ErrRegressed: content is missing or damaged
	Refused                    // ErrPinned: the store's settings are not safe
	Other
	failures
)

var failureNames = [failures]string{"unavailable", "late", "regressed", "refused", "other"}

func (f Failure) String() string { return failureNames[f] }

// firstBucket is the upper bound of the first bucket of a Histogram; each of
// the others is twice the one before.
const firstBucket = 125 * time.Microsecond

// Buckets are the buckets of a Histogram but the last, which has no bound:
// 125 µs to 16 s.
const Buckets = 18

// Histogram counts durations. Its zero value is empty.
type Histogram struct {
	counts [Buckets + 1]atomic.Int64
	sum    atomic.Int64 // ns
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	if d > firstBucket {
		i = min(bits.Len64(uint64((d-1)/firstBucket)), Buckets)
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Snapshot is what a Histogram has counted.
type Snapshot struct {
	Counts [Buckets + 1]int64 // of each bucket alone
	Sum    time.Duration
}

// Snapshot reads it. Calls that end meanwhile may be in a part of it only.
func (h *Histogram) Snapshot() (s Snapshot) {
	for i := range h.counts {
		s.Counts[i] = h.counts[i].Load()
	}
	s.Sum = time.Duration(h.sum.Load())
	return s
}

// Bounds are the upper bounds of the buckets.
func Bounds() (all [Buckets]time.Duration) {
	for i := range all {
		all[i] = firstBucket << i
	}
	return all
}

// Meter is what was measured of one store. It is safe for concurrent use.
type Meter struct {
	durations [calls]Histogram
	errors    [calls][failures]atomic.Int64
}

// Each calls f with what is known of each sort of call.
func (m *Meter) Each(f func(c Call, s Snapshot, failed func(func(Failure, int64)))) {
	for c := range calls {
		f(c, m.durations[c].Snapshot(), func(g func(Failure, int64)) {
			for i := range failures {
				g(i, m.errors[c][i].Load())
			}
		})
	}
}

// done measures a call that began at start. Answers such as "there is no such
// name" and "no numbers are left" are no failures of the store; a caller that
// left before the answer says nothing about it.
func (m *Meter) done(ctx context.Context, c Call, start time.Time, err error) {
	m.durations[c].Observe(time.Since(start))
	var f Failure
	switch {
	case err == nil, ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled),
		errors.Is(err, generator.ErrUnknown), errors.Is(err, generator.ErrExhausted), errors.Is(err, generator.ErrExists):
		return
	case errors.Is(err, generator.ErrNotNow):
		f = Unavailable
	case errors.Is(err, generator.ErrRetry):
		f = Late
	case errors.Is(err, generator.ErrRegressed):
		f = Regressed
	case errors.Is(err, generator.ErrPinned):
		f = Refused
	default:
		f = Other
	}
	m.errors[c][f].Add(1)
}

// Wrap returns a store that measures the calls of s. It is a Prober and a
// Recoverer if s is.
func Wrap(s generator.Store) (generator.Store, *Meter) {
	m := &Meter{}
	w := &store{s, m}
	prober, probes := s.(generator.Prober)
	recoverer, recovers := s.(generator.Recoverer)
	switch {
	case probes && recovers:
		return struct {
			*store
			generator.Prober
			generator.Recoverer
		}{w, prober, recoverer}, m
	case probes:
		return struct {
			*store
			generator.Prober
		}{w, prober}, m
	case recovers:
		return struct {
			*store
			generator.Recoverer
		}{w, recoverer}, m
	}
	return w, m
}

// store is the wrapper; Exclusive and Close are those of the Store inside.
type store struct {
	generator.Store
	meter *Meter
}

// Reserve implements generator.Reserver.
func (s *store) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	call := ReserveTime
	switch {
	case strings.HasPrefix(r.Key, generator.NameKey("")):
		call = ReserveNumbers
	case strings.HasPrefix(r.Key, generator.NodeKeyPrefix):
		call = ReserveNode
	}
	start := time.Now()
	lo, hi, err = s.Store.Reserve(ctx, r)
	s.meter.done(ctx, call, start, err)
	return lo, hi, err
}

// Release implements generator.Reserver.
func (s *store) Release(ctx context.Context, key string, hi, to int64) error {
	start := time.Now()
	err := s.Store.Release(ctx, key, hi, to)
	s.meter.done(ctx, Release, start, err)
	return err
}

// Reserved implements generator.Reserver.
func (s *store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	start := time.Now()
	marks, err := s.Store.Reserved(ctx, prefix)
	s.meter.done(ctx, List, start, err)
	return marks, err
}

// Define implements generator.Definitions.
func (s *store) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	start := time.Now()
	stored, created, err := s.Store.Define(ctx, d)
	s.meter.done(ctx, Define, start, err)
	return stored, created, err
}

// Redefine implements generator.Definitions.
func (s *store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	start := time.Now()
	stored, err := s.Store.Redefine(ctx, d)
	s.meter.done(ctx, Define, start, err)
	return stored, err
}

// Defined implements generator.Definitions.
func (s *store) Defined(ctx context.Context, name string) (generator.Definition, error) {
	start := time.Now()
	d, err := s.Store.Defined(ctx, name)
	s.meter.done(ctx, Define, start, err)
	return d, err
}

// ListDefined implements generator.Definitions.
func (s *store) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	start := time.Now()
	all, err := s.Store.ListDefined(ctx)
	s.meter.done(ctx, List, start, err)
	return all, err
}

// Undefine implements generator.Definitions.
func (s *store) Undefine(ctx context.Context, name string) error {
	start := time.Now()
	err := s.Store.Undefine(ctx, name)
	s.meter.done(ctx, Define, start, err)
	return err
}
