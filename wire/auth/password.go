package auth

import (
	"context"

	"nextid/wire"
)

// CheckPassword decides about a client that sends its password with each
// request, as in HTTP's Basic authentication: the rules, limits and waits are
// those of the other protocols.
func (p *Policy) CheckPassword(ctx context.Context, name, password string, c *wire.Conn) error {
	l := &mysqlLogin{login: p.begin(name, c)}
	switch {
	case l.needsTLS():
		return errNeedsTLS()
	case l.method == Trust:
		return l.vouched()
	case name == "" && password == "":
		return errNoProof // asked before the first attempt; not a guess
	}
	return l.Password(ctx, []byte(password))
}
