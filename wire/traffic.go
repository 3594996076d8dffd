package wire

import (
	"maps"
	"sync/atomic"
	"time"
)

// Traffic holds the counters of a Server since it was made.
type Traffic struct {
	Accepted int64            // connections, refused ones included
	Received int64            // bytes of the protocol, without TLS around them
	Sent     int64            // bytes of the protocol, without TLS around them
	Commands int64            // see Conn.Served
	Refused  map[string]int64 // connections, by one of the Refused… constants
	Errors   map[string]int64 // to clients, by SQLSTATE
}

// Keys of Traffic.Refused: reasons for which connections were refused.
const (
	RefusedBeforeLogin = "before_login" // too many that have not logged in
	RefusedLimit       = "limit"        // too many on the server
	RefusedAddress     = "address"      // too many from one address
	RefusedSlow        = "slow"         // the login or a message took too long
	RefusedTLS         = "tls"          // the handshake failed
	RefusedDraining    = "draining"     // shutdown
)

// counters belong to one connection. Only its goroutine writes them, once a read and
// once a write, so that no two connections write to the same cache line.
type counters struct {
	received, sent, commands atomic.Int64
}

func (t *Traffic) add(c *counters) {
	t.Received += c.received.Load()
	t.Sent += c.sent.Load()
	t.Commands += c.commands.Load()
}

// Traffic returns the counters so far.
func (s *Server) Traffic() Traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trafficLocked()
}

func (s *Server) trafficLocked() Traffic {
	t := s.done
	t.Refused, t.Errors = maps.Clone(t.Refused), maps.Clone(t.Errors)
	for _, c := range s.conns {
		t.add(&c.counters)
	}
	return t
}

// recentLasts is the age up to which Recent returns the counters again.
const recentLasts = 100 * time.Millisecond

// Recent returns the counters, up to recentLasts old. A client
// may request them in a loop, and to sum them up takes all connections.
func (s *Server) Recent() Traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := monotonic(); s.summed == 0 || now-s.summed >= recentLasts {
		s.summed, s.recent = now, s.trafficLocked()
	}
	return s.recent
}

// Totals returns the number of open connections of the server, and of the commands
// that it has served.
func (c *Conn) Totals() (connections int, commands int64) {
	if c.server == nil {
		return 1, c.Served
	}
	return c.server.Connections(), c.server.Recent().Commands
}

// Answered counts an error that the Machine has sent.
func (c *Conn) Answered(err error) {
	if c.server == nil {
		return
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.done.Errors[string(ErrorFor(err).Code)]++
}
