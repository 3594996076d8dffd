package auth

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
	"nextid/wire/mysqlwire"
)

// testPolicy has the users alice (password pencil), root (password ruler, an
// administrator), and cora and dora without a password.
func testPolicy(t testing.TB, cfg Config) *Policy {
	t.Helper()
	alice, root := &User{Name: "alice"}, &User{Name: "root", Admin: true}
	if err := errors.Join(alice.SetPassword("pencil", true), root.SetPassword("ruler", true)); err != nil {
		t.Fatal(err)
	}
	cfg.Users = NewUsers([]*User{alice, root, {Name: "cora"}, {Name: "dora"}}, nil)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return New(cfg)
}

func parsedRules(t testing.TB, text string) []Rule {
	t.Helper()
	rules, err := ParseRules(text + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// from is a TCP connection from an address.
func from(ip string) *wire.Conn {
	return &wire.Conn{ID: 1, IP: netip.MustParseAddr(ip), Remote: ip + ":1"}
}

// inside is a connection inside TLS, with a client certificate if name is
// given.
func inside(c *wire.Conn, name string) *wire.Conn {
	c.TLS = &wire.Secured{EndPoint: []byte("end point")}
	if name != "" {
		c.TLS.Client = &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name + ".example.com"}}
	}
	return c
}

// mayCreate reports whether a login makes an administrator.
func mayCreate(x interface {
	Authorize(*sqlfuncs.SessionOptions)
},
) bool {
	var o sqlfuncs.SessionOptions
	x.Authorize(&o)
	return o.Admin
}

// scramLogin is a client's side of a PostgreSQL login. It returns the codes of the
// server's requests, and the error.
func scramLogin(ctx context.Context, p *Policy, c *wire.Conn, user, password string) (codes []uint32, admin bool, err error) {
	x := p.Postgres(user, c)
	next := func(answer []byte) (request []byte, done bool, err error) {
		m, done, err := x.Next(ctx, answer)
		if m != nil {
			request, _ = m.Encode(nil)
			request = request[5:] // behind type and length
		}
		return request, done, err
	}
	request, done, err := next(nil)
	if err != nil || done {
		return nil, mayCreate(x), err
	}
	codes = append(codes, binary.BigEndian.Uint32(request))
	name, header := mechanism, "n,,"
	binding := []byte(header)
	if bytes.Contains(request, []byte(mechanismPlus)) {
		name, header = mechanismPlus, "p=tls-server-end-point,,"
		binding = append([]byte(header), c.TLS.EndPoint...)
	}
	bare := "n=,r=client"
	answer := append([]byte(name), 0)
	answer = binary.BigEndian.AppendUint32(answer, uint32(len(header+bare)))
	request, done, err = next(append(answer, header+bare...))
	if err != nil || done {
		return codes, false, err
	}
	codes = append(codes, binary.BigEndian.Uint32(request))
	first := string(request[4:])
	nonce, rest, _ := strings.Cut(first, ",s=")
	saltText, iterations, _ := strings.Cut(rest, ",i=")
	salt, err := base64.StdEncoding.DecodeString(saltText)
	if err != nil || iterations != "4096" {
		return codes, false, errors.New("server-first-message " + first)
	}
	final := "c=" + base64.StdEncoding.EncodeToString(binding) + "," + nonce
	proof := clientProof(password, salt, 4096, bare+","+first+","+final)
	request, done, err = next([]byte(final + ",p=" + proof))
	if err != nil {
		return codes, false, err
	}
	if !done {
		return codes, false, errors.New("no end")
	}
	return append(codes, binary.BigEndian.Uint32(request)), mayCreate(x), nil
}

