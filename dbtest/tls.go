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
	"strings"
	"testing"
	"time"
)

// Password is that of users who need one. It has characters that URLs escape.
const Password = "pass word/@:"

// Secured is a database that asks for a password and speaks TLS.
type Secured struct {
	*Server
	CA string // PEM file
}

// PostgresTLS starts a PostgreSQL that lets nobody in without TLS, and nobody
// but postgres without a password.
func PostgresTLS(t testing.TB) *Secured {
	t.Helper()
	s := newPostgres(t)
	s.initdb()
	cert, key := s.certificate()
	hba := filepath.Join(s.Dir, "hba")
	if err := os.WriteFile(hba, []byte("hostssl all postgres all trust\nhostssl all all all scram-sha-256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &Secured{s.with("ssl=on", "ssl_cert_file="+cert, "ssl_key_file="+key, "hba_file="+hba).begin(), cert}
}

// PostgresURL is the URL of the database postgres for a user.
func (s *Secured) PostgresURL(user string) string {
	return "postgres://" + url.UserPassword(user, Password).String() + "@" + s.Addr +
		"/postgres?sslmode=verify-full&sslrootcert=" + url.QueryEscape(s.CA)
}

// MariaDBTLS starts a MariaDB that speaks TLS. Its root needs no password.
func MariaDBTLS(t testing.TB) *Secured {
	t.Helper()
	s := newMariaDB(t)
	cert, key := s.certificate()
	return &Secured{s.withSettings("ssl-cert="+cert, "ssl-key="+key, "require-secure-transport=ON").begin(), cert}
}

// MySQLURL is the URL of a database for a user.
func (s *Secured) MySQLURL(user, database string) string {
	userinfo := url.User(user)
	if user != "root" {
		userinfo = url.UserPassword(user, Password)
	}
	return "mysql://" + userinfo.String() + "@" + s.Addr + "/" + database + "?ca=" + url.QueryEscape(s.CA)
}

// RedisTLS starts a Redis that speaks TLS. plain is the same one without TLS.
func RedisTLS(t testing.TB) (s *Secured, plain *Server) {
	t.Helper()
	dir, _ := directory(t, "")
	cert, key, _ := Certificate(t, dir)
	addr := FreeAddr(t)
	plain = Redis(t, "tls-port", port(addr), "tls-cert-file", cert, "tls-key-file", key, "tls-ca-cert-file", cert, "tls-auth-clients", "no")
	return &Secured{&Server{Addr: addr, Dir: plain.Dir, t: t}, cert}, plain
}

// ZooKeeperTLS starts a ZooKeeper of one member that speaks TLS at Addr.
func ZooKeeperTLS(t testing.TB) *Secured {
	t.Helper()
	dir, _ := directory(t, "")
	cert, key, _ := Certificate(t, dir)
	both := filepath.Join(dir, "both.pem")
	var text strings.Builder
	for _, file := range []string{key, cert} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(part)
	}
	if err := os.WriteFile(both, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := FreeAddr(t)
	members := zooKeeper(t, 1, "secureClientPort="+port(addr)+"\nserverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"+
		"ssl.keyStore.location="+both+"\nssl.keyStore.type=PEM\nssl.trustStore.location="+cert+"\nssl.trustStore.type=PEM\nssl.clientAuth=none\n")
	return &Secured{&Server{Addr: addr, Dir: members[0].Dir, t: t}, cert}
}

// certificate makes a certificate that the server may read.
func (s *Server) certificate() (cert, key string) {
	s.t.Helper()
	cert, key, _ = Certificate(s.t, s.Dir)
	if s.cred != nil {
		for _, file := range []string{cert, key} {
			if err := os.Chown(file, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return cert, key
}

// Certificate makes a certificate for 127.0.0.1 that is its own authority.
func Certificate(t testing.TB, dir string) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nextid test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
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
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return certFile, keyFile, pool
}
