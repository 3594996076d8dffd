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

// sendResult runs a portal to its end and sends its result: a result set, or an OK
// packet. binary is the format of the answer to COM_STMT_EXECUTE. For known see
// head.
func (c *conn) sendResult(ctx context.Context, p *sqlfuncs.Portal, binary, known bool, out *wire.Out) error {
	if p.Columns() != nil {
		out.B = c.head(out.B, p.Statement(), p.Columns(), known)
	}
	if _, err := c.sendRows(ctx, p, binary, 0, out); err != nil {
		return err
	}
	if p.Columns() != nil {
		out.B = c.eof(out.B, 0)
	} else {
		out.B = c.ok(out.B, c.affected(), c.SQL.LastInsertID())
	}
	return nil
}

// affected returns the number of rows for an OK packet.
func (c *conn) affected() uint64 { return uint64(max(0, c.SQL.AffectedRows())) }

// sendRows sends the rows of a portal, at most limit if it is not 0. It runs a
// statement without columns. ended reports that there are no more rows.
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, binary bool, limit int64, out *wire.Out) (ended bool, err error) {
	if p.IDs() {
		_, err = out.SendIDs(ctx, p, limit, func(dst []byte, r generator.Range) []byte { return c.appendRun(dst, r, binary) })
	} else {
		row := appendTextRow
		if binary {
			row = appendBinaryRow
		}
		_, err = out.SendRows(ctx, p, limit, func(values []datum.Value) error {
			var at int
			out.B, at = begin(out.B)
			out.B = c.end(row(out.B, values, p.Columns(), c.SQL.Env()), at)
			return nil
		})
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
