package mysqlwire_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"nextid/dbtest"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
	"nextid/wire/auth"
	"nextid/wire/mysqlwire"
)

// accounts holds passwords in the clear.
type accounts map[string]account

type account struct {
	password, method string
	slow             bool // the digest is not known: the password itself is wanted
	admin            bool
}

func (a accounts) Begin(user string, _ *wire.Conn) mysqlwire.Exchange {
	found, ok := a[user]
	if !ok {
		found = account{method: mysqlwire.CachingSHA2, slow: true}
	}
	return &exchange{found, ok}
}

type exchange struct {
	account
	known bool
}

var errNo = errors.New("no")

func (e *exchange) Method() string                       { return e.method }
func (e *exchange) Authorize(o *sqlfuncs.SessionOptions) { o.Admin = e.admin }

func (e *exchange) Proof(_ context.Context, nonce, answer []byte) error {
	switch {
	case e.method == mysqlwire.NativePassword:
		if mysqlwire.CheckNativePassword(mysqlwire.NativePasswordDigest(e.password), nonce, answer) {
			return nil
		}
	case len(answer) == 0:
	case e.slow:
		return mysqlwire.ErrPasswordNeeded
	case mysqlwire.CheckCachingSHA2(mysqlwire.CachingSHA2Digest(e.password), nonce, answer):
		return nil
	}
	return errNo
}

func (e *exchange) Password(_ context.Context, password []byte) error {
	if e.known && string(password) == e.password {
		return nil
	}
	return errNo
}

// people are the accounts of these tests.
var people = accounts{
	"fast":   {password: "secret", method: mysqlwire.CachingSHA2},
	"slow":   {password: "secret", method: mysqlwire.CachingSHA2, slow: true},
	"native": {password: "secret", method: mysqlwire.NativePassword},
}

// scramble256 is a client's answer for caching_sha2_password.
func scramble256(password string, nonce []byte) string {
	if password == "" {
		return ""
	}
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	mask := sha256.Sum256(append(twice[:], nonce...))
	for i := range once {
		once[i] ^= mask[i]
	}
	return string(once[:])
}

