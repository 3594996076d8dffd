package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	sha2Prefix = "$A$"
	sha2Salt   = 20

	// sha2Rounds is MySQL's default of caching_sha2_password_digest_rounds. The
	// digest has the rounds in thousands, as three hexadecimal digits.
	sha2Rounds = 5000
)

// SHA2 is MySQL's verifier for caching_sha2_password: the SHA-crypt digest
// (akkadia.org/drepper/SHA-crypt.txt) with a salt of 20 bytes.
type SHA2 struct {
	Rounds int
	Salt   [sha2Salt]byte
	Digest string // 43 characters
}

// NewSHA2 makes the digest of a password, with a new salt.
func NewSHA2(password string) *SHA2 {
	v := &SHA2{Rounds: sha2Rounds}
	_, _ = rand.Read(v.Salt[:]) // never fails (crypto/rand)
	for i, b := range v.Salt {
		v.Salt[i] = cryptAlphabet[b%64] // MySQL's may hold any 7-bit character but $ and NUL; these can be printed
	}
	v.Digest = shaCrypt(password, v.Salt[:], v.Rounds)
	return v
}

// Check reports whether the digest is that of a password. It takes milliseconds.
func (v *SHA2) Check(password string) bool {
	return subtle.ConstantTimeCompare([]byte(shaCrypt(password, v.Salt[:], v.Rounds)), []byte(v.Digest)) == 1
}

// String returns the digest in MySQL's form (mysql.user.authentication_string):
// $A$rounds$, the salt, the digest.
func (v *SHA2) String() string {
	return fmt.Sprintf("%s%03X$%s%s", sha2Prefix, v.Rounds/1000, v.Salt[:], v.Digest)
}

// ParseSHA2 reads the form of String, or its bytes in hexadecimal after 0x. MySQL
// prints the second form with print_identified_with_as_hex, because the salt may
// hold unprintable characters.
func ParseSHA2(s string) (*SHA2, error) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, errors.New("what follows 0x is not hexadecimal")
		}
		s = string(b)
	}
	const header, digest = len("$A$005$"), 43
	if len(s) != header+sha2Salt+digest || !strings.HasPrefix(s, sha2Prefix) || s[header-1] != '$' {
		return nil, errors.New("not of the form $A$005$ with a salt of 20 and a digest of 43 characters")
	}
	thousands, err := strconv.ParseUint(s[len(sha2Prefix):header-1], 16, 16)
	if err != nil || thousands < 5 {
		return nil, errors.New("the rounds must be 005 to FFF")
	}
	v := &SHA2{Rounds: int(thousands) * 1000, Salt: [sha2Salt]byte([]byte(s[header:])), Digest: s[header+sha2Salt:]}
	if strings.Trim(v.Digest, cryptAlphabet) != "" {
		return nil, errors.New("the digest has a character that is none of its alphabet")
	}
	return v, nil
}

// cryptAlphabet holds the digits of SHA-crypt's base 64, which differs from RFC
// 4648.
const cryptAlphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// shaCrypt computes the SHA-256 variant of SHA-crypt. It has the steps in the order
// of the specification, but no limit on the length of the salt.
func shaCrypt(password string, salt []byte, rounds int) string {
	p := []byte(password)
	b := sha256.Sum256(bytes.Join([][]byte{p, salt, p}, nil))

	a := sha256.New()
	a.Write(p)
	a.Write(salt)
	a.Write(stretch(b[:], len(p)))
	for n := len(p); n > 0; n >>= 1 {
		if n&1 != 0 {
			a.Write(b[:])
		} else {
			a.Write(p)
		}
	}
	digest := a.Sum(nil)

	dp := sha256.New()
	for range p {
		dp.Write(p)
	}
	ps := stretch(dp.Sum(nil), len(p))

	ds := sha256.New()
	for range 16 + int(digest[0]) {
		ds.Write(salt)
	}
	ss := stretch(ds.Sum(nil), len(salt))

	c := sha256.New()
	for i := range rounds {
		c.Reset()
		if i%2 != 0 {
			c.Write(ps)
		} else {
			c.Write(digest)
		}
		if i%3 != 0 {
			c.Write(ss)
		}
		if i%7 != 0 {
			c.Write(ps)
		}
		if i%2 != 0 {
			c.Write(digest)
		} else {
			c.Write(ps)
		}
		digest = c.Sum(digest[:0])
	}
	return cryptBase64(digest)
}

// stretch repeats b up to n bytes.
func stretch(b []byte, n int) []byte {
	return bytes.Repeat(b, n/len(b)+1)[:n]
}

// cryptBase64 encodes a digest in the order of SHA-crypt: three bytes that lie
// ten apart, least significant six bits first.
func cryptBase64(d []byte) string {
	out := make([]byte, 0, 43)
	put := func(w uint32, n int) {
		for range n {
			out = append(out, cryptAlphabet[w&63])
			w >>= 6
		}
	}
	at := [3]int{0, 10, 20}
	for range 10 {
		put(uint32(d[at[0]])<<16|uint32(d[at[1]])<<8|uint32(d[at[2]]), 4)
		at = [3]int{at[2] + 1, at[0] + 1, at[1] + 1}
	}
	put(uint32(d[31])<<8|uint32(d[30]), 3)
	return string(out)
}
