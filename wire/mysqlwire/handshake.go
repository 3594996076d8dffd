package mysqlwire

import (
	"context"
	"crypto/rand"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
	"nextid/wire"
)

// nonceSize is the length of a nonce (auth-plugin-data), from which the client
// computes its proof.
const nonceSize = 20

// newNonce returns a nonce of 7-bit characters without zero bytes, which end a
// string, and without $, as MySQL does.
func newNonce() (nonce [nonceSize]byte) {
	_, _ = rand.Read(nonce[:]) // never fails (crypto/rand)
	for i, b := range nonce {
		if b &= 0x7f; b == 0 || b == '$' {
			b++
		}
		nonce[i] = b
	}
	return nonce
}

// versionPrefix precedes the version in the greeting only, as in MariaDB 10. Old
// clients refuse a version above 5.
const versionPrefix = "5.5.5-"

// greet sends the greeting ("Protocol::HandshakeV10"), or an error in its place.
func (c *conn) greet(out *wire.Out) error {
	sql := c.protocol.SQL()
	if sql == nil {
		return c.denied(out, wire.ErrStarting)
	}
	c.nonce = newNonce()
	can := c.offered()
	var at int
	out.B, at = begin(out.B)
	out.B = append(out.B, 10)
	out.B = append(append(append(out.B, versionPrefix...), sql.MySQLVersion()...), 0)
	out.B = appendUint32(out.B, uint32(c.Conn.ID))
	out.B = append(append(out.B, c.nonce[:8]...), 0)
	out.B = appendUint16(out.B, uint16(can))
	out.B = append(out.B, charsetUTF8MB4)
	out.B = appendUint16(out.B, statusAutocommit)
	out.B = appendUint16(out.B, uint16(can>>16))
	out.B = append(out.B, nonceSize+1, 0, 0, 0, 0, 0, 0)
	out.B = appendUint32(out.B, uint32(can>>32))
	out.B = append(append(out.B, c.nonce[8:]...), 0)
	out.B = append(append(out.B, c.method()...), 0)
	out.B = c.end(out.B, at)
	c.state = greeted
	return nil
}

// offered returns the capabilities of the server on this connection.
func (c *conn) offered() capability {
	if c.Conn.CanTLS() {
		return offered | clientSSL
	}
	return offered
}

// introduce serves the handshake response, or the request for TLS before it
// ("Protocol::SSLRequest"). Nothing that the client sent in plaintext is kept: it
// sends the whole response after the TLS handshake. The input behind the request is
// the TLS handshake, never a packet.
func (c *conn) introduce(ctx context.Context, payload []byte, out *wire.Out) error {
	flags := read(payload)
	if len(payload) == sslRequestSize && capability(flags.uint32()).has(clientSSL) {
		if !c.Conn.CanTLS() {
			return c.fatal(out, errBadHandshake)
		}
		return c.Conn.StartTLS()
	}
	id, err := c.handshakeResponse(payload)
	if err != nil {
		return c.fatal(out, err)
	}
	return c.identify(ctx, id, false, out)
}

// identity holds the fields of a handshake response or of COM_CHANGE_USER.
type identity struct {
	user, database string
	method         string // "": the client does not know methods
	answer         []byte // to the nonce; a part of the message
	program        string // connection attribute program_name
	collation      int    // number of the collation, 0: none
}

// sslRequestSize is the length of the request for TLS: a handshake response that
// ends before the user.
const sslRequestSize = 32

// handshakeResponse reads "Protocol::HandshakeResponse41" and sets c.caps. MariaDB's
// clients do not set CLIENT_LONG_PASSWORD and send their own capabilities in the
// last four bytes of the filler.
func (c *conn) handshakeResponse(payload []byte) (id identity, err error) {
	r := read(payload)
	flags := capability(r.uint32())
	r.Bytes(4) // max_packet_size: the longest packet that the client accepts
	id.collation = int(r.Byte())
	filler := r.Bytes(23)
	if r.Bad || !flags.has(clientProtocol41) {
		return id, errBadHandshake
	}
	if !flags.has(clientLongPassword) {
		extended := read(filler[19:])
		flags |= capability(extended.uint32()) << 32
	}
	c.caps = flags & c.offered()
	id.user = string(r.CString())
	switch {
	case c.caps.has(clientLenencAuth):
		id.answer = r.lenencBytes()
	case c.caps.has(clientSecureAuth):
		id.answer = r.Bytes(int(r.Byte()))
	default:
		id.answer = r.CString()
	}
	if c.caps.has(clientConnectWithDB) && len(r.B) > 0 {
		id.database = string(r.cstringOrRest())
	}
	return id, c.endOfIdentity(&r, &id)
}

// endOfIdentity reads the last fields of the handshake response and of
// COM_CHANGE_USER: method and attributes. Clients may leave them out.
func (c *conn) endOfIdentity(r *reader, id *identity) error {
	if c.caps.has(clientPluginAuth) && len(r.B) > 0 {
		id.method = string(r.cstringOrRest())
	}
	if c.caps.has(clientConnectAttrs) && len(r.B) > 0 {
		attributes := read(r.lenencBytes())
		for len(attributes.B) > 0 { // what is malformed inside is ignored, as in MySQL
			key, value := attributes.lenencBytes(), attributes.lenencBytes()
			if string(key) == "program_name" {
				id.program = strings.ToValidUTF8(string(value), "?")
			}
		}
	}
	if r.Bad { // bytes behind the last field are ignored, as in MySQL
		return errBadHandshake
	}
	if !utf8.ValidString(id.user) || !utf8.ValidString(id.database) {
		return errBadHandshake
	}
	return nil
}

var errBadHandshake = sqlstate.New(sqlstate.ProtocolViolation, "Bad handshake").WithMySQL(1043, "08S01")

// changeUser reads COM_CHANGE_USER. Fields from the collation on may be missing.
func (c *conn) changeUser(body []byte) (id identity, err error) {
	r := read(body)
	id.user = string(r.CString())
	if c.caps.has(clientSecureAuth) {
		id.answer = r.Bytes(int(r.Byte()))
	} else {
		id.answer = r.CString()
	}
	id.database = string(r.cstringOrRest())
	if r.Bad {
		return id, errMalformed
	}
	if len(r.B) > 0 {
		id.collation = int(r.uint16())
	}
	return id, c.endOfIdentity(&r, &id)
}

// maxProgramBytes bounds program_name.
const maxProgramBytes = 64

// sessionOptions returns the options of a session.
func (c *conn) sessionOptions(id identity) sqlfuncs.SessionOptions {
	o := c.Conn.Options(syntax.MySQL)
	o.User, o.Database, o.Collation = id.user, id.database, id.collation
	if id.program != "" {
		o.Settings = []setting.Own{{Key: "application_name", Value: sqlstate.Cut(id.program, maxProgramBytes)}}
	}
	return o
}

// open opens the session of a client that has logged in. After COM_CHANGE_USER it
// closes the session before, so that no state of the other user is left.
func (c *conn) open(out *wire.Out) error {
	if c.SQL == nil {
		if err := c.Conn.Admit(); err != nil {
			return c.denied(out, err)
		}
	} else {
		c.closeSession()
	}
	if err := c.Open(c.protocol.SQL(), c.login.options, c, c.protocol.Logger, &c.protocol.Limits); err != nil {
		return c.fatal(out, err)
	}
	c.login = nil
	c.reported = reported{autocommit: true}
	c.state = ready
	out.B = c.ok(out.B, 0, 0)
	return nil
}

// closeSession closes the session and its statements.
func (c *conn) closeSession() {
	c.closeStatements()
	c.SQL.Close()
}
