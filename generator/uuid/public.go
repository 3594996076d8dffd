package uuid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"

	"nextid/generator"
)

// publicOption is the option public of kinds with UUIDs of version 7.
type publicOption struct {
	Public public `json:"public,omitzero"`
}

// public is the key of a Cipher between private UUIDs (version 7) and public ones
// (version 4). In JSON it is true, which means a random key, or a text.
type public struct {
	On  bool
	Key string // "" until Complete
}

// Bounds of a key's length in bytes. Databases of applications store it in a
// column.
const (
	minKey = 16
	maxKey = 256
)

func (p public) MarshalJSON() ([]byte, error) {
	if p.Key == "" {
		return json.Marshal(p.On)
	}
	return json.Marshal(p.Key)
}

// UnmarshalJSON implements json.Unmarshaler. Its errors do not contain the input,
// which may be a key. true keeps a present key.
func (p *public) UnmarshalJSON(b []byte) error {
	var key string
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &p.On) == nil:
		if !p.On {
			p.Key = ""
		}
	case json.Unmarshal(b, &key) == nil && len(key) >= minKey && len(key) <= maxKey:
		*p = public{true, key}
	default:
		return errors.New("public must be true, or a key of 16 to 256 bytes")
	}
	return nil
}

// complete creates the key if the option is on and has none.
func (p *public) complete() {
	if p.On && p.Key == "" {
		var key [16]byte
		_, _ = rand.Read(key[:]) // does not fail
		p.Key = hex.EncodeToString(key[:])
	}
}

func (o *publicOption) public() *public { return &o.Public }

// keyOf returns the option public of options, or an empty one.
func keyOf(options any) *public {
	if o, ok := options.(interface{ public() *public }); ok {
		return o.public()
	}
	return &public{}
}

// Cipher maps UUIDs of version 7 to UUIDs of version 4, one to one. Both have 122
// free bits: 60 before the variant and 62 after it. These are the halves of a
// Feistel network. The round function is SHA-256, because PostgreSQL and MariaDB
// have it: migrations/foreign computes the same there.
//
// It hides the time from observers without the key. It is not meant for other
// secrets.
type Cipher struct{ key [sha256.Size]byte }

const (
	cipherRounds = 10 // like package code's scatter
	highBits     = 1<<60 - 1
	lowBits      = 1<<62 - 1
)

// NewCipher returns the Cipher of a key.
func NewCipher(key string) Cipher {
	return Cipher{sha256.Sum256([]byte("nextid public 1\x00" + key))}
}

// CipherFor returns the Cipher of a generator. ok is false if it has no key.
func CipherFor(g generator.Generator) (c Cipher, ok bool) {
	var p public
	if g, own := g.(*Generator); own {
		p = g.public
	}
	return NewCipher(p.Key), p.Key != ""
}

// Public returns the UUID of version 4 for a UUID of version 7.
func (c Cipher) Public(u UUID) (UUID, error) {
	high, low, err := u.split(7)
	for i := byte(0); i < cipherRounds; i += 2 {
		high ^= c.round(i, low) & highBits
		low ^= c.round(i+1, high) & lowBits
	}
	return joined(high, low).mark(4), err
}

// Private returns the inverse of Public.
func (c Cipher) Private(u UUID) (UUID, error) {
	high, low, err := u.split(4)
	for i := byte(cipherRounds); i > 0; i -= 2 {
		low ^= c.round(i-1, high) & lowBits
		high ^= c.round(i-2, low) & highBits
	}
	return joined(high, low).mark(7), err
}

// round returns the first 8 bytes of the SHA-256 of the key, the round and the
// other half of the UUID.
func (c Cipher) round(i byte, half uint64) uint64 {
	var block [sha256.Size + 9]byte
	copy(block[:], c.key[:])
	block[sha256.Size] = i
	binary.BigEndian.PutUint64(block[sha256.Size+1:], half)
	sum := sha256.Sum256(block[:])
	return binary.BigEndian.Uint64(sum[:])
}

// split returns the halves of a UUID of a version.
func (u UUID) split(version int) (high, low uint64, err error) {
	if !u.Standard() || u.Version() != version {
		return 0, 0, generator.OptionError("public_uuid takes UUIDs of version 7, private_uuid what public_uuid gave.", "%s is not a UUID of version %d", u, version)
	}
	high, low = u.halves()
	return high, low, nil
}
