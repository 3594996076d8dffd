package ids

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
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
	detailTable("rings", "generators of kind ring that run here: how full they are, what they borrow", `
		name:text! capacity:int8! buffered:int8! threshold:int8! borrowed_seconds:float8!
		max_borrow_seconds:float8!`),
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
		seen_at:timestamptz! expires_at:timestamptz! store_ahead_ms:int8 store:text!`, nodeRows),
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
func operatorTable(name, help, columns string, rows func(*engine.Exec) ([][]any, error)) engine.Table {
	list := engine.ColumnList(columns)
	return engine.Table{Schema: engine.NextidSchema, Name: name, Help: help, Columns: list, Scan: engine.FixedRows(list, rows)}
}

// orNull returns a text, NULL if it is empty.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func generatorRows(x *engine.Exec) (rows [][]any, err error) {
	known := x.Host.Registry()
	definitions := known.Open()
	if !x.Host.Client().OwnOnly {
		definitions, err = Registry(x).Definitions(x.Ctx)
	}
	for _, d := range definitions {
		if x.Host.Client().May(d.Name) != nil {
			continue
		}
		row := append(make([]any, 0, 20), d.Name, d.Kind, string(d.Options), d.Version, d.Created, false, nil, nil, nil, nil, nil, nil, nil, nil, nil)
		e := known.Lookup([]byte(d.Name))
		if e != nil && e.Running() != nil {
			row[5] = true
			if r, ok := e.Running().(generator.Reporter); ok {
				s := r.Stats()
				row = append(row[:6], s.Issued, s.ReservedUntil, s.Buffered, s.Step, s.Waits, s.ClockBack, nil, nil, nil)
			}
		}
		if s, ok := known.Shape(d); ok {
			row[12], row[13], row[14] = s.Ends, daysUntil(x.Host.Now(), s.Ends), s.Rate
		}
		if e != nil {
			row = append(row, troubles(e)...)
		}
		rows = append(rows, row)
	}
	return rows, err
}

// troubles returns the columns of nextid.generators about draws on this server that
// failed or waited.
func troubles(e *generator.Entry) []any {
	row := make([]any, 5)
	if t := e.Trouble(); t != nil {
		row[0], row[1] = t.Message, t.At
		if t.Reason != "" {
			row[0] = string(t.Reason) + ": " + t.Message
		}
	}
	w := e.Waits()
	if w.P99 > 0 {
		row[2], row[3] = float64(w.P50)/1e6, float64(w.P99)/1e6
	}
	if len(w.Failed) > 0 {
		codes := map[sqlstate.Code]int64{}
		for kind, n := range w.Failed {
			codes[StateOf(kind)] += n
		}
		text, _ := json.Marshal(codes) // numbers by texts
		row[4] = string(text)
	}
	return row
}

// detailTable is a table whose rows the running generators of a kind offer; its
// first column is the generator's name.
func detailTable(name, help, columns string) engine.Table {
	list := engine.ColumnList(columns)
	return operatorTable(name, help, columns, func(x *engine.Exec) ([][]any, error) {
		var rows [][]any
		x.Host.Registry().Counted(func(c generator.Counted) bool {
			d, ok := c.Details()
			if !ok || d.Table != name || x.Host.Client().May(c.Name) != nil {
				return true
			}
			for _, r := range d.Rows {
				row := []any{c.Name}
				for _, column := range list[1:] {
					row = append(row, r.Value(column.Name))
				}
				rows = append(rows, row)
			}
			return true
		})
		slices.SortStableFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
		return rows, nil
	})
}

func workerRows(x *engine.Exec) (rows [][]any, err error) {
	var workers []generator.WorkerMark
	if x.Host.Client().OwnOnly {
		_, workers = serverOf(x).Own()
	} else {
		workers, err = Registry(x).Workers(x.Ctx)
	}
	for _, w := range workers {
		row := []any{w.Bits, w.ID, w.Owner, nil, w.Updated}
		if w.Hi != generator.NoLimit {
			row[3] = time.UnixMilli(w.Hi)
		}
		rows = append(rows, row)
	}
	return rows, err
}

func nodeRows(x *engine.Exec) (rows [][]any, err error) {
	var nodes []generator.Node
	if x.Host.Client().OwnOnly {
		self, _ := serverOf(x).Own()
		nodes = []generator.Node{self}
	} else {
		nodes, err = serverOf(x).Nodes(x.Ctx)
	}
	for _, n := range nodes {
		row := []any{
			n.Number, n.State, n.Self, n.Host, n.PID, n.Address, n.Version, n.Ready, n.Workers, n.Issued, int64(math.Round(n.Rate)),
			n.Started, n.Seen, n.Until, nil, n.Store,
		}
		if n.StoreAhead != nil {
			row[14] = n.StoreAhead.Milliseconds()
		}
		rows = append(rows, row)
	}
	return rows, err
}

func sessionRows(x *engine.Exec) (rows [][]any, err error) {
	for _, s := range x.Host.Sessions(x) {
		protocol := [...]string{"postgresql", "mysql"}[s.Dialect]
		row := []any{int(s.PID), nil, s.Database, s.AppName, nil, protocol, s.Started}
		if x.Host.Client().Sees(&s) {
			row[1], row[4] = s.User, s.RemoteAddr
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func serverSettingRows(x *engine.Exec) (rows [][]any, err error) {
	if !x.Host.Client().Admin {
		return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for table settings").
			WithHint("The configuration is for users with the word admin in the users file.")
	}
	for _, s := range serverOf(x).Settings() {
		rows = append(rows, []any{s.Name, s.Value, s.Default, cmp.Or(s.Source, "default"), s.Restart, s.Help})
	}
	return rows, nil
}

func quotaRows(x *engine.Exec) (rows [][]any, err error) {
	for _, q := range serverOf(x).Quotas() {
		per := strconv.FormatFloat(q.Per.Seconds(), 'f', -1, 64) + " s"
		rows = append(rows, []any{orNull(q.User), orNull(q.Generator), q.IDs, per, q.Burst, q.Refused})
	}
	return rows, nil
}

func layoutRows(x *engine.Exec) (rows [][]any, err error) {
	for _, l := range layout.Presets() {
		row := []any{l.Name, l.FieldList(), nil, nil, nil, nil, l.Workers(), nil, strconv.FormatUint(l.Capacity(), 10), l.Note}
		if l.HasTime() {
			ends := l.Last()
			row[2], row[3], row[4], row[5] = l.TimeOf(0), l.Unit.String(), ends, daysUntil(x.Host.Now(), ends)
			row[7] = l.RatePerSecond()
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