// scramble1 is a client's answer for mysql_native_password.
func scramble1(password string, nonce []byte) string {
	if password == "" {
		return ""
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(append(append([]byte{}, nonce...), twice[:]...))
	for i := range once {
		once[i] ^= mask[i]
	}
	return string(once[:])
}

func TestGreeting(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	c := dial(t, address).greet()
	g := c.greeting
	if !strings.HasPrefix(g.version, "5.5.5-10.") || !strings.HasSuffix(g.version, "-MariaDB-nextid-test") || g.method != "mysql_native_password" || g.id == 0 || g.status != 2 {
		t.Errorf("greeting %+v", g)
	}
	const never = longPassword | 1<<5 /* compress */ | 1<<7 /* local files */ | ssl | 1<<25 /* optional metadata */ | 1<<26 /* zstd */ | queryAttributes
	if g.caps&never != 0 || g.caps&(modern&^longPassword) != modern&^longPassword {
		t.Errorf("capabilities %x", g.caps)
	}
	other := dial(t, address).greet().greeting
	for _, nonce := range [][]byte{g.nonce, other.nonce} {
		if strings.ContainsAny(string(nonce), "\x00$") || len(nonce) != 20 {
			t.Errorf("nonce %q", nonce)
		}
	}
	if string(g.nonce) == string(other.nonce) || g.id == other.id {
		t.Error("two connections got the same nonce or id")
	}
}

// outcome reads up to the end of a login: "OK", "ERR number state text",
// "switch method" or "more …".
func (c *client) outcome() string {
	c.t.Helper()
	b, err := c.next()
	switch {
	case err != nil:
		return "closed"
	case b[0] == 0:
		return "OK"
	case b[0] == 0xff:
		return c.decoder.err(&fields{b[1:]})
	case b[0] == 0xfe:
		method, nonce, _ := strings.Cut(string(b[1:]), "\x00")
		c.greeting.nonce = []byte(strings.TrimSuffix(nonce, "\x00"))
		return "switch " + method
	}
	return fmt.Sprintf("more %q", b[1:])
}

// send frames a packet of a login.
func (c *client) send(payload []byte) {
	c.write(packet(c.seq, payload))
	c.seq++
}

func (c *client) wantOutcome(want string) {
	c.t.Helper()
	if got := c.outcome(); got != want && !(strings.HasSuffix(want, "…") && strings.HasPrefix(got, strings.TrimSuffix(want, "…"))) {
		c.t.Fatalf("got %q, want %q", got, want)
	}
}

func TestLoginWithoutUsers(t *testing.T) {
	t.Run("no Auth", func(t *testing.T) { loginsWithoutUsers(t, mysqlwire.Config{}) })
	open := auth.New(auth.Config{Logger: quiet()})
	t.Run("no users", func(t *testing.T) {
		loginsWithoutUsers(t, mysqlwire.Config{Auth: open.MySQL})
	})
}

func loginsWithoutUsers(t *testing.T, cfg mysqlwire.Config) {
	address, _ := startServer(t, cfg)
	for name, run := range map[string]func(c *client){
		"native, no password": func(c *client) {
			c.send(response(plain, "root", "", "", "mysql_native_password"))
			c.wantOutcome("OK")
		},
		"native, password": func(c *client) {
			c.send(response(plain, "root", scramble1("x", c.greeting.nonce), "", "mysql_native_password"))
			c.wantOutcome("OK")
		},
		"caching": func(c *client) {
			c.send(response(plain, "root", "", "", "caching_sha2_password"))
			c.wantOutcome("switch caching_sha2_password")
			c.send([]byte(scramble256("x", c.greeting.nonce)))
			c.wantOutcome(`more "\x03"`)
			c.wantOutcome("OK")
		},
		"caching, no password": func(c *client) {
			c.send(response(plain, "root", "", "", "caching_sha2_password"))
			c.wantOutcome("switch caching_sha2_password")
			c.send(nil)
			c.wantOutcome("OK")
		},
		"unknown method": func(c *client) {
			c.send(response(plain, "root", "", "", "dialog"))
			c.wantOutcome("switch mysql_native_password")
			c.send(nil)
			c.wantOutcome("OK")
		},
		"no methods": func(c *client) {
			const caps = plain &^ (pluginAuth | lenencAuth | connectAttrs)
			c.send(response(caps, "root", scramble1("x", c.greeting.nonce), "shop", ""))
			c.wantOutcome("OK")
		},
		"no method named": func(c *client) { // the end left out, as some clients do
			full := response(plain&^connectAttrs, "root", "", "", "")
			c.send(full[:len(full)-1])
			c.wantOutcome("switch mysql_native_password")
			c.send(nil)
			c.wantOutcome("OK")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).greet()
			c.caps = plain
			run(c)
			if got := c.ask("text", command(0x0e)); !strings.HasPrefix(got[0], "OK") {
				t.Errorf("ping: %q", got)
			}
		})
	}
}

const denied = "ERR 1045 28000 Access denied for user "

