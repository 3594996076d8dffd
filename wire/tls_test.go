package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/dbtest"
)

// tlsServer serves lines with a certificate of a new authority, on TCP.
func tlsServer(t *testing.T, limits Limits, log io.Writer) (*Server, net.Listener, *dbtest.Authority) {
	t.Helper()
	authority := dbtest.NewAuthority(t)
	s, _ := loggingServer(limits, log)
	s.ALPN = "lines"
	c := authority.Server()
	if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key, ClientCA: authority.PEM}); err != nil {
		t.Fatal(err)
	}
	l := listenTCP(t)
	serve(t, s, l)
	return s, l, authority
}

// secure changes a peer to TLS.
func (p *peer) secure(config *tls.Config) *peer {
	p.t.Helper()
	p.send("tls\n")
	p.want("go")
	c := tls.Client(p.Conn, config)
	if err := c.Handshake(); err != nil {
		p.t.Fatal(err)
	}
	return &peer{p.t, c, bufio.NewReader(c)}
}

// transports runs a test inside TLS over TCP, a Unix socket and memory: with
// the raw loop and with the plain one.
func transports(t *testing.T, body func(t *testing.T, s *Server, dial func() *peer)) {
	t.Helper()
	sockets(t, 200*time.Millisecond, func(t *testing.T, s *Server, dial func() *peer) { secured(t, s, dial, body) })
	t.Run("memory", func(t *testing.T) {
		s, _ := linesServer(Limits{Write: 200 * time.Millisecond})
		l := listenMemory()
		serve(t, s, l)
		secured(t, s, func() *peer { return dialMemory(t, l) }, body)
	})
}

// secured gives a server that has met no client yet a certificate.
func secured(t *testing.T, s *Server, dial func() *peer, body func(t *testing.T, s *Server, dial func() *peer)) {
	t.Helper()
	authority := dbtest.NewAuthority(t)
	c := authority.Server()
	if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	body(t, s, func() *peer { return dial().secure(authority.ClientConfig()) })
}

func TestTLSCarriesTheProtocol(t *testing.T) {
	transports(t, func(t *testing.T, _ *Server, dial func() *peer) {
		p := dial().login()
		p.send("who\n")
		p.want(`nobody TLSv1.3 ""`)
		for i := range 50 {
			p.send("echo " + strconv.Itoa(i) + "\n")
			p.want(strconv.Itoa(i))
		}
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(p, strings.Repeat("echo pipelined\n", 20_000)) // many records, more than one buffer
			sent <- err
		}()
		for range 20_000 {
			p.want("pipelined")
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		p.send("big 3000000\n")
		if n, err := io.CopyN(io.Discard, p.r, 3_000_000); err != nil {
			t.Fatalf("%d bytes, then %v", n, err)
		}
		for _, b := range []byte("echo one byte in each record\n") {
			p.send(string(b))
		}
		p.want("one byte in each record")
		p.send("bye\n")
		p.wantEnd() // with a close_notify, or it would be io.ErrUnexpectedEOF
	})
}

// echoTLS serves echo with a certificate.
func echoTLS(t *testing.T, l net.Listener) *tls.Config {
	t.Helper()
	authority := dbtest.NewAuthority(t)
	s := &Server{NewMachine: func(c *Conn) Machine { return &echo{conn: c} }, TLS: &TLS{}, Logger: quiet(io.Discard)}
	c := authority.Server()
	if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	return authority.ClientConfig()
}

// TestRoundTripInsideTLSAllocatesNothing is of both ends. Each read of
// crypto/tls allocates its atLeastReader: one of the client, and two of the
// server, which sees that nothing more is there.
func TestRoundTripInsideTLSAllocatesNothing(t *testing.T) {
	l := listenTCP(t)
	config := echoTLS(t, l)
	allocatesNothing(t, dialTCP(t, l).secure(config), 3)
}

// records is the client's end of a connection. It counts the records of TLS that
// the server sends, each of which is a write (RFC 8446, section 5.1).
type records struct {
	net.Conn
	head  []byte // of a record, as far as it has arrived
	left  int    // bytes of the record that are to come
	count int
}

