package mysqlwire

import (
	"context"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// query serves COM_QUERY: one statement, or several with a result each.
func (c *conn) query(ctx context.Context, text []byte, out *wire.Out) error {
	if c.caps.has(clientQueryAttributes) {
		var err error
		if text, err = c.skipAttributes(text); err != nil {
			return err
		}
	}
	c.more = 0
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
	err = c.runBatch(ctx, &batch, out)
	c.more = 0
	c.SQL.EndBatch()
	c.Text = "" // it may be long
	return err
}

// skipAttributes reads the query attributes before the text, and returns the text.
// No statement uses the attributes.
func (c *conn) skipAttributes(body []byte) (text []byte, err error) {
	r := read(body)
	n := r.lenenc()
	r.lenenc() // sets of attributes, always one
	if n > 0 {
		if n > uint64(c.protocol.Limits.Parameters) {
			return nil, errTooManyParameters
		}
		p := parameters{reader: r, count: int(n), named: true}
		p.header()
		for i := range p.count {
			c.scratch = c.scratch[:0]
			if _, err := c.parameter(&p, i); err != nil {
				return nil, err
			}
		}
		r = p.reader
	}
	if r.Bad {
		return nil, errMalformed
	}
	return r.rest(), nil
}

// errEmpty is returned for a query without a statement.
var errEmpty = sqlstate.New(sqlstate.SyntaxError, "Query was empty").WithMySQL(1065, "42000")

// runBatch runs the statements of a query one after another, up to the first error.
func (c *conn) runBatch(ctx context.Context, batch *sqlfuncs.Batch, out *wire.Out) error {
	st, err := batch.Next()
	switch {
	case err != nil:
		return err
	case st == nil:
		return errEmpty
	case batch.More() && !c.caps.has(clientMultiStatements):
		return sqlstate.New(sqlstate.SyntaxError, "You have an error in your SQL syntax: the query has more than one statement").
			WithHint("Send one statement, or let the client set CLIENT_MULTI_STATEMENTS (allowMultiQueries, multiStatements).")
	}
	for st != nil {
		c.more = 0
		if batch.More() {
			c.more = statusMoreResults
		}
		if err := c.runStatement(ctx, st, out); err != nil {
			return err
		}
		if st, err = batch.Next(); err != nil {
			return err
		}
	}
	return nil
}

// runStatement runs one statement of a query and sends its result in text format.
func (c *conn) runStatement(ctx context.Context, st *sqlfuncs.Statement, out *wire.Out) error {
	p := c.SQL.Run(st)
	defer p.Close()
	ctx = c.begin(ctx, st)
	defer c.Statement.End()
	return c.sendResult(ctx, p, false, false, out)
}
