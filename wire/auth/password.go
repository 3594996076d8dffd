package auth

import (
	"context"
	"crypto/subtle"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/mysqlwire"
)

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
		l.authorize(o)
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
