package wire

import (
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/dbtest"
)

// asked describes the queries of one measurement.
type asked struct {
	url      string
	server   *dbtest.Server
	beside   []*dbtest.Server // further servers, with as many connections each and the same queries
	first    string           // statement that each connection runs once before; "": none
	sql      []string         // statements, used in turns
	prepared bool             // sql has one statement, which is prepared
	args     []string         // values of its parameter, chosen at random
	apart    bool             // each connection sends only one of sql
	conns    int              // connections to each server
	depth    int              // pipelined queries of one request
	rate     float64          // requests per second, by a client with processors of its own; 0: a closed loop
}

// length returns the duration of a measurement. At a fixed rate it is four times as
// long, so that one stall of the machine affects less than a hundredth of the
// requests.
func (a asked) length(c Config) time.Duration {
	if a.rate > 0 {
		return 4 * c.Length
	}
	return c.Length
}

// measure measures one sample.
func (a asked) measure(r *run) (s sample) {
	urls, servers := []string{a.url}, []*dbtest.Server{a.server}
	for _, other := range a.beside {
		urls, servers = append(urls, other.URL), append(servers, other)
	}
	if a.rate > 0 {
		together, err := machine.Apart(servers...)
		r.Must(err)
		defer together()
	}
	work := func(i int, link *load.Link) load.Work {
		if a.first != "" {
			_, err := link.Exec(r.Ctx, a.first)
			r.Must(err)
		}
		if a.prepared {
			r.Must(link.Prepare(r.Ctx, a.sql[0]))
		}
		return a.work(i, link)
	}
	r.With(a.conns*len(urls), func(i int) string { return urls[i%len(urls)] }, work, func(clients load.Clients) {
		var before, after machine.Usage
		result := r.Stage.Run(load.Config{Clients: clients, Warm: r.warm(), Length: a.length(r.Config), Rate: a.rate, Sample: func() {
			before, after = after, machine.UsageOf(servers...)
		}})
		micros := func(q float64) float64 { return float64(result.Latency.Quantile(q)) / 1e3 }
		s = sample{
			perSecond: result.PerSecond() * float64(a.depth),
			cpu:       float64(after.Sub(before).CPU) / 1e3 / float64(result.Operations*a.depth),
			p50:       micros(0.5), p99: micros(0.99),
		}
	})
	return s
}

// work returns the Work of the i-th client on its link.
func (a asked) work(i int, link *load.Link) load.Work {
	if len(a.args) > 0 {
		all := make(load.Pick, len(a.args))
		for i, value := range a.args {
			all[i] = load.AppendExecution(nil, value)
		}
		return all
	}
	if a.prepared {
		return &load.Repeat{Bytes: slices.Repeat(link.Execute(nil), a.depth), Answers: a.depth}
	}
	sql := a.sql
	if a.apart {
		sql = sql[i%len(sql):][:1]
	}
	var request []byte
	for i := range a.depth {
		request = link.Query(request, sql[i%len(sql)])
	}
	return &load.Repeat{Bytes: request, Answers: a.depth}
}
