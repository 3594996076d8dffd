package wire

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

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

// A client that requests the totals in a loop does not make the server walk all
// connections each time, with a lock that logins wait for.
func TestTotalsAreCountedSeldom(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, dial func() *peer, s *Server, m *lines) {
		dial().login()
		dial().login()
		synctest.Wait()
		s.mu.Lock()
		var one *Conn
		for _, c := range s.conns {
			one = c
		}
		s.mu.Unlock()
		for _, want := range []int64{0, 0, 5} {
			if connections, commands := one.Totals(); connections != 2 || commands != want {
				t.Errorf("%d connections and %d commands, want 2 and %d", connections, commands, want)
			}
			one.counters.commands.Store(5)
			<-time.After(recentLasts / 2)
		}
	})
}
