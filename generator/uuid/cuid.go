package uuid

import (
	"math"
	"strings"

	gonanoid "github.com/matoous/go-nanoid/v2"

	"nextid/generator"
)

// cuidOptions are the options of kind cuid2.
type cuidOptions struct {
	Size int `json:"size"`
}

// Length and letters of a CUID2 (paralleldrive/cuid2, README). The first letter is
// not a digit.
const (
	cuidSize    = 24
	cuidMaxSize = 32
	cuidFirst   = "abcdefghijklmnopqrstuvwxyz"
	cuidLetters = "0123456789" + cuidFirst
)

func (o *cuidOptions) check() error {
	if o.Size == 0 {
		o.Size = cuidSize
	}
	const hint = "Options: size (24)."
	bits := math.Log2(float64(len(cuidFirst))) + float64(o.Size-1)*math.Log2(float64(len(cuidLetters)))
	switch {
	case o.Size < 2 || o.Size > cuidMaxSize:
		return generator.OptionError(hint, "size must be between 2 and %d, not %d", cuidMaxSize, o.Size)
	case bits < minRandom:
		return generator.OptionError(hint, "%d letters have %.0f random bits; with less than %d the same id would come twice", o.Size, math.Floor(bits), minRandom)
	}
	return nil
}

type cuidMaker struct{ o cuidOptions }

// make draws all letters at random. CUID2's library hashes the time, a counter, a
// fingerprint and random letters, because a browser may lack good random numbers.
func (m cuidMaker) make() (string, error) {
	first, err := gonanoid.Generate(cuidFirst, 1)
	if err != nil {
		return "", err
	}
	rest, err := gonanoid.Generate(cuidLetters, m.o.Size-1)
	return first + rest, err
}

// explain reports whether code can be a CUID2. A CUID2 contains no information.
func (m cuidMaker) explain(code string) (generator.Parts, bool) {
	return generator.Parts{}, len(code) == m.o.Size && isCUID2(code)
}

// isCUID2 reports whether a text consists of the letters of a CUID2.
func isCUID2(code string) bool {
	return code != "" && strings.Contains(cuidFirst, code[:1]) && strings.Trim(code, cuidLetters) == ""
}
