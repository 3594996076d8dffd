package mysqlwire

import (
	"sync"

	"nextid/sqlfuncs/sqlstate"
)

// connections are the connections that have logged in, by id, for KILL.
type connections struct {
	mu  sync.Mutex
	all map[uint32]*conn
}

func (s *connections) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[uint32]*conn{}
	}
	s.all[uint32(c.Conn.ID)] = c
}

func (s *connections) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, uint32(c.Conn.ID))
}

func (s *connections) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// owned returns the connection id if it belongs to user. Nobody learns of
// the connections of others.
func (s *connections) owned(id int64, user string) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.all[uint32(id)]; id > 0 && id < 1<<32 && c != nil && c.user == user {
		return c
	}
	return nil
}

var (
	errInterrupted = sqlstate.New(sqlstate.QueryCanceled, "Query execution was interrupted")
	errKilled      = sqlstate.New(sqlstate.ProtocolViolation, "Connection was killed").WithMySQL(1927, "70100")
)

// Kill implements sqlfuncs.Killer, for connections of the same user.
func (c *conn) Kill(id int64, queryOnly bool) error {
	victim := c.protocol.conns.owned(id, c.user)
	switch {
	case victim == nil && c.SQL.EndOther(id, queryOnly): // an administrator's
		return nil
	case victim == nil:
		return sqlstate.New(sqlstate.UndefinedObject, "Unknown thread id: %d", id).WithMySQL(1094, "HY000")
	case victim == c && queryOnly:
		return errInterrupted
	case victim == c:
		return errKilled
	case queryOnly:
		victim.End(true)
		return nil
	}
	victim.End(false)
	return nil
}

// End implements sqlfuncs.Connection.
func (c *conn) End(queryOnly bool) {
	if queryOnly {
		c.Statement.Interrupt(errInterrupted)
		return
	}
	c.Statement.Interrupt(errKilled)
	c.Conn.HangUp()
}
