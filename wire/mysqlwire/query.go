package mysqlwire

import (
	"bytes"
	"context"
	"errors"
	"io"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// query serves COM_QUERY: one statement, or several with a result each.
func (c *conn) query(ctx context.Context, text []byte, out *wire.Out) error {
	if err := checkText(text); err != nil {
		return err
	}
	ran, err := c.RunText(ctx, text, func(st *sqlfuncs.Statement, more bool) error {
		if more && !c.caps.has(clientMultiStatements) {
			return errSeveral
		}
		if c.more = 0; more {
			c.more = statusMoreResults
		}
		return c.runStatement(ctx, st, out)
	})
	c.more = 0
	if err == nil && !ran {
		if len(bytes.Trim(text, "; \t\r\n")) == 0 {
			return errEmpty
		}
		out.B = c.ok(out.B, 0, 0) // only comments
	}
	return err
}

var (
	errEmpty   = sqlstate.New(sqlstate.SyntaxError, "Query was empty").WithMySQL(1065, "42000")
	errSeveral = sqlstate.New(sqlstate.SyntaxError, "You have an error in your SQL syntax: the query has more than one statement").
			WithHint("Send one statement, or let the client set CLIENT_MULTI_STATEMENTS (allowMultiQueries, multiStatements).")
)

// runStatement runs one statement of a query and sends its result in text format.
func (c *conn) runStatement(ctx context.Context, st *sqlfuncs.Statement, out *wire.Out) error {
	p := c.SQL.Run(st)
	defer p.Close()
	ctx = c.BeginStatement(ctx, st)
	defer c.Statement.End()
	return c.sendResult(ctx, p, false, false, out)
}

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
	out.B = c.endResult(out.B, p.Columns() != nil)
	return nil
}

// endResult appends the packet that ends a result set, or the OK packet of a statement
// without columns.
func (c *conn) endResult(dst []byte, set bool) []byte {
	if set {
		return c.eof(dst, 0)
	}
	return c.ok(dst, uint64(max(0, c.SQL.MySQL().Affected)), c.SQL.LastInsertID())
}

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
