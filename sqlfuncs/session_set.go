package sqlfuncs

import (
	"sync"

	"nextid/sqlfuncs/engine"
)

// sessionSet is the sessions of a server, for nextid.sessions.
type sessionSet struct {
	mu  sync.Mutex
	all map[*Session]struct{}
}

// register makes the session one that others see.
func (s *Session) register() {
	set := &s.server.sessions
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.all == nil {
		set.all = map[*Session]struct{}{}
	}
	set.all[s] = struct{}{}
}

// users are those who have sessions, and whether one is an administrator.
func (set *sessionSet) users() map[string]bool {
	set.mu.Lock()
	defer set.mu.Unlock()
	users := map[string]bool{}
	for s := range set.all {
		users[s.options.User] = users[s.options.User] || s.options.Admin
	}
	return users
}

// list returns what the session own, which runs x, sees of the sessions.
func (set *sessionSet) list(own *Session, x *engine.Exec) []engine.Activity {
	set.mu.Lock()
	defer set.mu.Unlock()
	var list []engine.Activity
	for s := range set.all {
		a := engine.Activity{Client: &s.options, Own: s == own, Started: s.started}
		if name := s.appName.Load(); name != nil {
			a.AppName = *name
		}
		if p := portalOf(x); a.Own && p != nil {
			a.Text = p.st.Text
		} else if text := s.asleep.Load(); text != nil {
			a.Text = *text
		}
		list = append(list, a)
	}
	return list
}

// EndOther ends the connection pid, or only its statement, of either protocol.
// An administrator may end all, others those of the same user. found is false
// where there is none, or none that the user may know of.
func (s *Session) EndOther(pid int64, queryOnly bool) (found bool) {
	set := &s.server.sessions
	set.mu.Lock()
	defer set.mu.Unlock()
	for other := range set.all {
		if int64(other.options.PID) == pid && other.connection != nil && (s.options.Admin || other.options.User == s.options.User) {
			other.connection.End(queryOnly)
			return true
		}
	}
	return false
}

// EndSessions ends the connections whose users were removed, or have another
// password. Their next statement would; until then they would take places.
func (s *Server) EndSessions() (ended int) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	for session := range s.sessions.all {
		if session.connection == nil || session.options.Rights == nil {
			continue
		}
		if _, _, ok := session.options.Rights.Now(); !ok {
			session.connection.End(false)
			ended++
		}
	}
	return ended
}
