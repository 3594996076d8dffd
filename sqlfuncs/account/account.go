// Package account counts the bytes that clients make a server hold: rows that
// are sorted or joined, values that are being computed, prepared statements,
// bound values, messages that have not arrived whole. A session draws on its
// own account, that of its user and that of the server, and is refused with
// 53200 (out_of_memory) before the server has too little. The counts are
// estimates from above; what the server itself holds is not in them.
package account

import (
	"fmt"
	"sync"
	"sync/atomic"

	"nextid/sqlfuncs/sqlstate"
)

// Limits are in bytes. A zero Server means DefaultServer; a zero User is half
// of Server, a zero Session a quarter of it.
type Limits struct {
	Server  int64 // all sessions together
	User    int64 // the sessions of one user together
	Session int64
}

// DefaultServer is the limit of a server for which none is configured.
const DefaultServer = 1 << 30

// WithDefaults returns l with its zero fields filled in.
func (l Limits) WithDefaults() Limits {
	if l.Server == 0 {
		l.Server = DefaultServer
	}
	if l.User == 0 {
		l.User = l.Server / 2
	}
	if l.Session == 0 {
		l.Session = l.Server / 4
	}
	return l
}

// Server is the account of a server. It is safe for concurrent use.
type Server struct {
	limits Limits
	used   atomic.Int64
	mu     sync.Mutex
	users  map[string]*user
}

type user struct {
	name     string
	used     atomic.Int64
	sessions int // under Server.mu
}

// NewServer returns an account with nothing drawn.
func NewServer(l Limits) *Server {
	return &Server{limits: l.WithDefaults(), users: map[string]*user{}}
}

// Used returns how many bytes all sessions have drawn.
func (s *Server) Used() int64 { return s.used.Load() }

// Open returns the account of a new session of a user, which is not to be copied
// once something was drawn.
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

// Session is the account of a session, for its goroutine alone. It draws on
// the accounts above it in grains, so that sessions seldom meet there.
type Session struct {
	server *Server
	user   *user
	used   int64
	drawn  int64 // from the accounts above, at least used
}

// grain is the number of bytes drawn at once from the accounts above.
const grain = 64 << 10

// Draw counts n more bytes, or refuses them with an *sqlstate.Error.
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

func refused(format string, limit int64) *sqlstate.Error {
	return sqlstate.New(sqlstate.OutOfMemory, "out of memory: "+format, size(limit))
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Return counts n bytes fewer.
func (s *Session) Return(n int64) {
	s.used -= n
	if spare := s.drawn - s.used; spare >= 2*grain || s.used == 0 {
		s.giveBack(spare / grain * grain)
	}
}

func (s *Session) giveBack(n int64) {
	s.drawn -= n
	s.user.used.Add(-n)
	s.server.used.Add(-n)
}

// Used returns how many bytes the session holds.
func (s *Session) Used() int64 { return s.used }

// Close returns everything. The account must not be used again.
func (s *Session) Close() {
	s.used = 0
	s.giveBack(s.drawn)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.user.sessions--; s.user.sessions == 0 {
		delete(s.server.users, s.user.name)
	}
}
