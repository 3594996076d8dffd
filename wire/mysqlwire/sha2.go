package mysqlwire

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // the protocol prescribes it
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"hash"
	"runtime"
)

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
