// Package account counts the bytes that clients make a server hold: rows that are
// sorted or joined, values that are computed, plans, prepared statements, bound
// values, and messages that have not arrived completely.
//
// A Session is the account of one session. Its goroutine calls Draw before it
// allocates, and Return when the memory is free. Each session also counts towards
// its user and towards the Server. If one of the three limits would be exceeded,
// Draw returns an error (53200, out_of_memory) and counts nothing. The counts are
// upper bounds. They do not include the memory of the server itself.
package account

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"nextid/sqlfuncs/sqlstate"
)

// Limits holds the limits in bytes. A zero Server means DefaultServer, a zero User
// half of Server, and a zero Session a quarter of Server.
type Limits struct {
	Server  int64 // all sessions together
	User    int64 // the sessions of one user together
	Session int64
}

// DefaultServer is the limit of a server without a configured one: 1 GiB.
const DefaultServer = 1 << 30

// WithDefaults returns l with its zero fields filled in.
func (l Limits) WithDefaults() Limits {
	l.Server = cmp.Or(l.Server, DefaultServer)
	l.User, l.Session = cmp.Or(l.User, l.Server/2), cmp.Or(l.Session, l.Server/4)
	return l
}

// Server is the account of a server. It is safe for concurrent use.
type Server struct {
	limits Limits
	used   atomic.Int64 // sum of the sessions' drawn
	mu     sync.Mutex
	users  map[string]*user // users with sessions; under mu
}

// user is the account of a user.
type user struct {
	name     string
	used     atomic.Int64
	sessions int // under Server.mu
}

// NewServer returns an empty account.
func NewServer(l Limits) *Server {
	return &Server{limits: l.WithDefaults(), users: map[string]*user{}}
}

// Used returns the number of bytes that all sessions have drawn, rounded up to
// grains.
func (s *Server) Used() int64 { return s.used.Load() }

// Open returns the account of a new session of the user. It must be closed, and must
// not be copied after the first Draw.
func (s *Server) Open(name string) Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if u == nil {
		u = &user{name: name}
		s.users[name] = u
	}
	u.sessions++
	return Session{server: s, user: u}
}

// Session is the account of a session. Only the session's goroutine uses it. It
// draws from the accounts of the user and the server in grains, so that sessions
// seldom contend for them.
type Session struct {
	server *Server
	user   *user
	used   int64
	drawn  int64 // drawn from the user and the server; at least used
}

// grain is the number of bytes that a session draws at once from the accounts of the
// user and the server.
const grain = 64 << 10

// Draw counts n more bytes. If a limit would be exceeded, it counts nothing and
// returns an *sqlstate.Error (53200).
func (s *Session) Draw(n int64) error {
	if s.used += n; s.used <= s.drawn {
		return nil
	}
	if err := s.more(); err != nil {
		s.used -= n
		return err
	}
	return nil
}

// more draws grains until drawn covers used.
func (s *Session) more() error {
	limits := &s.server.limits
	if s.used > limits.Session {
		return refused("this session may hold %s", limits.Session).
			WithHint("Ask for less at once: LIMIT, fewer columns, no sort, join or cursor over large sets; or raise limits.memory_per_session.")
	}
	n := min((s.used-s.drawn+grain-1)/grain*grain, limits.Session-s.drawn)
	if s.user.used.Add(n) > limits.User {
		s.user.used.Add(-n)
		return refused("the sessions of a user may hold %s together", limits.User).
			WithHint("Try again when the other sessions of the user hold less, or raise limits.memory_per_user.")
	}
	if s.server.used.Add(n) > limits.Server {
		s.server.used.Add(-n)
		s.user.used.Add(-n)
		return refused("all sessions together may hold %s", limits.Server).
			WithHint("Try again when other sessions hold less, or raise limits.memory.")
	}
	s.drawn += n
	return nil
}

// refused returns the error for a limit that would be exceeded.
func refused(format string, limit int64) *sqlstate.Error {
	return sqlstate.New(sqlstate.OutOfMemory, "out of memory: "+format, size(limit))
}

// size writes a number of bytes for an error.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Return counts n bytes fewer. n must have been drawn. Grains that are not needed go
// back to the user and the server.
func (s *Session) Return(n int64) {
	s.used -= n
	if spare := s.drawn - s.used; spare >= 2*grain || s.used == 0 {
		s.giveBack(spare / grain * grain)
	}
}

// giveBack returns n bytes to the user and the server.
func (s *Session) giveBack(n int64) {
	s.drawn -= n
	s.user.used.Add(-n)
	s.server.used.Add(-n)
}

// Used returns the number of bytes that the session holds.
func (s *Session) Used() int64 { return s.used }

// Close returns all bytes. The account must not be used after it.
func (s *Session) Close() {
	s.used = 0
	s.giveBack(s.drawn)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.user.sessions--; s.user.sessions == 0 {
		delete(s.server.users, s.user.name)
	}
}