func (r *records) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if r.left > 0 {
			k := min(r.left, len(rest))
			r.left, rest = r.left-k, rest[k:]
			continue
		}
		r.head, rest = append(r.head, rest[0]), rest[1:]
		if len(r.head) == 5 {
			r.left, r.head = int(r.head[3])<<8|int(r.head[4]), r.head[:0]
			r.count++
		}
	}
	return n, err
}

// TestOneWriteForABatchInsideTLS has answers that fit a record.
func TestOneWriteForABatchInsideTLS(t *testing.T) {
	l := listenTCP(t)
	config := echoTLS(t, l)
	config.DynamicRecordSizingDisabled = true // a request is one record, too
	p := dialTCP(t, l)
	p.send("tls\n")
	p.want("go")
	counted := &records{Conn: p.Conn}
	c := tls.Client(counted, config)
	for i, size := range []int{1, 8 << 10, 1, 16 << 10} {
		answer, before := make([]byte, size), counted.count
		if _, err := c.Write(answer); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil {
			t.Fatal(err)
		}
		if n := counted.count - before; n != 1 && i > 0 { // before the first there is the handshake
			t.Errorf("an answer of %d bytes came in %d writes", size, n)
		}
	}
}

// The server serves the messages that have arrived while the rest of a record is
// under way, and then serves the rest.
func TestTLSRecordsInPieces(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	p := dialTCP(t, l)
	p.send("tls\n")
	p.want("go")
	slow := &slowConn{Conn: p.Conn}
	c := tls.Client(slow, authority.ClientConfig())
	q := &peer{t, c, bufio.NewReader(c)}
	q.login()
	for range 3 {
		q.send("echo drop by drop\n")
		q.want("drop by drop")
	}
}

// slowConn sends one byte at a time.
type slowConn struct{ net.Conn }

func (c *slowConn) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
		if i%8 == 0 {
			runtime.Gosched()
		}
	}
	return len(p), nil
}

func TestTLSHandshakeMayFollowAtOnce(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	p := dialTCP(t, l)
	// The first write is the request together with the ClientHello.
	c := tls.Client(&prefixConn{Conn: p.Conn, out: []byte("tls\n"), in: len("go\n")}, authority.ClientConfig())
	q := &peer{t, c, bufio.NewReader(c)}
	q.login()
}

// prefixConn sends some bytes in front of the first write and throws away
// the first bytes of its input.
type prefixConn struct {
	net.Conn
	out []byte
	in  int
}

func (c *prefixConn) Write(p []byte) (int, error) {
	if _, err := c.Conn.Write(append(c.out, p...)); err != nil {
		return 0, err
	}
	c.out = nil
	return len(p), nil
}

func (c *prefixConn) Read(p []byte) (int, error) {
	if c.in > 0 {
		if _, err := io.ReadFull(c.Conn, make([]byte, c.in)); err != nil {
			return 0, err
		}
		c.in = 0
	}
	return c.Conn.Read(p)
}

