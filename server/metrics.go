package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"nextid/generator"
)

// measuredNames bounds the generators that /metrics shows one by one: those that
// issued most. The totals count all.
const measuredNames = 1000

// metrics returns the handler of /metrics: the counters of this server, and the
// usual go_* and process_* of Go programs.
func (s *Server) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, // an error does not hide the other metrics
		ErrorLog:      slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	})
}

// collector implements prometheus.Collector.
type collector struct{ *Server }

// Describe sends nothing, since the metrics depend on the kinds that run.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads counters in memory and never asks the store. Names follow
// Prometheus's conventions: base units, and _total for counters. A counter never
// falls, not even when a generator is altered. docs/metrics.md lists the metrics.
func (s collector) Collect(to chan<- prometheus.Metric) {
	c := &scrape{to, map[string]*prometheus.Desc{}}
	c.gauge("nextid_build_info", "The running version; always 1.", 1, "version", Version(), "commit", Commit(), "go", runtime.Version())
	c.gauge("nextid_ready", "1 while /readyz answers 200.", s.notReady() == nil)
	if t := s.access.tls; t != nil {
		c.gauge("nextid_tls_certificate_expiry_timestamp_seconds", "Unix time at which the certificate of tls_cert ends.", t.Leaf().NotAfter)
	}
	e := s.engine.Load()
	if e == nil {
		return
	}
	c.store(e)
	c.wire(s.served)
	c.workers(e)
	c.generators(e.registry)
	agents, refused := e.sql.Agents() // sqlfuncs bounds the number of agents
	for _, a := range agents {
		c.counter("nextid_agent_ids_total", "Ids drawn with get_id, by agent.", a.IDs, "agent", a.Agent)
	}
	c.counter("nextid_agent_refused_total", "Calls of get_id with an invalid agent.", refused)
	if e.trail != nil {
		t := e.trail.Stats()
		c.counter("nextid_audit_lines_total", "Audit lines written.", t.Written)
		c.counter("nextid_audit_bytes_total", "Bytes of the audit trail that were written.", t.Bytes)
		c.gauge("nextid_audit_queued_lines", "Audit lines that wait to be written.", t.Queued)
		c.counter("nextid_audit_dropped_total", "Audit lines lost because the queue was full.", t.Dropped)
		c.counter("nextid_audit_failed_total", "Audit lines lost because the file could not be written.", t.Failed)
		c.counter("nextid_audit_rotations_total", "Rotations of the audit file.", t.Rotated)
		c.gauge("nextid_audit_last_error_timestamp_seconds", "Unix time of the last error of the audit file; 0 for none.", t.LastErrorAt)
	}
	c.feeds(e.feeder.feeds())
	for _, q := range e.sql.Quotas() {
		c.counter("nextid_quota_refused_total", "Statements that a quota refused, by the patterns of the quota.", q.Refused,
			"user", q.User, "generator", q.Generator)
	}
}

// scrape sends the samples of one scrape.
type scrape struct {
	to    chan<- prometheus.Metric
	descs map[string]*prometheus.Desc // by name
}

// counter sends a sample of a metric that only grows. labels holds names and values
// in turn. All samples of a metric have the same names.
func (c *scrape) counter(name, help string, value any, labels ...string) {
	c.sample(prometheus.CounterValue, name, help, value, labels)
}

// gauge sends a sample of a metric that rises and falls.
func (c *scrape) gauge(name, help string, value any, labels ...string) {
	c.sample(prometheus.GaugeValue, name, help, value, labels)
}

func (c *scrape) sample(kind prometheus.ValueType, name, help string, value any, labels []string) {
	names, values := make([]string, 0, 4), make([]string, 0, 4)
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, strings.ToValidUTF8(pair[1], "\uFFFD"))
	}
	desc := c.descs[name]
	if desc == nil {
		desc = prometheus.NewDesc(name, help, names, nil)
		c.descs[name] = desc
	}
	m, err := prometheus.NewConstMetric(desc, kind, baseUnit(value), values...)
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	c.to <- m
}

