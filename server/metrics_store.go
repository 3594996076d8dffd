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
var storeCalls = []string{callReserveNumbers, callReserveTime, callReserveNode, callRelease, callList, callDefine}

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

// storeMeter is a Store that measures the calls of another: how long each kind takes,
// and which errors it returns. Exclusive and Close are not measured.
type storeMeter struct {
	generator.Store
	durations *prometheus.HistogramVec
	errors    *prometheus.CounterVec
}

// meter returns a store that measures the calls of s. The result is a Recoverer if s
// is.
func meter(s generator.Store) (generator.Store, *storeMeter) {
	m := &storeMeter{
		s,
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
	if r, ok := s.(generator.Recoverer); ok {
		return struct {
			*storeMeter
			generator.Recoverer
		}{m, r}, m
	}
	return m, m
}

// done measures a call that began at start. Answers such as ErrUnknown and
// ErrExhausted are no failures of the store. Neither is a call that its caller has
// cancelled.
func (s *storeMeter) done(ctx context.Context, call string, start time.Time, err *error) {
	s.durations.WithLabelValues(call).Observe(time.Since(start).Seconds())
	if *err == nil || errors.Is(ctx.Err(), context.Canceled) ||
		errors.Is(*err, generator.ErrUnknown) || errors.Is(*err, generator.ErrExhausted) || errors.Is(*err, generator.ErrExists) {
		return
	}
	for _, f := range storeFailures {
		if f.is == nil || errors.Is(*err, f.is) {
			s.errors.WithLabelValues(call, f.reason).Inc()
			return
		}
	}
}

// Probe implements generator.Prober. A store that is no Prober always answers.
func (s *storeMeter) Probe() error {
	if p, ok := s.Store.(generator.Prober); ok {
		return p.Probe()
	}
	return nil
}

func (s *storeMeter) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	call := callReserveTime
	switch {
	case strings.HasPrefix(r.Key, generator.NameKey("")):
		call = callReserveNumbers
	case strings.HasPrefix(r.Key, generator.NodeKeyPrefix):
		call = callReserveNode
	}
	defer s.done(ctx, call, time.Now(), &err)
	return s.Store.Reserve(ctx, r)
}

func (s *storeMeter) Release(ctx context.Context, key string, hi, to int64) (err error) {
	defer s.done(ctx, callRelease, time.Now(), &err)
	return s.Store.Release(ctx, key, hi, to)
}

func (s *storeMeter) Mark(ctx context.Context, key string) (_ generator.Mark, _ bool, err error) {
	defer s.done(ctx, callList, time.Now(), &err)
	return s.Store.Mark(ctx, key)
}

func (s *storeMeter) Reserved(ctx context.Context, prefix string) (_ []generator.Mark, err error) {
	defer s.done(ctx, callList, time.Now(), &err)
	return s.Store.Reserved(ctx, prefix)
}

func (s *storeMeter) Define(ctx context.Context, d generator.Definition) (_ generator.Definition, _ bool, err error) {
	defer s.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Define(ctx, d)
}

func (s *storeMeter) Redefine(ctx context.Context, d generator.Definition) (_ generator.Definition, err error) {
	defer s.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Redefine(ctx, d)
}

func (s *storeMeter) Defined(ctx context.Context, name string) (_ generator.Definition, err error) {
	defer s.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Defined(ctx, name)
}

func (s *storeMeter) ListDefined(ctx context.Context) (_ []generator.Definition, err error) {
	defer s.done(ctx, callList, time.Now(), &err)
	return s.Store.ListDefined(ctx)
}

func (s *storeMeter) Count(ctx context.Context) (_ int, err error) {
	defer s.done(ctx, callList, time.Now(), &err)
	return s.Store.Count(ctx)
}

func (s *storeMeter) Undefine(ctx context.Context, name string) (err error) {
	defer s.done(ctx, callDefine, time.Now(), &err)
	return s.Store.Undefine(ctx, name)
}
