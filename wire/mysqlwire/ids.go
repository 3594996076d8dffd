package mysqlwire

import (
	"encoding/binary"
	"slices"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/wire"
)

// Runs of ids are the bulk of what a server sends: rows that differ in a
// few digits and their sequence number. They are made from a template,
// without a value, a call or a length for each row, as in pgwire.

// templateSize is more than any row with one id has, so that it can be copied
// by two fixed 16-byte moves: header, length and 20 characters are 25 bytes.
const templateSize = 32

// template is the row of one id in text.
type template struct {
	bytes [templateSize]byte
	size  int // of the packet
	low   int // where the last four digits begin
}

func rowTemplate(id int64) (t template) {
	b := append(t.bytes[:0], 0, 0, 0, 0, 0)
	t.size = len(wire.AppendID(b, id))
	t.low = t.size - 4
	t.bytes[0], t.bytes[headerSize] = byte(t.size-headerSize), byte(t.size-headerSize-1)
	return t
}

// appendRun appends a row of text for each id of a run.
func (c *conn) appendRun(dst []byte, r generator.Range) []byte {
	for r.Count > 0 {
		n := wire.Alike(r.First, r.Step, r.Count)
		if n == 1 {
			dst = c.idRow(dst, r.First)
		} else {
			t := rowTemplate(r.First)
			dst = t.appendRows(dst, c.seq, int(n), int(r.First%wire.LowDigits), int(r.Step))
			c.seq += byte(n)
		}
		r.First += n * r.Step
		r.Count -= n
	}
	return dst
}

// appendRows appends n rows whose last four digits count from low on, and
// whose sequence numbers from seq on.
func (t *template) appendRows(dst []byte, seq byte, n, low, step int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n*t.size+templateSize)
	rows := dst[at:cap(dst)]
	for range n {
		row := (*[templateSize]byte)(rows)
		*row = t.bytes
		row[3] = seq
		wire.PutLow((*[4]byte)(row[t.low:]), low)
		low += step
		seq++
		rows = rows[t.size:]
	}
	return dst[:at+n*t.size]
}

// appendRunBinary appends a binary row for each id of a run.
func (c *conn) appendRunBinary(dst []byte, r generator.Range) []byte {
	const size = headerSize + 10
	dst = slices.Grow(dst, int(r.Count)*size)
	for range r.Count {
		dst = c.binaryIDRow(dst, r.First)
		r.First += r.Step
	}
	return dst
}

// idRow appends a row with one bigint in text.
func (c *conn) idRow(dst []byte, id int64) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, c.seq, 0)
	dst = wire.AppendID(dst, id)
	n := len(dst) - at - headerSize
	dst[at], dst[at+headerSize] = byte(n), byte(n-1)
	c.seq++
	return dst
}

// binaryIDRow appends a row with one bigint in binary.
func (c *conn) binaryIDRow(dst []byte, id int64) []byte {
	dst = append(dst, 10, 0, 0, c.seq, 0, 0)
	c.seq++
	return binary.LittleEndian.AppendUint64(dst, uint64(id))
}

// appendAnswers appends the whole answer to a query for each id of a run.
func (c *conn) appendAnswers(dst []byte, st *sqlfuncs.Statement, r generator.Range) []byte {
	for r.Count > 0 {
		n := wire.Alike(r.First, r.Step, r.Count)
		at := len(dst)
		c.seq = 1 // the command had 0
		dst = c.idRow(c.head(dst, st, st.Columns, false), r.First)
		digits := len(dst) - at - 4
		dst = c.eof(dst, 0)
		dst = wire.AppendAlike(dst, at, digits, n, int(r.First%wire.LowDigits), int(r.Step))
		r.First += n * r.Step
		r.Count -= n
	}
	return dst
}
