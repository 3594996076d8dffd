package auth

import (
	"context"
	"crypto/subtle"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/mysqlwire"
)

// CheckPassword decides about a client that sends its password with each
// request, as in HTTP's Basic authentication: the rules, limits and waits are
// those of the other protocols. What the user may do is written into o.
func (p *Policy) CheckPassword(ctx context.Context, name, password string, c *wire.Conn, o *sqlfuncs.SessionOptions) error {
	l := &mysqlLogin{login: p.begin(name, c)}
	var err error
	switch {
	case l.needsTLS():
		return errNeedsTLS()
	case l.method == Trust:
		err = l.vouched()
	case name == "" && password == "":
		return errNoProof // asked before the first attempt; not a guess
	case l.knows(password):
	default:
		err = l.Password(ctx, []byte(password))
	}
	if err == nil {
		l.authorize(o)
	}
	return err
}

// knows reports whether a password was the user's when it was checked last:
// each request brings it, and hashing it takes milliseconds.
func (l *mysqlLogin) knows(password string) bool {
	if l.method != Password || l.hidden != "" || len(password) > MaxPassword {
		return false
	}
	known, digest := l.user.fast.Load(), mysqlwire.CachingSHA2Digest(password)
	return known != nil && subtle.ConstantTimeCompare(digest[:], known[:]) == 1
}
