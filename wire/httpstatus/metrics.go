package httpstatus

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the TYPE line of a metric.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metrics builds an answer in Prometheus's text format, version 0.0.4
// (prometheus.io/docs/instrumenting/exposition_formats). All samples of a
// metric are written after its Family, as the format demands.
type Metrics struct {
	b    strings.Builder
	name string
}

// Family begins a metric. help is one sentence.
func (m *Metrics) Family(name string, kind Kind, help string) {
	m.name = name
	m.b.WriteString("# HELP " + name + " ")
	_, _ = helpEscapes.WriteString(&m.b, help) // a Builder never fails
	m.b.WriteString("\n# TYPE " + name + " " + string(kind) + "\n")
}

// Sample adds a value to the metric that began last. labels are names and
// values in turn.
func (m *Metrics) Sample(value float64, labels ...string) { m.sample("", value, labels) }

// Buckets adds a histogram to the metric that began last. bounds are the
// upper bounds of the buckets; counts has one more, for what lies above all
// of them. Each counts what is in its bucket alone.
func (m *Metrics) Buckets(bounds []float64, counts []int64, sum float64, labels ...string) {
	total := int64(0)
	for i, n := range counts {
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		total += n
		m.sample("_bucket", float64(total), append(slices.Clone(labels), "le", format(bound)))
	}
	m.sample("_sum", sum, labels)
	m.sample("_count", float64(total), labels)
}

func (m *Metrics) sample(suffix string, value float64, labels []string) {
	m.b.WriteString(m.name + suffix)
	for i := 0; i+1 < len(labels); i += 2 {
		m.b.WriteByte("{,"[min(i, 1)])
		m.b.WriteString(labels[i] + `="`)
		_, _ = labelEscapes.WriteString(&m.b, labels[i+1])
		m.b.WriteByte('"')
	}
	if len(labels) > 1 {
		m.b.WriteByte('}')
	}
	m.b.WriteByte(' ')
	m.b.WriteString(format(value))
	m.b.WriteByte('\n')
}

// One is a metric of one sample.
func (m *Metrics) One(name string, kind Kind, help string, value float64) {
	m.Family(name, kind, help)
	m.Sample(value)
}

// String is what was written so far.
func (m *Metrics) String() string { return m.b.String() }

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func format(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	case v == math.Trunc(v) && math.Abs(v) < 1<<63:
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Bool is 1 or 0.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
