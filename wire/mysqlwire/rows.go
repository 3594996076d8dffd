package mysqlwire

import (
	"context"
	"errors"
	"io"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/wire"
)

// format is an encoding of rows.
type format uint8

const (
	asText   format = iota // COM_QUERY
	asBinary               // COM_STMT_EXECUTE
)

// sendResult runs a portal to its end and sends its result: a result set, or an OK
// packet. For known see head.
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

// finish runs the portal of a statement without columns.
func (c *conn) finish(ctx context.Context, p *sqlfuncs.Portal) error {
	_, err := p.Next(ctx)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// sendRows sends the rows of a portal, at most limit if it is not 0. The error is
// io.EOF after the last row, nil at the limit.
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, f format, limit int64, out *wire.Out) (rows int64, err error) {
	if p.IDs() {
		return out.SendIDs(ctx, p, limit, func(dst []byte, r generator.Range) []byte { return c.appendRun(dst, r, f) })
	}
	row := appendTextRow
	if f == asBinary {
		row = appendBinaryRow
	}
	return out.SendRows(ctx, p, limit, func(values []datum.Value) error {
		var at int
		out.B, at = begin(out.B)
		out.B = c.end(row(out.B, values, p.Columns(), c.SQL.Env()), at)
		return nil
	})
}
