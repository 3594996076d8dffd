package auth

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1" // MySQL's protocol prescribes it
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// The clients' halves, written from the documents and not from the package.

// clientProof is ClientProof of RFC 5802, section 3.
func clientProof(password string, salt []byte, iterations int, authMessage string) string {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, 32)
	if err != nil {
		panic(err)
	}
	sign := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	clientKey := sign(salted, "Client Key")
	stored := sha256.Sum256(clientKey)
	subtle.XORBytes(clientKey, clientKey, sign(stored[:], authMessage))
	return base64.StdEncoding.EncodeToString(clientKey)
}

// fastAnswer is caching_sha2_password's answer to a nonce.
func fastAnswer(password string, nonce []byte) []byte {
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	mask := sha256.Sum256(append(twice[:], nonce...))
	subtle.XORBytes(once[:], once[:], mask[:])
	return once[:]
}

// nativeAnswer is mysql_native_password's answer to a nonce.
func nativeAnswer(password string, nonce []byte) []byte {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(append(append([]byte{}, nonce...), twice[:]...))
	subtle.XORBytes(once[:], once[:], mask[:])
	return once[:]
}
