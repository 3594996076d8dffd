package compare

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"nextid/benchmarks/load"
)

// figures holds the measurements of a contestant. Slices have one sample per round.
type figures struct {
	missing   error             // why the contestant is not measured any more
	ids, rows map[int][]float64 // per second, by number of clients
	cpu       []float64         // µs of all servers per row
	wire      float64           // bytes per row between the client and the servers
	late      []float64         // percentage of rows with an id out of order, see journal
	written   []load.ID         // ids of the rows of all rounds
	latency   load.Latency
	reached   float64 // rows per second in the measurement of latency
	outage    *outage // nil: not measured
}

// detailed is the number of clients at which CPU, bytes and order are measured.
const detailed = 8

// loop measures n clients, after a warm-up of a fifth of the length.
func (r *run) loop(n int, open func(i int, client *load.Client), config load.Config) load.Result {
	config.Warm = config.Length / 5
	return r.Run(n, open, config)
}

// prefill is the number of rows in each table before it is measured, and
// statementRows that of one INSERT. prefillLimit bounds the time to write them. InnoDB extends the file of a small
// table page by page, and waits for the disk each time. These waits must not be
// measured.
const (
	prefill       = 5000
	statementRows = 500
	prefillLimit  = time.Second
)

// prepare makes a contestant's table and writes the rows of prefill.
func (r *run) prepare(c *contestant) {
	r.create(c)
	if c.fed {
		r.feed(c)
	}
	r.With(len(c.on), r.inserting(c, statementRows, &journal{}), func(clients []load.Client) {
		for _, client := range clients {
			begin := time.Now()
			for rows := 0; rows < prefill && time.Since(begin) < prefillLimit; rows += statementRows {
				r.Must(client.Once(r.Ctx))
			}
		}
	})
}

// measureIDs measures ids without rows.
func (r *run) measureIDs(c *contestant, n int) {
	switch {
	case c.inApp != nil:
		c.ids[n] = append(c.ids[n], inProcess(c.inApp, r.plan.IDs/10))
	case c.draw != "" || c.from != nil: // else the source gives ids with rows only
		result := r.loop(n, func(i int, client *load.Client) {
			r.dial(c, i, client)
			client.Work = c.drawer(client.Links)
		}, load.Config{Length: r.plan.IDs})
		c.ids[n] = append(c.ids[n], result.PerSecond()*float64(c.idsPerDraw()))
	}
}

// inProcess returns the ids per second that one thread of the application makes.
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

// measureFloor measures the server that answers every query with the same bytes.
func (r *run) measureFloor(n int) {
	result := r.loop(n, func(_ int, client *load.Client) {
		client.Work = load.Repeat{{Bytes: r.Dial(client, r.bottom.URL).Query(nil, snowflake(0).one), Answers: 1}}
	}, load.Config{Length: r.plan.IDs})
	r.floor[n] = append(r.floor[n], result.PerSecond())
}

// measureRows measures rows in a closed loop.
func (r *run) measureRows(c *contestant, n int) {
	j := &journal{}
	result := r.loop(n, r.inserting(c, 1, j), load.Config{Length: r.plan.Rows, Servers: c.processes})
	c.rows[n] = append(c.rows[n], result.PerSecond())
	c.written = append(c.written, j.ids...)
	if n == detailed {
		c.cpu = append(c.cpu, result.Micros())
		c.wire = float64(result.Traffic) / float64(result.Ended)
		c.late = append(c.late, 100*float64(j.late)/float64(max(j.rows, 1)))
	}
}

// duplicates returns how many ids are repetitions of others. It sorts ids.
func duplicates(ids []load.ID) int {
	slices.SortFunc(ids, load.ID.Compare)
	return len(ids) - len(slices.Compact(slices.Clone(ids)))
}

// measureLatency measures the latency of rows at a fixed rate, equal for all
// contestants.
func (r *run) measureLatency(c *contestant) {
	result := r.loop(r.plan.LatencyClients, r.inserting(c, 1, &journal{}), load.Config{Length: r.plan.Latency, Rate: r.plan.Rate})
	c.reached, c.latency = result.PerSecond(), result.Latency
}

// note is the text in each row.
const note = "two items, to be delivered on Tuesday between nine and twelve"

// journal collects the ids of all clients of a measurement, in the order of the
// answers.
type journal struct {
	rows     int
	greatest load.ID   // of the rows that were acknowledged
	late     int       // ids below one that was acknowledged before their own statement began
	ids      []load.ID // of the acknowledged rows
}