func TestPostgreSQLLogins(t *testing.T) {
	rules := parsedRules(t, `
host     root  10.0.0.0/8  scram
hostssl  cora  all         cert
hostssl  dora  all         cert name=d1,dora2.example.com
host     all   10.9.0.0/16 trust
host     bob   10.0.0.0/8  reject
host     all   10.0.0.0/8  scram
`)
	for name, tc := range map[string]struct {
		user, password string
		conn           *wire.Conn
		code           sqlstate.Code // "" for success
		admin          bool
		requests       int
	}{
		"password":              {"alice", "pencil", from("10.1.1.1"), "", false, 3},
		"administrator":         {"root", "ruler", from("10.1.1.1"), "", true, 3},
		"inside TLS":            {"alice", "pencil", inside(from("10.1.1.1"), ""), "", false, 3},
		"wrong password":        {"alice", "Pencil", from("10.1.1.1"), "28P01", false, 2},
		"another's":             {"root", "pencil", from("10.1.1.1"), "28P01", false, 2},
		"unknown":               {"mallory", "pencil", from("10.1.1.1"), "28P01", false, 2},
		"empty name":            {"", "pencil", from("10.1.1.1"), "28P01", false, 2},
		"without verifier":      {"cora", "", from("10.1.1.1"), "28P01", false, 2},
		"rejected":              {"bob", "pencil", from("10.1.1.1"), "28P01", false, 2},
		"no rule":               {"alice", "pencil", from("192.0.2.1"), "28000", false, 0},
		"certificate":           {"cora", "", inside(from("192.0.2.1"), "cora"), "", false, 0},
		"DNS name":              {"cora", "", inside(from("192.0.2.1"), "dora"), "28000", false, 0},
		"mapped":                {"dora", "", inside(from("192.0.2.1"), "d1"), "", false, 0},
		"mapped DNS name":       {"dora", "", inside(from("192.0.2.1"), "dora2"), "", false, 0},
		"own name, but mapped":  {"dora", "", inside(from("192.0.2.1"), "dora"), "28000", false, 0},
		"no certificate":        {"cora", "", inside(from("192.0.2.1"), ""), "28000", false, 0},
		"certificate, no user":  {"mallory", "", inside(from("10.9.2.1"), "mallory"), "28000", false, 0},
		"trust":                 {"alice", "", from("10.9.1.1"), "", false, 0},
		"trust an unknown user": {"mallory", "", from("10.9.1.1"), "28000", false, 0},
		"socket without rule":   {"alice", "pencil", &wire.Conn{Local: true}, "28000", false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := testPolicy(t, Config{Rules: rules})
			began := time.Now()
			codes, admin, err := scramLogin(t.Context(), p, tc.conn, tc.user, tc.password)
			var e *sqlstate.Error
			switch {
			case tc.code == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case tc.code != "" && (!errors.As(err, &e) || e.Code != tc.code):
				t.Errorf("%s: %v, want %s", name, err, tc.code)
			}
			if admin != tc.admin || len(codes) != tc.requests {
				t.Errorf("%s: administrator %v, requests %v", name, admin, codes)
			}
			if took := time.Since(began); tc.code == "28P01" && took != failureDelay {
				t.Errorf("%s: answered after %v", name, took)
			} else if tc.code == "" && took != 0 {
				t.Errorf("%s: a success waits %v", name, took)
			}
		})
	}
}

