package mysqlwire

import (
	"context"
	"errors"
	"io"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// format is an encoding of rows.
type format uint8

const (
	asText   format = iota // COM_QUERY
	asBinary               // COM_STMT_EXECUTE
)

// sendResult runs a portal to its end and sends its result: a result set, or
// an OK packet.
func (c *conn) sendResult(ctx context.Context, p *sqlfuncs.Portal, f format, known bool, out *wire.Out) error {
	if p.Columns() == nil {
		if err := c.finish(ctx, p); err != nil {
			return err
		}
		out.B = c.ok(out.B, c.affected(), c.SQL.LastInsertID())
		return nil
	}
	out.B = c.head(out.B, p.Statement(), p.Columns(), known)
	_, err := c.sendRows(ctx, p, f, 0, out)
	if !errors.Is(err, io.EOF) {
		return err
	}
	out.B = c.eof(out.B, 0)
	return nil
}

// affected returns the number of rows for an OK packet.
func (c *conn) affected() uint64 { return uint64(max(0, c.SQL.AffectedRows())) }

// finish runs a portal that returns no rows.
func (c *conn) finish(ctx context.Context, p *sqlfuncs.Portal) error {
	_, err := p.Next(ctx)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// sendRows sends the rows of a portal, at most limit if it is not 0. The
// error is io.EOF after the last row, nil at the limit.
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, f format, limit int64, out *wire.Out) (rows int64, err error) {
	if p.IDs() {
		return c.sendIDs(ctx, p, f, limit, out)
	}
	for limit == 0 || rows < limit {
		row, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		var at int
		out.B, at = begin(out.B)
		if f == asText {
			out.B = appendTextRow(out.B, row, p.Columns(), c.SQL.Env())
		} else {
			out.B = appendBinaryRow(out.B, row, p.Columns(), c.SQL.Env())
		}
		out.B = c.end(out.B, at)
		rows++
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// runLength is the number of ids that are drawn and encoded at a time.
const runLength = 1024

// sendIDs sends a run of ids; no value is made for a row.
func (c *conn) sendIDs(ctx context.Context, p *sqlfuncs.Portal, f format, limit int64, out *wire.Out) (rows int64, err error) {
	for limit == 0 || rows < limit {
		n := int64(runLength)
		if limit > 0 {
			n = min(n, limit-rows)
		}
		r, err := p.NextIDs(ctx, n)
		if err != nil {
			return rows, err
		}
		out.B = c.appendRun(out.B, r, f)
		rows += r.Count
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
	}
	return rows, nil
}
