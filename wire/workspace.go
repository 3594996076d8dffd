package wire

import (
	"sync"

	"nextid/sqlfuncs"
)

const (
	// readSize is the size of one read: about a thousand pipelined queries.
	readSize = 32 << 10

	// keepOut is the largest answer buffer that goes back to the pool.
	keepOut = 128 << 10
)

// workspace holds the buffers of a connection. In the event loop a connection that
// waits for its client has none.
type workspace struct {
	in      [readSize]byte
	out     []byte
	scratch Scratch
}

// Scratch holds the arguments of the execution that a Machine reads. Args may be
// parts of the input.
type Scratch struct {
	Args    []sqlfuncs.Arg
	Formats []int16 // of the result
	Texts   []byte  // of Args that are not parts of the input
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// acquire gives the connection its buffers, unless it has them.
func (c *Conn) acquire() {
	if c.work == nil {
		c.work = workspaces.Get().(*workspace)
		c.out.B = c.work.out[:0]
	}
}

// Reset drops the arguments, and what they refer to.
func (s *Scratch) Reset() {
	clear(s.Args)
	s.Args, s.Formats, s.Texts = s.Args[:0], s.Formats[:0], s.Texts[:0]
}

// Scratch returns the memory for the arguments of an execution. It is valid until the
// end of Feed.
func (c *Conn) Scratch() *Scratch {
	c.acquire()
	return &c.work.scratch
}

// release puts the buffers back into the pool. An answer buffer above keepOut is
// left to the garbage collector.
func (c *Conn) release() {
	if c.work == nil {
		return
	}
	if cap(c.out.B) <= keepOut {
		c.work.out = c.out.B[:0]
	}
	c.out.B = nil
	c.work.scratch.Reset()
	workspaces.Put(c.work)
	c.work = nil
}
