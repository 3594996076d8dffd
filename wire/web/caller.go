package web

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// caller is the user of a request. Each request has its own copy.
type caller struct {
	options  sqlfuncs.SessionOptions // of its SQL session
	loggedIn bool                    // with a password
}

// crossOrigin is net/http's check for requests that a page of another site makes a
// browser send (CSRF). It reads Sec-Fetch-Site, or compares Origin with Host. With a
// GET to plain HTTP on another machine browsers send neither; Referer names the page
// then.
var crossOrigin http.CrossOriginProtection

// checkOrigin refuses requests from pages of other sites. It refuses GET, too: on
// the paths of Leaf and Tinyid a GET draws ids.
func (s *Server) checkOrigin(r *http.Request) error {
	asked := *r
	asked.Method = http.MethodPost // crossOrigin accepts every GET
	if from := r.Referer(); from != "" && r.Header.Get("Origin") == "" {
		asked.Header = r.Header.Clone()
		asked.Header.Set("Origin", from) // only scheme and host are compared
	}
	if crossOrigin.Check(&asked) != nil {
		return sqlstate.New(sqlstate.InsufficientPrivilege, "a page of another site may not use this server").
			WithHint("Programs that are no browsers send neither Origin nor Sec-Fetch-Site.")
	}
	return s.checkHost(r)
}

// caller returns the user of a request, by the token of a login of the page, or by a
// password.
func (s *Server) caller(r *http.Request) (caller, error) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		c, ok := s.logins.find(token, time.Now())
		if o := &c.options; o.Rights != nil { // they may have changed or ended since, see auth
			o.Admin, o.Generators, ok = o.Rights.Now()
		}
		if c.options.RemoteAddr = r.RemoteAddr; ok {
			return c, nil
		}
		return caller{}, sqlstate.New(sqlstate.InvalidPassword, "the login has ended").WithHint("Log in again.")
	}
	name, password, _ := r.BasicAuth()
	return s.login(r, name, password)
}

// login checks a name and a password. Without users it returns a caller that is not
// logged in.
func (s *Server) login(r *http.Request, name, password string) (caller, error) {
	c := caller{loggedIn: s.cfg.RequiresLogin(), options: sqlfuncs.SessionOptions{
		User: cmp.Or(name, "http"), Database: "nextid", RemoteAddr: r.RemoteAddr, Settings: []setting.Own{{Key: "application_name", Value: "http"}},
	}}
	err := s.cfg.Login(r, name, password, &c.options)
	switch {
	case err == nil:
		return c, nil
	case name == "" && password == "":
		return caller{}, sqlstate.New(sqlstate.InvalidPassword, "a user of nextid and its password are needed").
			WithHint("curl -u USER …; users are made with nextid passwd USER.")
	}
	return caller{}, sqlstate.New(sqlstate.InvalidPassword, "the user or the password is wrong").
		WithHint("Check both. nextid passwd USER sets a password.")
}

// checkHost refuses DNS rebinding: an attacker's DNS can point a name to this
// machine, so that the browser takes pages of that name for the same site. Without
// users, a request to a loopback address must name an address or localhost as Host.
func (s *Server) checkHost(r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := local.(*net.TCPAddr)
	if s.cfg.RequiresLogin() || !ok || !tcp.IP.IsLoopback() {
		return nil
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return nil
	}
	return sqlstate.New(sqlstate.InsufficientPrivilege, "this server has no users and accepts its address as Host, not %q", host).
		WithHint("Use http://127.0.0.1 or http://localhost, or make users: nextid passwd USER.")
}

const (
	loginLasts = time.Hour // of a login of the page, from its last use
	maxLogins  = 1000
)

// logins holds the logins of the page by their tokens. The page keeps a token
// instead of the password. A request with a token hashes no password.
type logins struct {
	mu  sync.Mutex
	all map[string]*loggedIn
}

// loggedIn is one login of the page. ends is loginLasts after its last use.
type loggedIn struct {
	caller caller
	ends   time.Time
}

// add begins a login and returns its token and its end.
func (l *logins) add(c caller, now time.Time) (token string, ends time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.all, func(_ string, in *loggedIn) bool { return now.After(in.ends) })
	if len(l.all) >= maxLogins {
		return "", ends, sqlstate.New(sqlstate.TooManyConnections, "too many logins on the page").WithHint("They end %v after their last use.", loginLasts)
	}
	token, ends = rand.Text(), now.Add(loginLasts)
	l.all[token] = &loggedIn{c, ends}
	return token, ends, nil
}

// find returns the user of a token, and prolongs the login. ok is false for a token
// that is unknown or has ended.
func (l *logins) find(token string, now time.Time) (c caller, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.all[token]
	if in == nil || now.After(in.ends) {
		return caller{}, false
	}
	in.ends = now.Add(loginLasts)
	return in.caller, true
}

// end ends a login; an unknown token is no error.
func (l *logins) end(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, token)
}
