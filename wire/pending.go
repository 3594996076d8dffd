package wire

// Between two reads a connection keeps the beginning of an incomplete message, and
// crypto/tls that of an incomplete record. Both are counted on the account of the
// session.

// grow makes the capacity of pending at least size bytes. It adds a quarter if
// there is memory, so that a long message is not copied at every read. It returns
// false if the account has no memory for it.
func (c *Conn) grow(size int) bool {
	if size <= cap(c.pending) {
		return true
	}
	room := size + size/4
	if !c.count(room) {
		if room = size; !c.count(room) {
			return false
		}
	}
	c.pending = append(make([]byte, 0, room), c.pending...)
	return true
}

// count replaces the bytes counted on the account by size and the incomplete record.
// Sizes up to smallRest are not counted. It returns false if the account has no memory
// for them.
func (c *Conn) count(size int) bool {
	if size += c.record; size <= smallRest {
		size = 0
	}
	if now := c.machine.Memory(); c.account != now { // COM_CHANGE_USER: the old account is closed
		c.account, c.counted = now, 0
	}
	if int64(size) == c.counted || c.account == nil {
		return true
	}
	c.account.Return(c.counted)
	c.counted = 0
	if err := c.account.Draw(int64(size)); err != nil {
		return false
	}
	c.counted = int64(size)
	return true
}

// keep stores the incomplete message for the next read. It returns false if the
// account has no memory for it.
func (c *Conn) keep(rest []byte) bool {
	switch {
	case len(rest) == 0:
		c.pending = nil
		c.count(0)
	case len(rest) == len(c.pending): // all of it, where it is
	case len(c.pending) > 0:
		c.pending = c.pending[:copy(c.pending, rest)]
	case !c.count(len(rest)):
		return false
	default:
		c.pending = append([]byte(nil), rest...)
	}
	return true
}

// keepRecord counts an incomplete record, and sets the timers for it. It reports
// whether the connection goes on.
func (c *Conn) keepRecord() bool {
	if c.tls != nil && !c.count(cap(c.pending)) && !c.drop(c.pending) {
		return false
	}
	if c.record > 0 != c.partial {
		c.setTimers(false)
	}
	return true
}

// drop discards a message for which the account has no memory. It reports whether
// the connection goes on.
func (c *Conn) drop(held []byte) bool {
	err := c.machine.Drop(held, &c.out)
	c.pending = nil
	c.count(0)
	c.err = c.out.Flush()
	if err != nil {
		c.failed(err)
	}
	return c.err == nil
}
