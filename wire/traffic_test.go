package wire

import (
	"errors"
	"testing"
	"testing/synctest"

	"nextid/sqlfuncs/sqlstate"
)

// The counters of a connection stay in the total when it is closed.
func TestTrafficIsCounted(t *testing.T) {
	bubble(t, Limits{Connections: 3, ReservedForSocket: 1}, func(t *testing.T, dial func() *peer, s *Server, _ *lines) {
		first := dial().login()
		dial().login()
		third := dial()
		third.send("hello\n")
		third.want("53300")
		third.wantEnd()
		_ = third.Close()
		synctest.Wait()
		before := s.Traffic()
		if before.Accepted != 3 || before.Received == 0 || before.Sent == 0 || before.Refused[RefusedLimit] != 1 || len(before.Refused) != 1 {
			t.Errorf("%+v", before)
		}
		s.mu.Lock()
		for _, c := range s.conns {
			c.counters.commands.Add(2)
			go c.Answered(sqlstate.New(sqlstate.SyntaxError, "no"))
			go c.Answered(errors.New("a bug"))
		}
		s.mu.Unlock()
		first.send("bye\n")
		first.wantEnd()
		synctest.Wait()
		after := s.Traffic()
		if after.Received != before.Received+4 || after.Sent < before.Sent || after.Commands != 4 || after.Errors["42601"] != 2 || after.Errors["XX000"] != 2 {
			t.Errorf("%+v, before %+v", after, before)
		}
		if s.Connections() != 1 {
			t.Errorf("%d connections", s.Connections())
		}
	})
}
