package sqlfuncs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/sqlfuncs/datum"
)

// operatorTables are what an operator asks: SELECT * FROM nextid.generators.
var operatorTables = []table{
	{
		schema: nextidSchema, name: "generators", help: "every generator: definition, and how the running one stands",
		columns: []tableColumn{
			{name: "name", typ: datum.Text},
			{name: "kind", typ: datum.Text},
			{name: "options", typ: datum.JSONB},
			{name: "version", typ: datum.Int8},
			{name: "created_at", typ: datum.TimestampTZ},
			{name: "running", typ: datum.Bool},
			{name: "issued", typ: datum.Int8, null: true},
			{name: "reserved_until", typ: datum.Int8, null: true},
			{name: "buffered", typ: datum.Int8, null: true},
			{name: "step", typ: datum.Int8, null: true},
			{name: "waits", typ: datum.Int8, null: true},
			{name: "clock_back", typ: datum.Int8, null: true},
			{name: "ends", typ: datum.TimestampTZ, null: true},
			{name: "days_left", typ: datum.Int8, null: true},
		}, scan: fixedRows(generatorRows),
	},
	{
		schema: nextidSchema, name: "rings", help: "generators of kind ring that run here: how full they are, what they borrow, why they were padded",
		columns: []tableColumn{
			{name: "name", typ: datum.Text},
			{name: "capacity", typ: datum.Int8},
			{name: "buffered", typ: datum.Int8},
			{name: "threshold", typ: datum.Int8},
			{name: "borrowed_seconds", typ: datum.Float8},
			{name: "max_borrow_seconds", typ: datum.Float8},
			{name: "padded_at_start", typ: datum.Int8},
			{name: "padded_on_threshold", typ: datum.Int8},
			{name: "padded_on_schedule", typ: datum.Int8},
			{name: "padded_on_demand", typ: datum.Int8},
			{name: "rejected_puts", typ: datum.Int8},
			{name: "rejected_takes", typ: datum.Int8},
		}, scan: fixedRows(ringRows),
	},
	{
		schema: nextidSchema, name: "workers", help: "worker ids: who reserved time on each, until when",
		columns: []tableColumn{
			{name: "bits", typ: datum.Int4},
			{name: "worker", typ: datum.Int8},
			{name: "owner", typ: datum.Text},
			{name: "reserved_until", typ: datum.TimestampTZ},
			{name: "updated_at", typ: datum.TimestampTZ},
		}, scan: fixedRows(workerRows),
	},
	{
		schema: nextidSchema, name: "nodes", help: "the servers on this store: where they are, how they stand, how their clocks differ",
		columns: []tableColumn{
			{name: "node", typ: datum.Int4},
			{name: "state", typ: datum.Text},
			{name: "this", typ: datum.Bool},
			{name: "host", typ: datum.Text},
			{name: "pid", typ: datum.Int4},
			{name: "address", typ: datum.Text},
			{name: "version", typ: datum.Text},
			{name: "ready", typ: datum.Bool},
			{name: "workers", typ: datum.Text},
			{name: "issued", typ: datum.Int8},
			{name: "per_second", typ: datum.Int8},
			{name: "started_at", typ: datum.TimestampTZ},
			{name: "seen_at", typ: datum.TimestampTZ},
			{name: "expires_at", typ: datum.TimestampTZ},
			{name: "clock_ahead_ms", typ: datum.Int8},
		}, scan: fixedRows(nodeRows),
	},
	{
		schema: nextidSchema, name: "sessions", help: "connections of this server",
		columns: []tableColumn{
			{name: "pid", typ: datum.Int4},
			{name: "usename", typ: datum.Text},
			{name: "datname", typ: datum.Text},
			{name: "application_name", typ: datum.Text},
			{name: "client_addr", typ: datum.Text},
			{name: "protocol", typ: datum.Text},
			{name: "started_at", typ: datum.TimestampTZ},
		}, scan: fixedRows(sessionRows),
	},
	{
		schema: nextidSchema, name: "agents", help: "who drew ids with get_id from this server, and how many",
		columns: []tableColumn{
			{name: "agent", typ: datum.Text},
			{name: "ids", typ: datum.Int8},
			{name: "last_at", typ: datum.TimestampTZ},
		}, scan: fixedRows(agentRows),
	},
	{
		schema: nextidSchema, name: "audit", help: "one row: the audit trail of get_id on this server, and the calls with an invalid agent",
		columns: []tableColumn{
			{name: "file", typ: datum.Text, null: true},
			{name: "invalid_agents", typ: datum.Int8},
			{name: "sample", typ: datum.Int8, null: true},
			{name: "queued", typ: datum.Int8, null: true},
			{name: "written", typ: datum.Int8, null: true},
			{name: "dropped", typ: datum.Int8, null: true},
			{name: "failed", typ: datum.Int8, null: true},
			{name: "rotated", typ: datum.Int8, null: true},
		}, scan: fixedRows(trailRows),
	},
	{
		schema: nextidSchema, name: "layouts", help: "the layouts of time-based ids: what they hold and when their time ends",
		columns: []tableColumn{
			{name: "name", typ: datum.Text},
			{name: "fields", typ: datum.Text},
			{name: "epoch", typ: datum.TimestampTZ, null: true},
			{name: "unit", typ: datum.Text, null: true},
			{name: "ends", typ: datum.TimestampTZ, null: true},
			{name: "days_left", typ: datum.Int8, null: true},
			{name: "workers", typ: datum.Int8},
			{name: "ids_per_second", typ: datum.Int8, null: true}, // of one worker
			{name: "capacity", typ: datum.Numeric},
			{name: "note", typ: datum.Text},
		}, scan: fixedRows(layoutRows),
	},
}

