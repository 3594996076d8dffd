// Package entropy hands out bytes of crypto/rand in small pieces. An id needs
// some ten of them, and a question to the kernel for each id costs more than the
// rest of the id. Here one question fetches them for many; each processor has
// its own store of them, so that nobody waits for a lock. Bytes are forgotten
// when they were handed out.
package entropy

import (
	"crypto/rand"
	"sync"
)

// size is how many bytes are fetched at a time.
const size = 1024

// Buffer is a store of random bytes for one user at a time. The zero Buffer is
// ready for use.
type Buffer struct {
	bytes [size]byte
	left  int // at the end of bytes
	given int // by the latest Next, before those that are left
}

// Next returns n random bytes, at most 64. They are valid until the next call,
// which forgets them.
func (f *Buffer) Next(n int) []byte {
	end := size - f.left
	clear(f.bytes[end-f.given : end])
	if f.left < n {
		_, _ = rand.Read(f.bytes[:]) // does not fail
		f.left, end = size, 0
	}
	f.left, f.given = f.left-n, n
	return f.bytes[end : end+n]
}

var pool = sync.Pool{New: func() any { return new(Buffer) }}

// Read fills b. It does not fail, and is safe for concurrent use.
func Read(b []byte) {
	f := pool.Get().(*Buffer)
	for len(b) > 0 {
		n := min(len(b), 64)
		part := f.Next(n)
		copy(b, part)
		clear(part)
		b = b[n:]
	}
	pool.Put(f)
}
