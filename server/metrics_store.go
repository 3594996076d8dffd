package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nextid/generator"
)

// storeCalls lists the kinds of store calls. Reserve has three, by the kind of key.
var storeCalls = []string{
	callReserveNumbers, callReserveTime, callReserveNode, callRelease, callList, callDefine,
}

const (
	callReserveNumbers = "reserve_numbers" // refills of segments, counters and dated numbers; ceilings of tickets
	callReserveTime    = "reserve_time"    // time slices of worker ids; time lines of rings and of rollback bits
	callReserveNode    = "reserve_node"    // this server's row in nextid.nodes
	callRelease        = "release"
	callList           = "list"   // list keys or definitions
	callDefine         = "define" // read, write or remove a definition
)

// storeFailures names the reason of a failed call by the error that the store
// returned. The first match counts; the last entry matches all other errors.
var storeFailures = []struct {
	is     error
	reason string
}{
	{generator.ErrNotNow, "unavailable"},  // no answer, read-only, or waiting after a failover
	{generator.ErrRetry, "late"},          // no answer in time
	{generator.ErrRegressed, "regressed"}, // content is missing or damaged
	{generator.ErrPinned, "refused"},      // the store's settings are not safe
	{nil, "other"},
}

// storeMeter measures the calls of a store: how long each kind takes, and which
// errors it returns.
type storeMeter struct {
	durations *prometheus.HistogramVec
	errors    *prometheus.CounterVec
}

func newStoreMeter() *storeMeter {
	m := &storeMeter{
		prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "nextid_store_call_duration_seconds", Help: "Duration of calls of the store.",
			Buckets: prometheus.ExponentialBuckets(125e-6, 2, 18), // to 16 s
		}, []string{"call"}),
		prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nextid_store_errors_total", Help: "Failed calls of the store, by reason.",
		}, []string{"call", "reason"}),
	}
	for _, call := range storeCalls { // Prometheus shows them as 0 before the first call
		m.durations.WithLabelValues(call)
		for _, f := range storeFailures {
			m.errors.WithLabelValues(call, f.reason)
		}
	}
	return m
}

// done measures a call that began at start. Answers such as ErrUnknown and
// ErrExhausted are no failures of the store. Neither is a call that its caller has
// cancelled.
func (m *storeMeter) done(ctx context.Context, call string, start time.Time, err *error) {
	m.durations.WithLabelValues(call).Observe(time.Since(start).Seconds())
	if *err == nil || errors.Is(ctx.Err(), context.Canceled) ||
		errors.Is(*err, generator.ErrUnknown) || errors.Is(*err, generator.ErrExhausted) || errors.Is(*err, generator.ErrExists) {
		return
	}
	for _, f := range storeFailures {
		if f.is == nil || errors.Is(*err, f.is) {
			m.errors.WithLabelValues(call, f.reason).Inc()
			return
		}
	}
}

// meter returns a store that measures the calls of s. The result is a Prober and a
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

// meteredStore is the wrapper. Exclusive and Close are not measured.
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
	defer s.meter.done(ctx, call, time.Now(), &err)
	return s.Store.Reserve(ctx, r)
}

// Release implements generator.Reserver.
func (s *meteredStore) Release(ctx context.Context, key string, hi, to int64) (err error) {
	defer s.meter.done(ctx, callRelease, time.Now(), &err)
	return s.Store.Release(ctx, key, hi, to)
}

// Mark implements generator.Reserver.
func (s *meteredStore) Mark(ctx context.Context, key string) (_ generator.Mark, _ bool, err error) {
	defer s.meter.done(ctx, callList, time.Now(), &err)
	return s.Store.Mark(ctx, key)
}

// Reserved implements generator.Reserver.
func (s *meteredStore) Reserved(ctx context.Context, prefix string) (_ []generator.Mark, err error) {
	defer s.meter.done(ctx, callList, time.Now(), &err)
	return s.Store.Reserved(ctx, prefix)
}

// Define implements generator.Definitions.
func (s *meteredStore) Define(ctx context.Context, d generator.Definition) (_ generator.Definition, _ bool, err error) {
	defer s.meter.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Define(ctx, d)
}

// Redefine implements generator.Definitions.
func (s *meteredStore) Redefine(ctx context.Context, d generator.Definition) (_ generator.Definition, err error) {
	defer s.meter.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Redefine(ctx, d)
}

// Defined implements generator.Definitions.
func (s *meteredStore) Defined(ctx context.Context, name string) (_ generator.Definition, err error) {
	defer s.meter.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Defined(ctx, name)
}

// ListDefined implements generator.Definitions.
func (s *meteredStore) ListDefined(ctx context.Context) (_ []generator.Definition, err error) {
	defer s.meter.done(ctx, callList, time.Now(), &err)
	return s.Store.ListDefined(ctx)
}

// Count implements generator.Definitions.
func (s *meteredStore) Count(ctx context.Context) (_ int, err error) {
	defer s.meter.done(ctx, callList, time.Now(), &err)
	return s.Store.Count(ctx)
}

// Undefine implements generator.Definitions.
func (s *meteredStore) Undefine(ctx context.Context, name string) (err error) {
	defer s.meter.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Undefine(ctx, name)
}
