// Package entropy hands out bytes of crypto/rand in small pieces. An id needs
// some ten of them, and a question to the kernel for each id costs more than the
// rest of the id. Here one question fetches them for many; each processor has
// its own store of them, so that nobody waits for a lock. Bytes are forgotten
// when they were handed out.
package entropy

import (
	"crypto/rand"
	"io"
	"sync"
)

// size is how many bytes are fetched at a time.
const size = 1024

// fetched are random bytes, from next on not yet handed out.
type fetched struct {
	bytes [size]byte
	next  int
}

var pool = sync.Pool{New: func() any { return &fetched{next: size} }}

// Read fills b. It does not fail, and is safe for concurrent use.
func Read(b []byte) {
	f := pool.Get().(*fetched)
	for len(b) > 0 {
		if f.next == size {
			_, _ = rand.Read(f.bytes[:]) // does not fail
			f.next = 0
		}
		n := copy(b, f.bytes[f.next:])
		clear(f.bytes[f.next : f.next+n])
		b, f.next = b[n:], f.next+n
	}
	pool.Put(f)
}

// Reader is Read as an io.Reader.
var Reader io.Reader = reader{}

type reader struct{}

func (reader) Read(b []byte) (int, error) {
	Read(b)
	return len(b), nil
}