func TestLoginWithUsers(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{Auth: people.Begin})
	for name, run := range map[string]func(c *client){
		"fast": func(c *client) {
			c.send(response(plain, "fast", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
			c.wantOutcome(`more "\x03"`)
			c.wantOutcome("OK")
		},
		"fast, wrong": func(c *client) {
			c.send(response(plain, "fast", scramble256("wrong", c.greeting.nonce), "", "caching_sha2_password"))
			c.wantOutcome(denied + "'fast'@'127.0.0.1' (using password: YES)")
			c.wantOutcome("closed")
		},
		"fast, empty": func(c *client) {
			c.send(response(plain, "fast", "", "", "caching_sha2_password"))
			c.wantOutcome(denied + "'fast'@'127.0.0.1' (using password: NO)")
		},
		"fast, from another method": func(c *client) {
			first := c.greeting.nonce
			c.send(response(plain, "fast", scramble1("secret", first), "", "mysql_native_password"))
			c.wantOutcome("switch caching_sha2_password")
			if string(first) == string(c.greeting.nonce) {
				c.t.Error("the nonce was used twice")
			}
			c.send([]byte(scramble256("secret", c.greeting.nonce)))
			c.wantOutcome(`more "\x03"`)
			c.wantOutcome("OK")
		},
		"native": func(c *client) {
			c.send(response(plain, "native", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
			c.wantOutcome("switch mysql_native_password")
			c.send([]byte(scramble1("secret", c.greeting.nonce)))
			c.wantOutcome("OK")
		},
		"native, wrong": func(c *client) {
			c.send(response(plain, "native", "", "", "caching_sha2_password"))
			c.wantOutcome("switch mysql_native_password")
			c.send([]byte(scramble1("wrong", c.greeting.nonce)))
			c.wantOutcome(denied + "…")
		},
		"no methods": func(c *client) {
			c.send(response(plain&^pluginAuth, "fast", scramble1("secret", c.greeting.nonce), "", ""))
			c.wantOutcome("ERR 1251 08004…")
		},
		"slow, with the key": func(c *client) {
			c.encrypted("slow", "secret", "OK")
		},
		"slow, wrong": func(c *client) {
			c.encrypted("slow", "wrong", denied+"…")
		},
		"unknown": func(c *client) {
			c.encrypted("nobody", "secret", denied+"'nobody'@'127.0.0.1' (using password: YES)")
		},
		"slow, in the clear": func(c *client) {
			c.send(response(plain, "slow", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
			c.wantOutcome(`more "\x04"`)
			c.send(cstr("secret"))
			c.wantOutcome(denied + "…")
			c.wantOutcome("closed")
		},
		"slow, garbage for the password": func(c *client) {
			c.send(response(plain, "slow", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
			c.wantOutcome(`more "\x04"`)
			c.send([]byte{2})
			c.wantOutcome(`more "…`)
			c.send(make([]byte, 256))
			c.wantOutcome(denied + "…")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).greet()
			c.caps = plain
			run(c)
		})
	}
}

// encrypted logs in with the server's RSA key.
func (c *client) encrypted(user, password, want string) {
	c.t.Helper()
	c.send(response(plain, user, scramble256(password, c.greeting.nonce), "", "caching_sha2_password"))
	c.wantOutcome(`more "\x04"`)
	c.send([]byte{2})
	b, err := c.next()
	if err != nil || b[0] != 1 {
		c.t.Fatalf("%q, %v", b, err)
	}
	block, _ := pem.Decode(b[1:])
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	plain := cstr(password)
	for i := range plain {
		plain[i] ^= c.greeting.nonce[i%20]
	}
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key.(*rsa.PublicKey), plain, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(sealed)
	c.wantOutcome(want)
}

func TestChangeUser(t *testing.T) {
	change := func(user, answer, method string) []byte {
		return command(0x11, cstr(user), append([]byte{byte(len(answer))}, answer...), cstr("shop"), u16(45), cstr(method), []byte{0})
	}
	t.Run("everybody", func(t *testing.T) {
		address, _ := startServer(t, mysqlwire.Config{})
		c := login(t, address, plain)
		c.ask("prepare", prepare("SELECT next_id('numbers')"))
		c.seq = 1
		c.write(change("other", "", "mysql_native_password"))
		c.wantOutcome("OK")
		if got := c.ask("binary", execute(1, 0)); !strings.HasPrefix(got[0], "ERR 1243") {
			t.Errorf("a statement of the other user: %q", got)
		}
		if got := c.ask("text", query("SELECT next_id('numbers')")); len(got) != 4 {
			t.Error(got)
		}
	})
	t.Run("users", func(t *testing.T) {
		address, _ := startServer(t, mysqlwire.Config{Auth: people.Begin})
		c := dial(t, address).greet()
		c.caps = plain
		first := c.greeting.nonce
		c.send(response(plain, "fast", scramble256("secret", first), "", "caching_sha2_password"))
		c.wantOutcome(`more "\x03"`)
		c.wantOutcome("OK")
		for range 3 {
			// An answer to the old nonce, which somebody may have heard, counts for
			// nothing.
			c.seq = 1
			c.write(change("fast", scramble256("secret", first), "caching_sha2_password"))
			c.wantOutcome("switch caching_sha2_password")
			c.send([]byte(scramble256("secret", c.greeting.nonce)))
			c.wantOutcome(`more "\x03"`)
			c.wantOutcome("OK")
		}
		c.seq = 1
		c.write(change("native", "", "caching_sha2_password"))
		c.wantOutcome("switch mysql_native_password")
		c.send([]byte(scramble1("wrong", c.greeting.nonce)))
		c.wantOutcome(denied + "…")
		c.wantOutcome("closed")
	})
}

// startTLSServer serves with a certificate.
func startTLSServer(t *testing.T, auth func(string, *wire.Conn) mysqlwire.Exchange) (address string, authority *dbtest.Authority) {
	t.Helper()
	authority = dbtest.NewAuthority(t)
	c := authority.Server()
	var certificate wire.TLS
	if err := certificate.Replace(wire.PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	address, _ = startServer(t, mysqlwire.Config{Auth: auth, TLS: &certificate})
	return address, authority
}

func TestDriverLogsIn(t *testing.T) {
	address, authority := startTLSServer(t, people.Begin)
	config := authority.ClientConfig()
	if err := driver.RegisterTLSConfig("nextid", config); err != nil {
		t.Fatal(err)
	}
	for user := range people {
		for _, option := range []string{"?tls=nextid", "?"} {
			for password, ok := range map[string]bool{"secret": true, "wrong": false, "": false} {
				t.Run(fmt.Sprintf("%s %s %q", user, option, password), func(t *testing.T) {
					db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/nextid%s&allowNativePasswords=true", user, password, address, option))
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = db.Close() }()
					var id int64
					err = db.QueryRow("SELECT next_id('numbers')").Scan(&id)
					if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "1045") {
						t.Error(err)
					}
				})
			}
		}
	}
}

// Nothing that was sent in plaintext before TLS counts for the login.
func TestPlaintextBeforeTLSIsIgnored(t *testing.T) {
	address, authority := startTLSServer(t, people.Begin)
	c := dial(t, address).greet()
	c.caps = plain | ssl
	if c.greeting.caps&ssl == 0 {
		t.Fatal("TLS is not offered")
	}
	request := response(plain|ssl, "fast", "", "", "")[:32]
	// A whole login behind the request is served as the beginning of the TLS
	// handshake, which fails.
	c.write(join(packet(1, request), packet(2, response(plain|ssl, "fast", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))))
	b := make([]byte, 7)
	n, _ := c.conn.Read(b)
	if n > 0 && b[0] != 0x15 { // a TLS alert
		t.Errorf("the answer is %x", b[:n])
	}

	c = dial(t, address).greet()
	c.caps = plain | ssl
	c.write(packet(1, request))
	secure := tls.Client(c.conn, authority.ClientConfig())
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.conn, c.r, c.seq = secure, secure, 2
	c.send(response(plain|ssl, "slow", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
	c.wantOutcome(`more "\x04"`)
	c.send(cstr("secret")) // inside TLS
	c.wantOutcome("OK")
	if got := c.ask("text", query("SELECT next_id('numbers')")); len(got) != 4 {
		t.Error(got)
	}

	c = dial(t, address).greet()
	c.write(packet(1, request))
	secure = tls.Client(c.conn, authority.ClientConfig())
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.conn, c.r, c.seq, c.caps = secure, secure, 2, plain
	c.send(request) // TLS inside TLS
	c.wantOutcome("ERR 1043…")
}

func TestTLSIsRefusedWhereThereIsNone(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	c := dial(t, address).greet()
	c.send(response(plain|ssl, "u", "", "", "")[:32])
	c.wantOutcome("ERR 1043…")
	c.wantOutcome("closed")
}

// An error that is not about the password reaches the client.
func TestOtherErrorsOfALoginReachTheClient(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{Auth: refusing{}.Begin})
	c := dial(t, address).greet()
	c.caps = plain
	c.send(response(plain, "u", "x", "", "caching_sha2_password"))
	c.wantOutcome("ERR 1053 08S01 come back later")
}

type refusing struct{}

func (refusing) Begin(string, *wire.Conn) mysqlwire.Exchange { return refusing{} }
func (refusing) Method() string                              { return mysqlwire.CachingSHA2 }
func (refusing) Authorize(*sqlfuncs.SessionOptions)          {}
func (refusing) Password(context.Context, []byte) error      { return errNo }
func (refusing) Proof(context.Context, []byte, []byte) error {
	return sqlstate.New(sqlstate.CannotConnectNow, "come back later")
}

// TestCollationOfTheHandshake: the collation that a client names when it logs
// in is the connection's, as in MariaDB.
func TestCollationOfTheHandshake(t *testing.T) {
	ours, _ := startServer(t, mysqlwire.Config{})
	mariadb, _ := dbtest.QuickMariaDB(t)
	for collation, want := range map[byte]string{
		45: `Row "utf8mb4" "utf8mb4_general_ci" "1"`, 46: `Row "utf8mb4" "utf8mb4_bin" "0"`,
		224: `Row "utf8mb4" "utf8mb4_unicode_ci" "1"`, 83: `Row "utf8mb3" "utf8mb3_bin" "0"`,
	} {
		for name, address := range map[string]string{"nextid": ours, "MariaDB": mariadb} {
			c := dial(t, address).greet()
			b := response(plain, "root", "", "test", "mysql_native_password")
			b[8] = collation
			c.write(packet(1, b))
			c.seq = 2
			if b, err := c.next(); err != nil || b[0] != 0 {
				t.Fatalf("%s: login: %q, %v", name, b, err)
			}
			got := c.ask("text", query("SELECT @@character_set_client, @@collation_connection, 'a' = 'A'"))
			if !slices.Contains(got, want) {
				t.Errorf("%s, collation %d: got %q, want %s", name, collation, got, want)
			}
		}
	}
}
