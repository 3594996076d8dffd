package main

import (
	"nextid/generator"
	"nextid/sqlfuncs/audit"
	"nextid/wire/httpstatus"
)

// ringMetrics are the numbers of a generator that keeps ids in a ring.
var ringMetrics = []struct {
	name  string
	kind  httpstatus.Kind
	help  string
	value func(*generator.RingStats) float64
}{
	{
		"nextid_ring_capacity_ids", httpstatus.Gauge, "Ids that fit into the ring.",
		func(s *generator.RingStats) float64 { return float64(s.Capacity) },
	},
	{
		"nextid_ring_buffered_ids", httpstatus.Gauge, "Ids that wait in the ring.",
		func(s *generator.RingStats) float64 { return float64(s.Buffered) },
	},
	{
		"nextid_ring_borrowed_seconds", httpstatus.Gauge, "By how much the next id of the ring is ahead of the clock.",
		func(s *generator.RingStats) float64 { return s.Borrowed.Seconds() },
	},
	{
		"nextid_ring_max_borrow_seconds", httpstatus.Gauge, "By how much ids may be ahead of the clock.",
		func(s *generator.RingStats) float64 { return s.MaxBorrow.Seconds() },
	},
	{
		"nextid_ring_rejected_puts_total", httpstatus.Counter, "Paddings on schedule that found the ring full.",
		func(s *generator.RingStats) float64 { return float64(s.RejectedPuts) },
	},
	{
		"nextid_ring_rejected_takes_total", httpstatus.Counter, "Draws that found the ring empty.",
		func(s *generator.RingStats) float64 { return float64(s.RejectedTakes) },
	},
}

func measureRings(m *httpstatus.Metrics, all []measured) {
	type ring struct {
		*measured
		generator.RingStats
	}
	var rings []ring
	for i := range all {
		if r, ok := all[i].running.(generator.RingReporter); ok {
			rings = append(rings, ring{&all[i], r.RingStats()})
		}
	}
	for _, f := range ringMetrics {
		m.Family(f.name, f.kind, f.help)
		for i := range rings {
			m.Sample(f.value(&rings[i].RingStats), "generator", rings[i].name)
		}
	}
	m.Family("nextid_ring_paddings_total", httpstatus.Counter, "Times the ring was padded, by cause.")
	for i := range rings {
		r := &rings[i]
		m.Sample(float64(r.PaddedAtStart), "generator", r.name, "cause", "start")
		m.Sample(float64(r.PaddedOnThreshold), "generator", r.name, "cause", "threshold")
		m.Sample(float64(r.PaddedOnSchedule), "generator", r.name, "cause", "schedule")
		m.Sample(float64(r.PaddedOnDemand), "generator", r.name, "cause", "demand")
	}
}

// databaseMetrics are the numbers of one database of a ticket generator.
var databaseMetrics = []struct {
	name  string
	kind  httpstatus.Kind
	help  string
	value func(*generator.DatabaseStats) float64
}{
	{
		"nextid_ticket_database_up", httpstatus.Gauge, "1 if the database can be drawn from.",
		func(s *generator.DatabaseStats) float64 { return httpstatus.Bool(s.Up) },
	},
	{
		"nextid_ticket_database_draws_total", httpstatus.Counter, "Questions for numbers that the database answered.",
		func(s *generator.DatabaseStats) float64 { return float64(s.Draws) },
	},
	{
		"nextid_ticket_database_errors_total", httpstatus.Counter, "Questions and connections that failed.",
		func(s *generator.DatabaseStats) float64 { return float64(s.Errors) },
	},
	{
		"nextid_ticket_database_last_answer_seconds", httpstatus.Gauge, "When the database last did what it was asked, in Unix time; 0 for never.",
		func(s *generator.DatabaseStats) float64 { return seconds(s.Answered) },
	},
}

func measureDatabases(m *httpstatus.Metrics, all []measured) {
	type database struct {
		generator string
		generator.DatabaseStats
	}
	var databases []database
	for i := range all {
		if r, ok := all[i].running.(generator.DatabaseReporter); ok {
			for _, d := range r.DatabaseStats() {
				databases = append(databases, database{all[i].name, d})
			}
		}
	}
	for _, f := range databaseMetrics {
		m.Family(f.name, f.kind, f.help)
		for i := range databases {
			d := &databases[i]
			m.Sample(f.value(&d.DatabaseStats), "generator", d.generator, "database", d.Location)
		}
	}
}

// measureAgents shows at most sqlfuncs's bound of agents; what others drew is
// counted for all of them together.
func measureAgents(m *httpstatus.Metrics, e *engine) {
	agents, refused := e.sql.Agents()
	m.Family("nextid_agent_ids_total", httpstatus.Counter, "Ids of get_id, by agent.")
	for _, a := range agents {
		m.Sample(float64(a.IDs), "agent", a.Agent)
	}
	m.One("nextid_agent_refused_total", httpstatus.Counter, "Calls of get_id with an agent that is none.", float64(refused))
}

// trailMetrics are the numbers of the audit trail.
var trailMetrics = []struct {
	name  string
	kind  httpstatus.Kind
	help  string
	value func(*audit.Stats) float64
}{
	{
		"nextid_audit_lines_total", httpstatus.Counter, "Lines of the audit trail that were written.",
		func(s *audit.Stats) float64 { return float64(s.Written) },
	},
	{
		"nextid_audit_bytes_total", httpstatus.Counter, "Bytes of them.",
		func(s *audit.Stats) float64 { return float64(s.Bytes) },
	},
	{
		"nextid_audit_queued_lines", httpstatus.Gauge, "Lines that wait to be written.",
		func(s *audit.Stats) float64 { return float64(s.Queued) },
	},
	{
		"nextid_audit_dropped_total", httpstatus.Counter, "Lines that found the queue full and are lost.",
		func(s *audit.Stats) float64 { return float64(s.Dropped) },
	},
	{
		"nextid_audit_failed_total", httpstatus.Counter, "Lines that the file did not take and that are lost.",
		func(s *audit.Stats) float64 { return float64(s.Failed) },
	},
	{
		"nextid_audit_rotations_total", httpstatus.Counter, "Times the file was rotated.",
		func(s *audit.Stats) float64 { return float64(s.Rotated) },
	},
	{
		"nextid_audit_last_error_seconds", httpstatus.Gauge, "When the file last could not be written, in Unix time; 0 for never.",
		func(s *audit.Stats) float64 { return seconds(s.LastErrorAt) },
	},
}

func measureTrail(m *httpstatus.Metrics, e *engine) {
	var stats audit.Stats
	if e.trail != nil {
		stats = e.trail.Stats()
	}
	for _, f := range trailMetrics {
		m.Family(f.name, f.kind, f.help)
		if e.trail != nil {
			m.Sample(f.value(&stats))
		}
	}
}