// Bytes that an attacker inserts between the request for TLS and the handshake are
// not served as the client's (CVE-2021-23214).
func TestPlaintextIsNeverTakenForTLS(t *testing.T) {
	var log logBuffer
	s, l, _ := tlsServer(t, Limits{}, &log)
	p := dialTCP(t, l)
	p.send("tls\nhello\necho injected\n")
	p.want("go")
	rest, _ := io.ReadAll(p.r) // an alert and the end, or a reset
	if bytes.Contains(rest, []byte("injected")) || bytes.Contains(rest, []byte("welcome")) {
		t.Errorf("the server answers %q", rest)
	}
	waitGone(t, s)
	if text := log.String(); !strings.Contains(text, "TLS handshake: ") {
		t.Errorf("the log does not have the failed handshake: %q", text)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	for version, works := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		p := dialTCP(t, l)
		p.send("tls\n")
		p.want("go")
		config := authority.ClientConfig()
		config.MinVersion, config.MaxVersion = version, version
		if err := tls.Client(p.Conn, config).Handshake(); (err == nil) != works {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

func TestOldCiphersAreRefused(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	for suite, works := range map[uint16]bool{
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: true, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: false,
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256: false, tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: false,
	} {
		p := dialTCP(t, l)
		p.send("tls\n")
		p.want("go")
		config := authority.ClientConfig()
		config.MaxVersion, config.CipherSuites = tls.VersionTLS12, []uint16{suite}
		if err := tls.Client(p.Conn, config).Handshake(); (err == nil) != works {
			t.Errorf("%s: %v", tls.CipherSuiteName(suite), err)
		}
	}
}

func TestALPN(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	for _, tc := range []struct {
		offered []string
		agreed  string
		works   bool
	}{
		{nil, "", true},
		{[]string{"other", "lines"}, "lines", true},
		{[]string{"http/1.1"}, "", false},
	} {
		p := dialTCP(t, l)
		p.send("tls\n")
		p.want("go")
		config := authority.ClientConfig()
		config.NextProtos = tc.offered
		c := tls.Client(p.Conn, config)
		if err := c.Handshake(); (err == nil) != tc.works {
			t.Errorf("%v: %v", tc.offered, err)
			continue
		}
		if tc.works {
			q := &peer{t, c, bufio.NewReader(c)}
			q.login()
			q.send("who\n")
			q.want("nobody TLSv1.3 " + strconv.Quote(tc.agreed))
		}
	}
}

func TestClientCertificates(t *testing.T) {
	_, l, authority := tlsServer(t, Limits{}, io.Discard)
	with := func(c dbtest.Pair) *tls.Config {
		pair, err := tls.X509KeyPair(c.Cert, c.Key)
		if err != nil {
			t.Fatal(err)
		}
		config := authority.ClientConfig()
		config.Certificates = []tls.Certificate{pair}
		// Also one that the server's list of authorities does not name.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		return config
	}
	p := dialTCP(t, l).secure(with(authority.Client("alice"))).login()
	p.send("who\n")
	p.want(`alice TLSv1.3 ""`)

	preLogin := dialTCP(t, l)
	preLogin.send("tls\n")
	preLogin.want("go")
	c := tls.Client(preLogin.Conn, with(dbtest.NewAuthority(t).Client("alice")))
	_ = c.Handshake() // in TLSv1.3 the client is done before the server looks at its certificate
	_, _ = c.Write([]byte("hello\n"))
	if answer, err := io.ReadAll(c); err == nil {
		t.Errorf("a certificate of an unknown authority: the server answers %q", answer)
	}
}

func TestCertificatesAreReplaced(t *testing.T) {
	s, l, first := tlsServer(t, Limits{}, io.Discard)
	old := dialTCP(t, l).secure(first.ClientConfig()).login()
	for name, p := range map[string]PEM{
		"nothing": {}, "no key": {Cert: first.Server().Cert},
		"another's key": {Cert: first.Server().Cert, Key: first.Server().Key},
		"no authority":  {Cert: first.Server().Cert, Key: first.Server().Key, ClientCA: []byte("nonsense")},
	} {
		if err := s.TLS.Replace(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	dialTCP(t, l).secure(first.ClientConfig()).login()

	second := dbtest.NewAuthority(t)
	c := second.Server()
	if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	dialTCP(t, l).secure(second.ClientConfig()).login()
	old.send("echo still here\n")
	old.want("still here")
}

func TestEndPointIsTheHashOfTheCertificate(t *testing.T) {
	authority := dbtest.NewAuthority(t) // signs with ECDSA and SHA-256
	c := authority.Server()
	var s TLS
	if err := s.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256(s.Leaf().Raw)
	if got := s.current.Load().endPoint; !bytes.Equal(got, want[:]) {
		t.Errorf("got %x, want %x", got, want)
	}
	for algorithm, size := range map[x509.SignatureAlgorithm]int{
		x509.SHA1WithRSA: 32, x509.SHA384WithRSA: 48, x509.ECDSAWithSHA512: 64, x509.SHA512WithRSAPSS: 64, x509.PureEd25519: 0,
	} {
		if got := endPoint(&x509.Certificate{Raw: []byte{1}, SignatureAlgorithm: algorithm}); len(got) != size {
			t.Errorf("%v: %d bytes, want %d", algorithm, len(got), size)
		}
	}
}

func TestKindsOfKeys(t *testing.T) {
	authority := dbtest.NewAuthority(t)
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, l, _ := tlsServer(t, Limits{}, io.Discard)
	for _, key := range []crypto.Signer{curve, edwards} {
		c := authority.ServerWith(key)
		if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
			t.Fatal(err)
		}
		dialTCP(t, l).secure(authority.ClientConfig()).login()
	}
}

// A client inside TLS that does not read is cut off as any other.
func TestTLSClientThatDoesNotRead(t *testing.T) {
	transports(t, func(t *testing.T, s *Server, dial func() *peer) {
		p := dial().login()
		p.send("big 50000000\n")
		waitGone(t, s)
	})
}

// A part of a record is a part of a message.
// crypto/tls allocates a record as soon as its header has arrived.
func TestPartOfATLSRecordIsCounted(t *testing.T) {
	transports(t, func(t *testing.T, _ *Server, dial func() *peer) {
		for header, wait := range map[string]time.Duration{"\x17\x03\x03\x08\x00": 50 * time.Millisecond, "\x17\x03\x03\x40\x00": waitLimit} {
			p := dial().login()
			p.send("limit 8192\n")
			p.want("limited")
			if _, err := p.Conn.(*tls.Conn).NetConn().Write([]byte(header + "x")); err != nil {
				t.Fatal(err)
			}
			_ = p.SetReadDeadline(time.Now().Add(wait))
			_, err := p.r.ReadByte()
			if refused := errors.Is(err, io.EOF); refused != (wait == waitLimit) {
				t.Errorf("part of a record %q: %v", header, err)
			}
		}
	})
}

func TestPartOfATLSRecordHasTheMessagesTime(t *testing.T) {
	for name, dial := range map[string]func(t *testing.T, s *Server) *peer{
		"TCP": func(t *testing.T, s *Server) *peer {
			l := listenTCP(t)
			serve(t, s, l)
			return dialTCP(t, l)
		},
		"memory": func(t *testing.T, s *Server) *peer {
			l := listenMemory()
			serve(t, s, l)
			return dialMemory(t, l)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := linesServer(Limits{Message: 300 * time.Millisecond})
			secured(t, s, func() *peer { return dial(t, s) }, func(t *testing.T, _ *Server, dial func() *peer) {
				p := dial().login()
				p.send("echo whole\n")
				p.want("whole")
				<-time.After(400 * time.Millisecond)
				p.send("echo later\n")
				p.want("later")
				if _, err := p.Conn.(*tls.Conn).NetConn().Write([]byte("\x17\x03\x03\x01\x00x")); err != nil { // 1 of 256 bytes
					t.Fatal(err)
				}
				p.want("go away: 4")
				p.wantEnd()
			})
		})
	}
}

func TestTLSHandshakeHasTheLoginsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := linesServer(Limits{FirstByte: time.Second, Login: 10 * time.Second})
		c := dbtest.NewAuthority(t).Server()
		if err := s.TLS.Replace(PEM{Cert: c.Cert, Key: c.Key}); err != nil {
			t.Fatal(err)
		}
		l := listenMemory()
		serve(t, s, l)
		began := time.Now()
		p := dialMemory(t, l)
		p.send("tls\n")
		p.want("go")
		p.send("\x16\x03\x01") // and no more
		_, _ = io.Copy(io.Discard, p.r)
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the server hung up after %v, want 10s", took)
		}
	})
}

func TestShutdownReachesTLSConnections(t *testing.T) {
	transports(t, func(t *testing.T, s *Server, dial func() *peer) {
		idle := dial().login()
		done := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
			defer cancel()
			done <- s.Shutdown(ctx)
		}()
		idle.want("go away: 0")
		idle.wantEnd()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// The server notices a client that closes without close_notify, or together with its
// last message.
func TestTLSClientsThatLeave(t *testing.T) {
	sockets(t, 200*time.Millisecond, func(t *testing.T, s *Server, dial func() *peer) {
		secured(t, s, dial, func(t *testing.T, s *Server, dial func() *peer) {
			var clients sync.WaitGroup
			for i := range 20 {
				p := dial().login()
				clients.Go(func() {
					p.send("echo last\n")
					c := p.Conn.(*tls.Conn)
					if i%2 == 0 {
						c = nil
					}
					p.want("last")
					if c != nil {
						_ = c.NetConn().Close() // without close_notify
					} else {
						_ = p.Close()
					}
				})
			}
			clients.Wait()
			waitGone(t, s)
		})
	})
}
