package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// figures are what was measured of a contestant; one sample a round.
type figures struct {
	missing    error
	ids, rows  map[int][]float64 // a second, by number of clients
	cpu        []float64         // µs of all servers a row
	wire       float64           // bytes a row between the client and the servers
	behind     float64           // bytes a row between the table's server and nextid
	late       []float64         // share of rows, in percent
	duplicates int
	latency    load.Latency
	reached    float64            // rows a second at the fixed rate
	shared     []atShare          // latency at each of shares
	others     map[part][]float64 // processors that others used meanwhile, one sample a measurement
	growth     []growthPoint
}

// busy is how many processors others used while a part was measured.
func (f *figures) busy(of part) report.Cell {
	if len(f.others[of]) == 0 {
		return report.Cell{}
	}
	return report.Number(report.Median(f.others[of]))
}

// detailed is the number of clients at which a row's costs are looked at.
const detailed = 8

// clients opens links for n clients and gives each its work. One row of each
// is written first, so that no statement is planned and no connection opened
// during the measurement.
func (s *stage) clients(ctx context.Context, c *contestant, n int, work func(links []*load.Link) load.Work) ([]load.Client, error) {
	var clients []load.Client
	for i := range n {
		links, err := s.links(ctx, c, i)
		if err != nil {
			closeAll(clients)
			return nil, err
		}
		clients = append(clients, load.Client{Links: links, Work: work(links)})
	}
	if err := load.Once(ctx, clients); err != nil {
		closeAll(clients)
		return nil, err
	}
	return clients, nil
}

func closeAll(clients []load.Client) {
	for _, c := range clients {
		c.Close()
	}
}

// inserters are n clients that write rows.
func (s *stage) inserters(ctx context.Context, c *contestant, n int, j *journal) ([]load.Client, error) {
	var first uint64
	clients, err := s.clients(ctx, c, n, func(links []*load.Link) load.Work {
		first += 1 << 40
		return &inserter{c: c, journal: j, table: c.table, links: links, n: first}
	})
	if err != nil {
		return nil, err
	}
	*j = journal{keep: j.keep, ids: j.ids[:0]}
	return clients, nil
}

// prefill is how many rows each table has before it is measured, and how long
// writing them may take. While a table is small, InnoDB extends its file page
// by page and waits for the disk each time; that is not what is to be compared.
const (
	prefill      = 5000
	prefillLimit = time.Second
)

// prepare makes a contestant's table and writes its first rows.
func (s *stage) prepare(ctx context.Context, c *contestant) error {
	if err := s.create(ctx, c, c.table); err != nil {
		return err
	}
	g := grower{c: c, table: c.table}
	for i := range s.tables(c) {
		links, err := s.links(ctx, c, i)
		if err != nil {
			return err
		}
		for done, begin := 0, time.Now(); err == nil && done < prefill && time.Since(begin) < prefillLimit; done += statementRows {
			err = g.insert(ctx, links, uint64(done))
		}
		load.Client{Links: links}.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// measureIDs measures ids without rows.
func (s *stage) measureIDs(ctx context.Context, c *contestant, n int, length time.Duration, f *figures) error {
	if c.inApp != nil {
		f.ids[n] = append(f.ids[n], inProcess(c.inApp, length/10))
		return nil
	}
	if c.draw == "" && c.from == nil {
		return nil // ids come with rows only
	}
	clients, err := s.clients(ctx, c, n, c.drawer)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: length / 5, Length: length})
	if err != nil {
		return err
	}
	f.ids[n] = append(f.ids[n], result.PerSecond()*float64(c.idsPerDraw()))
	return nil
}

// measureFloor measures the server that answers everything with the same bytes.
func (r *run) measureFloor(ctx context.Context, n int) error {
	if r.stage.floor == nil || ctx.Err() != nil {
		return nil
	}
	var clients []load.Client
	defer func() { closeAll(clients) }()
	for range n {
		link, err := load.Dial(ctx, r.stage.floor.URL)
		if err != nil {
			return err
		}
		work := &load.Repeat{Bytes: link.Query(nil, snowflake(0).one), Answers: 1}
		clients = append(clients, load.Client{Links: []*load.Link{link}, Work: work})
	}
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: r.Plan.IDs / 5, Length: r.Plan.IDs})
	if err == nil {
		r.floor[n] = append(r.floor[n], result.PerSecond())
	}
	return err
}

// inProcess is how many ids a second one thread of the application makes.
func inProcess(draw func() load.ID, length time.Duration) float64 {
	n, begin := 0, time.Now()
	for time.Since(begin) < length {
		for range 100 {
			draw()
		}
		n += 100
	}
	return float64(n) / time.Since(begin).Seconds()
}

