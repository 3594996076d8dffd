package pgwire

import (
	"encoding/binary"
	"slices"

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
	t.size = len(wire.AppendID(b, id))
	t.low = t.size - 4
	binary.BigEndian.PutUint32(t.bytes[1:], uint32(t.size-1))
	binary.BigEndian.PutUint32(t.bytes[7:], uint32(t.size-11))
	return t
}

// copyTemplate is a CopyData with the id as a line of COPY's text format.
func copyTemplate(id int64) (t template) {
	b := append(t.bytes[:0], 'd', 0, 0, 0, 0)
	t.size = len(append(wire.AppendID(b, id), '\n'))
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

// appendIDText appends a DataRow with one bigint in text.
func appendIDText(dst []byte, id int64) []byte {
	at := len(dst)
	dst = append(dst, 'D', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
	dst = wire.AppendID(dst, id)
	n := len(dst) - at
	binary.BigEndian.PutUint32(dst[at+1:], uint32(n-1))
	binary.BigEndian.PutUint32(dst[at+7:], uint32(n-11))
	return dst
}

// appendIDBinary appends a DataRow with one bigint in binary.
func appendIDBinary(dst []byte, id int64) []byte {
	dst = append(dst, 'D', 0, 0, 0, 18, 0, 1, 0, 0, 0, 8)
	return binary.BigEndian.AppendUint64(dst, uint64(id))
}

// answer is the whole answer to one request, around the row with its id.
type answer struct {
	begin       string
	description []byte // RowDescription, if it is asked for
	binary      bool   // the id is
	end         string
	ready       byte // status of the ReadyForQuery with which end ends, 0 without one
}

// append appends one answer.
func (a *answer) append(dst []byte, id int64) (_ []byte, endOfRow int) {
	if a.begin != "" {
		dst = append(dst, a.begin...)
	}
	dst = append(dst, a.description...)
	if a.binary {
		dst = appendIDBinary(dst, id)
	} else {
		dst = appendIDText(dst, id)
	}
	endOfRow = len(dst)
	dst = append(dst, a.end...)
	if a.ready != 0 {
		dst = append(dst, a.ready)
	}
	return dst, endOfRow
}

// appendRun appends the answer for each id of a run.
func (a *answer) appendRun(dst []byte, r generator.Range) []byte {
	if r.Count == 1 {
		dst, _ = a.append(dst, r.First)
		return dst
	}
	for r.Count > 0 {
		n := int64(1)
		if !a.binary {
			n = wire.Alike(r.First, r.Step, r.Count)
		}
		at := len(dst)
		var end int
		dst, end = a.append(dst, r.First)
		dst = wire.AppendAlike(dst, at, end-at-4, n, int(r.First%wire.LowDigits), int(r.Step))
		r.First += n * r.Step
		r.Count -= n
	}
	return dst
}
