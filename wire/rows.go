package wire

import (
	"context"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
)

// SendRows sends the rows of a portal, at most limit if it is not 0. row appends one
// row to B. The error is io.EOF after the last row, nil at the limit.
func (o *Out) SendRows(ctx context.Context, p *sqlfuncs.Portal, limit int64, row func([]datum.Value) error) (rows int64, err error) {
	for limit == 0 || rows < limit {
		values, err := p.Next(ctx)
		if err != nil {
			return rows, err
		}
		if err := row(values); err != nil {
			return rows, err
		}
		rows++
		if err := o.EndRow(p); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// runLength is the number of ids that are drawn and encoded at a time: 64 KiB of
// answers hold about two runs.
const runLength = 1024

// SendIDs sends the rows of a portal of ids, without making a datum.Value for a row.
// run appends a row for each id of a run. For limit and the error see SendRows.
func (o *Out) SendIDs(ctx context.Context, p *sqlfuncs.Portal, limit int64, run func(dst []byte, r generator.Range) []byte) (rows int64, err error) {
	for limit == 0 || rows < limit {
		n := int64(runLength)
		if limit > 0 {
			n = min(n, limit-rows)
		}
		r, err := p.NextIDs(ctx, n)
		if err != nil {
			return rows, err
		}
		o.B = run(o.B, r)
		rows += r.Count
		if err := o.EndRow(p); err != nil {
			return rows, err
		}
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
	}
	return rows, nil
}
