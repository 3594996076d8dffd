package pgwire

import (
	"context"
	"errors"
	"io"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/wire"
	"nextid/wire/idrun"
)

// sendRows sends the rows of a portal, and CommandComplete, or PortalSuspended after
// limit rows (0: all). It sends a row's notices before the row, as PostgreSQL does.
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, limit int64, out *wire.Out) error {
	if p.Copy() != nil {
		return c.sendCopy(ctx, p, out)
	}
	var rows int64
	var err error
	if p.IDs() {
		rows, err = out.SendIDs(ctx, p, limit, func(dst []byte, r generator.Range) []byte { return appendRun(dst, r, p.Binary(0)) })
	} else {
		rows, err = out.SendRows(ctx, p, limit, func(row []datum.Value) (err error) {
			c.sendNotices(out) // of this row
			out.B, err = appendRow(out.B, row, p.Binary, c.SQL.Env())
			return err
		})
	}
	switch {
	case err == nil:
		out.B = append(out.B, portalSuspended...)
	case errors.Is(err, io.EOF):
		c.sendNotices(out)
		out.B = appendTag(out.B, p, rows)
	default:
		return err
	}
	return nil
}

// sendCopy answers COPY … TO STDOUT: CopyOutResponse, CopyData, CopyDone ("COPY
// Operations").
func (c *conn) sendCopy(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) error {
	cp, columns := p.Copy(), p.Columns()
	var at int
	out.B, at = begin(out.B, 'H')
	out.B = append(out.B, 0) // all of it is text
	out.B = appendInt16(out.B, int16(len(columns)))
	for range columns {
		out.B = append(out.B, 0, 0)
	}
	out.B = end(out.B, at)
	if header := cp.AppendHeader(nil); len(header) > 0 {
		out.B, at = begin(out.B, 'd')
		out.B = end(append(out.B, header...), at)
	}
	var rows int64
	var err error
	if p.IDs() && cp.Plain() {
		rows, err = out.SendIDs(ctx, p, 0, func(dst []byte, r generator.Range) []byte { return idrun.Append(dst, r, 0, appendIDCopy) })
	} else {
		rows, err = out.SendRows(ctx, p, 0, func(row []datum.Value) error {
			out.B, at = begin(out.B, 'd')
			out.B = end(cp.AppendRow(out.B, row, c.SQL.Env()), at)
			return nil
		})
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	out.B = appendTag(append(out.B, copyDone...), p, rows)
	return nil
}
