package wiretest

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
	"testing"
	"time"
)

// Authority issues certificates for tests.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  crypto.Signer
	PEM  []byte // the authority's own certificate
}

// Certificate is a certificate with its key, both in PEM form.
type Certificate struct{ Cert, Key []byte }

// NewAuthority makes an authority for a test. Its methods fail the test on errors.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.key = a.newKey()
	a.cert = &x509.Certificate{
		Subject: pkix.Name{CommonName: "nextid test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	a.PEM = a.issue(a.cert, a.key).Cert
	block, _ := pem.Decode(a.PEM)
	var err error
	a.cert, err = x509.ParseCertificate(block.Bytes)
	a.check(err)
	return a
}

func (a *Authority) check(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *Authority) newKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.check(err)
	return key
}

// Server issues a certificate for localhost and the loopback addresses.
func (a *Authority) Server() Certificate {
	a.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	a.check(err)
	return a.ServerWith(key)
}

// ServerWith is Server with the caller's key: RSA, ECDSA or Ed25519.
func (a *Authority) ServerWith(key crypto.Signer) Certificate {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "nextid test server"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key)
}

// Client issues a client certificate with a user's name as common name.
func (a *Authority) Client(user string) Certificate {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.newKey())
}

// issue signs a certificate for a key. It is valid now, for a day.
func (a *Authority) issue(template *x509.Certificate, key crypto.Signer) Certificate {
	a.t.Helper()
	template.SerialNumber = new(big.Int).SetBytes([]byte(rand.Text()[:8]))
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	a.check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	a.check(err)
	return Certificate{
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
func (c Certificate) Write(t testing.TB, dir, name string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	for file, content := range map[string][]byte{cert: c.Cert, key: c.Key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
