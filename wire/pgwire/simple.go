package pgwire

import (
	"bytes"
	"context"

	"nextid/sqlfuncs"
	"nextid/wire"
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

// runQuery runs the statements of a simple query one after another, up to the first
// error. The whole text is parsed first: after a syntax error no statement runs.
func (c *conn) runQuery(ctx context.Context, text []byte, out *wire.Out) error {
	if err := checkText(text); err != nil {
		return err
	}
	if err := c.BeginText(ctx, text); err != nil {
		return err
	}
	defer c.EndText(text)
	batch, err := c.SQL.Simple(text)
	if err != nil {
		return err
	}
	ran := false
	for {
		st, err := batch.Next()
		if err != nil {
			return err
		}
		if st == nil {
			if !ran {
				out.B = append(out.B, emptyQuery...)
			}
			return nil
		}
		ran = true
		if err := c.runStatement(ctx, st, out); err != nil {
			return err
		}
		c.sendNotices(out)
	}
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
	return c.sendRows(ctx, p, 0, out)
}