// Each part of the dialogue is accepted in its place only.
func TestPostgreSQLDialogueOutOfOrder(t *testing.T) {
	p := testPolicy(t, Config{Rules: parsedRules(t, "host all all scram")})
	for _, answer := range []string{
		"", "\x00", "SCRAM-SHA-256", "SCRAM-SHA-256\x00", "SCRAM-SHA-256\x00\x00\x00\x00\x05n,,",
		"SCRAM-SHA-256\x00\xff\xff\xff\xff", "SCRAM-SHA-256-PLUS\x00\x00\x00\x00\x0en,,n=,r=client",
		"SCRAM-SHA-1\x00\x00\x00\x00\x0en,,n=,r=client", "pencil\x00",
		"SCRAM-SHA-256\x00\x00\x00\x00\x0ec=biws,r=x,p=",
	} {
		x := p.Postgres("alice", from("10.0.0.1"))
		if _, _, err := x.Next(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		_, done, err := x.Next(t.Context(), []byte(answer))
		var e *sqlstate.Error
		if done || !errors.As(err, &e) || e.Code != sqlstate.ProtocolViolation {
			t.Errorf("%q: %v, %v", answer, done, err)
		}
	}
}

func TestOpenPolicy(t *testing.T) {
	p := New(Config{Logger: slog.New(slog.DiscardHandler)})
	if _, admin, err := scramLogin(t.Context(), p, from("192.0.2.1"), "anybody", ""); err != nil || !admin {
		t.Errorf("without users: %v, administrator %v", err, admin)
	}
	x := p.MySQL("anybody", from("192.0.2.1"))
	if err := x.Proof(t.Context(), nil, nil); err != nil || x.Method() != "" {
		t.Errorf("MySQL's clients are asked for a proof by %q: %v", x.Method(), err)
	}
	if p.RequiresLogin() {
		t.Error("closed")
	}
}

// Sessions that began without users end when there are users, over each protocol.
func TestUsersEndOpenSessions(t *testing.T) {
	p := New(Config{Logger: slog.New(slog.DiscardHandler)})
	var sessions [3]sqlfuncs.SessionOptions
	p.Postgres("root", from("127.0.0.1")).Authorize(&sessions[0])
	p.MySQL("root", from("127.0.0.1")).Authorize(&sessions[1])
	if err := p.CheckPassword(t.Context(), "", "", from("127.0.0.1"), &sessions[2]); err != nil {
		t.Fatal(err)
	}
	for replaced := range 2 {
		for i, o := range sessions {
			if admin, _, ok := o.Rights.Now(); ok != (replaced == 0) || admin != ok || !o.Admin {
				t.Errorf("session %d, %d replacements: %v, administrator %v", i, replaced, ok, admin)
			}
		}
		if err := p.Replace(NewUsers([]*User{{Name: "root", Admin: true}}, nil), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRequiredTLS(t *testing.T) {
	for _, p := range []*Policy{testPolicy(t, Config{RequireTLS: true}), New(Config{RequireTLS: true, Logger: slog.New(slog.DiscardHandler)})} {
		_, _, err := scramLogin(t.Context(), p, from("127.0.0.1"), "alice", "pencil")
		if err == nil || !strings.Contains(err.Error(), "requires TLS") {
			t.Errorf("PostgreSQL: %v", err)
		}
		var e *sqlstate.Error
		err = p.MySQL("alice", from("127.0.0.1")).Proof(t.Context(), nil, []byte("x"))
		if !errors.As(err, &e) || !strings.Contains(e.Message, "insecure transport") {
			t.Errorf("MySQL: %v", err)
		}
		if _, _, err := scramLogin(t.Context(), p, inside(from("127.0.0.1"), ""), "alice", "pencil"); err != nil {
			t.Errorf("inside TLS: %v", err)
		}
		if _, _, err := scramLogin(t.Context(), p, &wire.Conn{Local: true}, "alice", "pencil"); err != nil {
			t.Errorf("over a Unix socket: %v", err)
		}
	}
}

func TestMySQLLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPolicy(t, Config{Rules: parsedRules(t, "hostssl cora all cert\nhost all all scram")})
		nonce := []byte("twenty bytes, nonce.")
		digest := mysqlwire.CachingSHA2Digest("pencil")
		answer := fastAnswer("pencil", nonce)
		if !mysqlwire.CheckCachingSHA2(digest, nonce, answer) {
			t.Fatal("the test's answer is wrong")
		}
		begin := func(user string) mysqlwire.Exchange { return p.MySQL(user, from("10.0.0.1")) }
		for _, user := range []string{"alice", "mallory", "dora"} {
			if err := begin(user).Proof(t.Context(), nonce, answer); !errors.Is(err, mysqlwire.ErrPasswordNeeded) {
				t.Errorf("%s: the first proof: %v", user, err)
			}
			if err := begin(user).Proof(t.Context(), nonce, nil); err == nil || errors.Is(err, mysqlwire.ErrPasswordNeeded) {
				t.Errorf("%s: an empty password: %v", user, err)
			}
			began := time.Now()
			if err := begin(user).Password(t.Context(), []byte("wrong")); err == nil || time.Since(began) != failureDelay {
				t.Errorf("%s: a wrong password: %v after %v", user, err, time.Since(began))
			}
		}
		for _, user := range []string{"mallory", "dora", ""} {
			if err := begin(user).Password(t.Context(), []byte("pencil")); err == nil {
				t.Errorf("%s gets in", user)
			}
		}
		for _, password := range []string{"", "ruler", "pencil\x00", strings.Repeat("x", MaxPassword+1)} {
			if err := begin("alice").Password(t.Context(), []byte(password)); err == nil {
				t.Errorf("alice gets in with %q", password)
			}
		}
		if err := begin("alice").Password(t.Context(), []byte("pencil")); err != nil {
			t.Error(err)
		}
		if err := begin("alice").Proof(t.Context(), nonce, answer); err != nil {
			t.Errorf("the second proof: %v", err)
		}
		if err := begin("alice").Proof(t.Context(), []byte("another nonce, it is"), answer); !errors.Is(err, mysqlwire.ErrPasswordNeeded) {
			t.Errorf("an overheard proof: %v", err)
		}
		if err := begin("root").Proof(t.Context(), nonce, answer); !errors.Is(err, mysqlwire.ErrPasswordNeeded) {
			t.Errorf("another's proof: %v", err)
		}
		if mayCreate(begin("alice")) || !mayCreate(begin("root")) || mayCreate(begin("mallory")) {
			t.Error("the wrong ones are administrators")
		}
		cora := p.MySQL("cora", inside(from("10.0.0.1"), "cora"))
		if err := cora.Proof(t.Context(), nonce, nil); err != nil {
			t.Errorf("a certificate: %v", err)
		}
		preLogin := p.MySQL("cora", inside(from("10.0.0.1"), "other"))
		if err := errors.Join(preLogin.Proof(t.Context(), nonce, nil)); err == nil {
			t.Error("another's certificate")
		}
		if err := preLogin.Password(t.Context(), []byte("x")); err == nil {
			t.Error("a password where a certificate is wanted")
		}

		// A changed password ends the short proof with the old one.
		users := p.current.Load().users
		var lines []string
		for _, name := range users.Names() {
			lines = append(lines, users.Lookup(name).Line())
		}
		same, err := ParseUsers(strings.Join(lines, "\n") + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Replace(same, p.current.Load().rules); err != nil {
			t.Fatal(err)
		}
		if err := begin("alice").Proof(t.Context(), nonce, answer); err != nil {
			t.Errorf("after reading the same file again: %v", err)
		}
		changed := &User{Name: "alice"}
		if err := changed.SetPassword("chalk", false); err != nil {
			t.Fatal(err)
		}
		if err := p.Replace(NewUsers([]*User{changed}, nil), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.MySQL("alice", from("127.0.0.1")).Proof(t.Context(), nonce, answer); !errors.Is(err, mysqlwire.ErrPasswordNeeded) {
			t.Errorf("the old password, after a new one: %v", err)
		}
	})
}

func TestNativePassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nonce := []byte("twenty bytes, nonce.")
		answer := nativeAnswer("pencil", nonce)
		off := testPolicy(t, Config{})
		if m := off.MySQL("alice", from("127.0.0.1")).Method(); m != mysqlwire.CachingSHA2 {
			t.Errorf("off: %s", m)
		}
		p := testPolicy(t, Config{NativePassword: true})
		for user, fits := range map[string]bool{"alice": true, "root": false, "mallory": false} {
			x := p.MySQL(user, from("127.0.0.1"))
			if m := x.Method(); m != mysqlwire.NativePassword {
				t.Errorf("%s: %s", user, m)
			}
			if err := x.Proof(t.Context(), nonce, answer); (err == nil) != fits || errors.Is(err, mysqlwire.ErrPasswordNeeded) {
				t.Errorf("%s: %v", user, err)
			}
		}
	})
}

