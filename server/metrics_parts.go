package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nextid/generator"
	"nextid/generator/audit"
)

// collectDetails sends the fields of generator.Details that have a Metric.
func collectDetails(to chan<- prometheus.Metric, all []generator.Counted) {
	for i := range all {
		d, _ := all[i].Details()
		for _, row := range d.Rows {
			for _, f := range row.Fields {
				if f.Metric.Name == "" {
					continue
				}
				names, labels, kind := []string{"generator"}, []string{all[i].Name}, newGauge
				if d.Label != "" {
					names, labels = append(names, d.Label), append(labels, row.Key)
				}
				if f.Metric.Cause != "" {
					names, labels = append(names, "cause"), append(labels, f.Metric.Cause)
				}
				if f.Counter {
					kind = newCounter
				}
				kind(f.Metric.Name, f.Metric.Help, names...).sample(to, numberOf(f.Value), labels...)
			}
		}
	}
}

// numberOf returns the value of a generator.Field as a number.
func numberOf(value any) float64 {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case bool:
		return number(v)
	case time.Time:
		return timestamp(v)
	}
	return 0
}

// feedMetrics are the metrics of the sequences that this server feeds.
var feedMetrics = []struct {
	family
	value func(*generator.Feed) float64
}{
	{
		newGauge("nextid_feed_left_ids", "Numbers left in the sequence's block.", "generator", "database", "column"),
		func(f *generator.Feed) float64 { return float64(f.Left) },
	},
	{
		newGauge("nextid_feed_lasts_seconds", "How long the block lasts at the rate since the last move.", "generator", "database", "column"),
		func(f *generator.Feed) float64 { return f.Lasts.Seconds() },
	},
	{
		newGauge("nextid_feed_block_ids", "Numbers in the sequence's block.", "generator", "database", "column"),
		func(f *generator.Feed) float64 { return float64(f.Last - f.First + 1) },
	},
	{
		feedLastLook,
		func(f *generator.Feed) float64 { return timestamp(f.Looked) },
	},
	{
		newCounter("nextid_feed_moves_total", "Moves of the sequence to its next block by this server.", "generator", "database", "column"),
		func(f *generator.Feed) float64 { return float64(f.Moves) },
	},
	{
		newCounter("nextid_feed_errors_total", "Failed reads and moves of the sequence by this server.", "generator", "database", "column"),
		func(f *generator.Feed) float64 { return float64(f.Failures) },
	},
}

var feedLastLook = newGauge("nextid_feed_last_look_timestamp_seconds", "Unix time at which this server last read the sequence.", "generator", "database", "column")

// feedShown bounds how long gauges of a sequence are sent after the server has last
// read it.
const feedShown = 5 * time.Minute

// collectFeeds sends the state of the sequences. Counters and the time of the last
// read are sent even if a sequence cannot be read any more.
func collectFeeds(to chan<- prometheus.Metric, feeds []generator.Feed) {
	for i := range feeds {
		f := &feeds[i]
		for _, m := range feedMetrics {
			if m.kind == prometheus.CounterValue || m.desc == feedLastLook.desc && !f.Looked.IsZero() || time.Since(f.Looked) < feedShown {
				m.sample(to, m.value(f), f.Name, f.Database, f.Column)
			}
		}
	}
}

// trailMetrics are the metrics of the audit trail.
var trailMetrics = []measure[audit.Stats]{
	{newCounter("nextid_audit_lines_total", "Audit lines written."), func(s audit.Stats) float64 { return float64(s.Written) }},
	{newCounter("nextid_audit_bytes_total", "Bytes of the audit trail that were written."), func(s audit.Stats) float64 { return float64(s.Bytes) }},
	{newGauge("nextid_audit_queued_lines", "Audit lines that wait to be written."), func(s audit.Stats) float64 { return float64(s.Queued) }},
	{newCounter("nextid_audit_dropped_total", "Audit lines lost because the queue was full."), func(s audit.Stats) float64 { return float64(s.Dropped) }},
	{newCounter("nextid_audit_failed_total", "Audit lines lost because the file could not be written."), func(s audit.Stats) float64 { return float64(s.Failed) }},
	{newCounter("nextid_audit_rotations_total", "Rotations of the audit file."), func(s audit.Stats) float64 { return float64(s.Rotated) }},
	{newGauge("nextid_audit_last_error_timestamp_seconds", "Unix time of the last error of the audit file; 0 for none."), func(s audit.Stats) float64 { return timestamp(s.LastErrorAt) }},
}

func collectTrail(to chan<- prometheus.Metric, e *engine) {
	if e.trail == nil {
		return
	}
	sampleAll(to, trailMetrics, e.trail.Stats())
}
