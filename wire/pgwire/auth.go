package pgwire

import (
	"context"
	"encoding/binary"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// Authenticator checks logins. It must be safe for concurrent use.
type Authenticator interface {
	// Begin starts the login of a user. It must treat unknown users like known ones,
	// so that a client cannot find out which users exist.
	Begin(user, database string, c *wire.Conn) Exchange
}

// Exchange is the login of one client: Authentication messages and the client's
// answers ("p": password, SASL).
type Exchange interface {
	// Next takes the client's last answer, nil at the beginning. It returns the next
	// request, the body of an Authentication message with its code first, or nil for
	// none. done ends the login with success, after the request. An error ends the
	// connection; the client gets an *sqlstate.Error as it is. Next may wait, but
	// not beyond ctx.
	Next(ctx context.Context, answer []byte) (request []byte, done bool, err error)

	// Authorize writes the rights of the user into the options of its session.
	Authorize(o *sqlfuncs.SessionOptions)
}

// login is a login in progress.
type login struct {
	options  sqlfuncs.SessionOptions
	exchange Exchange // nil: no proof is needed
}

// proof serves a message of a login. Only answers ("p") are allowed:
// PasswordMessage, SASLInitialResponse, SASLResponse.
func (c *conn) proof(ctx context.Context, in []byte, out *wire.Out) (n int, err error) {
	if in[0] != 'p' {
		return 0, c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "expected password response, got message type %d", in[0]))
	}
	if len(in) < headerSize {
		return 0, nil
	}
	length := binary.BigEndian.Uint32(in[1:])
	if length < 4 || length-4 > uint32(c.protocol.Limits.Auth) {
		return 0, c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "invalid length of password packet"))
	}
	n = 1 + int(length)
	if len(in) < n {
		return 0, nil
	}
	return n, c.identify(ctx, in[headerSize:n:n], out)
}

// identify gives an answer to the Exchange and sends its next request. After the
// last step it opens the session.
func (c *conn) identify(ctx context.Context, answer []byte, out *wire.Out) error {
	c.state = identifying
	if c.login.exchange != nil {
		request, done, err := c.login.exchange.Next(ctx, answer)
		if err != nil {
			return c.denied(out, err)
		}
		if request != nil {
			var at int
			out.B, at = begin(out.B, 'R')
			out.B = end(append(out.B, request...), at)
		}
		if !done {
			return nil
		}
		c.login.exchange.Authorize(&c.login.options)
	}
	return c.open(out)
}
