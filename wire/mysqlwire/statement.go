package mysqlwire

import (
	"context"
	"errors"
	"strconv"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// statement is a prepared statement of a connection.
type statement struct {
	id     uint32
	name   string // in the SQL session
	st     *sqlfuncs.Statement
	types  []paramType      // of the last execution that sent types
	long   map[int][]byte   // values that COM_STMT_SEND_LONG_DATA has sent, by parameter
	failed error            // of COM_STMT_SEND_LONG_DATA; the next execution returns it
	cursor *sqlfuncs.Portal // nil: none is open
}

// lastPrepared stands for the id of the newest statement. MariaDB's clients send it
// when they send PREPARE and EXECUTE together, before they know the id.
const lastPrepared = 1<<32 - 1

// maxCursors bounds the open cursors of a connection.
const maxCursors = 64

// cursorReadOnly is a flag of COM_STMT_EXECUTE (enum_cursor_type).
const cursorReadOnly = 1

// find reads the id of a prepared statement, or lastPrepared, and returns the
// statement. r has the rest of the message.
func (c *conn) find(body []byte) (s *statement, r reader, err error) {
	r = read(body)
	id := r.uint32()
	if r.Bad {
		return nil, r, errMalformed
	}
	if id == lastPrepared {
		id = c.lastID
	}
	if s = c.statements[id]; s == nil {
		err = sqlstate.New(sqlstate.InvalidStatementName, "Unknown prepared statement handler (%d)", id)
	}
	return s, r, err
}

// prepare serves COM_STMT_PREPARE. The SQL session counts the statement on the
// account of memory, under a name that SQL's PREPARE cannot have.
func (c *conn) prepare(ctx context.Context, text []byte, out *wire.Out) error {
	id := c.newest + 1
	if id == lastPrepared || id == 0 {
		id = 1
	}
	c.lastID = 0 // an EXECUTE that follows a failure must not find an older one
	if err := checkText(text); err != nil {
		return err
	}
	name := "\x00" + strconv.FormatUint(uint64(id), 10)
	st, err := c.Prepare(ctx, name, text, nil)
	if err != nil {
		var e *sqlstate.Error
		if errors.As(err, &e) && e.Code == sqlstate.LimitExceeded {
			return e.WithMySQL(1461, "42000") // ER_MAX_PREPARED_STMT_COUNT_REACHED
		}
		return err
	}
	switch {
	case st.Empty():
		err = errEmpty
	case len(st.Params) > c.protocol.Limits.Parameters:
		err = errTooManyParameters
	}
	if err != nil {
		c.SQL.Unprepare([]byte(name))
		return err
	}
	if c.statements == nil {
		c.statements = map[uint32]*statement{}
	}
	c.statements[id] = &statement{id: id, name: name, st: st}
	c.newest, c.lastID = id, id
	c.prepared(st, id, out)
	return nil
}

// parameterColumn and parameterShape are the definition of every parameter. The type
// of a parameter is not known before a value is bound.
var (
	parameterColumn = sqlfuncs.Column{Name: "?"}
	parameterShape  = shape{typ: typeNull, charset: charsetBinary, flags: flagBinary}
)

// prepared answers COM_STMT_PREPARE ("COM_STMT_PREPARE_OK"): the numbers and the
// definitions of parameters and columns.
func (c *conn) prepared(st *sqlfuncs.Statement, id uint32, out *wire.Out) {
	var at int
	out.B, at = begin(out.B)
	out.B = appendUint32(append(out.B, 0), id)
	out.B = appendUint16(out.B, uint16(len(st.Columns)))
	out.B = appendUint16(out.B, uint16(len(st.Params)))
	out.B = appendUint16(append(out.B, 0), c.warnings())
	out.B = c.end(out.B, at)
	if len(st.Params) > 0 {
		for range st.Params {
			out.B, at = begin(out.B)
			out.B = c.appendShape(out.B, &parameterColumn, parameterShape)
			out.B = c.end(out.B, at)
		}
		out.B = c.endDefinitions(out.B)
	}
	if len(st.Columns) > 0 {
		out.B = c.statementDefinitions(out.B, st)
		out.B = c.endDefinitions(out.B)
	}
}

// execute serves COM_STMT_EXECUTE. It sends all rows, or opens a cursor if the
// client requests one and the statement has columns.
func (c *conn) execute(ctx context.Context, body []byte, out *wire.Out) error {
	s, r, err := c.find(body)
	if err != nil {
		return err
	}
	flags := r.Byte()
	r.uint32() // iterations, always one
	if r.Bad {
		return errMalformed
	}
	c.closeCursor(s)
	err = c.bind(s, r)
	c.forgetLongData(s)
	if err != nil {
		return err
	}
	if flags&cursorReadOnly == 0 && !c.SlowRan {
		if ids, ok := c.SQL.Fast.Execute(s.st, c.Conn.Scratch().Args, 1); ok {
			out.B, _ = c.appendAnswer(out.B, s.st, true, ids.First)
			return nil
		}
	}
	p, err := c.SQL.Open(s.st, c.Conn.Scratch().Args)
	if err != nil {
		return err
	}
	if flags&cursorReadOnly != 0 && p.Columns() != nil {
		return c.openCursor(s, p, out)
	}
	defer p.Close()
	ctx = c.BeginStatement(ctx, s.st)
	defer c.Statement.End()
	return c.sendResult(ctx, p, true, sameColumns(s.st.Columns, p.Columns()), out)
}

// bind reads the values of an execution.
func (c *conn) bind(s *statement, r reader) error {
	if s.failed != nil {
		return s.failed
	}
	scratch := c.Conn.Scratch()
	scratch.Reset()
	p := parameters{reader: r, count: len(s.st.Params), types: s.types}
	if p.count == 0 {
		return nil // MariaDB's Node.js connector sends the flag for new types without parameters
	}
	nulls := p.Bytes((p.count + 7) / 8) // a bitmap
	if p.Byte() == 1 {
		p.readTypes()
	}
	s.types = p.types
	if !p.Bad && len(p.types) < p.count {
		return errNoTypes
	}
	for i := 0; i < p.count && !p.Bad; i++ {
		var arg sqlfuncs.Arg
		var err error
		switch data, sent := s.long[i]; {
		case sent:
			arg = textOrBytes(data)
		case nulls[i/8]&(1<<(i%8)) != 0:
			arg = c.null(p.types[i])
		default:
			arg, err = c.value(&p.reader, p.types[i])
		}
		if err != nil {
			return err
		}
		scratch.Args = append(scratch.Args, arg)
	}
	if !p.OK() {
		return errMalformed
	}
	c.asBytes(s.st)
	return nil
}

// asBytes turns arguments that are texts into bytes where the statement's parameter is
// bytes. Clients bind texts and bytes with the same types, see textOrBytes.
func (c *conn) asBytes(st *sqlfuncs.Statement) {
	for i, t := range st.Params {
		if a := &c.Conn.Scratch().Args[i]; t == datum.Bytea && a.Type == datum.Text {
			a.Type, a.Binary = datum.Bytea, true
		}
	}
}

// longData serves COM_STMT_SEND_LONG_DATA, which appends to a parameter's value. The
// command has no answer: the next execution returns its error.
func (c *conn) longData(body []byte) {
	s, r, err := c.find(body)
	if err != nil || s.failed != nil {
		return
	}
	n := int(r.uint16())
	switch total := c.longBytes + len(r.B); {
	case r.Bad, n >= len(s.st.Params):
		err = sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to mysqld_stmt_send_long_data")
	case total > c.protocol.Limits.Statement:
		err = sqlstate.New(sqlstate.LimitExceeded, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than %d bytes",
			c.protocol.Limits.Statement).WithHint("Raise limits.statement_bytes in the configuration.").WithMySQL(1301, "HY000")
	default:
		err = c.SQL.Memory().Draw(longFactor * int64(len(r.B)))
	}
	if err != nil {
		c.forgetLongData(s)
		s.failed = err
		return
	}
	if s.long == nil {
		s.long = map[int][]byte{}
	}
	c.longBytes += len(r.B)
	s.long[n] = append(s.long[n], r.B...)
}

// longFactor times the size of long data is counted on the account: append may
// allocate twice the size.
const longFactor = 2

// forgetLongData drops the long data of a statement and its error, and returns the
// memory to the account.
func (c *conn) forgetLongData(s *statement) {
	for _, data := range s.long {
		c.longBytes -= len(data)
		c.SQL.Memory().Return(longFactor * int64(len(data)))
	}
	s.long, s.failed = nil, nil
}

// openCursor keeps the portal of an execution for COM_STMT_FETCH, and sends the
// definitions of its columns.
func (c *conn) openCursor(s *statement, p *sqlfuncs.Portal, out *wire.Out) error {
	if c.cursors >= maxCursors {
		p.Close()
		return sqlstate.New(sqlstate.LimitExceeded, "this connection already has %d open cursors", maxCursors).
			WithHint("Close statements that are no longer used.")
	}
	s.cursor = p
	c.cursors++
	c.more = statusCursorExists // for the EOF packet behind the definitions, or the OK packet in its place
	out.B = c.head(out.B, p.Statement(), p.Columns(), sameColumns(s.st.Columns, p.Columns()))
	if c.caps.has(clientDeprecateEOF) {
		out.B = c.eof(out.B, 0)
	}
	c.more = 0
	return nil
}

// fetch serves COM_STMT_FETCH: the next rows of a cursor. The last row closes the
// cursor, and so does an error.
func (c *conn) fetch(ctx context.Context, body []byte, out *wire.Out) error {
	s, r, err := c.find(body)
	if err != nil {
		return err
	}
	rows := r.uint32()
	if !r.OK() {
		return errMalformed
	}
	if s.cursor == nil {
		return sqlstate.New(sqlstate.InvalidCursorName, "The statement (%d) has no open cursor", s.id).WithMySQL(1421, "HY000")
	}
	ctx = c.BeginStatement(ctx, s.st)
	defer c.Statement.End()
	ended, status := false, uint16(statusCursorExists)
	if rows > 0 {
		ended, err = c.sendRows(ctx, s.cursor, true, int64(rows), out)
	}
	if ended || err != nil {
		c.closeCursor(s)
		status = statusLastRowSent
	}
	if err != nil {
		return err
	}
	out.B = c.eof(out.B, status)
	return nil
}

// closeCursor closes the cursor of a statement, if it has one.
func (c *conn) closeCursor(s *statement) {
	if s.cursor != nil {
		s.cursor.Close()
		s.cursor = nil
		c.cursors--
	}
}

// drop closes a prepared statement.
func (c *conn) drop(s *statement) {
	c.closeCursor(s)
	c.forgetLongData(s)
	c.SQL.Unprepare([]byte(s.name))
	delete(c.statements, s.id)
}

// closeStatements closes all prepared statements. It does not change newest, so that
// their ids are not reused soon.
func (c *conn) closeStatements() {
	for _, s := range c.statements {
		c.drop(s)
	}
	c.lastID = 0
}

// resetStatement serves COM_STMT_RESET: it drops the statement's long data and
// closes its cursor.
func (c *conn) resetStatement(body []byte, out *wire.Out) error {
	s, r, err := c.find(body)
	if err != nil {
		return err
	}
	if !r.OK() {
		return errMalformed
	}
	c.closeCursor(s)
	c.forgetLongData(s)
	out.B = c.ok(out.B, 0, 0)
	return nil
}
