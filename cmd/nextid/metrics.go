package main

import (
	"cmp"
	"slices"
	"strconv"

	"nextid/generator"
	"nextid/wire/httpstatus"
)

// measuredNames bounds the generators that /metrics shows one by one: those
// that issued most. The totals are of all.
const measuredNames = 1000

// measured is one running generator.
type measured struct {
	name, kind string
	generator.Stats
}

// measure implements /metrics. Names follow Prometheus's conventions: base
// units, and _total for what only grows.
func (s *status) measure(m *httpstatus.Metrics) {
	m.Family("nextid_build_info", httpstatus.Gauge, "The version that runs.")
	m.Sample(1, "version", buildVersion())
	m.One("nextid_start_time_seconds", httpstatus.Gauge, "When the process started, in Unix time.", float64(s.started.UnixMilli())/1000)
	m.One("nextid_ready", httpstatus.Gauge, "1 while clients should come here, as /readyz says.", httpstatus.Bool(s.ready() == nil))
	r := s.running.Load()
	if r == nil {
		return
	}
	if p, ok := r.engine.store.(generator.Prober); ok {
		m.One("nextid_store_up", httpstatus.Gauge, "1 if the store answered the last question.", httpstatus.Bool(p.Probe() == nil))
	}
	m.Family("nextid_connections", httpstatus.Gauge, "Open connections.")
	for _, p := range r.endpoints {
		m.Sample(float64(p.server.Connections()), "protocol", p.protocol.key)
	}
	s.measureWorkers(m, r)
	s.measureGenerators(m, r)
}

func (s *status) measureWorkers(m *httpstatus.Metrics, r *running) {
	held := r.engine.pools.Held()
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
	m.One("nextid_clock_back_total", httpstatus.Counter, "Times the wall clock was seen to go back.", float64(r.engine.pools.ClockBack()))
}

func (s *status) measureGenerators(m *httpstatus.Metrics, r *running) {
	var all []measured
	var total generator.Stats
	r.engine.registry.Running(func(d generator.Definition, g generator.Generator) bool {
		if reporter, ok := g.(generator.Reporter); ok {
			one := measured{d.Name, d.Kind, reporter.Stats()}
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
			m.Sample(f.value(&all[i].Stats), "generator", all[i].name, "kind", all[i].kind)
		}
	}
}

// generatorMetrics are the metrics of one generator.
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
}
