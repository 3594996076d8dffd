package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
	"nextid/wire/mysqlwire"
)

// MySQL begins a login, as mysqlwire.Config.Auth.
func (p *Policy) MySQL(user string, c *wire.Conn) mysqlwire.Exchange {
	return &mysqlLogin{login: p.begin(user, c)}
}

// mysqlLogin is one login: a mysqlwire.Exchange.
type mysqlLogin struct{ *login }

// Method implements mysqlwire.Exchange. An unknown user has a method, too.
func (l *mysqlLogin) Method() string {
	if l.tables.users == nil {
		return ""
	}
	native := l.user != nil && l.user.Native != nil
	if l.user == nil {
		native = l.tables.users.shapeOf(l.name).native
	}
	if l.policy.native && native {
		return mysqlwire.NativePassword
	}
	return mysqlwire.CachingSHA2
}

// Proof implements mysqlwire.Exchange. Before the first login with the password
// itself it returns ErrPasswordNeeded, and so it does for an unknown user.
func (l *mysqlLogin) Proof(ctx context.Context, nonce, answer []byte) error {
	switch {
	case l.needsTLS():
		l.refused("outside TLS")
		return sqlstate.New(sqlstate.ProtocolViolation, "Connections using insecure transport are prohibited by this server").
			WithMySQL(3159, "HY000").WithHint("Connect with TLS: --ssl-mode=VERIFY_IDENTITY.")
	case l.method == Reject:
		l.refused(l.hidden)
		return errNoRule(l.login)
	case l.method != Password:
		return l.fail(ctx, l.vouched())
	case len(answer) == 0:
		return l.fail(ctx, errors.New("no password"))
	case l.Method() == mysqlwire.NativePassword:
		return l.native(ctx, nonce, answer)
	}
	if l.hidden == "" {
		if digest := l.user.fast.Load(); digest != nil && mysqlwire.CheckCachingSHA2(*digest, nonce, answer) {
			return nil
		}
	}
	return mysqlwire.ErrPasswordNeeded
}

// native checks a proof of mysql_native_password.
func (l *mysqlLogin) native(ctx context.Context, nonce, answer []byte) error {
	digest := [20]byte(l.tables.users.secret("native", l.name)) // for a user that does not exist
	if l.user != nil && l.user.Native != nil {
		digest = *l.user.Native
	}
	return l.fail(ctx, l.verdict(mysqlwire.CheckNativePassword(digest, nonce, answer)))
}

// Password implements mysqlwire.Exchange. After a success the next logins need only
// the short proof (User.fast).
func (l *mysqlLogin) Password(ctx context.Context, password []byte) error {
	switch {
	case l.method != Password: // over HTTP
		return l.fail(ctx, errors.New(cmp.Or(l.hidden, "the method of its host rule is "+string(l.method)+", and HTTP has passwords only")))
	case len(password) == 0 || len(password) > MaxPassword:
		return l.fail(ctx, errWrong)
	}
	fits, err := l.check(ctx, string(password))
	if err == nil {
		err = l.verdict(fits)
	}
	if err != nil {
		return l.fail(ctx, err)
	}
	digest := mysqlwire.CachingSHA2Digest(string(password))
	l.user.fast.Store(&digest)
	return nil
}

// check compares a password with the user's verifier. For an unknown user it hashes
// the password, too, so that both take the same time. At most one check runs for
// each processor.
func (l *mysqlLogin) check(ctx context.Context, password string) (fits bool, err error) {
	l.conn.Wait()
	select {
	case l.policy.hashing <- struct{}{}:
		defer func() { <-l.policy.hashing }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	switch {
	case l.user != nil && l.user.SHA2 != nil:
		return l.user.SHA2.Check(password), nil
	case l.user != nil && l.user.SCRAM != nil:
		return l.user.SCRAM.Check(password), nil
	}
	made := &SHA2{Rounds: sha2Rounds, Salt: [sha2Salt]byte(l.tables.users.secret("salt", l.name))}
	made.Check(password)
	if l.user != nil && l.hidden == "" {
		return false, errors.New("the user has no verifier of a password")
	}
	return false, nil
}

// fail logs and delays a failed login, and returns err. It does nothing if err is
// nil.
func (l *mysqlLogin) fail(ctx context.Context, err error) error {
	if err != nil {
		l.failed(ctx, err.Error())
	}
	return err
}

// CheckPassword checks the password of an HTTP request (Basic authentication, RFC
// 7617). The rules, limits and delays are those of the other protocols. If there is
// no error, it has written the rights of the user into o.
func (p *Policy) CheckPassword(ctx context.Context, name, password string, c *wire.Conn, o *sqlfuncs.SessionOptions) error {
	l := &mysqlLogin{login: p.begin(name, c)}
	var err error
	switch {
	case l.needsTLS():
		return errNeedsTLS()
	case l.method == Trust:
		err = l.vouched()
	case name == "" && password == "":
		return errNoProof // a request before the login is not a guess: no delay
	case l.knows(password):
	default:
		err = l.Password(ctx, []byte(password))
	}
	if err == nil {
		l.Authorize(o)
	}
	return err
}

// knows reports whether a password is the one that was checked last for the user. It
// saves the hash of Password, which takes milliseconds: each request has a password.
func (l *mysqlLogin) knows(password string) bool {
	if l.method != Password || l.hidden != "" || len(password) > MaxPassword {
		return false
	}
	known, digest := l.user.fast.Load(), mysqlwire.CachingSHA2Digest(password)
	return known != nil && subtle.ConstantTimeCompare(digest[:], known[:]) == 1
}
