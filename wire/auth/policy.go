package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// Config configures New.
type Config struct {
	Users *Users // nil: no proof is needed, and every user is an administrator
	Rules []Rule // nil: DefaultRules(false)

	// RequireTLS refuses TCP connections outside TLS, whatever the rules say.
	RequireTLS bool

	// NativePassword lets users with a digest for mysql_native_password log in by
	// that method.
	NativePassword bool

	Logger *slog.Logger // nil: slog.Default()
}

// maxLines bounds the failed logins that are logged in a second, so that failures do
// not fill the disk.
const maxLines = 10

// Policy checks logins, for all protocols of a server. It is safe for concurrent
// use.
type Policy struct {
	requireTLS bool
	native     bool
	log        *slog.Logger
	current    atomic.Pointer[tables]
	generation atomic.Uint64 // number of stores to current
	open       grant         // of every login while there are no users
	failures   failures
	hashing    chan struct{} // bounds the expensive hashes that run at once
	logged     wire.Throttle
}

// tables holds the users and rules of a Policy. Replace stores a new one.
type tables struct {
	users *Users
	rules []Rule
}

// New returns a Policy.
func New(cfg Config) *Policy {
	p := &Policy{
		requireTLS: cfg.RequireTLS, native: cfg.NativePassword, log: cmp.Or(cfg.Logger, slog.Default()),
		hashing: make(chan struct{}, runtime.GOMAXPROCS(0)), logged: wire.Throttle{Lines: maxLines},
	}
	p.open = grant{policy: p, user: anyone}
	p.replace(cfg.Users, cfg.Rules)
	return p
}

// RequiresLogin reports whether there are users. Without users every client is an
// administrator.
func (p *Policy) RequiresLogin() bool { return p.current.Load().users != nil }

// Size returns the number of users and of rules.
func (p *Policy) Size() (users, rules int) {
	t := p.current.Load()
	return t.users.Len(), len(t.rules)
}

// Replace changes the users and rules, as in Config. New rules apply to later
// logins. New users also apply to open sessions; see grant.
//
// Users from a file without @users may be incomplete. Replace returns an error for
// them if a present user is missing.
func (p *Policy) Replace(users *Users, rules []Rule) error {
	if before := p.current.Load().users; users != nil && !users.counted {
		if before == nil {
			return fmt.Errorf("the server has had no users, and without a line %s the file may be incomplete", countWord)
		}
		for _, name := range before.Names() {
			if users.Lookup(name) == nil {
				return fmt.Errorf("user %q is missing, and without a line %s the file may be incomplete", cut(name), countWord)
			}
		}
	}
	p.replace(users, rules)
	return nil
}

// replace stores the users and rules. A user with an unchanged password keeps
// User.fast: otherwise all users would send their passwords again.
func (p *Policy) replace(users *Users, rules []Rule) {
	if rules == nil {
		rules = DefaultRules(false)
	}
	if before := p.current.Load(); before != nil && users != nil && before.users != nil {
		for name, u := range users.byName {
			if old := before.users.Lookup(name); old != nil && old.sameSecret(u) {
				u.fast.Store(old.fast.Load())
			}
		}
	}
	p.current.Store(&tables{users: users, rules: rules})
	p.generation.Add(1)
}

// login is one user's attempt over one connection.
type login struct {
	policy *Policy
	tables *tables // as they were when it began
	conn   *wire.Conn
	name   string
	user   *User // nil: unknown
	method Method
	names  []string // of the rule
	hidden string   // reason for which no proof can succeed, for the log only; "": a proof can
}

// anyone is the user of every login while there are no users.
var anyone = &User{Admin: true}

// begin looks up the method of a user's login. A user that the rules reject still
// gets Password, which always fails, if other users from the same origin get it.
func (p *Policy) begin(name string, c *wire.Conn) *login {
	t := p.current.Load()
	if t.users == nil {
		return &login{policy: p, tables: t, conn: c, name: name, user: anyone, method: Trust}
	}
	l := &login{policy: p, tables: t, conn: c, name: name, user: t.users.Lookup(name), method: Reject, hidden: "no host rule matches"}
	if r := match(t.rules, c, name); r != nil {
		l.method, l.names, l.hidden = r.Method, r.Names, ""
		if r.Method == Reject {
			l.hidden = "a host rule rejects it"
		}
	}
	if l.method == Reject && slices.ContainsFunc(t.rules, func(r Rule) bool { return r.reaches(c) && r.Method == Password }) {
		// Other users get a password request from here. To send one, too, does not
		// reveal the names in the rules.
		l.method = Password
	}
	if l.user == nil && l.hidden == "" {
		l.hidden = "no such user"
	}
	return l
}

// needsTLS reports whether the connection is refused for being outside TLS.
func (l *login) needsTLS() bool {
	return l.policy.requireTLS && l.conn.TLS == nil && !l.conn.Local
}

