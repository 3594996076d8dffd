package dbtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Password is the password of users that need one. It has characters that URLs
// escape.
const Password = "pass word/@:"

// certificate writes a certificate and a key that the server may read, and sets CA.
func (s *Server) certificate() {
	s.t.Helper()
	var key string
	s.CA, key = Certificate(s.t, s.Dir)
	s.own(s.CA, key)
}

// Certificate writes the certificate and the key of a new Authority to dir, each alone
// and both to tls.pem. They are for a server at 127.0.0.1.
func Certificate(t testing.TB, dir string) (certFile, keyFile string) {
	t.Helper()
	own := NewAuthority(t).own
	certFile, keyFile = own.Write(t, dir, "tls")
	must(t, os.WriteFile(filepath.Join(dir, "tls.pem"), slices.Concat(own.Key, own.Cert), 0o600))
	must(t, os.Chmod(certFile, 0o644)) // clients may run as other users
	return certFile, keyFile
}

// Authority issues certificates for tests.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  crypto.Signer
	own  Pair
	PEM  []byte // the authority's own certificate
}

// Pair is a certificate with its key, both in PEM form.
type Pair struct{ Cert, Key []byte }

// NewAuthority makes an authority for a test. Its methods fail the test on errors. libpq
// before 15 reads the address from the common name.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.key = a.newKey()
	a.cert = &x509.Certificate{
		Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	a.own = a.issue(a.cert, a.key)
	a.PEM = a.own.Cert
	block, _ := pem.Decode(a.PEM)
	var err error
	a.cert, err = x509.ParseCertificate(block.Bytes)
	must(t, err)
	return a
}

func (a *Authority) newKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	return key
}

// Server issues a certificate for localhost and the loopback addresses.
func (a *Authority) Server() Pair {
	a.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(a.t, err)
	return a.ServerWith(key)
}

// ServerWith is Server with the caller's key: RSA, ECDSA or Ed25519.
func (a *Authority) ServerWith(key crypto.Signer) Pair {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "nextid test server"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key)
}

// Client issues a client certificate with a user's name as common name.
func (a *Authority) Client(user string) Pair {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.newKey())
}

// issue signs a certificate for a key. It is valid now, for a day.
func (a *Authority) issue(template *x509.Certificate, key crypto.Signer) Pair {
	a.t.Helper()
	template.SerialNumber = new(big.Int).SetBytes([]byte(rand.Text()[:8]))
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	must(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// ClientConfig returns the configuration of a client that trusts the authority and
// checks that the server is localhost.
func (a *Authority) ClientConfig() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
}

// Write writes the certificate and its key into the files NAME.crt and NAME.key of a
// directory. Only their owner may read them.
func (p Pair) Write(t testing.TB, dir, name string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	for file, content := range map[string][]byte{cert: p.Cert, key: p.Key} {
		must(t, os.WriteFile(file, content, 0o600))
	}
	return cert, key
}
