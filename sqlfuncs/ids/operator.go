package ids

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// operatorTables are the tables for operators, such as nextid.generators.
var operatorTables = []engine.Table{
	operatorTable("generators", "every generator: definition, and how the running one stands", `
		name:text! kind:text! options:jsonb! version:int8! created_at:timestamptz! running:bool!
		issued:int8 reserved_until:int8 buffered:int8 step:int8 waits:int8 clock_back:int8
		ends:timestamptz days_left:int8 ids_per_second:int8
		last_error:text last_error_at:timestamptz wait_p50_ms:float8 wait_p99_ms:float8 errors:jsonb`, generatorRows),
	operatorTable("templates", "what the first use of a name makes that begins as the pattern does; the longest pattern counts",
		"pattern:text! kind:text! options:jsonb!", templateRows),
	detailTable("buffers", "segments that this server holds, as on Leaf's page: the next number, the end, and how many the whole one has",
		"name:text! buffer:int8! next:int8! max:int8! step:int8!"),
	detailTable("rings", "generators of kind ring that run here: how full they are, what they borrow, why they were padded", `
		name:text! capacity:int8! buffered:int8! threshold:int8! borrowed_seconds:float8!
		max_borrow_seconds:float8! padded_at_start:int8! padded_on_threshold:int8!
		padded_on_schedule:int8! padded_on_demand:int8! rejected_puts:int8! rejected_takes:int8!`),
	detailTable("databases", "databases that generators of kind ticket draw from here: which are down, since when and why", `
		generator:text! database:text! up:bool! since:timestamptz error:text
		answered_at:timestamptz draws:int8! errors:int8!`),
	operatorTable("workers", "worker ids: who reserved time on each, until when",
		"bits:int4! worker:int8! owner:text! reserved_until:timestamptz! updated_at:timestamptz!", workerRows),
	operatorTable("leases", "worker ids that libraries hold (lease_worker): who, since when, until when",
		"bits:int4! worker:int8! holder:text! not_before:timestamptz! until:timestamptz! renewed_at:timestamptz!", leaseRows),
	operatorTable("nodes", "the servers on this store: where they are, how they stand, how their clocks differ", `
		node:int4! state:text! this:bool! host:text! pid:int4! address:text! version:text!
		ready:bool! workers:text! issued:int8! per_second:int8! started_at:timestamptz!
		seen_at:timestamptz! expires_at:timestamptz! clock_ahead_ms:int8! store_ahead_ms:int8 store:text!`, nodeRows),
	operatorTable("feeds", "sequences of applications' databases that servers feed: their blocks, and what keeps them from moving, as this server sees it", `
		name:text! database:text! column_name:text! first:int8 last:int8 next:int8 left:int8 lasts_seconds:int8
		moved_at:timestamptz looked_at:timestamptz moves:int8! failures:int8! last_error:text last_error_at:timestamptz`, feedRows),
	operatorTable("voids", "numbers that void_id took out of use, who said so, why and when",
		"name:text! n:int8! why:text! usename:text! at:timestamptz!", voidRows),
	operatorTable("sessions", "connections of this server", `
		pid:int4! usename:text datname:text! application_name:text! client_addr:text
		protocol:text! started_at:timestamptz!`, sessionRows),
	operatorTable("settings", "the configuration of this server, for admins: each key, where its value comes from, and whether a change needs a restart", `
		name:text! value:text! default_value:text! source:text! needs_restart:bool! description:text!`, serverSettingRows),
	operatorTable("quotas", "how many ids users may draw and names may give, by pattern, and how many statements were refused here", `
		usename:text name:text ids:int8! per:interval! burst:int8! refused:int8!`, quotaRows),
	operatorTable("agents", "who drew ids with get_id from this server, and how many",
		"agent:text! ids:int8! last_at:timestamptz!", agentRows),
	operatorTable("audit", "one row: the audit trail of this server, and the calls of get_id with an invalid agent", `
		file:text invalid_agents:int8! sample:int8 queued:int8 written:int8 dropped:int8
		failed:int8 rotated:int8 bytes:int8 last_error:text last_error_at:timestamptz`, trailRows),
	operatorTable("layouts", "the layouts of time-based ids: what they hold and when their time ends", `
		name:text! fields:text! epoch:timestamptz unit:text ends:timestamptz days_left:int8
		workers:int8! ids_per_second:int8 capacity:numeric! note:text!`, layoutRows),
}

