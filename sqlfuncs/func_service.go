package sqlfuncs

import (
	"encoding/json"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// serviceGenerator is the generator of get_id, made by its first use with
// Twitter's layout.
const serviceGenerator = "twitter"

// serviceFunctions are the calls of Twitter's Snowflake service
// (Snowflake.thrift, 2010).
var serviceFunctions = []function{
	{
		name: "get_id", schema: nextidSchema, args: []argument{{name: "agent", typ: datum.Text, optional: true}},
		result: datum.Int8, volatile: isVolatile,
		help: "one id of the generator twitter, counted for the agent: a letter, then letters, digits and -; without one, for the application_name",
		eval: getID,
	},
	{
		name: "get_worker_id", schema: nextidSchema, result: datum.Int8, volatile: isVolatile,
		help: "the worker id in the ids of get_id",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			_, worker, err := x.serviceWorker()
			return datum.MakeInt8(worker), err
		},
	},
	{
		name: "get_datacenter_id", schema: nextidSchema, result: datum.Int8, volatile: isVolatile,
		help: "the datacenter id in the ids of get_id",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			datacenter, _, err := x.serviceWorker()
			return datum.MakeInt8(datacenter), err
		},
	},
	{
		name: "get_timestamp", schema: nextidSchema, result: datum.Int8, volatile: isVolatile,
		help: "the clock of this server in Unix milliseconds",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(sessionOf(x).server.now().UnixMilli()), nil
		},
	},
}

func getID(x *exec, a []datum.Value) (datum.Value, error) {
	agent := unknownAgent
	if len(a) > 0 {
		if agent = a[0].Str; !isAgent(agent) {
			sessionOf(x).server.agents.refused.Add(1)
			return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "invalid agent %q", sqlstate.Cut(agent, 64)).
				WithHint("An agent is a letter, then letters, digits and -, at most %d characters.", maxAgentBytes)
		}
	} else if name := *sessionOf(x).appName.Load(); isAgent(name) {
		agent = name
	}
	e, err := x.serviceEntry()
	if err != nil {
		return datum.Value{}, err
	}
	id, err := x.nextID(e)
	if err != nil {
		return datum.Value{}, err
	}
	x.record(agent, id)
	return datum.MakeInt8(id), nil
}

// serviceEntry is the generator of get_id.
func (x *exec) serviceEntry() (*generator.Entry, error) {
	if err := sessionOf(x).may(serviceGenerator); err != nil {
		return nil, err
	}
	if e := sessionOf(x).server.registry.Lookup([]byte(serviceGenerator)); e != nil {
		return e, nil
	}
	return x.registry().GetAs(x.ctx, serviceGenerator, "snowflake", json.RawMessage(`{"layout":"twitter"}`))
}

// serviceWorker is the worker id that the ids of get_id carry now.
func (x *exec) serviceWorker() (datacenter, worker int64, err error) {
	e, err := x.serviceEntry()
	if err != nil {
		return 0, 0, err
	}
	gen, err := e.Generator(x.ctx)
	if err != nil {
		return 0, 0, err
	}
	s, ok := gen.(generator.Stamper)
	if !ok {
		return 0, 0, sqlstate.New(sqlstate.FeatureNotSupported, "ids of generator %q carry no worker id", serviceGenerator)
	}
	datacenter, worker = s.WorkerID()
	return datacenter, worker, nil
}
