package code

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"sync"

	hashids "github.com/speps/go-hashids/v2"
	"github.com/sqids/sqids-go"
)

// Text forms of other libraries, in the option text. They are not digits of a base.
const (
	sqidsText   = "sqids"     // sqids.org
	hashidsText = "hashids"   // hashids.org
	base64url   = "base64url" // the eight bytes of a number, big-endian, in RFC 4648's URL alphabet
)

// foreign is a text form that another library defines. encode takes numbers from 0
// up. decode reports false for texts that encode would not write.
type foreign interface {
	encode(id int64) (string, error)
	decode(code string) (int64, bool)
}

// newForeign returns the form of t, nil if the code is digits of a base.
func newForeign(t *Text) (foreign, error) {
	for i := range len(t.Alphabet) {
		if c := t.Alphabet[i]; c <= ' ' || c > '~' {
			return nil, optionError("alphabet must be ASCII characters without space")
		}
	}
	switch t.Base {
	case sqidsText:
		return newSqids(t)
	case hashidsText:
		d := hashids.HashIDData{Alphabet: t.Alphabet, MinLength: t.Pad, Salt: t.Salt}
		if d.Alphabet == "" {
			d.Alphabet = hashids.DefaultAlphabet
		}
		h, err := hashids.NewWithData(&d)
		if err != nil {
			return nil, optionError("text %s: %v", t.Base, err)
		}
		return hashidsForm{h}, nil
	case base64url:
		return base64Form{}, nil
	}
	return nil, nil //nolint:nilnil // digits of a base are no error
}

type hashidsForm struct{ h *hashids.HashID }

func (f hashidsForm) encode(id int64) (string, error) { return f.h.EncodeInt64([]int64{id}) }

func (f hashidsForm) decode(code string) (int64, bool) {
	numbers, err := f.h.DecodeInt64WithError(code)
	if err != nil || len(numbers) != 1 {
		return 0, false
	}
	return numbers[0], true
}

// sqidsForm encodes with the default blocklist of sqids. It also decodes codes of
// programs with another blocklist.
type sqidsForm struct {
	library func() (*sqids.Sqids, error)
	wide    int // length of the greatest id's code; shorter codes hold no greater number
}

// newSqids checks the options of sqids with an empty blocklist, which is fast.
func newSqids(t *Text) (foreign, error) {
	o := sqids.Options{Alphabet: t.Alphabet}
	bare, err := sqids.New(o)
	if err != nil {
		return nil, optionError("text %s: %v", t.Base, err)
	}
	greatest, err := bare.Encode([]uint64{math.MaxInt64})
	if err != nil {
		return nil, err
	}
	o.MinLength, o.Blocklist = uint8(t.Pad), sqids.Blocklist()
	// Preparing the list takes a millisecond, and options are read more often than
	// codes are made.
	return sqidsForm{sync.OnceValues(func() (*sqids.Sqids, error) { return sqids.New(o) }), len(greatest)}, nil
}

func (f sqidsForm) encode(id int64) (string, error) {
	library, err := f.library()
	if err != nil {
		return "", err
	}
	code, err := library.Encode([]uint64{uint64(id)})
	if err != nil {
		err = optionError("%d has no code: %v", id, err)
	}
	return code, err
}

// decode encodes the number of a long code again, since it may have overflowed.
func (f sqidsForm) decode(code string) (int64, bool) {
	library, err := f.library()
	if err != nil {
		return 0, false
	}
	numbers := library.Decode(code)
	if len(numbers) != 1 || numbers[0] > math.MaxInt64 {
		return 0, false
	}
	id := int64(numbers[0])
	if len(code) < f.wide {
		return id, true
	}
	again, err := f.encode(id)
	return id, err == nil && again == code
}

type base64Form struct{}

func (base64Form) encode(id int64) (string, error) {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(id))), nil
}

func (base64Form) decode(code string) (int64, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(code, "="))
	if err != nil || len(b) != 8 {
		return 0, false
	}
	id := int64(binary.BigEndian.Uint64(b))
	return id, id >= 0
}