// operatorTable is a table in the schema nextid whose rows are computed when it is read.
func operatorTable(name, help, columns string, rows func(*engine.Exec) ([][]datum.Value, error)) engine.Table {
	return engine.Table{Schema: engine.NextidSchema, Name: name, Help: help, Columns: engine.ColumnList(columns), Scan: engine.FixedRows(rows)}
}

func generatorRows(x *engine.Exec) ([][]datum.Value, error) {
	var definitions []generator.Definition
	var err error
	if x.Host.Client().OwnOnly {
		definitions = x.Host.Registry().Open()
	} else {
		definitions, err = Registry(x).Definitions(x.Ctx)
	}
	rows := make([][]datum.Value, 0, len(definitions))
	for _, d := range definitions {
		if x.Host.Client().May(d.Name) != nil {
			continue
		}
		options, err := datum.ParseText(datum.JSONB, string(d.Options), nil)
		if err != nil {
			return nil, err
		}
		row := []datum.Value{
			datum.MakeText(d.Name), datum.MakeText(d.Kind), options, datum.MakeInt8(d.Version),
			datum.TimestampTZFromTime(d.Created),
		}
		row = append(row, runningColumns(x.Host.Registry(), d.Name)...)
		ends, left := datum.Null(datum.TimestampTZ), datum.Null(datum.Int8)
		if end := x.Host.Registry().Ends(d); !end.IsZero() {
			ends, left = datum.TimestampTZFromTime(end), datum.MakeInt8(daysUntil(x.Host.Now(), end))
		}
		rate := datum.Null(datum.Int8)
		if r := x.Host.Registry().Rate(d); r > 0 {
			rate = datum.MakeInt8(r)
		}
		row = append(row, ends, left, rate)
		rows = append(rows, append(row, troubleColumns(x.Host.Registry(), d.Name)...))
	}
	return rows, err
}

// runningColumns are the columns from running to clock_back.
func runningColumns(r *generator.Registry, name string) []datum.Value {
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

// troubleColumns returns the reason and the time of the last failed draw on this
// server.
func troubleColumns(r *generator.Registry, name string) []datum.Value {
	out := []datum.Value{
		datum.Null(datum.Text), datum.Null(datum.TimestampTZ), datum.Null(datum.Float8), datum.Null(datum.Float8), datum.Null(datum.JSONB),
	}
	e := r.Lookup([]byte(name))
	if e == nil {
		return out
	}
	if t := e.Trouble(); t != nil {
		text := t.Message
		if t.Reason != "" {
			text = string(t.Reason) + ": " + text
		}
		out[0], out[1] = datum.MakeText(text), datum.TimestampTZFromTime(t.At)
	}
	w := e.Waits()
	if w.P99 > 0 {
		out[2], out[3] = datum.MakeFloat8(float64(w.P50)/1e6), datum.MakeFloat8(float64(w.P99)/1e6)
	}
	if len(w.Failed) > 0 {
		codes := map[sqlstate.Code]int64{}
		for kind, n := range w.Failed {
			codes[StateOf(kind)] += n
		}
		text, _ := json.Marshal(codes) // numbers by texts
		out[4], _ = datum.ParseText(datum.JSONB, string(text), nil)
	}
	return out
}

// detailTable is a table whose rows the running generators of a kind offer; its
// first column is the generator's name.
func detailTable(name, help, columns string) engine.Table {
	list := engine.ColumnList(columns)
	return operatorTable(name, help, columns, func(x *engine.Exec) ([][]datum.Value, error) {
		var rows [][]datum.Value
		x.Host.Registry().Counted(func(c generator.Counted) bool {
			d, ok := c.Details()
			if !ok || d.Table != name || x.Host.Client().May(c.Name) != nil {
				return true
			}
			for _, r := range d.Rows {
				row := []datum.Value{datum.MakeText(c.Name)}
				for _, column := range list[1:] {
					row = append(row, detail(r.Value(column.Name), column.Type))
				}
				rows = append(rows, row)
			}
			return true
		})
		slices.SortStableFunc(rows, func(a, b []datum.Value) int { return cmp.Compare(a[0].Str, b[0].Str) })
		return rows, nil
	})
}

// detail is the value of a generator.Field.
func detail(value any, t datum.OID) datum.Value {
	switch v := value.(type) {
	case int64:
		return datum.MakeInt8(v)
	case float64:
		return datum.MakeFloat8(v)
	case bool:
		return datum.MakeBool(v)
	case string:
		return datum.MakeText(v)
	case time.Time:
		return timeOrNull(v)
	}
	return datum.Null(t)
}

func workerRows(x *engine.Exec) ([][]datum.Value, error) {
	var workers []generator.WorkerMark
	var err error
	if x.Host.Client().OwnOnly {
		_, workers = serverOf(x).Own()
	} else {
		workers, err = Registry(x).Workers(x.Ctx)
	}
	var rows [][]datum.Value
	for _, w := range workers {
		until := datum.Null(datum.TimestampTZ)
		if w.Hi != generator.NoLimit {
			until = datum.TimestampTZFromTime(time.UnixMilli(w.Hi))
		}
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(w.Bits)), datum.MakeInt8(w.ID), datum.MakeText(w.Owner), until, timeOrNull(w.Updated),
		})
	}
	return rows, err
}

