package pgwire

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
	"nextid/wire"
)

// Request codes, which are sent in the place of the protocol version ("Message
// Formats": CancelRequest, SSLRequest, GSSENCRequest).
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
)

// Protocol versions. 3.1 does not exist. 3.2 has longer secrets for CancelRequest.
const (
	majorVersion = 3
	newestMinor  = 2
)

// alpn is the protocol's name in TLS ("SSL Session Encryption"). tlsHandshake is the
// first byte of a TLS handshake (RFC 8446, section 5.1). A start-up packet of at
// most 10 000 bytes begins with a zero.
const (
	alpn         = "postgresql"
	tlsHandshake = 0x16
)

// startup serves a packet before the login. n is 0 while the packet has not arrived
// whole. Wrong packets end the connection.
func (c *conn) startup(ctx context.Context, in []byte, out *wire.Out) (n int, err error) {
	if in[0] == tlsHandshake && !c.askedSSL && !c.askedGSS {
		if !c.Conn.CanTLS() {
			return 0, errors.New("the client begins with TLS, and the server has no certificate") // which the client would not understand
		}
		c.direct = true // sslnegotiation=direct of libpq 17
		return 0, c.startTLS()
	}
	if c.direct && c.Conn.TLS.ALPN != alpn {
		return 0, c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation,
			"received direct SSL connection request without ALPN protocol negotiation extension"))
	}
	if len(in) < 4 {
		return 0, nil
	}
	length := binary.BigEndian.Uint32(in)
	if length < 8 || length > uint32(c.protocol.Limits.Startup) {
		return 0, c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "invalid length of startup packet"))
	}
	if len(in) < int(length) {
		return 0, nil
	}
	n = int(length)
	code := binary.BigEndian.Uint32(in[4:])
	body := in[8:n]
	switch code {
	case sslRequest, gssRequest:
		return n, c.encryption(code, len(body) > 0, in[n:], out)
	case cancelRequest:
		if len(body) >= 8 && len(body) <= 4+256 {
			c.cancel(body)
		}
		return n, io.EOF
	}
	if major := code >> 16; major != majorVersion {
		return 0, c.fatal(out, sqlstate.New(sqlstate.FeatureNotSupported,
			"unsupported frontend protocol %d.%d: server supports 3.0 to 3.%d", major, code&0xffff, newestMinor))
	}
	return n, c.begin(ctx, int(code&0xffff), body, out)
}

// encryption answers SSLRequest and GSSENCRequest: S for TLS, N for plaintext. rest
// is the input behind the request.
func (c *conn) encryption(code uint32, body bool, rest []byte, out *wire.Out) error {
	asked := &c.askedSSL
	if code == gssRequest {
		asked = &c.askedGSS
	}
	if *asked || body {
		return c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "unexpected encryption request"))
	}
	*asked = true
	if code != sslRequest || !c.Conn.CanTLS() {
		out.B = append(out.B, 'N')
		return nil
	}
	if len(rest) > 0 {
		// A correct client waits for the answer. An attacker in the middle may
		// have added these bytes (CVE-2021-23214). Nothing is answered: the
		// client could not trust it.
		c.protocol.Logger.Warn("plaintext behind a request for TLS: connection closed", "connection", c.Conn.ID, "remote", c.Conn.Remote)
		return wire.ErrClosed
	}
	out.B = append(out.B, 'S')
	return c.startTLS()
}

// startTLS begins the handshake. Only the start-up packet may follow it.
func (c *conn) startTLS() error {
	c.askedSSL, c.askedGSS = true, true
	return c.Conn.StartTLS()
}

// begin reads the start-up packet and begins the login. A newer minor version and
// unknown protocol options get NegotiateProtocolVersion.
func (c *conn) begin(ctx context.Context, minor int, body []byte, out *wire.Out) error {
	o, unknown, err := c.sessionOptions(body)
	if err != nil {
		return c.fatal(out, err)
	}
	c.minor = uint8(min(minor, newestMinor))
	_, _ = rand.Read(c.secret[:]) // never fails (crypto/rand)
	if minor > newestMinor || len(unknown) > 0 {
		out.B = encode(out.B, &pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: majorVersion<<16 | uint32(c.minor), UnrecognizedOptions: unknown})
	}
	if c.protocol.SQL() == nil {
		return c.denied(out, wire.ErrStarting)
	}
	c.login = &login{options: o}
	if begin := c.protocol.Auth; begin != nil {
		c.login.exchange = begin(o.User, c.Conn)
	}
	return c.identify(ctx, nil, out)
}

