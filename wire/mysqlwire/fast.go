package mysqlwire

import (
	"encoding/binary"
	"strconv"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/idrun"
)

// The fast path answers requests for one id with sqlfuncs.FastPath. It answers a
// COM_QUERY together with the copies of it that follow in the input. A request that
// it does not answer takes the slow path, which finds the error if there is one.

// drawQueries answers a COM_QUERY for an id, and the copies of it that follow.
// command is the first message of in, and n its bytes with headers. drawQueries
// returns the size of all requests. 0 means the slow path; then it has appended
// nothing.
func (c *conn) drawQueries(command, in []byte, n int, out *wire.Out) (size int) {
	if c.SlowRan || len(command) == 0 || command[0] != comQuery {
		return 0
	}
	st, ids, ok := c.SQL.Fast.Query(command[1:], 1+idrun.Repeats(in, n))
	if !ok {
		return 0
	}
	c.Conn.Served += ids.Count
	if ids.Count == 1 { // the most frequent request
		out.B, _ = c.appendAnswer(out.B, st, false, ids.First)
	} else {
		out.B = idrun.Append(out.B, ids, 0, func(dst []byte, _, id int64) ([]byte, int) {
			c.seq = 1 // the command had 0
			return c.appendAnswer(dst, st, false, id)
		})
	}
	return n * int(ids.Count)
}

// appendAnswer appends a result set with one id. binary is the format of the answer
// to COM_STMT_EXECUTE: the client has the definitions from PREPARE and may cache
// them. idEnd is the index in the answer at which the digits of the id end.
func (c *conn) appendAnswer(dst []byte, st *sqlfuncs.Statement, binary bool, id int64) (_ []byte, idEnd int) {
	start := len(dst)
	cached := c.caps&mariadbCacheMetadata != 0
	if cached {
		follows := byte(1)
		if binary {
			follows = 0
		}
		dst = append(dst, 2, 0, 0, c.seq, 1, follows)
	} else {
		dst = append(dst, 1, 0, 0, c.seq, 1)
	}
	c.seq++
	if !cached || !binary {
		dst = c.statementDefinitions(dst, st)
	}
	if c.caps&clientDeprecateEOF == 0 {
		dst = c.appendEnd(dst)
	}
	row := len(dst) - start
	if binary {
		dst, idEnd = appendIDBinary(dst, c.seq, id)
	} else {
		dst, idEnd = appendIDText(dst, c.seq, id)
		idEnd += row
	}
	c.seq++
	return c.appendEnd(dst), idEnd
}

// appendEnd appends the packet that ends a result of the fast path: no warnings, no
// changes of session state, and the status flags that were sent last.
func (c *conn) appendEnd(dst []byte) []byte {
	status, seq := c.reported.status, c.seq
	c.seq++
	if c.caps&clientDeprecateEOF == 0 {
		return append(dst, 5, 0, 0, seq, 0xfe, 0, 0, byte(status), byte(status>>8))
	}
	return append(dst, 7, 0, 0, seq, 0xfe, 0, 0, byte(status), byte(status>>8), 0, 0)
}

// appendRun appends a row for each id of a run. Byte 3 of each packet is its
// sequence number.
func (c *conn) appendRun(dst []byte, r generator.Range, binary bool) []byte {
	row, seq, number := appendIDText, c.seq, 3
	if binary {
		row = appendIDBinary
	}
	c.seq += byte(r.Count)
	return idrun.Append(dst, r, number, func(dst []byte, i, id int64) ([]byte, int) { return row(dst, seq+byte(i), id) })
}

// appendIDText appends a row with one bigint in text.
func appendIDText(dst []byte, seq byte, id int64) (_ []byte, idEnd int) {
	at := len(dst)
	dst = append(dst, 0, 0, 0, seq, 0)
	dst = strconv.AppendInt(dst, id, 10)
	n := len(dst) - at
	dst[at], dst[at+headerSize] = byte(n-headerSize), byte(n-headerSize-1)
	return dst, n
}

// appendIDBinary appends a row with one bigint in binary. idEnd is -1: idrun must
// not copy the message.
func appendIDBinary(dst []byte, seq byte, id int64) (_ []byte, idEnd int) {
	dst = append(dst, 10, 0, 0, seq, 0, 0)
	return binary.LittleEndian.AppendUint64(dst, uint64(id)), -1
}
