package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
	"nextid/wire/pgwire"
)

// SASL mechanisms (RFC 7677). PLUS adds channel binding, inside TLS only.
const (
	mechanism     = "SCRAM-SHA-256"
	mechanismPlus = "SCRAM-SHA-256-PLUS"
)

// Postgres begins a login, as pgwire.Config.Auth.
func (p *Policy) Postgres(user string, c *wire.Conn) pgwire.Exchange {
	return &postgresLogin{login: p.begin(user, c)}
}

// postgresLogin is one login: a pgwire.Exchange.
type postgresLogin struct {
	*login
	scram *conversation // nil before the mechanisms were offered
	begun bool          // client-first-message has arrived
}

// Next implements pgwire.Exchange: offer, chosen, proven. It logs and delays a
// failed login.
func (l *postgresLogin) Next(ctx context.Context, answer []byte) (request pgproto3.BackendMessage, done bool, err error) {
	switch {
	case l.scram == nil:
		return l.first(ctx)
	case !l.begun:
		request, err = l.chosen(answer)
	default:
		request, done, err = l.proven(answer)
	}
	if err != nil {
		l.failed(ctx, err.Error())
		return nil, false, l.clientError(err)
	}
	return request, done, nil
}

// first begins the login, and ends it if the method needs no message.
func (l *postgresLogin) first(ctx context.Context) (request pgproto3.BackendMessage, done bool, err error) {
	switch {
	case l.needsTLS():
		l.refused("outside TLS")
		return nil, false, errNeedsTLS()
	case l.method == Reject:
		l.refused(l.hidden)
		return nil, false, errNoRule(l.login)
	case l.method == Password:
		return l.offer(), false, nil
	}
	if err := l.vouched(); err != nil {
		l.failed(ctx, err.Error())
		return nil, false, l.clientError(err)
	}
	return nil, true, nil
}

// offer returns the mechanisms for the connection.
func (l *postgresLogin) offer() *pgproto3.AuthenticationSASL {
	v, known := l.tables.users.scram(l.name)
	l.scram = &conversation{verifier: v, known: known && l.hidden == "", nonce: rand.Text()}
	if !known && l.hidden == "" {
		l.hidden = "the user has no SCRAM-SHA-256 verifier"
	}
	if s := l.conn.TLS; s != nil && s.EndPoint != nil {
		l.scram.endPoint = s.EndPoint
		return &pgproto3.AuthenticationSASL{AuthMechanisms: []string{mechanismPlus, mechanism}}
	}
	return &pgproto3.AuthenticationSASL{AuthMechanisms: []string{mechanism}}
}

// chosen reads SASLInitialResponse: the mechanism and client-first-message.
func (l *postgresLogin) chosen(answer []byte) (pgproto3.BackendMessage, error) {
	name, rest, ok := bytes.Cut(answer, []byte{0})
	if !ok || len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) != uint64(len(rest)-4) {
		return nil, errSCRAM
	}
	l.scram.plus = string(name) == mechanismPlus
	if l.scram.plus && l.scram.endPoint == nil || !l.scram.plus && string(name) != mechanism {
		return nil, errSCRAM
	}
	message, err := l.scram.first(rest[4:])
	if err != nil {
		return nil, err
	}
	l.begun = true
	return &pgproto3.AuthenticationSASLContinue{Data: message}, nil
}

// proven reads SASLResponse with the client's proof.
func (l *postgresLogin) proven(answer []byte) (request pgproto3.BackendMessage, done bool, err error) {
	message, fits, err := l.scram.final(answer)
	if err == nil {
		err = l.verdict(fits)
	}
	if err != nil {
		return nil, false, err
	}
	return &pgproto3.AuthenticationSASLFinal{Data: message}, true, nil
}

// clientError returns the error for the client. It does not contain the reason,
// unless the client broke the protocol.
func (l *postgresLogin) clientError(err error) error {
	if e, ok := errors.AsType[*sqlstate.Error](err); ok {
		return e
	}
	if l.method == Password {
		return sqlstate.New(sqlstate.InvalidPassword, "password authentication failed for user \"%s\"", cut(l.name))
	}
	kind := map[Method]string{Cert: "certificate ", Peer: "peer "}[l.method]
	return sqlstate.New(sqlstate.InvalidAuthorization, "%sauthentication failed for user \"%s\"", kind, cut(l.name))
}
