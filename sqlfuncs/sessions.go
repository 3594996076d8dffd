package sqlfuncs

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"nextid/sqlfuncs/engine"
)

// sessionSet holds the sessions of a server, for nextid.sessions. mu also protects
// Session.connection and Session.options.Admin, which other sessions read.
type sessionSet struct {
	mu  sync.Mutex
	all map[*Session]struct{}
}

// users returns the users with sessions, and whether each is an administrator.
func (set *sessionSet) users() map[string]bool {
	set.mu.Lock()
	defer set.mu.Unlock()
	users := map[string]bool{}
	for s := range set.all {
		users[s.options.User] = users[s.options.User] || s.options.Admin
	}
	return users
}

// Sessions implements engine.Host, in the order of their numbers. Only the session itself and sessions that sleep show
// the text of their statement.
func (s *Session) Sessions(x *engine.Exec) []engine.Activity {
	set := &s.server.sessions
	set.mu.Lock()
	defer set.mu.Unlock()
	var list []engine.Activity
	for other := range set.all {
		a := engine.Activity{Client: &other.options, Own: other == s, Started: time.Unix(0, other.started)}
		if name := other.appName.Load(); name != nil {
			a.AppName = *name
		}
		if p := portalOf(x); a.Own && p != nil {
			a.Text = p.st.Text
		} else if text := other.asleep.Load(); text != nil {
			a.Text = *text
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b engine.Activity) int { return cmp.Compare(a.PID, b.PID) })
	return list
}

// EndOther closes the connection with the number pid, of either protocol, or cancels
// only its statement. Administrators may end all connections, users their own. found
// is false if there is none that the user may end.
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

// EndSessions closes the connections whose user was removed or has another
// password. Otherwise they would stay open until their next statement.
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
