package mysqlwire

import (
	"nextid/sqlfuncs/sqlstate"
)

var (
	errInterrupted = sqlstate.New(sqlstate.QueryCanceled, "Query execution was interrupted")
	errKilled      = sqlstate.New(sqlstate.ProtocolViolation, "Connection was killed").WithMySQL(1927, "70100")
)

// Kill implements sqlfuncs.Killer: the statement KILL of this session. If it names
// its own connection, Kill returns the statement's error; errKilled ends the
// connection.
func (c *conn) Kill(id int64, queryOnly bool) error {
	switch {
	case id != int64(c.Conn.ID):
		if c.SQL.EndOther(id, queryOnly) {
			return nil
		}
		return sqlstate.New(sqlstate.UndefinedObject, "Unknown thread id: %d", id).WithMySQL(1094, "HY000")
	case queryOnly:
		return errInterrupted
	}
	return errKilled
}

// End implements sqlfuncs.Connection: KILL by another session. Any goroutine may
// call it.
func (c *conn) End(queryOnly bool) {
	if queryOnly {
		c.Statement.Interrupt(errInterrupted)
		return
	}
	c.Statement.Interrupt(errKilled)
	c.Conn.HangUp()
}
