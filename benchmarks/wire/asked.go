package wire

import (
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/dbtest"
)

// asked holds what clients ask of a server in one measurement.
type asked struct {
	url      string
	server   *dbtest.Server
	beside   []*dbtest.Server // asked the same, each by as many connections
	first    string           // asked once by each connection, before
	sql      []string         // in turns
	prepared bool             // the only one of sql is
	args     []string         // of its parameter, at random
	apart    bool             // each of sql has connections of its own
	conns    int
	depth    int     // queries sent in one piece
	rate     float64 // queries a second, by a client with processors of its own; 0: as fast as answers come
}

// length returns how long a measurement is. At a fixed rate it is longer: one stall of
// the machine must not be a hundredth of it.
func (a asked) length(c Config) time.Duration {
	if a.rate > 0 {
		return 4 * c.Length
	}
	return c.Length
}

// measure asks for one sample.
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

// work does what the i-th client does on its link.
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
