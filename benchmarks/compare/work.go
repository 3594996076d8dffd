package compare

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"nextid/benchmarks/load"
)

// note is the text in each row.
const note = "two items, to be delivered on Tuesday between nine and twelve"

// journal collects the ids of all clients of a measurement, in the order of the
// answers.
type journal struct {
	rows     int
	greatest load.ID // of the rows that were acknowledged
	late     int     // ids below one that was acknowledged before their own statement began
	keep     bool
	ids      []load.ID // of the acknowledged rows, when keep is set
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
	if j.keep {
		j.ids = append(j.ids, id)
	}
}

// inserter is the load.Work of a client that inserts rows. An operation is one
// INSERT, after a draw if needed. links are those to the table's server and, if the
// contestant has one, to the source of ids.
type inserter struct {
	c       *contestant
	journal *journal
	table   string
	links   []*load.Link
	rows    int    // rows of a statement
	n       uint64 // number of the next row, from which its content is computed

	since   load.ID   // greatest id when the operation began
	drawing bool      // waiting for ids
	stock   []load.ID // drawn, not yet used
	id      load.ID   // of the last row
	sql     []byte
	request []byte
	draw    []byte // the request for ids
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
		if w.draw == nil {
			w.draw = w.links[1].Query(nil, w.c.from.statement(w.rows))
		}
		return load.Step{Link: 1, Bytes: w.draw, Answers: 1}
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
		switch {
		case len(ids) == 0:
			w.stock = append(w.stock, load.ID{}) // a second such row fails with a duplicate key
		case w.c.from.run && w.rows > 1:
			for i := range uint64(w.rows) {
				w.stock = append(w.stock, load.ID{Lo: ids[0].Lo - uint64(w.rows) + 1 + i})
			}
		default:
			w.stock = append(w.stock, ids...)
		}
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
	columns := " (id, customer, note) VALUES "
	if w.c.generated() {
		columns = " (customer, note) VALUES "
	}
	w.sql = append(append(append(w.sql[:0], "INSERT INTO "...), w.table...), columns...)
	for i := range w.rows {
		if i > 0 {
			w.sql = append(w.sql, ',')
		}
		w.sql = append(w.sql, '(')
		switch {
		case w.c.inApp != nil:
			w.sql = fmt.Appendf(w.sql, "'%016x%016x',", w.stock[i].Hi, w.stock[i].Lo)
		case !w.c.generated():
			w.sql = append(strconv.AppendUint(w.sql, w.stock[i].Lo, 10), ',')
		}
		customer := (w.n + uint64(i)) * 0x9e3779b97f4a7c15 >> 44 // pseudo-random, 20 bits
		w.sql = append(strconv.AppendUint(w.sql, customer, 10), ",'"+note+"')"...)
	}
	if !w.c.generated() {
		w.id = w.stock[w.rows-1]
		w.stock = w.stock[w.rows:]
	} else if w.rows == 1 && (w.c.engine == postgres || w.c.foreign == federated || w.c.fed) {
		w.sql = append(w.sql, " RETURNING id"...)
	}
	w.n += uint64(w.rows)
	w.request = w.links[0].Query(w.request[:0], string(w.sql))
	return load.Step{Link: 0, Bytes: w.request, Answers: 1}
}

// statement returns the statement that draws the ids for an INSERT of rows.
func (s *source) statement(rows int) string {
	if rows == 1 {
		rows = s.batch
	}
	if rows > 0 && s.several != "" {
		return fmt.Sprintf(s.several, rows)
	}
	return s.one
}

// drawer returns a load.Work whose operation is one draw, of a batch if the
// contestant draws batches.
func (c *contestant) drawer(links []*load.Link) load.Work {
	at, sql := 0, fill(c.draw, c.table, 0, 1)
	if c.from != nil {
		at, sql = 1, c.from.statement(1)
	}
	return load.Repeat{{Link: at, Bytes: links[at].Query(nil, sql), Answers: 1}}
}

// idsPerDraw returns the number of ids that one operation of drawer draws.
func (c *contestant) idsPerDraw() int {
	if c.from != nil {
		return max(c.from.batch, 1)
	}
	return 1
}

// newUUIDv7 returns a UUID of version 7.
func newUUIDv7() load.ID {
	id := uuid.Must(uuid.NewV7())
	return load.ID{Hi: binary.BigEndian.Uint64(id[:8]), Lo: binary.BigEndian.Uint64(id[8:])}
}
