package mysqlwire

import (
	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/wire"
)

// The warm path: requests for an id that are answered without waiting, locking
// or allocating. What is not served here goes the long way.

// draw draws for up to n executions of a statement that asks for just an id,
// with args. ok is false for others.
func (c *conn) draw(st *sqlfuncs.Statement, args []sqlfuncs.Arg, n int) (ids generator.Range, ok bool) {
	var name []byte
	switch {
	case len(args) == 1 && args[0].Type == datum.Text && !args[0].Null:
		name = args[0].Data
	case len(args) > 0:
		return generator.Range{}, false
	}
	return c.session.Draw(st, name, int64(n))
}

// drawText answers a query whose text is known.
func (c *conn) drawText(text []byte, out *wire.Out) bool {
	st := c.session.Cached(text)
	if st == nil {
		return false
	}
	ids, ok := c.draw(st, nil, 1)
	if ok {
		c.session.EndBatch()
		out.B = c.head(out.B, st, st.Columns, false)
		out.B = c.idRow(out.B, ids.First)
		out.B = c.eof(out.B, 0)
	}
	return ok
}

// sameQueries serves copies of the query that was just served, if it asks for
// an id. It returns how many.
func (c *conn) sameQueries(text []byte, copies int, out *wire.Out) (served int) {
	if copies == 0 || c.caps.has(clientQueryAttributes) {
		return 0
	}
	st := c.session.Cached(text)
	if st == nil {
		return 0
	}
	ids, ok := c.draw(st, nil, copies)
	if !ok {
		return 0
	}
	out.B = c.appendAnswers(out.B, st, ids)
	return int(ids.Count)
}

// drawBinary answers an execution of a prepared statement with c.args.
func (c *conn) drawBinary(st *sqlfuncs.Statement, out *wire.Out) bool {
	ids, ok := c.draw(st, c.args, 1)
	if ok {
		out.B = c.head(out.B, st, st.Columns, true)
		out.B = c.binaryIDRow(out.B, ids.First)
		out.B = c.eof(out.B, 0)
	}
	return ok
}
