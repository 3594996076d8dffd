package compare

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/load"
)

// note holds what each row holds beside its numbers.
const note = "two items, to be delivered on Tuesday between nine and twelve"

// journal holds what all clients of one run got, in the order of the answers.
type journal struct {
	rows     int
	greatest load.ID // of the rows that were acknowledged
	late     int     // ids below one that was acknowledged before their statement began
	keep     bool
	ids      []load.ID // of the acknowledged rows, when keep is set
}

// ack writes down a row whose statement began when the greatest id was since.
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

// inserter holds what one client does for one statement, as load.Work. Its links are
// the table's server and, if there is one, the source of ids.
type inserter struct {
	c       *contestant
	journal *journal
	table   string
	links   []*load.Link
	rows    int    // of a statement
	n       uint64 // of the client's rows, to vary them

	since   load.ID   // greatest id when the operation began
	drawing bool      // waiting for ids
	stock   []load.ID // drawn, not yet used
	id      load.ID   // of the last row
	sql     []byte
	request []byte
	draw    []byte // the request for ids
}

func (w *inserter) Begin() load.Step {
	w.since = w.journal.greatest
	return w.next()
}

// next draws ids until there are enough for a statement, and inserts.
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

func (w *inserter) Then(ids []load.ID) (load.Step, bool) {
	if w.drawing {
		w.drawing = false
		switch {
		case len(ids) == 0:
			w.stock = append(w.stock, load.ID{}) // shows as a duplicate key
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

func (w *inserter) insert() load.Step {
	w.sql = w.c.appendInsert(w.sql[:0], w.table, w.rows, func(i int) load.ID { return w.stock[i] }, w.n)
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

// appendInsert appends an INSERT of some rows.
func (c *contestant) appendInsert(dst []byte, table string, rows int, id func(i int) load.ID, n uint64) []byte {
	dst = append(append(dst, "INSERT INTO "...), table...)
	if c.generated() {
		dst = append(dst, " (customer, note) VALUES "...)
	} else {
		dst = append(dst, " (id, customer, note) VALUES "...)
	}
	for i := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '(')
		if !c.generated() {
			dst = append(c.appendID(dst, id(i)), ',')
		}
		customer := (n + uint64(i)) * 0x9e3779b97f4a7c15 >> 44 // spread over a million
		dst = append(strconv.AppendUint(dst, customer, 10), ",'"+note+"')"...)
	}
	return dst
}

func (c *contestant) appendID(dst []byte, id load.ID) []byte {
	if c.inApp == nil {
		return id.AppendText(dst)
	}
	if c.engine == mariadb { // a binary column
		dst = append(dst, 'x')
	}
	return fmt.Appendf(dst, "'%016x%016x'", id.Hi, id.Lo)
}

// statement is the one that brings ids for statements of some rows.
func (s *source) statement(rows int) string {
	if rows == 1 {
		rows = s.batch
	}
	if rows > 0 && s.several != "" {
		return fmt.Sprintf(s.several, rows)
	}
	return s.one
}

// drawer draws ids without rows, as load.Work: batches if the contestant
// takes batches. Its operation is one draw.
func (c *contestant) drawer(links []*load.Link) load.Work {
	if c.from != nil {
		return &load.Repeat{Link: 1, Bytes: links[1].Query(nil, c.from.statement(1)), Answers: 1}
	}
	return &load.Repeat{Link: 0, Bytes: links[0].Query(nil, named(c.draw, c.table)), Answers: 1}
}

// idsPerDraw returns how many ids one operation of drawer brings.
func (c *contestant) idsPerDraw() int {
	if c.from != nil {
		return max(c.from.batch, 1)
	}
	return 1
}

func named(sql, table string) string {
	return strings.ReplaceAll(sql, "{table}", table)
}

// newUUIDv7 makes a UUID of version 7 as RFC 9562 describes it, with a
// fraction of the millisecond in the twelve bits after the version.
func newUUIDv7() load.ID {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	now := time.Now().UnixNano()
	milli, fraction := uint64(now/1e6), uint64(now%1e6)*4096/1e6
	return load.ID{
		Hi: milli<<16 | 7<<12 | fraction,
		Lo: binary.BigEndian.Uint64(random[:])>>2 | 2<<62,
	}
}
