package main

import (
	"runtime/metrics"

	"nextid/wire/httpstatus"
)

// processMetrics are what Go's runtime counts, by the names of other programs
// in Go where they mean the same.
var processMetrics = []struct {
	name    string
	kind    httpstatus.Kind
	help    string
	runtime string
}{
	{"go_goroutines", httpstatus.Gauge, "Goroutines.", "/sched/goroutines:goroutines"},
	{"go_memory_bytes", httpstatus.Gauge, "Memory that Go's runtime has from the system.", "/memory/classes/total:bytes"},
	{"go_heap_live_bytes", httpstatus.Gauge, "Memory in use when the last garbage collection ended.", "/gc/heap/live:bytes"},
	{"go_gc_cycles_total", httpstatus.Counter, "Garbage collections.", "/gc/cycles/total:gc-cycles"},
}

func measureProcess(m *httpstatus.Metrics) {
	samples := make([]metrics.Sample, len(processMetrics))
	for i, p := range processMetrics {
		samples[i].Name = p.runtime
	}
	metrics.Read(samples)
	for i, p := range processMetrics {
		m.One(p.name, p.kind, p.help, float64(samples[i].Value.Uint64()))
	}
}