func nodeRows(x *engine.Exec) ([][]datum.Value, error) {
	var nodes []generator.Node
	var err error
	if x.Host.Client().OwnOnly {
		self, _ := serverOf(x).Own()
		nodes = []generator.Node{self}
	} else {
		nodes, err = serverOf(x).Nodes(x.Ctx)
	}
	rows := make([][]datum.Value, 0, len(nodes))
	for _, n := range nodes {
		storeAhead := datum.Null(datum.Int8)
		if n.StoreAhead != nil {
			storeAhead = datum.MakeInt8(n.StoreAhead.Milliseconds())
		}
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(n.Number)), datum.MakeText(n.State), datum.MakeBool(n.Self), datum.MakeText(n.Host),
			datum.MakeInt4(int64(n.PID)), datum.MakeText(n.Address), datum.MakeText(n.Version), datum.MakeBool(n.Ready),
			datum.MakeText(n.Workers), datum.MakeInt8(n.Issued), datum.MakeInt8(int64(math.Round(n.Rate))),
			datum.TimestampTZFromTime(n.Started), datum.TimestampTZFromTime(n.Seen), datum.TimestampTZFromTime(n.Until),
			datum.MakeInt8(n.ClockAhead.Milliseconds()), storeAhead, datum.MakeText(n.Store),
		})
	}
	return rows, err
}

func sessionRows(x *engine.Exec) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, s := range x.Host.Sessions(x) {
		protocol := [...]string{"postgresql", "mysql"}[s.Dialect]
		user, addr := datum.Null(datum.Text), datum.Null(datum.Text)
		if x.Host.Client().Sees(&s) {
			user, addr = datum.MakeText(s.User), datum.MakeText(s.RemoteAddr)
		}
		rows = append(rows, []datum.Value{
			datum.MakeInt4(int64(s.PID)), user, datum.MakeText(s.Database), datum.MakeText(s.AppName), addr,
			datum.MakeText(protocol), datum.TimestampTZFromTime(s.Started),
		})
	}
	slices.SortFunc(rows, func(a, b []datum.Value) int { return cmp.Compare(a[0].Int, b[0].Int) })
	return rows, nil
}

func serverSettingRows(x *engine.Exec) ([][]datum.Value, error) {
	if !x.Host.Client().Admin {
		return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for table settings").
			WithHint("The configuration is for users with the word admin in the users file.")
	}
	var rows [][]datum.Value
	for _, s := range serverOf(x).Settings() {
		source := s.Source
		if source == "" {
			source = "default"
		}
		rows = append(rows, []datum.Value{
			datum.MakeText(s.Name), datum.MakeText(s.Value), datum.MakeText(s.Default), datum.MakeText(source),
			datum.MakeBool(s.Restart), datum.MakeText(s.Help),
		})
	}
	return rows, nil
}

func quotaRows(x *engine.Exec) ([][]datum.Value, error) {
	var rows [][]datum.Value
	orNull := func(pattern string) datum.Value {
		if pattern == "" {
			return datum.Null(datum.Text)
		}
		return datum.MakeText(pattern)
	}
	for _, q := range serverOf(x).Quotas() {
		per, err := datum.ParseText(datum.Interval, strconv.FormatFloat(q.Per.Seconds(), 'f', -1, 64)+" s", nil)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []datum.Value{
			orNull(q.User), orNull(q.Generator), datum.MakeInt8(q.IDs), per, datum.MakeInt8(q.Burst), datum.MakeInt8(q.Refused),
		})
	}
	return rows, nil
}

func layoutRows(x *engine.Exec) ([][]datum.Value, error) {
	var rows [][]datum.Value
	now := x.Host.Now()
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
