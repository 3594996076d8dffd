package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nextid/generator"
	"nextid/generator/audit"
)

// detailMetrics are the fields of generator.Details that are metrics, by the
// table they are of. The labels are the generator's name, then the row's key
// where the table has several rows a generator, then the value in label.
var detailMetrics = map[string][]struct {
	family
	field string
	label string
}{
	"rings": {
		{newGauge("nextid_ring_capacity_ids", "Ids that fit into the ring.", "generator"), "capacity", ""},
		{newGauge("nextid_ring_buffered_ids", "Ids in the ring.", "generator"), "buffered", ""},
		{newGauge("nextid_ring_borrowed_seconds", "Time of the ring's next id minus the clock.", "generator"), "borrowed_seconds", ""},
		{newGauge("nextid_ring_max_borrow_seconds", "Limit of nextid_ring_borrowed_seconds.", "generator"), "max_borrow_seconds", ""},
		{newCounter("nextid_ring_rejected_puts_total", "Paddings on schedule that found the ring full.", "generator"), "rejected_puts", ""},
		{newCounter("nextid_ring_rejected_takes_total", "Draws that found the ring empty.", "generator"), "rejected_takes", ""},
		{ringPaddings, "padded_at_start", "start"},
		{ringPaddings, "padded_on_threshold", "threshold"},
		{ringPaddings, "padded_on_schedule", "schedule"},
		{ringPaddings, "padded_on_demand", "demand"},
	},
	"databases": {
		{newGauge("nextid_ticket_database_up", "1 if the database can be drawn from.", "generator", "database"), "up", ""},
		{newCounter("nextid_ticket_database_draws_total", "Draws that the database answered.", "generator", "database"), "draws", ""},
		{newCounter("nextid_ticket_database_errors_total", "Failed draws and connections.", "generator", "database"), "errors", ""},
		{
			newGauge("nextid_ticket_database_last_answer_timestamp_seconds", "Unix time of the database's last answer; 0 for never.", "generator", "database"),
			"answered_at", "",
		},
	},
}

var ringPaddings = newCounter("nextid_ring_paddings_total", "Times the ring was padded, by cause.", "generator", "cause")

func collectDetails(to chan<- prometheus.Metric, all []generator.Counted) {
	for i := range all {
		d, ok := all[i].Details()
		if !ok {
			continue
		}
		for _, row := range d.Rows {
			for _, m := range detailMetrics[d.Table] {
				labels := []string{all[i].Name}
				if row.Key != "" {
					labels = append(labels, row.Key)
				}
				if m.label != "" {
					labels = append(labels, m.label)
				}
				m.sample(to, numberOf(row.Value(m.field)), labels...)
			}
		}
	}
}

// numberOf is the value of a generator.Field.
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

// feedMetrics are the numbers of the sequences that this server feeds.
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

// feedShown is for how long a position is shown that the server cannot read any more.
const feedShown = 5 * time.Minute

// collectFeeds sends the state of the sequences.
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

// trailMetrics are the numbers of the audit trail.
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
