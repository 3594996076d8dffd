package wire

// floorConn is one client of the floor.
type floorConn struct {
	started bool
	in      []byte // what has not arrived whole

	// message appends the answer to the first message of in and returns its
	// size, 0 while it has not arrived whole.
	message func(c *floorConn, in, out []byte) (size int, answered []byte)
}

// answer appends the answers to the messages in what came.
func (c *floorConn) answer(came, out []byte) []byte {
	in := came
	if len(c.in) > 0 {
		c.in = append(c.in, came...)
		in = c.in
	}
	for {
		var size int
		if size, out = c.message(c, in, out); size == 0 {
			break
		}
		in = in[size:]
	}
	c.in = append(c.in[:0], in...)
	return out
}
