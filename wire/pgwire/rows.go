package pgwire

import (
	"context"
	"errors"
	"io"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/idrun"
)

// sendRows sends the rows of a portal and its end: CommandComplete, or
// PortalSuspended after limit rows (0: all).
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, limit int64, out *wire.Out) (rows int64, err error) {
	switch {
	case p.Copy() != nil:
		return c.sendCopy(ctx, p, out)
	case p.IDs():
		rows, err = c.sendIDs(ctx, p, limit, out)
	default:
		rows, err = c.sendValues(ctx, p, limit, out)
	}
	switch {
	case errors.Is(err, io.EOF):
		c.sendNotices(out)
		out.B = appendTag(out.B, p, rows)
		return rows, nil
	case err != nil:
		return rows, err
	}
	out.B = append(out.B, portalSuspended...)
	return rows, nil
}

// sendValues sends rows of any kind.
func (c *conn) sendValues(ctx context.Context, p *sqlfuncs.Portal, limit int64, out *wire.Out) (rows int64, err error) {
	for limit == 0 || rows < limit {
		row, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		c.sendNotices(out) // of this row
		if out.B, err = appendRow(out.B, row, p.Binary, c.SQL.Env()); err != nil {
			return rows, err
		}
		rows++
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// runLength is the number of ids that are drawn and encoded at a time: 64 KiB of
// answers hold about two runs.
const runLength = 1024

// sendIDs sends a run of ids; no value is made for a row.
func (c *conn) sendIDs(ctx context.Context, p *sqlfuncs.Portal, limit int64, out *wire.Out) (rows int64, err error) {
	for limit == 0 || rows < limit {
		n := int64(runLength)
		if limit > 0 {
			n = min(n, limit-rows)
		}
		r, err := p.NextIDs(ctx, n)
		if err != nil {
			return rows, err
		}
		out.B = appendRun(out.B, r, p.Binary(0))
		rows += r.Count
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil {
			return rows, context.Cause(ctx)
		}
	}
	return rows, nil
}

// sendCopy answers COPY … TO STDOUT: CopyOutResponse, CopyData, CopyDone.
func (c *conn) sendCopy(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) (rows int64, err error) {
	cp := p.Copy()
	columns := p.Columns()
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
	if p.IDs() && cp.Plain() {
		rows, err = c.copyIDs(ctx, p, out)
	} else {
		rows, err = c.copyValues(ctx, p, out)
	}
	if !errors.Is(err, io.EOF) {
		return rows, err
	}
	out.B = append(out.B, copyDone...)
	out.B = appendTag(out.B, p, rows)
	return rows, nil
}

func (c *conn) copyValues(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) (rows int64, err error) {
	cp := p.Copy()
	for {
		row, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		var at int
		out.B, at = begin(out.B, 'd')
		out.B = end(cp.AppendRow(out.B, row, c.SQL.Env()), at)
		rows++
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
	}
}

// copyIDs sends runs of ids in COPY's text format, one CopyData a row.
func (c *conn) copyIDs(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) (rows int64, err error) {
	for {
		r, err := p.NextIDs(ctx, runLength)
		if err != nil {
			return rows, err
		}
		out.B = idrun.Append(out.B, r, 0, appendIDCopy)
		rows += r.Count
		if err := out.EndRow(p); err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil {
			return rows, context.Cause(ctx)
		}
	}
}
