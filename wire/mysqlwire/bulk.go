package mysqlwire

import (
	"context"

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
	s, r, err := c.find(body)
	if err != nil {
		return err
	}
	flags := r.uint16()
	if r.Bad || !c.caps.has(mariadbBulk) {
		return errMalformed
	}
	c.closeCursor(s)
	p := parameters{reader: r, count: len(s.st.Params), types: s.types}
	if flags&bulkTypes != 0 {
		p.readTypes()
		s.types = p.types
	}
	switch {
	case p.Bad || len(p.B) == 0:
		return errMalformed
	case p.count == 0:
		return sqlstate.New(sqlstate.InvalidParameterValue, "A bulk execution needs a statement with parameters").WithMySQL(1295, "HY000")
	case len(p.types) < p.count:
		return errNoTypes
	}
	begun := false // the head of the result was sent
	ctx = c.BeginStatement(ctx, s.st)
	defer c.Statement.End()
	for len(p.B) > 0 {
		if err := c.bulkRow(&p); err != nil {
			return err
		}
		if err := c.bulkRun(ctx, s.st, &begun, out); err != nil {
			return err
		}
	}
	out.B = c.endResult(out.B, begun)
	return nil
}

// bulkRow reads one set of values.
func (c *conn) bulkRow(p *parameters) error {
	s := c.Conn.Scratch()
	s.Reset()
	for _, t := range p.types[:p.count] {
		var arg sqlfuncs.Arg
		switch p.Byte() {
		case bulkValue:
			var err error
			if arg, err = c.value(&p.reader, t); err != nil {
				return err
			}
		case bulkNull:
			arg = c.null(t)
		default:
			return sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments: a parameter has no default to take")
		}
		s.Args = append(s.Args, arg)
	}
	if p.Bad {
		return errMalformed
	}
	return nil
}

// bulkRun executes a statement with a set of values and sends its rows, after the head of the
// result unless that has begun.
func (c *conn) bulkRun(ctx context.Context, st *sqlfuncs.Statement, begun *bool, out *wire.Out) error {
	c.asBytes(st)
	p, err := c.SQL.Open(st, c.Conn.Scratch().Args)
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Columns() != nil && !*begun {
		*begun = true
		out.B = c.head(out.B, p.Statement(), p.Columns(), false)
	}
	_, err = c.sendRows(ctx, p, true, 0, out)
	return err
}
