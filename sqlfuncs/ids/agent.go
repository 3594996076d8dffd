package ids

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/audit"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// Agents are the callers of get_id, the call of Twitter's Snowflake service. Their
// ids are counted and written to the audit trail. So are the draws from generators
// that the configuration audits.

const (
	// unknownAgent counts the ids of clients without a name, or with one that is
	// not an agent's.
	unknownAgent = "unknown"
	// otherAgents counts those of agents beyond maxAgents: clients can make up
	// as many names as they like (invariant 6).
	otherAgents = "(others)"
	maxAgents   = 1000
	// maxAgentBytes is the longest agent.
	maxAgentBytes = 128
)

// isAgent reports whether s is a letter and then letters, digits and "-", as
// Twitter's service wants it (IdWorker.scala, AgentParser).
func isAgent(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= maxAgentBytes
}

// agentCount counts the ids of one agent.
type agentCount struct {
	ids  atomic.Int64
	last atomic.Int64 // Unix µs
}

// agents counts by agent. Reading takes no lock.
type agents struct {
	refused atomic.Int64 // calls with an agent that is none
	known   atomic.Pointer[map[string]*agentCount]
	mu      sync.Mutex // to add one
}

func (a *agents) count(name string, now time.Time) {
	c := a.of(name)
	c.ids.Add(1)
	c.last.Store(now.UnixMicro())
}

func (a *agents) of(name string) *agentCount {
	if m := a.known.Load(); m != nil && (*m)[name] != nil {
		return (*m)[name]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[string]*agentCount{}
	if m := a.known.Load(); m != nil {
		known = *m
	}
	if c := known[name]; c != nil {
		return c
	}
	if len(known) >= maxAgents && name != otherAgents {
		name = otherAgents
		if c := known[name]; c != nil {
			return c
		}
	}
	more := maps.Clone(known)
	more[name] = &agentCount{}
	a.known.Store(&more)
	return more[name]
}

// Trail records ids; *audit.Trail implements it. It never blocks.
type Trail interface {
	Sampled() bool
	Record(e audit.Entry)
	Stats() audit.Stats
}

// recordAgent counts an id of get_id and writes it to the trail.
func recordAgent(x *engine.Exec, agent string, id int64) {
	serverOf(x).Agents.count(agent, x.Host.Now())
	record(x, audit.Entry{ID: strconv.FormatInt(id, 10), Agent: agent})
}

// recordDraw writes drawn ids to the trail if the generator is audited.
func recordDraw(x *engine.Exec, e *generator.Entry, r generator.Range) {
	if !e.Audited() {
		return
	}
	line := audit.Entry{Name: e.Name(), ID: strconv.FormatInt(r.First, 10)}
	if r.Count > 1 {
		line.Last, line.Count = strconv.FormatInt(r.Last(), 10), r.Count
	}
	record(x, line)
}

// recordCode is recordDraw of an id that is a text.
func recordCode(x *engine.Exec, e *generator.Entry, code string) {
	if e.Audited() {
		record(x, audit.Entry{Name: e.Name(), ID: code})
	}
}

func record(x *engine.Exec, e audit.Entry) {
	trail := serverOf(x).Trail
	if trail == nil || !trail.Sampled() {
		return
	}
	e.Time, e.User, e.Client = x.Host.Now(), x.Host.Client().User, x.Host.Client().RemoteAddr
	trail.Record(e)
}

func agentRows(x *engine.Exec) ([][]datum.Value, error) {
	known := serverOf(x).Agents.known.Load()
	if known == nil {
		return nil, nil
	}
	var rows [][]datum.Value
	for name, c := range *known {
		rows = append(rows, []datum.Value{
			datum.MakeText(name), datum.MakeInt8(c.ids.Load()), datum.TimestampTZFromTime(time.UnixMicro(c.last.Load())),
		})
	}
	slices.SortFunc(rows, func(a, b []datum.Value) int { return cmp.Compare(a[0].Str, b[0].Str) })
	return rows, nil
}

func trailRows(x *engine.Exec) ([][]datum.Value, error) {
	refused := datum.MakeInt8(serverOf(x).Agents.refused.Load())
	if serverOf(x).Trail == nil {
		row := []datum.Value{datum.Null(datum.Text), refused}
		for range 7 {
			row = append(row, datum.Null(datum.Int8))
		}
		return [][]datum.Value{append(row, datum.Null(datum.Text), datum.Null(datum.TimestampTZ))}, nil
	}
	s := serverOf(x).Trail.Stats()
	row := []datum.Value{datum.MakeText(s.File), refused}
	for _, n := range []int64{s.Sample, s.Queued, s.Written, s.Dropped, s.Failed, s.Rotated, s.Bytes} {
		row = append(row, datum.MakeInt8(n))
	}
	return [][]datum.Value{append(row, datum.TextOrNull(s.LastError), timeOrNull(s.LastErrorAt))}, nil
}

func timeOrNull(t time.Time) datum.Value {
	if t.IsZero() {
		return datum.Null(datum.TimestampTZ)
	}
	return datum.TimestampTZFromTime(t)
}

// AgentCount describes how many ids one agent drew.
type AgentCount struct {
	Agent string
	IDs   int64
}

// Counts returns the agents with their ids, and the number of calls with an invalid
// agent.
func (a *agents) Counts() (all []AgentCount, refused int64) {
	if known := a.known.Load(); known != nil {
		for name, c := range *known {
			all = append(all, AgentCount{name, c.ids.Load()})
		}
	}
	slices.SortFunc(all, func(a, b AgentCount) int { return cmp.Compare(a.Agent, b.Agent) })
	return all, a.refused.Load()
}
