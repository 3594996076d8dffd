package wire

import (
	"crypto"
	_ "crypto/sha512" // hashes of certificates
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"nextid/sqlfuncs"
)

// PEM holds the contents of the PEM files of a server.
type PEM struct {
	Cert     []byte // the server's certificate, and the intermediate ones behind it
	Key      []byte // its private key
	ClientCA []byte // issuers of clients' certificates; empty: no client certificate is requested
}

// TLS is the server side of TLS 1.2 and 1.3. Replace exchanges the certificates
// while the server runs, and must be called before the first connection. It is safe
// for concurrent use.
type TLS struct {
	current atomic.Pointer[identity]
}

// identity is one set of certificates. It is not changed once it is stored.
type identity struct {
	config   *tls.Config
	leaf     *x509.Certificate
	endPoint []byte
}

// Replace changes the certificates for later connections. After an error the old
// ones stay.
func (t *TLS) Replace(p PEM) error {
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return fmt.Errorf("certificate and key: %w", err)
	}
	config := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		CipherSuites: suites,
		Certificates: []tls.Certificate{pair},
		// Connections are long: resumption saves little, and the key of the
		// tickets would be one more secret.
		SessionTicketsDisabled: true,
		// Answers are written as a whole: small records would cost CPU.
		DynamicRecordSizingDisabled: true,
	}
	if len(p.ClientCA) > 0 {
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(p.ClientCA) {
			return errors.New("client CA: no certificate in PEM form")
		}
		// A wrong certificate ends the handshake. Whether one is required is
		// decided by the login.
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	t.current.Store(&identity{config: config, leaf: pair.Leaf, endPoint: endPoint(pair.Leaf)})
	return nil
}

// suites lists the cipher suites for TLS 1.2, without the CBC modes, which have
// known padding attacks. crypto/tls does not let a program choose the suites of TLS
// 1.3.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// Config returns the configuration of the next connection, for HTTP. It must not
// be changed.
func (t *TLS) Config() *tls.Config { return t.current.Load().config }

// Leaf returns the server's certificate.
func (t *TLS) Leaf() *x509.Certificate { return t.current.Load().leaf }

// endPoint returns the channel binding tls-server-end-point of RFC 5929, section
// 4.1: the hash of the certificate. The hash function is that of the certificate's
// signature, or SHA-256 in place of MD5 and SHA-1. endPoint returns nil where the
// RFC defines none.
func endPoint(leaf *x509.Certificate) []byte {
	var h crypto.Hash
	switch leaf.SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1,
		x509.SHA256WithRSA, x509.ECDSAWithSHA256, x509.SHA256WithRSAPSS:
		h = crypto.SHA256
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		h = crypto.SHA384
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		h = crypto.SHA512
	default:
		return nil
	}
	w := h.New()
	w.Write(leaf.Raw)
	return w.Sum(nil)
}

// Secured describes a connection inside TLS.
type Secured struct {
	ALPN     string            // the protocol that client and server agreed on, "" for none
	EndPoint []byte            // the channel binding tls-server-end-point, nil for none
	Client   *x509.Certificate // the client's certificate, verified; nil for none
	Shown    sqlfuncs.TLS      // in pg_stat_ssl
}

// secure does the TLS handshake. It begins with the input that the Machine has not
// used. It reports whether the connection goes on.
func (c *Conn) secure() bool {
	c.upgrade, c.startTLS = false, false
	identity := c.server.TLS.current.Load()
	config := identity.config
	if c.server.ALPN != "" {
		config = config.Clone()
		config.NextProtos = []string{c.server.ALPN}
	}
	c.heard = true
	c.waitUntil(c.accepted + c.server.Limits.Login)
	c.release()
	c.tls = tls.Server(&tlsSocket{c: c, hello: c.pending}, config)
	c.pending = nil
	if err := c.tls.Handshake(); err != nil {
		c.err = err
		c.lingerOnClose = true // the client must get the alert
		c.server.refused(c, RefusedTLS, "TLS handshake: "+err.Error())
		return false
	}
	state := c.tls.ConnectionState()
	c.TLS = &Secured{ALPN: state.NegotiatedProtocol, EndPoint: identity.endPoint}
	shown := &c.TLS.Shown
	shown.Version = strings.Replace(tls.VersionName(state.Version), " ", "v", 1)
	shown.Cipher, shown.Bits = tls.CipherSuiteName(state.CipherSuite), 256
	if strings.Contains(shown.Cipher, "_AES_128_") {
		shown.Bits = 128
	}
	if len(state.VerifiedChains) > 0 {
		client := state.PeerCertificates[0]
		c.TLS.Client = client
		shown.ClientDN, shown.IssuerDN, shown.ClientSerial = client.Subject.String(), client.Issuer.String(), client.SerialNumber.String()
	}
	return c.feed(nil)
}

// errNoInput is returned when a socket of the event loop has no input. It is
// temporary: after a temporary error crypto/tls keeps the part of a record that it
// has.
var errNoInput net.Error = noInputError{}

type noInputError struct{}

func (noInputError) Error() string   { return "nothing to read yet" }
func (noInputError) Timeout() bool   { return true }
func (noInputError) Temporary() bool { return true }

// tlsSocket is the net.Conn below crypto/tls. Inside drain it never waits for
// input, so that a waiting connection has no buffer.
type tlsSocket struct {
	net.Conn // nil: crypto/tls calls the methods below only
	c        *Conn
	hello    []byte // input that arrived before the handshake began
	head     []byte // of a record, as far as it has arrived
	left     int    // bytes of the record that have not arrived
}

// Read implements net.Conn.
func (s *tlsSocket) Read(p []byte) (n int, err error) {
	switch {
	case len(s.hello) > 0:
		n = copy(p, s.hello)
		s.hello = s.hello[n:]
		s.follow(p[:n])
	case s.c.draining:
		n, err = s.c.poll(p)
		s.follow(p[:n])
	default:
		n, err = s.c.nc.Read(p)
		s.follow(p[:n])
		if !s.c.keepRecord() { // the next Read may wait for the rest
			err = s.c.err
		}
	}
	return n, err
}

// follow follows the records in the input (RFC 8446, section 5.1): a header of five
// bytes ends in the length of what follows it.
func (s *tlsSocket) follow(b []byte) {
	for len(b) > 0 {
		n := min(s.left, len(b))
		s.left, b = s.left-n, b[n:]
		for ; s.left == 0 && len(b) > 0; b = b[1:] {
			if s.head = append(s.head, b[0]); len(s.head) == 5 {
				s.left, s.head = int(s.head[3])<<8|int(s.head[4]), s.head[:0]
				s.c.record = s.left
			}
		}
	}
	if s.left == 0 {
		s.c.record = len(s.head)
	}
}

// Write implements net.Conn.
func (s *tlsSocket) Write(b []byte) (int, error) {
	if err := s.c.send(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// SetWriteDeadline implements net.Conn. The connection sets its deadlines itself.
func (s *tlsSocket) SetWriteDeadline(time.Time) error { return nil }

// closeTLS sends close_notify. It waits for a client that does not read for cutGrace
// at most.
func (c *Conn) closeTLS() {
	if c.tls == nil || c.out.Err() != nil {
		return
	}
	c.cut.Store(true)
	_ = c.tls.CloseWrite() // the connection ends anyway
}
