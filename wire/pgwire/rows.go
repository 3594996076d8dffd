package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/wire"
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
		if out.B, err = appendRow(out.B, row, p.Binary, c.session.Env()); err != nil {
			return rows, err
		}
		rows++
		if err := out.Room(); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// runLength is how many ids are drawn and encoded at a time: 64 KiB of
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
		if p.Binary(0) {
			for i := range r.Count {
				out.B = appendIDBinary(out.B, r.First+i*r.Step)
			}
		} else {
			out.B = appendRunText(out.B, r)
		}
		rows += r.Count
		if err := out.Room(); err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil {
			return rows, context.Cause(ctx)
		}
	}
	return rows, nil
}

// appendRunText appends a DataRow for each id of a run. A run that counts up
// by one is made by copying the row before and counting in its digits.
func appendRunText(dst []byte, r generator.Range) []byte {
	if r.Step != 1 || r.First < 1 {
		for i := range r.Count {
			dst = appendIDText(dst, r.First+i*r.Step)
		}
		return dst
	}
	dst = appendIDText(dst, r.First)
	width := rowWidth(r.First)
	for i := int64(1); i < r.Count; i++ {
		at := len(dst)
		dst = append(dst, dst[at-width:at]...)
		d := len(dst) - 1
		for d >= at+rowHead && dst[d] == '9' {
			dst[d] = '0'
			d--
		}
		if d < at+rowHead { // a digit more: 999 to 1000
			dst = appendIDText(dst[:at], r.First+i)
			width = len(dst) - at
			continue
		}
		dst[d]++
	}
	return dst
}

// rowHead is what precedes the digits in the DataRow of one id.
const rowHead = 11

// rowWidth is the length of the DataRow of one id in text.
func rowWidth(id int64) int {
	var b [20]byte
	return rowHead + len(strconv.AppendInt(b[:0], id, 10))
}

// sendCopy answers COPY … TO STDOUT: CopyOutResponse, CopyData, CopyDone.
func (c *conn) sendCopy(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) (rows int64, err error) {
	cp := p.Copy()
	columns := p.Columns()
	format := byte(0)
	if cp.Binary() {
		format = 1
	}
	var at int
	out.B, at = begin(out.B, 'H')
	out.B = append(out.B, format)
	out.B = appendInt16(out.B, int16(len(columns)))
	for range columns {
		out.B = append(out.B, 0, format)
	}
	out.B = end(out.B, at)
	if header := cp.AppendHeader(nil); len(header) > 0 {
		out.B = appendCopyData(out.B, header)
	}
	if p.IDs() && cp.Plain() {
		rows, err = c.copyIDs(ctx, p, out)
	} else {
		rows, err = c.copyValues(ctx, p, out)
	}
	if !errors.Is(err, io.EOF) {
		return rows, err
	}
	if trailer := cp.AppendTrailer(nil); len(trailer) > 0 {
		out.B = appendCopyData(out.B, trailer)
	}
	out.B = append(out.B, copyDone...)
	out.B = appendTag(out.B, p, rows)
	return rows, nil
}

func appendCopyData(dst, data []byte) []byte {
	dst, at := begin(dst, 'd')
	return end(append(dst, data...), at)
}

func (c *conn) copyValues(ctx context.Context, p *sqlfuncs.Portal, out *wire.Out) (rows int64, err error) {
	cp := p.Copy()
	for {
		row, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		start := len(out.B)
		var at int
		out.B, at = begin(out.B, 'd')
		b, err := cp.AppendRow(out.B, row, c.session.Env())
		if err != nil {
			out.B = out.B[:start]
			return rows, err
		}
		out.B = end(b, at)
		rows++
		if err := out.Room(); err != nil {
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
		for i := range r.Count {
			at := len(out.B)
			out.B = append(out.B, 'd', 0, 0, 0, 0)
			out.B = append(strconv.AppendInt(out.B, r.First+i*r.Step, 10), '\n')
			binary.BigEndian.PutUint32(out.B[at+1:], uint32(len(out.B)-at-1))
		}
		rows += r.Count
		if err := out.Room(); err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil {
			return rows, context.Cause(ctx)
		}
	}
}
