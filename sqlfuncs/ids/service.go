package ids

import (
	"encoding/json"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// serviceFunctions are the calls of Twitter's Snowflake service
// (Snowflake.thrift, 2010).
var serviceFunctions = []engine.Function{
	drawing("get_id(agent text?) int8",
		"one id of the generator twitter, counted for the agent: a letter, then letters, digits and -; without one, for the application_name", getID),
	drawing("unique_rowid() int8", "one id of the generator unique_rowid, which has CockroachDB's layout", uniqueRowID),
	drawing("get_worker_id() int8", "the worker id in the ids of get_id", func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		_, worker, err := serviceWorker(x)
		return datum.MakeInt8(worker), err
	}),
	drawing("get_datacenter_id() int8", "the datacenter id in the ids of get_id", func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		datacenter, _, err := serviceWorker(x)
		return datum.MakeInt8(datacenter), err
	}),
	drawing("get_timestamp() int8", "the clock of this server in Unix milliseconds", func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.MakeInt8(x.Host.Now().UnixMilli()), nil
	}),
}

func getID(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	agent := unknownAgent
	if len(a) > 0 {
		if agent = a[0].Str; !isAgent(agent) {
			serverOf(x).Agents.refused.Add(1)
			return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "invalid agent %q", sqlstate.Cut(agent, 64)).
				WithHint("An agent is a letter, then letters, digits and -, at most %d characters.", maxAgentBytes)
		}
	} else if name := appName(x); isAgent(name) {
		agent = name
	}
	e, err := layoutEntry(x, "twitter", "twitter")
	if err != nil {
		return datum.Value{}, err
	}
	id, err := takeID(x, e)
	if err != nil {
		return datum.Value{}, err
	}
	recordAgent(x, agent, id)
	return datum.MakeInt8(id), nil
}

// appName is the application_name of the session.
func appName(x *engine.Exec) string {
	name, _ := x.Host.Settings().Get("application_name")
	return name
}

// layoutEntry is the generator of a name that a function of another system
// draws from. Its first use makes it with that system's layout.
func layoutEntry(x *engine.Exec, name, layout string) (*generator.Entry, error) {
	if err := x.Host.Client().May(name); err != nil {
		return nil, err
	}
	if e := x.Host.Registry().Lookup([]byte(name)); e != nil {
		return e, nil
	}
	return Registry(x).GetAs(x.Ctx, name, "snowflake", json.RawMessage(`{"layout":"`+layout+`"}`))
}

func uniqueRowID(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
	e, err := layoutEntry(x, "unique_rowid", "cockroach")
	if err != nil {
		return datum.Value{}, err
	}
	id, err := nextID(x, e)
	return datum.MakeInt8(id), err
}

// serviceWorker is the worker id that the ids of get_id carry now.
func serviceWorker(x *engine.Exec) (datacenter, worker int64, err error) {
	e, err := layoutEntry(x, "twitter", "twitter")
	if err != nil {
		return 0, 0, err
	}
	gen, err := e.Generator(x.Ctx)
	if err != nil {
		return 0, 0, err
	}
	s, ok := gen.(generator.WorkerIDHolder)
	if !ok {
		return 0, 0, sqlstate.New(sqlstate.FeatureNotSupported, "ids of generator %q carry no worker id", e.Name())
	}
	datacenter, worker = s.WorkerID()
	return datacenter, worker, nil
}
