// Package idrun writes runs of ids for both protocols.
//
// Most answers of a server are runs: the rows of one statement, or the answers to
// pipelined requests. Two messages of a run differ in the last digits of their id.
// So Append encodes one message for up to 10,000 ids and copies it. Functions
// allocate only if dst is too small.
package idrun

import (
	"bytes"
	"slices"

	"nextid/generator"
)

const (
	// copied is the number of ids that differ in their last four digits only. Their
	// messages are copies of one.
	copied = 10_000

	// shortMessage is the size up to which a message is copied with two
	// 16-byte moves. A row with one id of 20 digits has 31 bytes in the
	// PostgreSQL protocol and 25 in MySQL's.
	shortMessage = 32

	// maxRepeats bounds Repeats. So it bounds the bytes that are appended before
	// Out.FlushFull is called.
	maxRepeats = 128
)

// Append appends a message for each id of r. message appends the i-th message. It
// returns the index in the message at which the digits of the id end, -1 if the
// message must not be copied. number is the index of a byte that counts the messages
// modulo 256; 0: there is none. Messages that count must have at most shortMessage
// bytes.
func Append(dst []byte, r generator.Range, number int, message func(dst []byte, i, id int64) (_ []byte, end int)) []byte {
	for i := int64(0); i < r.Count; {
		id, at := r.First+i*r.Step, len(dst)
		var end int
		if dst, end = message(dst, i, id); end >= 0 {
			n := alike(id, r.Step, r.Count-i)
			dst = appendCopies(dst, at, end-4, number, int(n-1), int(id%copied), int(r.Step))
			i += n
		} else {
			i++
		}
	}
	return dst
}

// alike returns how many ids, from first on, differ in their last four digits only:
// 1 to count. Ids below 10,000 do not all have the same number of digits.
func alike(first, step, count int64) int64 {
	if first < copied || step <= -copied || step >= copied || step == 0 {
		return 1
	}
	low := first % copied
	if step > 0 {
		return min((copied-1-low)/step+1, count)
	}
	return min(low/-step+1, count)
}

// appendCopies appends n copies of the message dst[at:]. In each copy the last four
// digits, at the index digits, are low plus a multiple of step. A short message is
// copied as 32 bytes, the end of which the next copy overwrites.
func appendCopies(dst []byte, at, digits, number, n, low, step int) []byte {
	size := len(dst) - at
	if n == 0 || size > shortMessage {
		message := dst[at:len(dst):len(dst)]
		for range n {
			low += step
			start := len(dst)
			dst = append(dst, message...)
			putDigits((*[4]byte)(dst[start+digits:]), low)
		}
		return dst
	}
	end := len(dst)
	dst = slices.Grow(dst, n*size+shortMessage)
	message := *(*[shortMessage]byte)(dst[at : at+shortMessage])
	serial, counts, rest := message[number], byte(1), dst[end:cap(dst)]
	if number == 0 {
		counts = 0
	}
	for range n {
		low += step
		serial += counts
		copied := (*[shortMessage]byte)(rest)
		*copied = message
		copied[number%shortMessage] = serial
		putDigits((*[4]byte)(copied[digits:]), low)
		rest = rest[size:]
	}
	return dst[:end+n*size]
}

// putDigits writes low, 0 to 9999, as four digits.
func putDigits(digits *[4]byte, low int) {
	hi, lo := low/100*2, low%100*2
	digits[0], digits[1], digits[2], digits[3] = pairs[hi], pairs[hi+1], pairs[lo], pairs[lo+1]
}

// pairs holds the digits of the numbers 00 to 99.
var pairs = func() (p [200]byte) {
	for i := range 100 {
		p[2*i], p[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return p
}()

// Repeats returns how many copies of the request in[:size] follow in in, maxRepeats
// at most. A client that pipelines sends one request many times.
func Repeats(in []byte, size int) (copies int) {
	first, rest := in[:size], in[size:]
	for copies < maxRepeats && len(rest) >= size && bytes.Equal(first, rest[:size]) {
		rest = rest[size:]
		copies++
	}
	return copies
}
