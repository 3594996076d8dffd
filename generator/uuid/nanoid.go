package uuid

import (
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
	if o.Size == 0 {
		o.Size = nanoSize
	}
	if o.Alphabet == "" {
		o.Alphabet = nanoAlphabet
	}
	const hint = "Options: size (21), alphabet. For short codes that never repeat take a segment with text and scatter."
	n := len(o.Alphabet)
	for i := range n {
		if c := o.Alphabet[i]; c <= ' ' || c > '~' || strings.IndexByte(o.Alphabet, c) != i {
			return generator.OptionError(hint, "alphabet must be different printable letters of ASCII")
		}
	}
	if n < 2 {
		return generator.OptionError(hint, "alphabet must have at least two letters")
	}
	if o.Size < 1 || o.Size > 255 {
		return generator.OptionError(hint, "size must be between 1 and 255, not %d", o.Size)
	}
	if bits := float64(o.Size) * math.Log2(float64(n)); bits < minRandom {
		return generator.OptionError(hint, "%d letters out of %d have %.0f random bits; with less than %d the same id would come twice", o.Size, n, math.Floor(bits), minRandom)
	}
	return nil
}

type nanoMaker struct{ o nanoOptions }

func (m nanoMaker) make() (string, error) { return gonanoid.Generate(m.o.Alphabet, m.o.Size) }

// explain reports whether code can be a NanoID. A NanoID contains no information.
func (m nanoMaker) explain(code string) (generator.Parts, bool) {
	return generator.Parts{}, len(code) == m.o.Size && strings.Trim(code, m.o.Alphabet) == ""
}
