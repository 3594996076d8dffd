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

// Certificate writes a self-signed certificate for 127.0.0.1 and its key to dir, each
// alone and both to tls.pem. libpq before 15 reads the address from the common name.
func Certificate(t testing.TB, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for file, text := range map[string][]byte{certFile: cert, keyFile: private, filepath.Join(dir, "tls.pem"): slices.Concat(private, cert)} {
		must(t, os.WriteFile(file, text, 0o600))
	}
	must(t, os.Chmod(certFile, 0o644)) // clients may run as other users
	return certFile, keyFile
}
