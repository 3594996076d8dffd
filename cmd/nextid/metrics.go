package main

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"time"

	"nextid/generator"
	"nextid/generator/store/metered"
	"nextid/wire"
	"nextid/wire/httpstatus"
)

// measuredNames bounds the generators that /metrics shows one by one: those
// that issued most. The totals are of all.
const measuredNames = 1000

// measured is one running generator.
type measured struct {
	name, kind string
	running    generator.Generator
	generator.Stats
}

// labels are those of the samples of one generator.
func (g *measured) labels(more ...string) []string {
	return append([]string{"generator", g.name, "kind", g.kind}, more...)
}

// measure implements /metrics. It reads what is counted anyway, and asks
// nobody. Names follow Prometheus's conventions: base units, and _total for
// what only grows. Every family is there from the time when the server is
// ready, with or without samples; docs/operations.md has the list of them.
func (s *status) measure(m *httpstatus.Metrics) {
	m.Family("nextid_build_info", httpstatus.Gauge, "The version that runs.")
	m.Sample(1, "version", buildVersion(), "commit", buildCommit(), "go", runtime.Version())
	m.One("nextid_start_time_seconds", httpstatus.Gauge, "When the process started, in Unix time.", seconds(s.started))
	m.One("nextid_ready", httpstatus.Gauge, "1 while clients should come here, as /readyz says.", httpstatus.Bool(s.ready() == nil))
	measureProcess(m)
	r := s.running.Load()
	if r == nil {
		return
	}
	measureStore(m, r.engine)
	measureWire(m, r.endpoints)
	measureWorkers(m, r.engine)
	all := measureGenerators(m, r.engine)
	measureRings(m, all)
	measureDatabases(m, all)
	measureAgents(m, r.engine)
	measureTrail(m, r.engine)
}

// seconds is a time as Prometheus wants it, 0 for none.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func measureStore(m *httpstatus.Metrics, e *engine) {
	m.Family("nextid_store_up", httpstatus.Gauge, "1 if the store answered the last question.")
	if p, ok := e.store.(generator.Prober); ok {
		m.Sample(httpstatus.Bool(p.Probe() == nil))
	} else {
		m.Sample(1) // in memory
	}
	m.Family("nextid_store_call_duration_seconds", httpstatus.Histogram, "How long questions to the store took.")
	var bounds []float64
	for _, b := range metered.Bounds() {
		bounds = append(bounds, b.Seconds())
	}
	e.meter.Each(func(c metered.Call, s metered.Snapshot, _ func(func(metered.Failure, int64))) {
		m.Buckets(bounds, s.Counts[:], s.Sum.Seconds(), "call", c.String())
	})
	m.Family("nextid_store_errors_total", httpstatus.Counter, "Questions to the store that failed, by reason.")
	e.meter.Each(func(c metered.Call, _ metered.Snapshot, failed func(func(metered.Failure, int64))) {
		failed(func(f metered.Failure, n int64) { m.Sample(float64(n), "call", c.String(), "reason", f.String()) })
	})
}

// wireMetrics are the numbers of one protocol.
var wireMetrics = []struct {
	name, help string
	value      func(*wire.Traffic) int64
}{
	{"nextid_connections_accepted_total", "Connections that came in.", func(t *wire.Traffic) int64 { return t.Accepted }},
	{"nextid_received_bytes_total", "Bytes from clients, without TLS around them.", func(t *wire.Traffic) int64 { return t.Received }},
	{"nextid_sent_bytes_total", "Bytes to clients, without TLS around them.", func(t *wire.Traffic) int64 { return t.Sent }},
	{"nextid_commands_total", "Queries and executions (pg), or commands (mysql).", func(t *wire.Traffic) int64 { return t.Commands }},
}

func measureWire(m *httpstatus.Metrics, endpoints endpoints) {
	m.Family("nextid_connections", httpstatus.Gauge, "Open connections.")
	traffic := make([]wire.Traffic, len(endpoints))
	for i, p := range endpoints {
		m.Sample(float64(p.server.Connections()), "protocol", p.protocol.key)
		traffic[i] = p.server.Traffic()
	}
	for _, f := range wireMetrics {
		m.Family(f.name, httpstatus.Counter, f.help)
		for i, p := range endpoints {
			m.Sample(float64(f.value(&traffic[i])), "protocol", p.protocol.key)
		}
	}
	m.Family("nextid_connections_refused_total", httpstatus.Counter, "Connections that were turned away or given up, by reason.")
	for i, p := range endpoints {
		for _, why := range slices.Sorted(maps.Keys(traffic[i].Refused)) {
			m.Sample(float64(traffic[i].Refused[why]), "protocol", p.protocol.key, "reason", why)
		}
	}
	m.Family("nextid_errors_total", httpstatus.Counter, "Errors that clients got, by the class of their SQLSTATE.")
	for i, p := range endpoints {
		for _, class := range slices.Sorted(maps.Keys(traffic[i].Errors)) {
			m.Sample(float64(traffic[i].Errors[class]), "protocol", p.protocol.key, "class", class)
		}
	}
}

