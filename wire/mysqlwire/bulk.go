package mysqlwire

import (
	"context"
	"errors"
	"io"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// bulkTypes is the flag of COM_STMT_BULK_EXECUTE for types before the values.
const bulkTypes = 128

// Indicators before each value. The indicators for a default and for no change get
// an error.
const (
	bulkValue = 0
	bulkNull  = 1
)

// bulkExecute serves MariaDB's COM_STMT_BULK_EXECUTE: it executes a statement once
// for each set of values. All rows are one result. A statement without rows gets one
// OK packet. The first error ends the command.
func (c *conn) bulkExecute(ctx context.Context, body []byte, out *wire.Out) error {
	r := reader{b: body}
	id, flags := r.uint32(), r.uint16()
	if r.bad || !c.caps.has(mariadbBulk) {
		return errMalformed
	}
	s, err := c.find(id)
	if err != nil {
		return err
	}
	c.closeCursor(s)
	p := parameters{reader: r, count: len(s.st.Params), types: s.types}
	if flags&bulkTypes != 0 {
		p.readTypes()
		s.types = p.types
	}
	switch {
	case p.bad || len(p.b) == 0:
		return errMalformed
	case p.count == 0:
		return sqlstate.New(sqlstate.InvalidParameterValue, "A bulk execution needs a statement with parameters").WithMySQL(1295, "HY000")
	case len(p.types) < p.count:
		return errNoTypes
	}
	b := bulk{conn: c, s: s, out: out}
	ctx = c.begin(ctx, s.st)
	defer c.Statement.End()
	for len(p.b) > 0 {
		if err := c.bulkRow(&p); err != nil {
			return err
		}
		if err := b.run(ctx); err != nil {
			return err
		}
	}
	c.SQL.EndBatch()
	if b.begun {
		out.B = c.eof(out.B, 0)
	} else {
		out.B = c.ok(out.B, c.affected(), c.SQL.LastInsertID())
	}
	return nil
}

// bulkRow reads one set of values into c.args.
func (c *conn) bulkRow(p *parameters) error {
	c.args, c.scratch = c.args[:0], c.scratch[:0]
	for _, t := range p.types[:p.count] {
		var arg sqlfuncs.Arg
		switch p.byte() {
		case bulkValue:
			var err error
			if arg, err = c.value(&p.reader, t); err != nil {
				return err
			}
		case bulkNull:
			arg = nullOf(t)
		default:
			return sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments: a parameter has no default to take")
		}
		c.args = append(c.args, arg)
	}
	if p.bad {
		return errMalformed
	}
	return nil
}

// bulk is a bulk execution that is running.
type bulk struct {
	*conn
	s     *statement
	out   *wire.Out
	begun bool // the head of the result was sent
}

// run executes the statement with the values in args, by the fast path if possible.
func (b *bulk) run(ctx context.Context) error {
	c, out := b.conn, b.out
	c.asBytes(b.s.st)
	if ids, ok := c.SQL.Fast.Execute(b.s.st, c.args, 1); ok {
		b.begin(b.s.st, b.s.st.Columns)
		out.B = c.appendRun(out.B, ids, asBinary)
		return out.FlushFull()
	}
	p, err := c.SQL.Open(b.s.st, c.args)
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Columns() == nil {
		return c.finish(ctx, p)
	}
	b.begin(p.Statement(), p.Columns())
	_, err = c.sendRows(ctx, p, asBinary, 0, out)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// begin sends the head of the result before the first row.
func (b *bulk) begin(st *sqlfuncs.Statement, columns []sqlfuncs.Column) {
	if !b.begun {
		b.begun = true
		b.out.B = b.head(b.out.B, st, columns, false)
	}
}