func generatorRows(x *exec) ([][]datum.Value, error) {
	definitions, err := x.registry().Definitions(x.ctx)
	rows := make([][]datum.Value, 0, len(definitions))
	for _, d := range definitions {
		options, err := datum.ParseText(datum.JSONB, string(d.Options), nil)
		if err != nil {
			return nil, err
		}
		row := []datum.Value{
			datum.MakeText(d.Name), datum.MakeText(d.Kind), options, datum.MakeInt8(d.Version),
			datum.TimestampTZFromTime(d.Created),
		}
		row = append(row, runningColumns(x.ctx, x.server.registry, d.Name)...)
		ends, left := datum.Null(datum.TimestampTZ), datum.Null(datum.Int8)
		if end := x.server.registry.Ends(d); !end.IsZero() {
			ends, left = datum.TimestampTZFromTime(end), datum.MakeInt8(daysUntil(x.server.now(), end))
		}
		rows = append(rows, append(row, ends, left))
	}
	return rows, err
}

func runningColumns(_ context.Context, r *generator.Registry, name string) []datum.Value {
	out := []datum.Value{datum.MakeBool(false)}
	for range 6 {
		out = append(out, datum.Null(datum.Int8))
	}
	e := r.Lookup([]byte(name))
	if e == nil || e.Running() == nil {
		return out
	}
	out[0] = datum.MakeBool(true)
	if rep, ok := e.Running().(generator.Reporter); ok {
		s := rep.Stats()
		for i, v := range []int64{s.Issued, s.ReservedUntil, s.Buffered, s.Step, s.Waits, s.ClockBack} {
			out[i+1] = datum.MakeInt8(v)
		}
	}
	return out
}