// Failures beyond the burst wait, successes do not, and the log does not
// grow with the flood.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex
		p := testPolicy(t, Config{
			Rules:  parsedRules(t, "host all all scram"),
			Logger: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil)),
		})
		began := time.Now()
		var clients sync.WaitGroup
		for range 300 {
			clients.Go(func() {
				_, _, _ = scramLogin(t.Context(), p, from("10.0.0.1"), strings.Repeat("ü", 500)+"\n", "guess")
			})
		}
		clients.Wait()
		if took := time.Since(began); took != failureMost {
			t.Errorf("a flood took %v", took)
		}
		began = time.Now()
		if _, _, err := scramLogin(t.Context(), p, from("10.0.0.1"), "alice", "pencil"); err != nil || time.Since(began) != 0 {
			t.Errorf("the right password: %v after %v", err, time.Since(began))
		}
		if lines := strings.Count(log.String(), "\n"); lines > 2*maxLines || lines < maxLines {
			t.Errorf("%d lines in the log", lines)
		}
		if log.Len() > 10_000 || strings.Contains(log.String(), "guess") {
			t.Errorf("the log: %s", log.String())
		}
	})
}

// A request over HTTP that its rule refuses is logged with that reason: its password
// was right, or was not looked at.
func TestReasonsOfHTTP(t *testing.T) {
	for rules, want := range map[string]string{
		"hostssl all all scram":  "no host rule matches",
		"host all all reject":    "a host rule rejects it",
		"hostssl all all cert":   "the method of its host rule is cert, and HTTP has passwords only",
		"host all all scram":     "wrong password",
		"host nobody all reject": "no host rule matches",
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			p := testPolicy(t, Config{Rules: parsedRules(t, rules), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			password := "pencil"
			if want == "wrong password" {
				password = "guess"
			}
			c := from("127.0.0.1")
			if rules == "hostssl all all cert" {
				c.TLS = &wire.Secured{}
			}
			if err := p.CheckPassword(t.Context(), "alice", password, c, &sqlfuncs.SessionOptions{}); err == nil {
				t.Errorf("%s: the login succeeded", rules)
			}
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: no %q in %s", rules, want, log.String())
			}
		})
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// The end of the server ends the wait of a failed login.
func TestShutdownEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPolicy(t, Config{Rules: parsedRules(t, "host all all scram")})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if _, _, err := scramLogin(ctx, p, from("10.0.0.1"), "alice", "wrong"); err == nil || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
