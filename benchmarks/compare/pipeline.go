package compare

import (
	"context"
	"fmt"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// A pipeline is statements that a client sends in one piece.
const (
	pipelineDepth   = 16
	pipelineClients = 8
)

// pipelined is what a server did with pipelines, a sample a round.
type pipelined struct {
	name          string
	ours          bool
	url           string
	sql           string // one %d makes texts that differ
	equal, differ []float64
	others        []float64
}

// pipelines are the servers that are asked for ids alone.
func (s *stage) pipelines() []*pipelined {
	all := []*pipelined{
		{name: "next_id snowflake", ours: true, url: s.nextid.URL, sql: "SELECT next_id('orders') AS id%d"},
		{name: "next_id segment", ours: true, url: s.nextid.URL, sql: "SELECT next_id('tickets') AS id%d"},
	}
	if pg := s.servers[postgres]; len(pg) > 0 {
		all = append(all, &pipelined{name: "sequence CACHE 1, PostgreSQL", url: pg[0].URL, sql: "SELECT nextval('pipelines') AS id%d"})
	}
	if s.redis != nil {
		all = append(all, &pipelined{name: "Redis INCR", url: s.redis.URL, sql: "INCRBY " + Schema + " %d"})
	}
	if s.floor != nil {
		all = append(all, &pipelined{name: "floor", url: s.floor.URL, sql: "SELECT next_id('orders') AS id%d"})
	}
	return all
}

// measurePipelines asks all of them in turns.
func (r *run) measurePipelines(ctx context.Context) error {
	if pg := r.stage.servers[postgres]; len(pg) > 0 {
		if err := r.stage.exec(ctx, pg[0].URL, "CREATE SEQUENCE pipelines CACHE 1"); err != nil {
			return err
		}
	}
	r.pipelined = r.stage.pipelines()
	for range r.Plan.Rounds {
		for _, p := range r.pipelined {
			r.Progress.Step(p.name)
			idle := rig.BusyNow()
			for _, texts := range []int{1, pipelineDepth} {
				perSecond, err := p.measure(ctx, texts, r.Plan.IDs)
				if err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				if texts == 1 {
					p.equal = append(p.equal, perSecond)
				} else {
					p.differ = append(p.differ, perSecond)
				}
			}
			if r.stage.own {
				p.others = append(p.others, rig.BusyNow().Others(idle))
			}
		}
	}
	return nil
}

// measure is ids a second from pipelines of that many different texts.
func (p *pipelined) measure(ctx context.Context, texts int, length time.Duration) (float64, error) {
	var clients []load.Client
	defer func() { closeAll(clients) }()
	for range pipelineClients {
		link, err := load.Dial(ctx, p.url)
		if err != nil {
			return 0, err
		}
		var request []byte
		for i := range pipelineDepth {
			request = link.Query(request, fmt.Sprintf(p.sql, 1+i%texts))
		}
		clients = append(clients, load.Client{Links: []*load.Link{link}, Work: &load.Repeat{Bytes: request, Answers: pipelineDepth}})
	}
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: length / 5, Length: length})
	return result.PerSecond() * pipelineDepth, err
}

func (r *run) pipelineSection() report.Section {
	t := report.Table{First: "ids from", Columns: []report.Column{
		{Name: "equal texts, ids/s", Better: "more"},
		{Name: "texts that differ, ids/s", Better: "more"},
		{Name: "ratio", Better: "more"},
		{Name: "others' cores"},
	}}
	chart := report.Chart{Title: "Pipelines", Unit: "ids a second", Better: "more", Panels: []report.Panel{{Title: "equal texts"}, {Title: "texts that differ"}}}
	floor := r.pipelined[len(r.pipelined)-1]
	for _, p := range r.pipelined {
		busy := report.Cell{}
		if len(p.others) > 0 {
			busy = report.Number(report.Median(p.others))
		}
		t.Rows = append(t.Rows, report.Row{Name: p.name, Ours: p.ours, Cells: []report.Cell{
			report.Number(p.equal...), report.Number(p.differ...), report.Ratio(p.differ, p.equal), busy,
		}})
		for i, samples := range [][]float64{p.equal, p.differ} {
			chart.Panels[i].Bars = append(chart.Panels[i].Bars, report.Bar{Name: p.name, Ours: p.ours}.Median(samples))
		}
		if r.stage.floor != nil && p != floor {
			r.notes.Floor("Pipelines", p.name, p.equal, floor.equal)
		}
	}
	return report.Section{
		Title: "Pipelines",
		Text: fmt.Sprintf("%d clients send %d statements for one id each in one piece, and read all answers before they send the next. Of equal texts a server "+
			"may keep what it made of the last one; texts that differ (in the name of their column, of Redis in the step) it has to tell apart. The floor reads "+
			"nothing of them.", pipelineClients, pipelineDepth),
		Table: t, Charts: []report.Chart{chart},
	}
}