func ringRows(x *exec) ([][]datum.Value, error) {
	definitions, err := x.registry().Definitions(x.ctx)
	var rows [][]datum.Value
	for _, d := range definitions {
		e := x.server.registry.Lookup([]byte(d.Name))
		if e == nil {
			continue
		}
		gen := e.Running()
		if w, ok := gen.(interface{ Unwrap() generator.Generator }); ok {
			gen = w.Unwrap()
		}
		rep, ok := gen.(generator.RingReporter)
		if !ok {
			continue
		}
		s := rep.RingStats()
		row := []datum.Value{
			datum.MakeText(d.Name), datum.MakeInt8(s.Capacity), datum.MakeInt8(s.Buffered), datum.MakeInt8(s.Threshold),
			makeFloat(s.Borrowed.Seconds()), makeFloat(s.MaxBorrow.Seconds()),
		}
		for _, n := range []int64{
			s.PaddedAtStart, s.PaddedOnThreshold, s.PaddedOnSchedule, s.PaddedOnDemand, s.RejectedPuts, s.RejectedTakes,
		} {
			row = append(row, datum.MakeInt8(n))
		}
		rows = append(rows, row)
	}
	return rows, err
}

func workerRows(x *exec) ([][]datum.Value, error) {
	workers, err := x.registry().Workers(x.ctx)
	var rows [][]datum.Value
	for _, w := range workers {
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(w.Bits)), datum.MakeInt8(w.ID), datum.MakeText(w.Owner),
			datum.TimestampTZFromTime(time.UnixMilli(w.Hi)), datum.TimestampTZFromTime(w.Updated),
		})
	}
	return rows, err
}

func nodeRows(x *exec) ([][]datum.Value, error) {
	nodes, err := x.server.nodes(x.ctx)
	rows := make([][]datum.Value, 0, len(nodes))
	for _, n := range nodes {
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(n.Number)), datum.MakeText(n.State), datum.MakeBool(n.Self), datum.MakeText(n.Host),
			datum.MakeInt4(int64(n.PID)), datum.MakeText(n.Address), datum.MakeText(n.Version), datum.MakeBool(n.Ready),
			datum.MakeText(n.Workers), datum.MakeInt8(n.Issued), datum.MakeInt8(int64(math.Round(n.Rate))),
			datum.TimestampTZFromTime(n.Started), datum.TimestampTZFromTime(n.Seen), datum.TimestampTZFromTime(n.Until),
			datum.MakeInt8(n.ClockAhead.Milliseconds()),
		})
	}
	return rows, err
}

func sessionRows(x *exec) ([][]datum.Value, error) {
	x.server.sessions.mu.Lock()
	defer x.server.sessions.mu.Unlock()
	var rows [][]datum.Value
	for s := range x.server.sessions.all {
		protocol := [...]string{"postgresql", "mysql"}[s.dialect]
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(s.options.PID)), datum.MakeText(s.options.User),
			datum.MakeText(s.options.Database), datum.MakeText(*s.appName.Load()), datum.MakeText(s.options.RemoteAddr),
			datum.MakeText(protocol), datum.TimestampTZFromTime(s.started),
		})
	}
	slices.SortFunc(rows, func(a, b []datum.Value) int { return cmp.Compare(a[0].Int, b[0].Int) })
	return rows, nil
}

func layoutRows(x *exec) ([][]datum.Value, error) {
	var rows [][]datum.Value
	now := x.server.now()
	for _, l := range layout.Presets() {
		capacity, err := datum.ParseText(datum.Numeric, strconv.FormatUint(l.Capacity(), 10), nil)
		if err != nil {
			return nil, err
		}
		row := []datum.Value{
			datum.MakeText(l.Name), datum.MakeText(l.FieldList()),
			datum.Null(datum.TimestampTZ), datum.Null(datum.Text), datum.Null(datum.TimestampTZ), datum.Null(datum.Int8),
			datum.MakeInt8(l.Workers()), datum.Null(datum.Int8), capacity, datum.MakeText(l.Note),
		}
		if l.HasTime() {
			ends := l.Last()
			row[2], row[3] = datum.TimestampTZFromTime(l.TimeOf(0)), datum.MakeText(l.Unit.String())
			row[4], row[5] = datum.TimestampTZFromTime(ends), datum.MakeInt8(daysUntil(now, ends))
			row[7] = datum.MakeInt8(l.RatePerSecond())
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// daysUntil counts whole days, less than zero when the time is over.
func daysUntil(now, then time.Time) int64 {
	const day = 24 * 60 * 60
	return (then.Unix() - now.Unix()) / day
}
