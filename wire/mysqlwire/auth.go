package mysqlwire

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // the protocol prescribes it
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"hash"
	"runtime"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// Exchange is the login of one client. This package does the messages, nonces and
// encryption; the Exchange checks the proofs. Its methods may wait, but not beyond
// their context. An error denies access. The client gets an *sqlstate.Error as it
// is, unless that is 28P01 or 28000. For all other errors it gets the same text.
type Exchange interface {
	// Method returns the account's method, CachingSHA2 or NativePassword. A client
	// that uses another one gets an AuthSwitchRequest. "" stands for both, for all
	// users: Proof ignores the answer.
	Method() string

	// Proof checks the client's answer to the nonce. An empty answer is an empty
	// password. After ErrPasswordNeeded (CachingSHA2 only) Password is called.
	Proof(ctx context.Context, nonce, answer []byte) error

	// Password checks a password that was sent over TLS or a Unix socket, or
	// encrypted with the server's RSA key.
	Password(ctx context.Context, password []byte) error

	// Authorize writes the rights of the user into the options of its session.
	Authorize(o *sqlfuncs.SessionOptions)
}

// ErrPasswordNeeded is returned by Exchange.Proof if it can check only the password
// itself: the server has no SHA256(SHA256(password)) yet.
var ErrPasswordNeeded = errors.New("the password is needed")

// step is the message that a login waits for.
type step uint8

const (
	wantAnswer    step = iota // to the nonce, after an AuthSwitchRequest
	wantPassword              // or a request for the RSA key
	wantEncrypted             // the password, encrypted
)

// login is a login in progress.
type login struct {
	options  sqlfuncs.SessionOptions
	exchange Exchange // nil: no proof is needed
	method   string
	step     step
}

// AuthMoreData of CachingSHA2 ("Caching_sha2_password information").
const (
	askForKey    = 2
	fastSuccess  = 3
	fullExchange = 4
)

// identify begins the login of a client. It checks the answer in id if that is to
// the nonce of the greeting and by the account's method. Otherwise it requests
// another answer. again: the client has sent COM_CHANGE_USER.
func (c *conn) identify(ctx context.Context, id identity, again bool, out *wire.Out) error {
	c.login = &login{options: c.sessionOptions(id)}
	l := c.login
	offered := c.method()
	if begin := c.protocol.Auth; begin != nil {
		l.exchange = begin(id.user, c.Conn)
		l.method = l.exchange.Method()
	}
	proves := l.method != ""
	if !proves {
		if l.method = offered; id.method == CachingSHA2 || id.method == NativePassword {
			l.method = id.method
		}
	}
	switch {
	case !c.caps.has(clientPluginAuth):
		if l.method != NativePassword {
			return c.fatal(out, sqlstate.New(sqlstate.ProtocolViolation, "Client does not support authentication protocol requested by server; consider upgrading MySQL client").
				WithMySQL(1251, "08004"))
		}
	case id.method != offered, l.method != offered, again && proves:
		// The answer is by another method, or to a nonce that was used before and
		// could be replayed.
		return c.switchMethod(out)
	}
	return c.proof(ctx, id.answer, out)
}

// switchMethod sends an AuthSwitchRequest with a fresh nonce.
func (c *conn) switchMethod(out *wire.Out) error {
	c.nonce = newNonce()
	c.state, c.login.step = identifying, wantAnswer
	var at int
	out.B, at = begin(out.B)
	out.B = append(append(append(out.B, 0xfe), c.login.method...), 0)
	out.B = append(append(out.B, c.nonce[:]...), 0)
	out.B = c.end(out.B, at)
	return nil
}

// answer serves a packet of a login after the handshake response.
func (c *conn) answer(ctx context.Context, payload []byte, out *wire.Out) error {
	c.Conn.Wait() // making the key and checking a password take long
	switch l := c.login; l.step {
	case wantPassword:
		if c.Conn.Local || c.Conn.TLS != nil { // the password cannot be read on its way
			return c.password(ctx, payload, out)
		}
		if len(payload) != 1 || payload[0] != askForKey {
			return c.deny(out, true, errors.New("a password in plain text"))
		}
		l.step = wantEncrypted
		out.B = c.moreData(out.B, c.protocol.key().public...)
		return nil
	case wantEncrypted:
		password, ok := c.protocol.key().decrypt(c.nonce[:], payload)
		if !ok {
			return c.deny(out, true, errors.New("a password that is not encrypted with this server's key"))
		}
		return c.password(ctx, password, out)
	default:
		return c.proof(ctx, payload, out)
	}
}

// moreData appends AuthMoreData.
func (c *conn) moreData(dst []byte, data ...byte) []byte {
	dst, at := begin(dst)
	dst = append(append(dst, 1), data...)
	return c.end(dst, at)
}

