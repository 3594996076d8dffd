package pgwire

import (
	"encoding/binary"
	"slices"
	"strconv"

	"nextid/generator"
	"nextid/wire"
)

// Runs of ids are the bulk of what a server sends: millions of rows that
// differ in a few digits. They are made from a template, without a value, a
// call or a length for each row.

// templateSize is more than any message with one id has, so that a row can
// be copied by two fixed 16-byte moves: type, length, column count, value
// length and 20 characters are 31 bytes.
const templateSize = 32

// template is the message of one id.
type template struct {
	bytes [templateSize]byte
	size  int // of the message
	low   int // where the last four digits begin
}

// rowTemplate is a DataRow with the id in text.
func rowTemplate(id int64) (t template) {
	b := append(t.bytes[:0], 'D', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
	t.size = len(strconv.AppendInt(b, id, 10))
	t.low = t.size - 4
	binary.BigEndian.PutUint32(t.bytes[1:], uint32(t.size-1))
	binary.BigEndian.PutUint32(t.bytes[7:], uint32(t.size-11))
	return t
}

// copyTemplate is a CopyData with the id as a line of COPY's text format.
func copyTemplate(id int64) (t template) {
	b := append(t.bytes[:0], 'd', 0, 0, 0, 0)
	t.size = len(append(strconv.AppendInt(b, id, 10), '\n'))
	t.low = t.size - 5
	binary.BigEndian.PutUint32(t.bytes[1:], uint32(t.size-1))
	return t
}

// appendRun appends a message for each id of a run.
func appendRun(dst []byte, r generator.Range, templateOf func(id int64) template) []byte {
	for r.Count > 0 {
		n := wire.Alike(r.First, r.Step, r.Count)
		t := templateOf(r.First)
		if n == 1 {
			dst = append(dst, t.bytes[:t.size]...)
		} else {
			dst = t.appendRows(dst, int(n), int(r.First%wire.LowDigits), int(r.Step))
		}
		r.First += n * r.Step
		r.Count -= n
	}
	return dst
}

// appendRows appends n rows whose last four digits count from low on.
func (t *template) appendRows(dst []byte, n, low, step int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, n*t.size+templateSize)
	rows := dst[at:cap(dst)]
	for range n {
		row := (*[templateSize]byte)(rows)
		*row = t.bytes
		wire.PutLow((*[4]byte)(row[t.low:]), low)
		low += step
		rows = rows[t.size:]
	}
	return dst[:at+n*t.size]
}

// appendRunBinary appends a DataRow with the id in binary for each id of a
// run.
func appendRunBinary(dst []byte, r generator.Range) []byte {
	const size = 19
	dst = slices.Grow(dst, int(r.Count)*size)
	for range r.Count {
		dst = appendIDBinary(dst, r.First)
		r.First += r.Step
	}
	return dst
}
