package ids

import (
	"math/bits"

	"nextid/generator"
	"nextid/sqlfuncs/account"
)

// Drawn records what a session has drawn, for lastval and currval. Only the
// session's goroutine uses it.
type Drawn struct {
	holder uint64           // of the numbers that it holds; 0: none
	last   *generator.Entry // nil: nothing
	lastID int64
	kept   bool             // in before
	before []drawnID        // of generators that are not the last: a hash table, nil or with at least one that is free
	names  int              // in before
	held   int64            // bytes of before that are counted
	warned *generator.Entry // whose end was looked at last

	Inserted    int64 // LAST_INSERT_ID(): the newest id that was drawn or set
	InStatement bool  // by the running statement
}

// drawnID is the newest id of a generator. A look-up reads one cache line.
type drawnID struct {
	number int // Entry.Number, from 1; 0: free
	id     int64
}

const (
	drawnBytes = 16
	leastDrawn = 8
	fewDrawn   = 128 // entries that do not count as memory: most sessions have fewer
)

// Note records the newest id. If the session may not hold more names, older names
// are forgotten, so that the draw does not fail.
func (d *Drawn) Note(e *generator.Entry, id int64, memory *account.Session) {
	if d.last != e && d.last != nil {
		d.keep(memory)
	}
	d.last, d.lastID, d.kept = e, id, false
	d.Inserted, d.InStatement = id, true
}

// Prepare does part of Note's work before a draw, if a session draws from several
// names. The table's cache line is fetched while the name is looked up.
func (d *Drawn) Prepare(memory *account.Session) {
	if d.before != nil {
		d.keep(memory)
	}
}

// keep puts the newest id into the table.
func (d *Drawn) keep(memory *account.Session) {
	if d.kept || 4*(d.names+1) > 3*len(d.before) && !d.grow(memory) {
		return
	}
	s := d.place(d.last.Number())
	if s.number == 0 {
		s.number = d.last.Number() + 1
		d.names++
	}
	s.id, d.kept = d.lastID, true
}

// place returns the entry of a generator, or a free one for it.
func (d *Drawn) place(number int) *drawnID {
	const spread = 0x9e3779b97f4a7c15 // Knuth's multiplicative hashing
	i, _ := bits.Mul64(uint64(number)*spread, uint64(len(d.before)))
	for d.before[i].number != 0 && d.before[i].number != number+1 {
		if i++; i == uint64(len(d.before)) {
			i = 0
		}
	}
	return &d.before[i]
}

// grow doubles the table, or empties it if the memory limit is reached.
func (d *Drawn) grow(memory *account.Session) bool {
	n := max(2*len(d.before), leastDrawn)
	if n > fewDrawn {
		more := int64(n)*drawnBytes - d.held
		if memory.Draw(more) != nil {
			d.forget(memory)
			return false
		}
		d.held += more
	}
	old := d.before
	d.before = make([]drawnID, n)
	for _, s := range old {
		if s.number != 0 {
			*d.place(s.number - 1) = s
		}
	}
	return true
}

// Newest returns the newest id of a generator.
func (d *Drawn) Newest(e *generator.Entry) (id int64, ok bool) {
	switch {
	case d.last == e:
		return d.lastID, true
	case d.before == nil:
		return 0, false
	}
	s := d.place(e.Number())
	return s.id, s.number != 0
}

// forget forgets all but the last one.
func (d *Drawn) forget(memory *account.Session) {
	memory.Return(d.held)
	d.before, d.names, d.held = nil, 0, 0
}

// Reset forgets all ids, since a pool gives a reset session to another client.
func (d *Drawn) Reset(memory *account.Session) {
	d.forget(memory)
	d.last, d.holder, d.Inserted, d.InStatement = nil, 0, 0, false
}
