package server

import (
	"cmp"
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
	"nextid/wire"
)

// measuredNames bounds the generators that /metrics shows one by one: those that
// issued most. The totals count all.
const measuredNames = 1000

// metrics returns the handler of /metrics: the counters of this server, and the
// usual go_* and process_* of Go programs.
func (s *status) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		s, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, // an error does not hide the other metrics
		ErrorLog:      slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	})
}

// family is a metric with its labels; each combination of their values is a sample.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// newCounter returns a family that only grows.
func newCounter(name, help string, labels ...string) family {
	return family{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

// newGauge returns a family that rises and falls.
func newGauge(name, help string, labels ...string) family {
	return family{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

// sample sends one value. labels are the values of the family's labels, in order.
func (f family) sample(to chan<- prometheus.Metric, value float64, labels ...string) {
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	m, err := prometheus.NewConstMetric(f.desc, f.kind, value, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(f.desc, err)
	}
	to <- m
}

// number returns 1 for true and 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timestamp returns t in Unix seconds, or 0 for the zero time.
func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// Describe implements prometheus.Collector. It sends nothing, since the metrics
// depend on the kinds that run.
func (*status) Describe(chan<- *prometheus.Desc) {}

var (
	buildInfo       = newGauge("nextid_build_info", "The running version; always 1.", "version", "commit", "go")
	certificateEnds = newGauge("nextid_tls_certificate_expiry_timestamp_seconds", "Unix time at which the certificate of tls_cert ends.")

	readyNow = newGauge("nextid_ready", "1 while /readyz answers 200.")
)

// Collect implements prometheus.Collector. It reads counters in memory and never
// asks the store. Names follow Prometheus's conventions: base units, and _total for
// counters. A counter never falls, not even when a generator is altered.
// docs/metrics.md lists the metrics.
func (s *status) Collect(to chan<- prometheus.Metric) {
	buildInfo.sample(to, 1, Version(), Commit(), runtime.Version())
	readyNow.sample(to, number(s.ready() == nil))
	if t := s.access.tls; t != nil {
		certificateEnds.sample(to, timestamp(t.Leaf().NotAfter))
	}
	r := s.running.Load()
	if r == nil {
		return
	}
	collectStore(to, r.engine)
	collectWire(to, r.endpoints)
	collectWorkers(to, r.engine)
	collectDetails(to, collectGenerators(to, r.engine))
	collectAgents(to, r.engine)
	collectTrail(to, r.engine)
	collectFeeds(to, r.engine.feeder.list())
	for _, q := range r.engine.sql.Quotas() {
		quotaRefused.sample(to, float64(q.Refused), q.User, q.Generator)
	}
}

var quotaRefused = newCounter("nextid_quota_refused_total", "Statements that a quota refused, by the patterns of the quota.", "user", "generator")

var (
	storeUp   = newGauge("nextid_store_up", "1 if the store answered the last call.")
	storeDown = newGauge("nextid_store_down_seconds", "Time since the store stopped answering; 0 while it answers.")
)

// probe returns the error of a store that does not answer. Stores that are no
// Prober always answer.
func (e *engine) probe() error {
	if p, ok := e.store.(generator.Prober); ok {
		return p.Probe()
	}
	return nil
}

// collectStore sends whether the store answers, and the measurements of its calls.
func collectStore(to chan<- prometheus.Metric, e *engine) {
	err := e.probe()
	storeUp.sample(to, number(err == nil))
	since := 0.0
	if down, ok := errors.AsType[*generator.StoreDown](err); ok {
		since = time.Since(down.Since).Seconds()
	}
	storeDown.sample(to, since)
	e.meter.durations.Collect(to)
	e.meter.errors.Collect(to)
}

var (
	openConnections    = newGauge("nextid_connections", "Open connections.", "protocol")
	refusedConnections = newCounter("nextid_connections_refused_total", "Connections that were refused or closed, by reason.", "protocol", "reason")
	errorsSent         = newCounter("nextid_errors_total", "Errors sent to clients, by SQLSTATE.", "protocol", "sqlstate")
)

// measure is a family with the function that reads its value from a T.
type measure[T any] struct {
	family
	value func(T) float64
}

// sampleAll sends the values of all measures, with the same labels.
func sampleAll[T any](to chan<- prometheus.Metric, all []measure[T], of T, labels ...string) {
	for _, m := range all {
		m.sample(to, m.value(of), labels...)
	}
}

// wireMetrics are the counters of one protocol.
var wireMetrics = []measure[wire.Traffic]{
	{newCounter("nextid_connections_accepted_total", "Accepted connections.", "protocol"), func(t wire.Traffic) float64 { return float64(t.Accepted) }},
	{newCounter("nextid_received_bytes_total", "Bytes from clients, without TLS around them.", "protocol"), func(t wire.Traffic) float64 { return float64(t.Received) }},
	{newCounter("nextid_sent_bytes_total", "Bytes to clients, without TLS around them.", "protocol"), func(t wire.Traffic) float64 { return float64(t.Sent) }},
	{newCounter("nextid_commands_total", "Queries and executions (pg), or commands (mysql).", "protocol"), func(t wire.Traffic) float64 { return float64(t.Commands) }},
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

// collectWire sends the counters of all protocols.
func collectWire(to chan<- prometheus.Metric, endpoints endpoints) {
	for _, p := range endpoints {
		protocol, traffic := p.protocol.key, p.server.Traffic()
		openConnections.sample(to, float64(p.server.Connections()), protocol)
		p.took.Collect(to)
		sampleAll(to, wireMetrics, traffic, protocol)
		for why, n := range traffic.Refused {
			refusedConnections.sample(to, float64(n), protocol, why)
		}
		for code, n := range traffic.Errors {
			errorsSent.sample(to, float64(n), protocol, code)
		}
	}
}

var (
	workerID       = newGauge("nextid_worker_id", "This server's worker id, by the width of the worker field.", "bits", "strict")
	workerReserved = newGauge("nextid_worker_reserved_seconds", "Time left of the reserved time slice.", "bits")
	workersFree    = newGauge("nextid_worker_ids_free", "Free worker ids of a width, asked every ten minutes.", "bits")
	workersAll     = newGauge("nextid_worker_ids", "All worker ids of a width.", "bits")
	clockBack      = newCounter("nextid_clock_back_total", "Times the wall clock was set back.")
	clockAhead     = newGauge("nextid_clock_store_ahead_seconds", "Certain part of this server's clock minus the store's.")
	clockAlarm     = newGauge("nextid_clock_alarm", "1 while the clocks of server and store differ by more than clock_limit.")
	clockLead      = newGauge("nextid_clock_lead_seconds", "Time in ids minus the wall clock.")
)

// collectWorkers sends the worker ids that this server holds, the free ones, and
// the state of its clock.
func collectWorkers(to chan<- prometheus.Metric, e *engine) {
	for _, h := range e.pools.Held() {
		bits := strconv.Itoa(int(h.Bits))
		workerID.sample(to, float64(h.Worker), bits, strconv.FormatBool(h.Strict))
		if !h.Strict {
			workerReserved.sample(to, h.Lasts.Seconds(), bits)
		}
	}
	clockBack.sample(to, float64(e.pools.ClockBack()))
	offset := e.clock.Offset()
	if offset.Known {
		clockAhead.sample(to, offset.Ahead.Seconds())
	}
	clockAlarm.sample(to, number(offset.Alarm))
	clockLead.sample(to, e.pools.ClockLead().Seconds())
	for bits, w := range e.forecast.latest.Load().free {
		workersFree.sample(to, float64(w.Left), strconv.Itoa(bits))
		workersAll.sample(to, float64(w.All), strconv.Itoa(bits))
	}
}

var (
	generators = newGauge("nextid_generators", "Generators in use on this server.")
	idsTotal   = newCounter("nextid_ids_total", "Ids issued by this server.")
	waitsTotal = newCounter("nextid_waits_total", "Calls that waited for a tick or the store.")

	endsAt  = newGauge("nextid_generator_ends_timestamp_seconds", "Unix time at which the time bits run out.", "generator", "kind")
	leftIDs = newGauge("nextid_generator_left_ids", "Ids left below the maximum, if there is one.", "generator", "kind")
	stepIDs = newGauge("nextid_generator_step_ids", "Size of a reservation of numbers.", "generator", "kind")
	stepSec = newGauge("nextid_generator_step_seconds", "Size of a reservation of time.", "generator", "kind")
)

// generatorCounters count for a name what all its generators did, across changes of
// its definition.
var generatorCounters = []measure[generator.Counts]{
	{newCounter("nextid_generator_ids_total", "Ids issued under the name by this server.", "generator", "kind"), func(c generator.Counts) float64 { return float64(c.Issued) }},
	{newCounter("nextid_generator_waits_total", "Calls that waited for a tick or the store.", "generator", "kind"), func(c generator.Counts) float64 { return float64(c.Waits) }},
	{newCounter("nextid_generator_refills_total", "Reservations that were granted; for a snowflake, of its worker id.", "generator", "kind"), func(c generator.Counts) float64 { return float64(c.Refills) }},
	{newCounter("nextid_generator_refill_errors_total", "Reservations that were not granted.", "generator", "kind"), func(c generator.Counts) float64 { return float64(c.RefillErrors) }},
}

// generatorGauges show the state of a running generator.
var generatorGauges = []measure[generator.Stats]{
	{newGauge("nextid_generator_buffered_ids", "Ids that can be issued without the store.", "generator", "kind"), func(s generator.Stats) float64 { return float64(s.Buffered) }},
	{newGauge("nextid_generator_lasts_seconds", "How long ids last without the store, at the present rate.", "generator", "kind"), func(s generator.Stats) float64 { return s.Lasts.Seconds() }},
}

// collectGenerators sends the totals, and the metrics of the generators that are
// shown one by one. It returns those.
func collectGenerators(to chan<- prometheus.Metric, e *engine) []generator.Counted {
	var all []generator.Counted
	var total generator.Counts
	running := 0
	e.registry.Counted(func(c generator.Counted) bool {
		all = append(all, c)
		total.Issued += c.Counts.Issued
		total.Waits += c.Counts.Waits
		if c.Generator != nil {
			running++
		}
		return true
	})
	generators.sample(to, float64(running))
	idsTotal.sample(to, float64(total.Issued))
	waitsTotal.sample(to, float64(total.Waits))
	slices.SortFunc(all, func(a, b generator.Counted) int {
		return cmp.Or(cmp.Compare(b.Counts.Issued, a.Counts.Issued), cmp.Compare(a.Name, b.Name))
	})
	all = all[:min(len(all), measuredNames)]
	for i := range all {
		g := &all[i]
		sampleAll(to, generatorCounters, g.Counts, g.Name, g.Kind)
		reporter, ok := g.Generator.(generator.Reporter)
		if !ok {
			continue
		}
		stats := reporter.Stats()
		if entry := e.registry.Lookup([]byte(g.Name)); entry != nil && !entry.Ends().IsZero() {
			endsAt.sample(to, timestamp(entry.Ends()), g.Name, g.Kind)
		}
		if stats.Bounded {
			leftIDs.sample(to, float64(stats.Left), g.Name, g.Kind)
		}
		sampleAll(to, generatorGauges, stats, g.Name, g.Kind)
		if _, timed := generator.Unwrap(g.Generator).(generator.WorkerIDHolder); timed {
			stepSec.sample(to, float64(stats.Step)/1000, g.Name, g.Kind)
		} else {
			stepIDs.sample(to, float64(stats.Step), g.Name, g.Kind)
		}
	}
	return all
}

var agentIDs = newCounter("nextid_agent_ids_total", "Ids drawn with get_id, by agent.", "agent")

var agentsRefused = newCounter("nextid_agent_refused_total", "Calls of get_id with an invalid agent.")

// collectAgents sends the ids drawn by each agent. sqlfuncs bounds the number of
// agents; it counts further ones together.
func collectAgents(to chan<- prometheus.Metric, e *engine) {
	agents, refused := e.sql.Agents()
	for _, a := range agents {
		agentIDs.sample(to, float64(a.IDs), a.Agent)
	}
	agentsRefused.sample(to, float64(refused))
}
