package pgwire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/idrun"
)

// The fast path answers requests for one id with sqlfuncs.FastPath. It answers a
// request together with the copies of it that follow in the input. A request that it
// does not answer takes the slow path, which finds the error if there is one.

// drawQueries answers the simple query at the beginning of in, and the copies of it
// that follow. n is the size of the first message. drawQueries returns the size of
// all requests. 0 means the slow path; then it has appended nothing. Each answer is
// RowDescription, DataRow, CommandComplete, ReadyForQuery.
func (c *conn) drawQueries(in []byte, n int, out *wire.Out) (size int) {
	end := n - 1
	if end < headerSize || in[end] != 0 {
		return 0
	}
	st, ids, ok := c.SQL.Fast.Query(in[headerSize:end], 1+idrun.Repeats(in, n))
	if !ok {
		return 0
	}
	c.Conn.Served += ids.Count
	description := c.description(st, false)
	if ids.Count == 1 { // the most frequent request
		out.B, _ = appendIDText(append(out.B, description...), 0, ids.First)
		out.B = append(append(out.B, selectOne+readyBegin...), c.status)
		return n
	}
	a := answer{description: description, end: selectOne + readyBegin, ready: c.status}
	out.B = idrun.Append(out.B, ids, 0, a.append)
	return n * int(ids.Count)
}

// Messages that may follow a Bind of the unnamed portal: Describe, Execute with
// a row limit, Sync.
const (
	describeUnnamed = "D\x00\x00\x00\x06P\x00"
	executeUnnamed  = "E\x00\x00\x00\x09\x00"
	syncMessage     = "S\x00\x00\x00\x04"
)

// drawExecutions does the same for executions of a prepared statement through the
// unnamed portal: Bind, perhaps Describe, Execute, perhaps Sync. The result of a
// named portal could be read again, so it takes the slow path.
func (c *conn) drawExecutions(in []byte, n int, out *wire.Out) (size int) {
	if n <= headerSize || in[headerSize] != 0 { // malformed, or a named portal
		return 0
	}
	name, _, ok := bytes.Cut(in[headerSize+1:n], []byte{0})
	if !ok {
		return 0
	}
	st := c.SQL.Fast.Prepared(name)
	if st == nil {
		return 0
	}
	a := answer{begin: bindComplete, end: selectOne}
	endReady := selectOne + readyBegin
	rest := in[n:]
	described := bytes.HasPrefix(rest, []byte(describeUnnamed))
	if described {
		rest = rest[len(describeUnnamed):]
	}
	if len(rest) < len(executeUnnamed)+4 || string(rest[:len(executeUnnamed)]) != executeUnnamed {
		return 0
	}
	if binary.BigEndian.Uint32(rest[len(executeUnnamed):]) == 1 { // PostgreSQL, too, suspends at the limit before it looks for another row
		a.end, endReady = portalSuspended, portalSuspended+readyBegin
	}
	rest = rest[len(executeUnnamed)+4:]
	synced := bytes.HasPrefix(rest, []byte(syncMessage))
	if synced {
		rest = rest[len(syncMessage):]
	}
	s := c.Conn.Scratch()
	if _, _, err := c.readBind(in[headerSize:n:n], s); err != nil || len(s.Formats) > 1 {
		return 0 // the slow path sends the error
	}
	size = len(in) - len(rest)
	ids, ok := c.SQL.Fast.Execute(st, s.Args, 1+idrun.Repeats(in, size))
	if !ok {
		return 0
	}
	c.Conn.Served += ids.Count
	c.SQL.Fast.Answered(st, s.Formats, synced)
	a.binary = len(s.Formats) == 1 && s.Formats[0] == 1
	if described {
		a.description = c.description(st, a.binary)
	}
	if synced {
		a.end, a.ready = endReady, c.status
	}
	if ids.Count == 1 {
		out.B, _ = a.append(out.B, 0, ids.First)
	} else {
		out.B = idrun.Append(out.B, ids, 0, a.append)
	}
	return size * int(ids.Count)
}

// description returns the RowDescription of a statement. It is encoded once for each
// format: Statement.Memo keeps it, for all sessions.
func (c *conn) description(st *sqlfuncs.Statement, binary bool) []byte {
	memo := &st.Memo[0]
	if binary {
		memo = &st.Memo[1]
	}
	if encoded := memo.Load(); encoded != nil {
		return *encoded
	}
	encoded := appendRowDescription(nil, st.Columns, func(int) bool { return binary })
	memo.Store(&encoded)
	return encoded
}

// answer holds the parts of an answer to one request, around the row with its id.
type answer struct {
	begin       string
	description []byte // RowDescription; empty if it was not requested
	binary      bool   // format of the id
	end         string // CommandComplete or PortalSuspended, and the ReadyForQuery up to its status
	ready       byte   // status of that ReadyForQuery, 0 if end has none
}

// append appends one answer. It is the parameter message of idrun.Append.
func (a *answer) append(dst []byte, i, id int64) (_ []byte, idEnd int) {
	at := len(dst)
	dst = append(append(dst, a.begin...), a.description...)
	row := len(dst) - at
	if a.binary {
		dst, idEnd = appendIDBinary(dst, i, id)
	} else {
		dst, idEnd = appendIDText(dst, i, id)
		idEnd += row
	}
	dst = append(dst, a.end...)
	if a.ready != 0 {
		dst = append(dst, a.ready)
	}
	return dst, idEnd
}

// appendRun appends a row for each id of a run.
func appendRun(dst []byte, r generator.Range, binary bool) []byte {
	if binary {
		dst = slices.Grow(dst, int(r.Count)*19)
		for i := range r.Count {
			dst, _ = appendIDBinary(dst, i, r.First+i*r.Step)
		}
		return dst
	}
	return idrun.Append(dst, r, 0, appendIDText)
}

// appendIDText appends a DataRow with one bigint in text.
func appendIDText(dst []byte, _, id int64) (_ []byte, idEnd int) {
	at := len(dst)
	dst = append(dst, 'D', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
	dst = strconv.AppendInt(dst, id, 10)
	n := len(dst) - at
	binary.BigEndian.PutUint32(dst[at+1:], uint32(n-1))
	binary.BigEndian.PutUint32(dst[at+7:], uint32(n-11))
	return dst, n
}

// appendIDBinary appends a DataRow with one bigint in binary. idEnd is -1: idrun
// must not copy the message.
func appendIDBinary(dst []byte, _, id int64) (_ []byte, idEnd int) {
	dst = append(dst, 'D', 0, 0, 0, 18, 0, 1, 0, 0, 0, 8)
	return binary.BigEndian.AppendUint64(dst, uint64(id)), -1
}

// appendIDCopy appends a CopyData with the id as a line of COPY's text format.
func appendIDCopy(dst []byte, _, id int64) (_ []byte, idEnd int) {
	at := len(dst)
	dst = append(strconv.AppendInt(append(dst, 'd', 0, 0, 0, 0), id, 10), '\n')
	n := len(dst) - at
	binary.BigEndian.PutUint32(dst[at+1:], uint32(n-1))
	return dst, n - 1
}
