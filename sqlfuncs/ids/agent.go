package ids

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/audit"
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

// agents counts by agent.
type agents struct {
	refused atomic.Int64 // calls with an agent that is none
	known   sync.Map     // of *agentCount
	names   atomic.Int64 // in known
}

func (a *agents) count(name string, now time.Time) {
	c, ok := a.known.Load(name)
	if !ok && a.names.Load() >= maxAgents {
		name = otherAgents
	}
	if !ok {
		if c, ok = a.known.LoadOrStore(name, &agentCount{}); !ok {
			a.names.Add(1)
		}
	}
	c.(*agentCount).ids.Add(1)
	c.(*agentCount).last.Store(now.UnixMicro())
}

// AgentCount describes how many ids one agent drew.
type AgentCount struct {
	Agent string
	IDs   int64
	Last  time.Time
}

// Counts returns the agents with their ids, and the number of calls with an invalid
// agent.
func (a *agents) Counts() (list []AgentCount, refused int64) {
	a.known.Range(func(name, c any) bool {
		n := c.(*agentCount)
		list = append(list, AgentCount{name.(string), n.ids.Load(), time.UnixMicro(n.last.Load())})
		return true
	})
	slices.SortFunc(list, func(a, b AgentCount) int { return strings.Compare(a.Agent, b.Agent) })
	return list, a.refused.Load()
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

func agentRows(x *engine.Exec) (rows [][]any, err error) {
	list, _ := serverOf(x).Agents.Counts()
	for _, a := range list {
		rows = append(rows, []any{a.Agent, a.IDs, a.Last})
	}
	return rows, nil
}

func trailRows(x *engine.Exec) ([][]any, error) {
	refused := serverOf(x).Agents.refused.Load()
	if serverOf(x).Trail == nil {
		return [][]any{{nil, refused}}, nil
	}
	s := serverOf(x).Trail.Stats()
	return [][]any{{s.File, refused, s.Sample, s.Queued, s.Written, s.Dropped, s.Failed, s.Rotated, s.Bytes, orNull(s.LastError), s.LastErrorAt}}, nil
}
