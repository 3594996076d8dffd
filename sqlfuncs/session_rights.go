package sqlfuncs

import (
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// isSuperuser names the setting that tells PostgreSQL's clients whether the user is
// an administrator.
const isSuperuser = "is_superuser"

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// errEnded is returned to a session whose user lost access (57P01).
var errEnded = sqlstate.New(sqlstate.AdminShutdown, "terminating connection due to administrator command").
	WithDetail("The user was removed, or has another password.")

// renew updates the session's rights if rights may have changed. Each statement
// calls it before it runs. An error ends the session: the user was removed, or has
// another password.
func (s *Session) renew() error {
	if s.upToDate() {
		return nil
	}
	generation := s.options.Rights.Generation() // before Now, so that the next statement sees a change in between
	admin, generators, ok := s.options.Rights.Now()
	if !ok {
		if s.connection != nil {
			s.connection.End(false)
		}
		return errEnded
	}
	s.rights, s.options.Generators = generation, generators
	if admin == s.options.Admin {
		return nil
	}
	s.server.sessions.mu.Lock()
	s.options.Admin = admin
	s.server.sessions.mu.Unlock()
	if s.dialect == syntax.PostgreSQL {
		s.vars.Begin(setting.Own{Key: isSuperuser, Value: onOff(admin)})
	}
	return nil
}
