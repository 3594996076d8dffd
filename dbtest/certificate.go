package dbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Password is the password of users that need one. It has characters that URLs
// escape.
const Password = "pass word/@:"

// Secured is a database with TLS, and in most cases with a password.
type Secured struct {
	*Server
	CA string // PEM file
}

// PostgresTLS starts a PostgreSQL that requires TLS, and a password from all users
// but postgres.
func PostgresTLS(t testing.TB) *Secured {
	t.Helper()
	s := newPostgres(t).initdb()
	cert, key := s.certificate()
	hba := s.write("hba", "hostssl all postgres all trust\nhostssl all all all scram-sha-256\n")
	return &Secured{s.with(slices.Concat(smallPostgres, []string{"ssl=on", "password_encryption=scram-sha-256", "ssl_cert_file=" + cert, "ssl_key_file=" + key, "hba_file=" + hba})...).Begin(), cert}
}

// PostgresURL returns the URL of the database postgres for a user.
func (s *Secured) PostgresURL(user string) string {
	return "postgres://" + url.UserPassword(user, Password).String() + "@" + s.Addr +
		"/postgres?sslmode=verify-full&sslrootcert=" + url.QueryEscape(s.CA)
}

// MariaDBTLS starts a MariaDB that requires TLS. Its root needs no password.
func MariaDBTLS(t testing.TB) *Secured {
	t.Helper()
	s := newMariaDB(t)
	cert, key := s.certificate()
	return &Secured{s.withSettings(slices.Concat(smallMariaDB, []string{"ssl-cert=" + cert, "ssl-key=" + key, "require-secure-transport=ON"})...).Begin(), cert}
}

// MySQLURL returns the URL of a database for a user.
func (s *Secured) MySQLURL(user, database string) string {
	userinfo := url.User(user)
	if user != "root" {
		userinfo = url.UserPassword(user, Password)
	}
	return "mysql://" + userinfo.String() + "@" + s.Addr + "/" + database + "?ca=" + url.QueryEscape(s.CA)
}

// certificate writes a certificate and a key that the server may read.
func (s *Server) certificate() (cert, key string) {
	s.t.Helper()
	cert, key, _ = Certificate(s.t, s.Dir)
	s.own(cert, key)
	return cert, key
}

// Certificate writes a self-signed certificate for 127.0.0.1 and its key to dir, and
// returns a pool that trusts it. libpq before 15 reads the address from the common
// name.
func Certificate(t testing.TB, dir string) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, text := range map[string][]byte{certFile: cert, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(certFile, 0o644); err != nil { // clients may run as other users
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return certFile, keyFile, pool
}
