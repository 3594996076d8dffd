package uuid

import (
	"crypto/rand"
	"sync"
)

// Bytes of crypto/rand are read for many ids at once. An id needs about ten bytes,
// and one system call per id would cost more than the rest of the id. sync.Pool
// keeps a buffer per processor, so that no draw waits for a lock.

// randomSize is the number of bytes read at a time.
const randomSize = 1024

// randomBytes is a buffer of random bytes for one goroutine at a time. The zero
// value is ready for use.
type randomBytes struct {
	bytes [randomSize]byte
	left  int // unused, at the end of bytes
	given int // returned by the last Next, before the unused ones
}

// Next returns n random bytes, at most 64. They are valid until the next call,
// which clears them.
func (f *randomBytes) Next(n int) []byte {
	end := randomSize - f.left
	clear(f.bytes[end-f.given : end])
	if f.left < n {
		_, _ = rand.Read(f.bytes[:]) // does not fail
		f.left, end = randomSize, 0
	}
	f.left, f.given = f.left-n, n
	return f.bytes[end : end+n]
}

var randomPool = sync.Pool{New: func() any { return new(randomBytes) }}

// fillRandom fills b with random bytes. It cannot fail. It may be called by several
// goroutines at once.
func fillRandom(b []byte) {
	f := randomPool.Get().(*randomBytes)
	for len(b) > 0 {
		n := min(len(b), 64)
		part := f.Next(n)
		copy(b, part)
		clear(part)
		b = b[n:]
	}
	randomPool.Put(f)
}