func measureWorkers(m *httpstatus.Metrics, e *engine) {
	held := e.pools.Held()
	m.Family("nextid_worker_id", httpstatus.Gauge, "The worker id that this server stamps with, by the width of the worker field.")
	for _, h := range held {
		m.Sample(float64(h.Worker), "bits", strconv.Itoa(int(h.Bits)), "strict", strconv.FormatBool(h.Strict))
	}
	m.Family("nextid_worker_reserved_seconds", httpstatus.Gauge, "For how long the time slice in hand lasts.")
	for _, h := range held {
		if !h.Strict {
			m.Sample(h.Lasts.Seconds(), "bits", strconv.Itoa(int(h.Bits)))
		}
	}
	m.One("nextid_clock_back_total", httpstatus.Counter, "Times the wall clock was seen to go back.", float64(e.pools.ClockBack()))
	m.Family("nextid_clock_store_ahead_seconds", httpstatus.Gauge, "By how much the clock of this server is ahead of that of the store, as far as that is certain.")
	offset := e.clock.Offset()
	if offset.Known {
		m.Sample(offset.Ahead.Seconds())
	}
	m.One("nextid_clock_alarm", httpstatus.Gauge, "1 while the two differ by more than clock_limit.", httpstatus.Bool(offset.Alarm))
	m.One("nextid_clock_lead_seconds", httpstatus.Gauge, "By how much the time in ids is ahead of the wall clock.", e.pools.ClockLead().Seconds())
}

// generatorMetrics are the numbers of one generator.
var generatorMetrics = []struct {
	name  string
	kind  httpstatus.Kind
	help  string
	value func(*generator.Stats) float64
}{
	{
		"nextid_generator_ids_total", httpstatus.Counter, "Ids issued since the generator was opened.",
		func(s *generator.Stats) float64 { return float64(s.Issued) },
	},
	{
		"nextid_generator_buffered_ids", httpstatus.Gauge, "Ids that can be issued without the store.",
		func(s *generator.Stats) float64 { return float64(s.Buffered) },
	},
	{
		"nextid_generator_step", httpstatus.Gauge, "Size of a reservation: ids, or milliseconds for ids that hold the time.",
		func(s *generator.Stats) float64 { return float64(s.Step) },
	},
	{
		"nextid_generator_lasts_seconds", httpstatus.Gauge, "For how long ids go on without the store, at the present rate.",
		func(s *generator.Stats) float64 { return s.Lasts.Seconds() },
	},
	{
		"nextid_generator_waits_total", httpstatus.Counter, "Calls that waited for a tick or the store.",
		func(s *generator.Stats) float64 { return float64(s.Waits) },
	},
	{
		"nextid_generator_refills_total", httpstatus.Counter, "Reservations of the generator that were granted; those of snowflakes are their worker id's.",
		func(s *generator.Stats) float64 { return float64(s.Refills) },
	},
	{
		"nextid_generator_refill_errors_total", httpstatus.Counter, "Reservations of the generator that were not granted.",
		func(s *generator.Stats) float64 { return float64(s.RefillErrors) },
	},
}

// measureGenerators returns those that are shown one by one.
func measureGenerators(m *httpstatus.Metrics, e *engine) []measured {
	var all []measured
	var total generator.Stats
	e.registry.Running(func(d generator.Definition, g generator.Generator) bool {
		if reporter, ok := g.(generator.Reporter); ok {
			one := measured{d.Name, d.Kind, generator.Unwrap(g), reporter.Stats()}
			all = append(all, one)
			total.Issued += one.Issued
			total.Waits += one.Waits
		}
		return true
	})
	m.One("nextid_generators", httpstatus.Gauge, "Generators in use on this server.", float64(len(all)))
	m.One("nextid_ids_total", httpstatus.Counter, "Ids issued by the generators in use.", float64(total.Issued))
	m.One("nextid_waits_total", httpstatus.Counter, "Calls that waited for a tick or the store.", float64(total.Waits))
	slices.SortFunc(all, func(a, b measured) int {
		return cmp.Or(cmp.Compare(b.Issued, a.Issued), cmp.Compare(a.name, b.name))
	})
	all = all[:min(len(all), measuredNames)]
	for _, f := range generatorMetrics {
		m.Family(f.name, f.kind, f.help)
		for i := range all {
			m.Sample(f.value(&all[i].Stats), all[i].labels()...)
		}
	}
	return all
}
