package pgwire

import (
	"bytes"
	"encoding/binary"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/wire"
)

// The warm path: requests for an id that are answered without waiting,
// locking or allocating. A client that pipelines sends the same bytes again
// and again; copies that stand behind one another are drawn at once. What is
// not served here, for whatever reason, goes the long way.

// draw serves the request at the beginning of in, whose first message has n
// bytes, and copies of it that follow. It returns how many bytes these are,
// and how many statements they executed: 0 where the long way must do it.
// What is told with ReadyForQuery must have been told: nothing else may have
// run since.
func (c *conn) draw(in []byte, n int, out *wire.Out) (size, executed int) {
	if c.ran {
		return 0, 0
	}
	if in[0] == 'Q' {
		return c.drawQueries(in, n, out)
	}
	return c.drawExecutions(in, n, out)
}

// drawQueries draws for simple queries.
func (c *conn) drawQueries(in []byte, n int, out *wire.Out) (size, executed int) {
	end := n - 1
	if end < headerSize || in[end] != 0 {
		return 0, 0
	}
	st := c.session.Cached(in[headerSize:end])
	if st == nil {
		return 0, 0
	}
	ids, ok := c.ids(st, nil, in, n)
	if !ok {
		return 0, 0
	}
	c.session.EndBatch()
	description, status := c.description(st, 0), c.session.Status()
	if ids.Count == 1 { // what clients ask most
		out.B = appendIDText(append(out.B, description...), ids.First)
		out.B = append(append(out.B, selectOne+readyBegin...), status)
		return n, 1
	}
	a := answer{description: description, end: selectOne + readyBegin, ready: status}
	out.B = a.appendRun(out.B, ids)
	return n * int(ids.Count), int(ids.Count)
}

// ids draws for a request of size bytes at the beginning of in, and for copies
// of it that follow.
func (c *conn) ids(st *sqlfuncs.Statement, name, in []byte, size int) (generator.Range, bool) {
	return c.session.Draw(st, name, int64(1+wire.Repeats(in, size)))
}

// What follows a Bind of the unnamed portal where its only row is wanted:
// Describe perhaps, Execute with a row limit, and Sync perhaps.
const (
	describeUnnamed = "D\x00\x00\x00\x06P\x00"
	executeUnnamed  = "E\x00\x00\x00\x09\x00"
	syncMessage     = "S\x00\x00\x00\x04"
)

// drawExecutions draws for executions of a prepared statement.
func (c *conn) drawExecutions(in []byte, n int, out *wire.Out) (size, executed int) {
	if n <= headerSize || in[headerSize] != 0 { // malformed, or a named portal, which may be asked for again
		return 0, 0
	}
	name := in[headerSize+1 : n]
	if end := bytes.IndexByte(name, 0); end < 0 || !c.session.Warm(name[:end]) {
		return 0, 0
	}
	a := answer{begin: bindComplete, end: selectOne}
	endReady := selectOne + readyBegin
	rest := in[n:]
	described := bytes.HasPrefix(rest, []byte(describeUnnamed))
	if described {
		rest = rest[len(describeUnnamed):]
	}
	if len(rest) < len(executeUnnamed)+4 || string(rest[:len(executeUnnamed)]) != executeUnnamed {
		return 0, 0
	}
	if binary.BigEndian.Uint32(rest[len(executeUnnamed):]) == 1 { // the portal does not know yet that there are no more rows
		a.end, endReady = portalSuspended, portalSuspended+readyBegin
	}
	rest = rest[len(executeUnnamed)+4:]
	synced := bytes.HasPrefix(rest, []byte(syncMessage))
	if synced {
		rest = rest[len(syncMessage):]
	}
	p, err := c.bound(in[headerSize:n:n])
	if err != nil {
		return 0, 0 // the long way tells
	}
	st, name, ok := p.Asks()
	if !ok {
		return 0, 0
	}
	size = len(in) - len(rest)
	ids, ok := c.ids(st, name, in, size)
	if !ok {
		return 0, 0
	}
	p.Answered()
	slot := 0
	if a.binary = p.Binary(0); a.binary {
		slot = 1
	}
	if described {
		a.description = c.description(st, slot)
	}
	if synced {
		c.session.EndBatch()
		a.end, a.ready = endReady, c.session.Status()
	}
	out.B = a.appendRun(out.B, ids)
	return size * int(ids.Count), int(ids.Count)
}

// description returns the RowDescription of a statement, encoded once. slot
// is 0 for text, 1 for binary.
func (c *conn) description(st *sqlfuncs.Statement, slot int) []byte {
	if memo := st.Memo[slot].Load(); memo != nil {
		return *memo
	}
	binary := allText
	if slot == 1 {
		binary = allBinary
	}
	encoded := appendRowDescription(nil, st.Columns, binary)
	st.Memo[slot].Store(&encoded)
	return encoded
}