// baseUnit returns a value as a metric has it: times in seconds, 1 for true, and 0
// for the zero time.
func baseUnit(value any) float64 {
	switch v := value.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
	case time.Duration:
		return v.Seconds()
	case time.Time:
		if !v.IsZero() {
			return float64(v.UnixMilli()) / 1000
		}
	}
	return 0
}

// store sends whether the store answers, and the measurements of its calls.
func (c *scrape) store(e *engine) {
	err := e.meter.Probe()
	var down time.Duration
	if d, ok := errors.AsType[*generator.StoreDown](err); ok {
		down = time.Since(d.Since)
	}
	c.gauge("nextid_store_up", "1 if the store answered the last call.", err == nil)
	c.gauge("nextid_store_down_seconds", "Time since the store stopped answering; 0 while it answers.", down)
	e.meter.durations.Collect(c.to)
	e.meter.errors.Collect(c.to)
}

// observer returns the function that records the duration of a statement of p.
func (p *endpoint) observer() func(time.Duration) {
	p.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "nextid_statement_duration_seconds",
		Help:    "Duration of statements, without draws on the fast path, which take a microsecond.",
		Buckets: prometheus.ExponentialBuckets(125e-6, 4, 9), // to 8 s
	}, []string{"protocol"})
	observer := p.took.WithLabelValues(p.protocol.key)
	return func(d time.Duration) { observer.Observe(d.Seconds()) }
}

// wire sends the counters of all protocols.
func (c *scrape) wire(served endpoints) {
	for _, p := range served {
		t, of := p.server.Traffic(), []string{"protocol", p.protocol.key}
		c.gauge("nextid_connections", "Open connections.", p.server.Connections(), of...)
		p.took.Collect(c.to)
		c.counter("nextid_connections_accepted_total", "Accepted connections.", t.Accepted, of...)
		c.counter("nextid_received_bytes_total", "Bytes from clients, without TLS around them.", t.Received, of...)
		c.counter("nextid_sent_bytes_total", "Bytes to clients, without TLS around them.", t.Sent, of...)
		c.counter("nextid_commands_total", "Queries and executions (pg), or commands (mysql).", t.Commands, of...)
		for why, n := range t.Refused {
			c.counter("nextid_connections_refused_total", "Connections that were refused or closed, by reason.", n, append(of, "reason", why)...)
		}
		for code, n := range t.Errors {
			c.counter("nextid_errors_total", "Errors sent to clients, by SQLSTATE.", n, append(of, "sqlstate", code)...)
		}
	}
}

// workers sends the worker ids that this server holds, the free ones, and the state
// of its clock.
func (c *scrape) workers(e *engine) {
	for _, h := range e.pools.Held() {
		bits := strconv.Itoa(int(h.Bits))
		c.gauge("nextid_worker_id", "This server's worker id, by the width of the worker field.", h.Worker,
			"bits", bits, "strict", strconv.FormatBool(h.Strict))
		if !h.Strict {
			c.gauge("nextid_worker_reserved_seconds", "Time left of the reserved time slice.", h.Lasts, "bits", bits)
		}
	}
	for width, w := range e.forecast.latest.Load().free {
		bits := strconv.Itoa(width)
		c.gauge("nextid_worker_ids_free", "Free worker ids of a width, asked every ten minutes.", w.Left, "bits", bits)
		c.gauge("nextid_worker_ids", "All worker ids of a width.", w.All, "bits", bits)
	}
	offset := e.clock.Offset()
	if offset.Known {
		c.gauge("nextid_clock_store_ahead_seconds", "Certain part of this server's clock minus the store's.", offset.Ahead)
	}
	c.gauge("nextid_clock_alarm", "1 while the clocks of server and store differ by more than clock_limit.", offset.Alarm)
	c.counter("nextid_clock_back_total", "Times the wall clock was set back.", e.pools.ClockBack())
	c.gauge("nextid_clock_lead_seconds", "Time in ids minus the wall clock.", e.pools.ClockLead())
}