// open opens the session of a client that has logged in, and sends the messages
// before its first query ("Start-up").
func (c *conn) open(out *wire.Out) error {
	err := c.Conn.Admit()
	if err == nil {
		err = c.Open(c.protocol.SQL(), c.login.options, c, c.protocol.Logger, &c.protocol.Limits)
	}
	if err != nil {
		return c.denied(out, err)
	}
	c.login = nil
	c.Out = out
	out.B = append(out.B, authenticated...)
	for p := range c.SQL.Parameters() {
		out.B = appendParameterStatus(out.B, p)
	}
	out.B = encode(out.B, &pgproto3.BackendKeyData{ProcessID: uint32(c.Conn.ID), SecretKey: c.cancelSecret()})
	c.ready(out)
	c.state = ready
	return nil
}

// sessionOptions reads the names and values of the start-up packet. As in
// PostgreSQL, a parameter has precedence over the same setting in the parameter
// "options". unknown lists the options of the protocol itself (_pq_.…): this server
// knows none of them.
func (c *conn) sessionOptions(body []byte) (o sqlfuncs.SessionOptions, unknown []string, err error) {
	o = c.Conn.Options(syntax.PostgreSQL)
	var options, replication string
	var params []setting.Own
	r := read(body)
	next := func() string { return strings.ToValidUTF8(string(r.CString()), "?") } // other sessions see these texts
	for n := 0; ; n++ {
		name := next()
		if name == "" {
			break
		}
		value := next()
		if n >= c.protocol.Limits.StartupParams {
			return o, nil, sqlstate.New(sqlstate.ProtocolViolation, "too many parameters in the startup packet")
		}
		switch {
		case name == "user":
			o.User = value
		case name == "database":
			o.Database = value
		case name == "options":
			options = value
		case name == "replication":
			replication = strings.ToLower(value)
		case strings.HasPrefix(name, "_pq_."):
			unknown = append(unknown, name)
		default:
			params = append(params, setting.Own{Key: name, Value: value})
		}
	}
	if !r.OK() {
		return o, nil, sqlstate.New(sqlstate.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
	}
	o.Settings, err = commandLine(options)
	o.Settings = append(o.Settings, params...)
	switch {
	case err != nil:
	case !slices.Contains([]string{"", "0", "false", "off", "no"}, replication):
		err = sqlstate.New(sqlstate.FeatureNotSupported, "replication is not supported by nextid")
	case o.User == "":
		err = sqlstate.New(sqlstate.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	return o, unknown, err
}

// maxShown bounds a word of the client in a message, in bytes.
const maxShown = 64

// commandLine reads the settings in the parameter "options": -c name=value and
// --name=value. A backslash escapes a blank.
func commandLine(text string) (settings []setting.Own, err error) {
	words := optionWord.FindAllString(text, -1)
	for i, w := range words {
		words[i] = escaped.ReplaceAllString(w, "$1")
	}
	for i := 0; i < len(words); i++ {
		assignment := ""
		switch w := words[i]; {
		case w == "-c":
			if i++; i < len(words) {
				assignment = words[i]
			}
		case strings.HasPrefix(w, "-c"):
			assignment = w[2:]
		case strings.HasPrefix(w, "--"):
			assignment = w[2:]
		}
		name, value, ok := strings.Cut(assignment, "=")
		if !ok || name == "" {
			return nil, sqlstate.New(sqlstate.SyntaxError, "invalid command-line argument for server process: %s", sqlstate.Cut(words[min(i, len(words)-1)], maxShown))
		}
		settings = append(settings, setting.Own{Key: strings.ReplaceAll(name, "-", "_"), Value: value})
	}
	return settings, nil
}

// A word of the parameter "options" ends at a blank. A character behind a backslash
// is part of the word.
var (
	optionWord = regexp.MustCompile(`(?s)(?:\\.|[^ \t\n])+`)
	escaped    = regexp.MustCompile(`(?s)\\(.)`)
)

// Exchange is the login of one client: Authentication messages and the client's
// answers ("p": password, SASL).
type Exchange interface {
	// Next takes the client's last answer, nil at the beginning. It returns the next
	// request, an Authentication message, or nil for none. done ends the login with
	// success, after the request. An error ends the connection; the client gets an
	// *sqlstate.Error as it is. Next may wait, but not beyond ctx.
	Next(ctx context.Context, answer []byte) (request pgproto3.BackendMessage, done bool, err error)

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
			out.B = encode(out.B, request)
		}
		if !done {
			return nil
		}
		c.login.exchange.Authorize(&c.login.options)
	}
	return c.open(out)
}
