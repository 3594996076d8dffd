package uuid

import (
	"cmp"
	"math"
	"strings"

	gonanoid "github.com/matoous/go-nanoid/v2"

	"nextid/generator"
)

// nanoOptions are the options of kind nanoid.
type nanoOptions struct {
	Size     int    `json:"size"`
	Alphabet string `json:"alphabet"`
}

// The defaults of NanoID.
const (
	nanoSize     = 21
	nanoAlphabet = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// minRandom is the least number of random bits of a NanoID. With 64 bits, two of
// 200 million are equal with a probability of 1 in 1000.
const minRandom = 64

func (o *nanoOptions) check() error {
	o.Size, o.Alphabet = cmp.Or(o.Size, nanoSize), cmp.Or(o.Alphabet, nanoAlphabet)
	n := len(o.Alphabet)
	for i := range n {
		if c := o.Alphabet[i]; c <= ' ' || c > '~' || strings.IndexByte(o.Alphabet, c) != i {
			return generator.WrongOption("alphabet must be different printable letters of ASCII")
		}
	}
	if n < 2 {
		return generator.WrongOption("alphabet must have at least two letters")
	}
	if err := generator.Within("size", o.Size, 1, 255); err != nil {
		return err
	}
	if bits := float64(o.Size) * math.Log2(float64(n)); bits < minRandom {
		return generator.WrongOption("%d letters out of %d have %.0f random bits; with less than %d the same id would come twice", o.Size, n, math.Floor(bits), minRandom)
	}
	return nil
}

func (o nanoOptions) make() (string, error) { return gonanoid.Generate(o.Alphabet, o.Size) }

// explain reports whether code can be a NanoID. A NanoID contains no information.
func (o nanoOptions) explain(code string) (generator.Parts, bool) {
	return generator.Parts{}, len(code) == o.Size && strings.Trim(code, o.Alphabet) == ""
}

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
	o.Size = cmp.Or(o.Size, cuidSize)
	bits := math.Log2(float64(len(cuidFirst))) + float64(o.Size-1)*math.Log2(float64(len(cuidLetters)))
	if o.Size > 1 && bits < minRandom {
		return generator.WrongOption("%d letters have %.0f random bits; with less than %d the same id would come twice", o.Size, math.Floor(bits), minRandom)
	}
	return generator.Within("size", o.Size, 2, cuidMaxSize)
}

// make draws all letters at random. CUID2's library hashes the time, a counter, a
// fingerprint and random letters, because a browser may lack good random numbers.
func (o cuidOptions) make() (string, error) {
	first, err := gonanoid.Generate(cuidFirst, 1)
	if err != nil {
		return "", err
	}
	rest, err := gonanoid.Generate(cuidLetters, o.Size-1)
	return first + rest, err
}

// explain reports whether code can be a CUID2: a letter, then letters and digits. A
// CUID2 contains no information.
func (o cuidOptions) explain(code string) (generator.Parts, bool) {
	return generator.Parts{}, len(code) == o.Size && strings.Contains(cuidFirst, code[:1]) && strings.Trim(code, cuidLetters) == ""
}