// generators sends the totals, and the metrics of the generators that are shown one
// by one.
func (c *scrape) generators(r *generator.Registry) {
	var all []generator.Counted
	var total generator.Counts
	running := 0
	r.Counted(func(g generator.Counted) bool {
		all = append(all, g)
		total.Issued += g.Counts.Issued
		total.Waits += g.Counts.Waits
		if g.Generator != nil {
			running++
		}
		return true
	})
	c.gauge("nextid_generators", "Generators in use on this server.", running)
	c.counter("nextid_ids_total", "Ids issued by this server.", total.Issued)
	c.counter("nextid_waits_total", "Calls that waited for a tick or the store.", total.Waits)
	slices.SortFunc(all, func(a, b generator.Counted) int {
		return cmp.Or(cmp.Compare(b.Counts.Issued, a.Counts.Issued), cmp.Compare(a.Name, b.Name))
	})
	for _, g := range all[:min(len(all), measuredNames)] {
		of := []string{"generator", g.Name, "kind", g.Kind}
		c.counter("nextid_generator_ids_total", "Ids issued under the name by this server.", g.Counts.Issued, of...)
		c.counter("nextid_generator_waits_total", "Calls that waited for a tick or the store.", g.Counts.Waits, of...)
		c.counter("nextid_generator_refills_total", "Reservations that were granted; for a snowflake, of its worker id.", g.Counts.Refills, of...)
		c.counter("nextid_generator_refill_errors_total", "Reservations that were not granted.", g.Counts.RefillErrors, of...)
		c.details(&g)
		reporter, ok := g.Generator.(generator.Reporter)
		if !ok {
			continue
		}
		stats := reporter.Stats()
		c.gauge("nextid_generator_buffered_ids", "Ids that can be issued without the store.", stats.Buffered, of...)
		c.gauge("nextid_generator_lasts_seconds", "How long ids last without the store, at the present rate.", stats.Lasts, of...)
		if entry := r.Lookup([]byte(g.Name)); entry != nil && !entry.Shape().Ends.IsZero() {
			c.gauge("nextid_generator_ends_timestamp_seconds", "Unix time at which the time bits run out.", entry.Shape().Ends, of...)
		}
		if stats.Bounded {
			c.gauge("nextid_generator_left_ids", "Ids left below the maximum, if there is one.", stats.Left, of...)
		}
		if _, timed := generator.Unwrap(g.Generator).(generator.WorkerIDHolder); timed {
			c.gauge("nextid_generator_step_seconds", "Size of a reservation of time.", float64(stats.Step)/1000, of...)
		} else {
			c.gauge("nextid_generator_step_ids", "Size of a reservation of numbers.", stats.Step, of...)
		}
	}
}

// details sends the fields of generator.Details that have a Metric.
func (c *scrape) details(g *generator.Counted) {
	d, _ := g.Details()
	for _, row := range d.Rows {
		for _, f := range row.Fields {
			if f.Metric.Name == "" {
				continue
			}
			send, labels := c.gauge, []string{"generator", g.Name}
			if f.Counter {
				send = c.counter
			}
			if d.Label != "" {
				labels = append(labels, d.Label, row.Key)
			}
			send(f.Metric.Name, f.Metric.Help, f.Value, labels...)
		}
	}
}

// feedShown bounds how long gauges of a sequence are sent after the server has last
// read it.
const feedShown = 5 * time.Minute

// feeds sends the state of the sequences. Counters and the time of the last read are
// sent even if a sequence cannot be read any more.
func (c *scrape) feeds(feeds []generator.Feed) {
	for _, f := range feeds {
		of := []string{"generator", f.Name, "database", f.Database, "column", f.Column}
		c.counter("nextid_feed_moves_total", "Moves of the sequence to its next block by this server.", f.Moves, of...)
		c.counter("nextid_feed_errors_total", "Failed reads and moves of the sequence by this server.", f.Failures, of...)
		if !f.Looked.IsZero() {
			c.gauge("nextid_feed_last_look_timestamp_seconds", "Unix time at which this server last read the sequence.", f.Looked, of...)
		}
		if time.Since(f.Looked) < feedShown {
			c.gauge("nextid_feed_left_ids", "Numbers left in the sequence's block.", f.Left, of...)
			c.gauge("nextid_feed_lasts_seconds", "How long the block lasts at the rate since the last move.", f.Lasts, of...)
			c.gauge("nextid_feed_block_ids", "Numbers in the sequence's block.", f.Last-f.First+1, of...)
		}
	}
}

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
