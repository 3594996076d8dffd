package wire

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"
)

// Many ids at once are what a server sends most of: rows of a run, or answers
// to pipelined queries. They differ in a few digits, and so do their messages.
// The protocols make one and copy it.

// LowDigits is 10 to the number of digits in which ids that are alike may
// differ.
const LowDigits = 10_000

// Alike is how many of count ids, in steps from first on, differ in their last
// four digits only.
func Alike(first, step, count int64) int64 {
	if first < LowDigits || step <= -LowDigits || step >= LowDigits || step == 0 {
		return 1
	}
	low := first % LowDigits
	if step > 0 {
		return min((LowDigits-1-low)/step+1, count)
	}
	return min(low/-step+1, count)
}

// PutLow writes the last four digits of an id.
func PutLow(digits *[4]byte, low int) {
	hi, lo := low/100*2, low%100*2
	digits[0], digits[1], digits[2], digits[3] = pairs[hi], pairs[hi+1], pairs[lo], pairs[lo+1]
}

// pairs are the numbers 00 to 99.
var pairs = func() (p [200]byte) {
	for i := range 100 {
		p[2*i], p[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return p
}()

// AppendID appends an id in digits, as strconv does, without its copy.
func AppendID(dst []byte, id int64) []byte {
	if id < 0 {
		return strconv.AppendInt(dst, id, 10)
	}
	rest := uint64(id)
	n := bits.Len64(rest|1) * 1233 >> 12 // digits, or one less: 1233/4096 is about log10(2)
	if rest|1 >= powers[n] {
		n++
	}
	dst = slices.Grow(dst, n)
	end := len(dst) + n
	dst = dst[:end]
	for rest >= 100 {
		low := rest % 100 * 2
		rest /= 100
		end -= 2
		dst[end], dst[end+1] = pairs[low], pairs[low+1]
	}
	if rest >= 10 {
		dst[end-2] = byte('0' + rest/10)
	}
	dst[end-1] = byte('0' + rest%10)
	return dst
}

// powers are the powers of 10.
var powers = func() (p [20]uint64) {
	for i, v := 0, uint64(1); i < len(p); i, v = i+1, v*10 {
		p[i] = v
	}
	return p
}()

// AppendAlike appends n-1 copies of the answer that begins at dst[at:], which
// tells one id. digits is where in it the id's last four digits stand; they go
// on from low in steps.
func AppendAlike(dst []byte, at, digits int, n int64, low, step int) []byte {
	answer := dst[at:len(dst):len(dst)]
	for range n - 1 {
		low += step
		start := len(dst)
		dst = append(dst, answer...)
		PutLow((*[4]byte)(dst[start+digits:]), low)
	}
	return dst
}

// mostRepeats bounds what Repeats looks for, and with it how much is answered
// before Out.Room is asked.
const mostRepeats = 128

// Repeats is how many copies of the first size bytes of in follow them: a
// client that pipelines asks for one thing many times.
func Repeats(in []byte, size int) (copies int) {
	first, rest := in[:size], in[size:]
	for copies < mostRepeats && len(rest) >= size && bytes.Equal(first, rest[:size]) {
		rest = rest[size:]
		copies++
	}
	return copies
}
