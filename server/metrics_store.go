package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nextid/generator"
)

// storeCall is a sort of question to a store.
type storeCall int

// The calls. Those of Reserve are told apart by what they are for.
const (
	callReserveNumbers storeCall = iota // refills: of segments, counters, dated numbers, tickets' ceilings
	callReserveTime                     // slices of worker ids, lines of rings and of rollback bits
	callReserveNode                     // this server's place in nextid.nodes
	callRelease
	callList   // keys, or definitions
	callDefine // a definition: read, written or removed
	storeCallSorts
)

var storeCallNames = [storeCallSorts]string{"reserve_numbers", "reserve_time", "reserve_node", "release", "list", "define"}

// storeFailure is how a call failed.
type storeFailure int

// The failures, by the error that the store answers with.
const (
	storeUnavailable storeFailure = iota // ErrNotNow: away, read-only, or waiting after a failover
	storeLate                            // ErrRetry: no answer in time
	storeRegressed                       // ErrRegressed: content is missing or damaged
	storeRefused                         // ErrPinned: the store's settings are not safe
	storeOther
	storeFailureSorts
)

var storeFailureNames = [storeFailureSorts]string{"unavailable", "late", "regressed", "refused", "other"}

// storeMeter counts what a store is asked: how long each sort of call takes,
// and which errors come back. It asks nothing itself.
type storeMeter struct {
	durations *prometheus.HistogramVec
	errors    *prometheus.CounterVec

	// The same by number, so that a call looks up no label.
	duration [storeCallSorts]prometheus.Observer
	failed   [storeCallSorts][storeFailureSorts]prometheus.Counter
}

func newStoreMeter() *storeMeter {
	m := &storeMeter{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "nextid_store_call_duration_seconds", Help: "How long questions to the store took.",
			Buckets: prometheus.ExponentialBuckets(125e-6, 2, 18), // to 16 s
		}, []string{"call"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nextid_store_errors_total", Help: "Questions to the store that failed, by reason.",
		}, []string{"call", "reason"}),
	}
	for call, name := range storeCallNames {
		m.duration[call] = m.durations.WithLabelValues(name)
		for why, reason := range storeFailureNames {
			m.failed[call][why] = m.errors.WithLabelValues(name, reason)
		}
	}
	return m
}

// done measures a call that began at start. Answers such as "there is no such
// name" and "no numbers are left" are no failures of the store; a caller that
// left before the answer says nothing about it.
func (m *storeMeter) done(ctx context.Context, call storeCall, start time.Time, err error) {
	m.duration[call].Observe(time.Since(start).Seconds())
	why := storeOther
	switch {
	case err == nil, ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled),
		errors.Is(err, generator.ErrUnknown), errors.Is(err, generator.ErrExhausted), errors.Is(err, generator.ErrExists):
		return
	case errors.Is(err, generator.ErrNotNow):
		why = storeUnavailable
	case errors.Is(err, generator.ErrRetry):
		why = storeLate
	case errors.Is(err, generator.ErrRegressed):
		why = storeRegressed
	case errors.Is(err, generator.ErrPinned):
		why = storeRefused
	}
	m.failed[call][why].Inc()
}

// meter returns a store that measures the calls of s. It is a Prober and a
// Recoverer if s is.
func meter(s generator.Store) (generator.Store, *storeMeter) {
	m := newStoreMeter()
	w := &meteredStore{s, m}
	prober, probes := s.(generator.Prober)
	recoverer, recovers := s.(generator.Recoverer)
	switch {
	case probes && recovers:
		return struct {
			*meteredStore
			generator.Prober
			generator.Recoverer
		}{w, prober, recoverer}, m
	case probes:
		return struct {
			*meteredStore
			generator.Prober
		}{w, prober}, m
	case recovers:
		return struct {
			*meteredStore
			generator.Recoverer
		}{w, recoverer}, m
	}
	return w, m
}

// meteredStore is the wrapper; Exclusive and Close are those of the Store inside.
type meteredStore struct {
	generator.Store
	meter *storeMeter
}

// Reserve implements generator.Reserver.
func (s *meteredStore) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	call := callReserveTime
	switch {
	case strings.HasPrefix(r.Key, generator.NameKey("")):
		call = callReserveNumbers
	case strings.HasPrefix(r.Key, generator.NodeKeyPrefix):
		call = callReserveNode
	}
	start := time.Now()
	lo, hi, err = s.Store.Reserve(ctx, r)
	s.meter.done(ctx, call, start, err)
	return lo, hi, err
}

// Release implements generator.Reserver.
func (s *meteredStore) Release(ctx context.Context, key string, hi, to int64) error {
	start := time.Now()
	err := s.Store.Release(ctx, key, hi, to)
	s.meter.done(ctx, callRelease, start, err)
	return err
}

// Mark implements generator.Reserver.
func (s *meteredStore) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	start := time.Now()
	m, ok, err := s.Store.Mark(ctx, key)
	s.meter.done(ctx, callList, start, err)
	return m, ok, err
}

// Reserved implements generator.Reserver.
func (s *meteredStore) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	start := time.Now()
	marks, err := s.Store.Reserved(ctx, prefix)
	s.meter.done(ctx, callList, start, err)
	return marks, err
}

// Define implements generator.Definitions.
func (s *meteredStore) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	start := time.Now()
	stored, created, err := s.Store.Define(ctx, d)
	s.meter.done(ctx, callDefine, start, err)
	return stored, created, err
}

// Redefine implements generator.Definitions.
func (s *meteredStore) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	start := time.Now()
	stored, err := s.Store.Redefine(ctx, d)
	s.meter.done(ctx, callDefine, start, err)
	return stored, err
}

// Defined implements generator.Definitions.
func (s *meteredStore) Defined(ctx context.Context, name string) (generator.Definition, error) {
	start := time.Now()
	d, err := s.Store.Defined(ctx, name)
	s.meter.done(ctx, callDefine, start, err)
	return d, err
}

// ListDefined implements generator.Definitions.
func (s *meteredStore) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	start := time.Now()
	all, err := s.Store.ListDefined(ctx)
	s.meter.done(ctx, callList, start, err)
	return all, err
}

// Count implements generator.Definitions.
func (s *meteredStore) Count(ctx context.Context) (int, error) {
	start := time.Now()
	n, err := s.Store.Count(ctx)
	s.meter.done(ctx, callList, start, err)
	return n, err
}

// Undefine implements generator.Definitions.
func (s *meteredStore) Undefine(ctx context.Context, name string) error {
	start := time.Now()
	err := s.Store.Undefine(ctx, name)
	s.meter.done(ctx, callDefine, start, err)
	return err
}
