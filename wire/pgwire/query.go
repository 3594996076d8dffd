package pgwire

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/wire"
	"nextid/wire/idrun"
)

// query serves Query: its statements, and ReadyForQuery, also after an error
// ("Simple Query").
func (c *conn) query(ctx context.Context, body []byte, out *wire.Out) error {
	var err error
	if n := bytes.IndexByte(body, 0); n >= 0 && n == len(body)-1 {
		err = c.runQuery(ctx, body[:n], out)
	} else {
		err = errMalformed('Q')
	}
	if err != nil {
		if err := c.answerError(out, err); err != nil {
			return err
		}
	}
	c.SQL.EndBatch()
	c.sendNotices(out)
	c.ready(out)
	return out.FlushFull()
}

// runQuery runs the statements of a simple query. The whole text is parsed first:
// after a syntax error no statement runs.
func (c *conn) runQuery(ctx context.Context, text []byte, out *wire.Out) error {
	if err := checkText(text); err != nil {
		return err
	}
	ran, err := c.RunText(ctx, text, func(st *sqlfuncs.Statement, _ bool) error { return c.runStatement(ctx, st, out) })
	if err == nil && !ran {
		out.B = append(out.B, emptyQuery...)
	}
	return err
}

// runStatement runs one statement of a simple query and sends its result in text
// format.
func (c *conn) runStatement(ctx context.Context, st *sqlfuncs.Statement, out *wire.Out) error {
	p := c.SQL.Run(st)
	defer p.Close()
	ctx = c.BeginStatement(ctx, st)
	defer c.Statement.End()
	if p.Copy() == nil && p.Columns() != nil {
		out.B = c.appendDescription(out.B, p)
	}
	if err := c.sendRows(ctx, p, 0, out); err != nil {
		return err
	}
	c.sendNotices(out)
	return nil
}

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
	cp := p.Copy()
	out.B = encode(out.B, &pgproto3.CopyOutResponse{ColumnFormatCodes: make([]uint16, len(p.Columns()))}) // all of it is text
	if header := cp.AppendHeader(nil); len(header) > 0 {
		out.B = encode(out.B, &pgproto3.CopyData{Data: header})
	}
	var rows int64
	var err error
	if p.IDs() && cp.Plain() {
		rows, err = out.SendIDs(ctx, p, 0, func(dst []byte, r generator.Range) []byte { return idrun.Append(dst, r, 0, appendIDCopy) })
	} else {
		rows, err = out.SendRows(ctx, p, 0, func(row []datum.Value) error {
			var at int
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