// proof checks the answer to the nonce.
func (c *conn) proof(ctx context.Context, answer []byte, out *wire.Out) error {
	l := c.login
	if len(answer) == 1 && answer[0] == 0 {
		answer = nil // some clients send an empty password as a zero byte
	}
	if l.exchange != nil {
		c.Conn.Wait()
		err := l.exchange.Proof(ctx, c.nonce[:], answer)
		if errors.Is(err, ErrPasswordNeeded) && l.method == CachingSHA2 && len(answer) > 0 {
			c.state, l.step = identifying, wantPassword
			out.B = c.moreData(out.B, fullExchange)
			return nil
		}
		if err != nil {
			return c.deny(out, len(answer) > 0, err)
		}
		l.exchange.Authorize(&l.options)
	}
	if l.method == CachingSHA2 && len(answer) > 0 {
		out.B = c.moreData(out.B, fastSuccess)
	}
	return c.open(out)
}

// password checks a password. It ends with a zero byte.
func (c *conn) password(ctx context.Context, password []byte, out *wire.Out) error {
	l := c.login
	password, ok := bytes.CutSuffix(password, []byte{0})
	if !ok || len(password) == 0 {
		return c.deny(out, true, errors.New("a password without an end"))
	}
	if err := l.exchange.Password(ctx, password); err != nil {
		return c.deny(out, true, err)
	}
	l.exchange.Authorize(&l.options)
	return c.open(out)
}

// deny ends the connection after a failed proof. See Exchange for the error that the
// client gets.
func (c *conn) deny(out *wire.Out, usesPassword bool, cause error) error {
	var e *sqlstate.Error
	if errors.As(cause, &e) && e.Code != sqlstate.InvalidPassword && e.Code != sqlstate.InvalidAuthorization {
		return c.denied(out, e)
	}
	c.protocol.Logger.Debug("login denied", "connection", c.Conn.ID, "remote", c.Conn.Remote, "reason", cause)
	using, host := "NO", "localhost"
	if usesPassword {
		using = "YES"
	}
	if c.Conn.IP.IsValid() { // not over a Unix socket
		host = c.Conn.IP.String()
	}
	return c.denied(out, sqlstate.New(sqlstate.InvalidPassword, "Access denied for user '%s'@'%s' (using password: %s)",
		sqlstate.Cut(c.login.options.User, maxProgramBytes), host, using))
}

// Authentication methods.
const (
	// CachingSHA2 is the default of MySQL 8: a proof against
	// SHA256(SHA256(password)), or the password itself, encrypted.
	CachingSHA2 = "caching_sha2_password"

	// NativePassword is the method of older servers and of MariaDB: a proof against
	// SHA1(SHA1(password)).
	NativePassword = "mysql_native_password"
)

// CachingSHA2Digest returns SHA256(SHA256(password)). A server needs it to check
// proofs of CachingSHA2.
func CachingSHA2Digest(password string) [sha256.Size]byte {
	once := sha256.Sum256([]byte(password))
	return sha256.Sum256(once[:])
}

// CheckCachingSHA2 reports whether an answer to a nonce proves the knowledge of the
// password with a digest: answer = SHA256(password) XOR SHA256(digest + nonce).
func CheckCachingSHA2(digest [sha256.Size]byte, nonce, answer []byte) bool {
	return proves(sha256.New(), digest[:], answer, digest[:], nonce)
}

// NativePasswordDigest returns SHA1(SHA1(password)). A server needs it to check
// proofs of NativePassword.
func NativePasswordDigest(password string) [sha1.Size]byte {
	once := sha1.Sum([]byte(password))
	return sha1.Sum(once[:])
}

// CheckNativePassword reports whether an answer to a nonce proves the knowledge of
// the password with a digest: answer = SHA1(password) XOR SHA1(nonce + digest).
func CheckNativePassword(digest [sha1.Size]byte, nonce, answer []byte) bool {
	return proves(sha1.New(), digest[:], answer, nonce, digest[:])
}

// proves reports whether answer XOR h(first + second) has the hash digest.
func proves(h hash.Hash, digest, answer, first, second []byte) bool {
	if len(answer) != h.Size() {
		return false
	}
	h.Write(first)
	h.Write(second)
	once := h.Sum(nil)
	subtle.XORBytes(once, once, answer)
	h.Reset()
	h.Write(once)
	return subtle.ConstantTimeCompare(h.Sum(nil), digest) == 1
}

// passwordKey is the server's RSA key for passwords that are sent without TLS. It is
// never stored.
type passwordKey struct {
	private *rsa.PrivateKey
	public  []byte        // PEM
	busy    chan struct{} // bounds the decryptions that run at once
}

// newPasswordKey makes the key. That takes long: the caller must not block the event
// loop (Conn.Wait).
func newPasswordKey() *passwordKey {
	private, err := rsa.GenerateKey(rand.Reader, 2048) // as MySQL's
	if err != nil {
		panic(err) // not for this size
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		panic(err) // not for RSA keys
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return &passwordKey{private, public, make(chan struct{}, runtime.NumCPU())}
}

// decrypt decrypts a password that the client has XORed with the nonce and
// encrypted. It returns the password with its zero byte; ok is false for other
// input. At most one decryption a CPU runs at a time.
func (k *passwordKey) decrypt(nonce, encrypted []byte) (password []byte, ok bool) {
	k.busy <- struct{}{}
	defer func() { <-k.busy }()
	password, err := rsa.DecryptOAEP(sha1.New(), nil, k.private, encrypted, nil)
	if err != nil {
		return nil, false
	}
	for i := range password {
		password[i] ^= nonce[i%len(nonce)]
	}
	return password, true
}
