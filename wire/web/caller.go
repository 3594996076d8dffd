package web

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// caller is who sent a request.
type caller struct {
	options  sqlfuncs.SessionOptions // of its SQL session
	loggedIn bool                    // it proved to be a user
}

// renew looks up what a user who logged in before may do now; false: no more.
func (c *caller) renew() (ok bool) {
	if c.options.Rights == nil {
		return true
	}
	c.options.Admin, c.options.Generators, ok = c.options.Rights.Now()
	return ok
}

// crossOrigin is net/http's rule for requests that another site's page makes
// a browser send (Sec-Fetch-Site, else Origin against Host). A browser that sends
// neither with a GET, as to plain HTTP on another machine, tells of the page in
// Referer.
var crossOrigin http.CrossOriginProtection

// checkOrigin refuses what another site's page made a browser send: not even
// a GET, which draws ids on the paths of Leaf and Tinyid.
func (s *Server) checkOrigin(r *http.Request) error {
	asked := *r
	asked.Method = http.MethodPost // the rule lets GET pass
	if from := r.Referer(); from != "" && r.Header.Get("Origin") == "" {
		asked.Header = r.Header.Clone()
		asked.Header.Set("Origin", from) // its scheme and host count
	}
	if crossOrigin.Check(&asked) != nil {
		return sqlstate.New(sqlstate.InsufficientPrivilege, "another site's page may not ask this server").
			WithHint("Programs that are no browsers send neither Origin nor Sec-Fetch-Site.")
	}
	return s.checkHost(r)
}

// caller decides who asks, by a login of the page or a password.
func (s *Server) caller(r *http.Request) (caller, error) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if c, ok := s.logins.find(token, time.Now()); ok && c.renew() {
			c.options.RemoteAddr = r.RemoteAddr
			return c, nil
		}
		return caller{}, sqlstate.New(sqlstate.InvalidPassword, "the login has ended").WithHint("Log in again.")
	}
	name, password, _ := r.BasicAuth()
	return s.login(r, name, password)
}

// login checks a name and a password.
func (s *Server) login(r *http.Request, name, password string) (caller, error) {
	var addr net.Addr // nil over a Unix socket
	if remote, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		addr = net.TCPAddrFromAddrPort(remote)
	}
	c := caller{options: sqlfuncs.SessionOptions{
		User: name, Database: "nextid", RemoteAddr: r.RemoteAddr, Settings: map[string]string{"application_name": "http"},
	}}
	if name == "" {
		c.options.User = "http"
	}
	closed := s.cfg.Closed()
	if err := s.cfg.Login(r.Context(), addr, r.TLS != nil, name, password, &c.options); err != nil {
		return caller{}, sqlstate.New(sqlstate.InvalidPassword, "a user of nextid and its password are needed").
			WithHint("curl -u USER …; users are made with nextid passwd USER.")
	}
	c.loggedIn = closed
	return c, nil
}

// checkHost refuses names that somebody else's DNS made point to this
// machine (DNS rebinding): without users, a server is asked by its address or
// as localhost.
func (s *Server) checkHost(r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := local.(*net.TCPAddr)
	if s.cfg.Closed() || !ok || !tcp.IP.IsLoopback() {
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
	return sqlstate.New(sqlstate.InsufficientPrivilege, "this server has no users and is asked by its address, not as %q", host).
		WithHint("Use http://127.0.0.1 or http://localhost, or make users: nextid passwd USER.")
}

// The page's logins: how long one lasts unused, and how many there are.
const (
	loginLasts = time.Hour
	maxLogins  = 1000
)

// logins are the users who logged in on the page. A token stands for the
// password, so that the page keeps none and no request hashes one.
type logins struct {
	mu  sync.Mutex
	all map[string]*loggedIn
}

type loggedIn struct {
	caller caller
	ends   time.Time
}

// add begins a login and returns its token.
func (l *logins) add(c caller, now time.Time) (token string, ends time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t, in := range l.all {
		if now.After(in.ends) {
			delete(l.all, t)
		}
	}
	if len(l.all) >= maxLogins {
		return "", ends, sqlstate.New(sqlstate.TooManyConnections, "too many logins on the page").WithHint("They end %v after their last use.", loginLasts)
	}
	if l.all == nil {
		l.all = map[string]*loggedIn{}
	}
	token, ends = rand.Text(), now.Add(loginLasts)
	l.all[token] = &loggedIn{c, ends}
	return token, ends, nil
}

// find returns whose login a token is, and lets it last longer.
func (l *logins) find(token string, now time.Time) (caller, bool) {
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