// measureRows measures rows as fast as the clients can.
func (s *stage) measureRows(ctx context.Context, c *contestant, n int, length time.Duration, f *figures) error {
	j := &journal{keep: true}
	clients, err := s.inserters(ctx, c, n, j)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	var before, after rig.Usage
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: length / 5, Length: length, Sample: func() {
		before, after = after, rig.UsageOf(s.processes(c)...)
	}})
	if err != nil {
		return err
	}
	if result.Operations == 0 {
		return errors.New("no row was written")
	}
	f.rows[n] = append(f.rows[n], result.PerSecond())
	f.duplicates += duplicates(j.ids)
	if n == detailed {
		if used := after.Sub(before).CPU; s.measurable(c) {
			f.cpu = append(f.cpu, float64(used)/1e3/float64(result.Operations))
		}
		f.wire = float64(result.Sent+result.Received) / float64(result.Operations)
		f.late = append(f.late, 100*float64(j.late)/float64(max(j.rows, 1)))
	}
	return nil
}

// measurable reports whether all processes are on this machine.
func (s *stage) measurable(c *contestant) bool {
	return !slices.ContainsFunc(s.processes(c), func(p *rig.Server) bool { return p.PID == 0 })
}

// duplicates counts the ids that came more than once.
func duplicates(ids []load.ID) int {
	slices.SortFunc(ids, load.ID.Compare)
	return len(ids) - len(slices.Compact(ids))
}

// measureLatency measures rows at a fixed rate.
func (s *stage) measureLatency(ctx context.Context, c *contestant, p Plan, f *figures) error {
	clients, err := s.inserters(ctx, c, p.LatencyClients, &journal{})
	if err != nil {
		return err
	}
	defer closeAll(clients)
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: p.Latency / 5, Length: p.Latency, Rate: p.Rate})
	if err != nil {
		return err
	}
	f.latency, f.reached = result.Latency, result.PerSecond()
	return nil
}

// shares are parts of what a contestant can do at which its latency is
// measured: a server is rarely asked for all, and near that the queue is all
// that one sees.
var shares = []float64{0.5, 0.8}

// atShare is what was found at a share.
type atShare struct {
	rate    float64 // asked for, rows a second
	reached float64
	latency load.Latency
}

// leastShareRows is how many rows a measurement at a share has, however slow the
// contestant was: fewer say nothing, and none may begin in a short time.
const leastShareRows = 10

// measureShare measures rows at a rate that is a share of what the contestant
// did with as many clients.
func (s *stage) measureShare(ctx context.Context, c *contestant, p Plan, share float64, f *figures) error {
	rate := share * report.Median(f.rows[p.Clients[len(p.Clients)-1]])
	clients, err := s.inserters(ctx, c, p.Clients[len(p.Clients)-1], &journal{})
	if err != nil {
		return err
	}
	defer closeAll(clients)
	length := max(p.Share, time.Duration(leastShareRows/rate*float64(time.Second)))
	result, err := load.Run(ctx, load.Config{Clients: clients, Warm: length / 5, Length: length, Rate: rate})
	if err != nil {
		return err
	}
	f.shared = append(f.shared, atShare{rate, result.PerSecond(), result.Latency})
	return nil
}

// measureBehind counts the bytes between the table's server and nextid, by
// sending them through a relay that counts.
func (s *stage) measureBehind(ctx context.Context, c *contestant, f *figures) error {
	target := s.nextid.URL
	if c.foreign == federated {
		target = s.nextid.MySQL
	}
	relay, err := rig.NewRelay(target)
	if err != nil {
		return err
	}
	defer relay.Close()
	if err := s.pointForeign(ctx, c.foreign, relay.URL); err != nil {
		return err
	}
	rows, err := s.rowsThroughRelay(ctx, c, relay, f)
	if back := s.pointForeign(context.WithoutCancel(ctx), c.foreign, target); err == nil {
		err = back
	}
	if err == nil && rows == 0 {
		err = errors.New("no row was written")
	}
	return err
}

func (s *stage) rowsThroughRelay(ctx context.Context, c *contestant, relay *rig.Relay, f *figures) (rows int, err error) {
	clients, err := s.inserters(ctx, c, 1, &journal{})
	if err != nil {
		return 0, err
	}
	defer closeAll(clients)
	before := relay.Bytes()
	for ; rows < 2*batch/10; rows++ {
		if err := load.Once(ctx, clients); err != nil {
			return rows, err
		}
	}
	f.behind = float64(relay.Bytes()-before) / float64(rows)
	if f.behind == 0 { // a batch serves many rows: what one row costs is a share of a batch
		for ; relay.Bytes() == before && rows < 3*batch; rows++ {
			if err := load.Once(ctx, clients); err != nil {
				return rows, err
			}
		}
		f.behind = float64(relay.Bytes()-before) / batch
	}
	return rows, nil
}

// pointForeign lets the first server ask nextid at another address.
func (s *stage) pointForeign(ctx context.Context, way foreignWay, target string) error {
	if way == federated {
		return s.federate(ctx, target)
	}
	if err := s.migrateForeign(ctx, s.servers[postgres][0].URL, target); err != nil {
		return fmt.Errorf("point postgres_fdw elsewhere: %w", err)
	}
	return nil
}