// ack records a row. since was the greatest acknowledged id when its statement
// began.
func (j *journal) ack(id, since load.ID) {
	j.rows++
	if id.Compare(since) < 0 {
		j.late++
	}
	if id.Compare(j.greatest) > 0 {
		j.greatest = id
	}
	j.ids = append(j.ids, id)
}

// inserter is the load.Work of a client that inserts rows. An operation is one
// INSERT, after a draw if needed. links are those to the table's server and, if the
// contestant has one, to the source of ids.
type inserter struct {
	c       *contestant
	journal *journal
	links   []*load.Link
	rows    int    // rows of a statement
	n       uint64 // number of the next row, from which its content is computed

	since   load.ID   // greatest id when the operation began
	drawing bool      // waiting for ids
	stock   []load.ID // drawn, not yet used
	id      load.ID   // of the last row
	sql     []byte
	request []byte
	draw    load.Step // draws ids, if the contestant has a source
}

// Begin implements load.Work.
func (w *inserter) Begin() load.Step {
	w.since = w.journal.greatest
	return w.next()
}

// next returns a step that draws ids if the stock is too small for a statement, else
// the INSERT.
func (w *inserter) next() load.Step {
	if w.c.from != nil && len(w.stock) < w.rows {
		w.drawing = true
		if w.draw.Bytes == nil {
			w.draw = w.c.from.draw(w.links[1], w.rows)
		}
		return w.draw
	}
	for w.c.inApp != nil && len(w.stock) < w.rows {
		w.stock = append(w.stock, w.c.inApp())
	}
	return w.insert()
}

// Then implements load.Work. The ids are those of a draw, or that of an inserted
// row.
func (w *inserter) Then(ids []load.ID) (load.Step, bool) {
	if w.drawing {
		w.drawing = false
		if len(ids) == 0 {
			ids = []load.ID{{}} // a second such row fails with a duplicate key
		}
		w.stock = append(w.stock, ids...)
		return w.next(), true
	}
	if w.c.generated() && len(ids) > 0 {
		w.id = ids[0]
	}
	w.journal.ack(w.id, w.since)
	return load.Step{}, false
}

// insert returns the step of an INSERT, which uses up ids of the stock.
func (w *inserter) insert() load.Step {
	made := w.c.generated()
	w.sql = fmt.Appendf(w.sql[:0], "INSERT INTO %s (%scustomer, note) VALUES ", w.c.table, map[bool]string{false: "id, "}[made])
	for i := range w.rows {
		w.sql = append(w.sql, '(')
		switch {
		case w.c.inApp != nil:
			w.sql = fmt.Appendf(w.sql, "'%016x%016x',", w.stock[i].Hi, w.stock[i].Lo)
		case !made:
			w.sql = fmt.Appendf(w.sql, "%d,", w.stock[i].Lo)
		}
		w.sql = fmt.Appendf(w.sql, "%d,'"+note+"'),", w.n*0x9e3779b97f4a7c15>>44) // pseudo-random, 20 bits
		w.n++
	}
	w.sql = w.sql[:len(w.sql)-1]
	if !made {
		w.id = w.stock[w.rows-1]
		w.stock = w.stock[w.rows:]
	} else if w.rows == 1 && (w.c.engine == postgres || w.c.foreign || w.c.fed) {
		w.sql = append(w.sql, " RETURNING id"...)
	}
	w.request = w.links[0].Query(w.request[:0], string(w.sql))
	return load.Step{Bytes: w.request, Answers: 1}
}

// drawer returns a load.Work whose operation is one draw, of a batch if the
// contestant draws batches.
func (c *contestant) drawer(links []*load.Link) load.Work {
	if c.from != nil {
		return load.Repeat{c.from.draw(links[1], 1)}
	}
	return load.Repeat{{Bytes: links[0].Query(nil, fill(c.draw, c.table, 0, 1)), Answers: 1}}
}

// idsPerDraw returns the number of ids that one operation of drawer draws.
func (c *contestant) idsPerDraw() int {
	if c.from != nil {
		return c.from.ids()
	}
	return 1
}

// newUUIDv7 returns a UUID of version 7.
func newUUIDv7() load.ID {
	id := uuid.Must(uuid.NewV7())
	return load.ID{Hi: binary.BigEndian.Uint64(id[:8]), Lo: binary.BigEndian.Uint64(id[8:])}
}
