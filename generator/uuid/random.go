package uuid

import (
	"crypto/rand"
	"sync"
)

// Bytes of crypto/rand are fetched for many ids at once: an id needs some ten of
// them, and a question to the kernel for each id costs more than the rest of the
// id. Each processor has its own store of them, so that no draw waits for a lock.

// randomSize sets how many bytes are fetched at a time.
const randomSize = 1024

// randomBytes is a store of random bytes for one user at a time. The zero value is
// ready for use.
type randomBytes struct {
	bytes [randomSize]byte
	left  int // at the end of bytes
	given int // by the latest Next, before those that are left
}

// Next returns n random bytes, at most 64. They are valid until the next call,
// which forgets them.
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

// fillRandom fills b. It does not fail, and is safe for concurrent use.
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