// Authorize implements Exchange of pgwire and of mysqlwire: it writes the rights of
// the user into the options of its session.
func (l *login) Authorize(o *sqlfuncs.SessionOptions) {
	o.Admin, o.Generators = false, []string{}
	if l.user != nil {
		o.Admin, o.Generators = l.user.Admin, l.user.Generators
		if o.Rights = &l.policy.open; l.user != anyone {
			o.Rights = &grant{policy: l.policy, user: l.user, password: l.method == Password}
		}
	}
}

// grant is a login that succeeded. It implements engine.Rights: the present rights
// of the session.
type grant struct {
	policy   *Policy
	user     *User // at the time of the login
	password bool  // the login proved a password
}

// Generation implements engine.Rights.
func (g *grant) Generation() *atomic.Uint64 { return &g.policy.generation }

// Now implements engine.Rights. ok is false, and the session ends, in three cases:
// the user was removed; the password that the login proved has changed; the login
// was without users, and now there are users.
func (g *grant) Now() (admin bool, generators []string, ok bool) {
	user := g.user
	if users := g.policy.current.Load().users; users != nil {
		if user = users.Lookup(g.user.Name); user == nil || g.user == anyone || g.password && !user.sameSecret(g.user) {
			return false, []string{}, false
		}
	}
	return user.Admin, user.Generators, true
}

// errNoProof is returned for a login without the proof that its method needs.
var errNoProof = errors.New("not the user")

// vouched checks the methods that need no message from the client: trust, cert,
// peer.
func (l *login) vouched() error {
	var names []string // that the client has proven
	switch l.method {
	case Trust:
		return l.verdict(true)
	case Cert:
		s := l.conn.TLS
		if s == nil || s.Client == nil {
			return errors.New("no client certificate")
		}
		names = slices.Concat([]string{s.Client.Subject.CommonName}, s.Client.DNSNames, s.Client.EmailAddresses)
	case Peer:
		uid, ok := l.conn.PeerUID()
		if !ok {
			return errors.New("the system did not return the user of the client")
		}
		id := strconv.FormatUint(uint64(uid), 10)
		names = []string{"#" + id} // in a container without /etc/passwd
		if u, err := user.LookupId(id); err == nil {
			names = []string{u.Username}
		}
	default:
		return errNoProof
	}
	accepted := l.names
	if accepted == nil {
		accepted = []string{l.name}
	}
	if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(accepted, n) }) {
		return errors.New("the " + string(l.method) + " is of " + strconv.Quote(cut(names[0])))
	}
	return l.verdict(true)
}

// errWrong is returned for a proof of another password.
var errWrong = errors.New("wrong password")

// verdict returns the error of a login with a proof that fits or not.
func (l *login) verdict(fits bool) error {
	switch {
	case l.hidden != "":
		return errors.New(l.hidden)
	case !fits:
		return errWrong
	}
	return nil
}

// failed logs a failed login and waits for its delay, or for the end of ctx.
func (l *login) failed(ctx context.Context, reason string) {
	now := time.Now()
	delay := l.policy.failures.add(l.conn.IP, now)
	if skipped, ok := l.policy.logged.Next(now); ok {
		l.policy.log.Warn("login failed", "connection", l.conn.ID, "remote", l.conn.Remote, "user", cut(l.name),
			"method", string(l.method), "reason", reason, "tls", l.conn.TLS != nil, "not_logged", skipped)
	}
	l.conn.Wait()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}

// refused logs a login that is refused before any proof.
func (l *login) refused(reason string) {
	if skipped, ok := l.policy.logged.Next(time.Now()); ok {
		l.policy.log.Warn("login refused", "connection", l.conn.ID, "remote", l.conn.Remote, "user", cut(l.name),
			"reason", reason, "tls", l.conn.TLS != nil, "not_logged", skipped)
	}
}

// errNeedsTLS returns the error of a login outside TLS where TLS is required.
func errNeedsTLS() error {
	return sqlstate.New(sqlstate.InvalidAuthorization, "this server requires TLS").
		WithHint("Connect with TLS: sslmode=verify-full in PostgreSQL's clients, --ssl-mode=VERIFY_IDENTITY in MySQL's.")
}

// errNoRule returns the error of a login that no host rule allows.
func errNoRule(l *login) error {
	where, how := "a Unix socket", ""
	if !l.conn.Local {
		where = l.conn.IP.String()
		how = " without TLS"
		if l.conn.TLS != nil {
			how = " with TLS"
		}
	}
	return sqlstate.New(sqlstate.InvalidAuthorization, "no host rule lets user \"%s\" log in from %s%s", cut(l.name), where, how).
		WithHint("See docs/security.md on host_rules, tls_cert and require_tls.")
}

// maxShown bounds a client's name in messages and the log, in bytes.
const maxShown = 64

func cut(name string) string { return sqlstate.Cut(name, maxShown) }
